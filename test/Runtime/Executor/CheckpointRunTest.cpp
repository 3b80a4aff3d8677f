//===- CheckpointRunTest.cpp - Checkpoints that are cut off ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three checkpoints are written, and each call of the system is noted. Then the
// power is lost after each of them, and what was not synced is lost too, in
// several ways; or each of them fails. Every time the last checkpoint that was
// complete is found, and its states are those of its step.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Checkpointing.h"
#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>

namespace llmc::rt::test {
namespace {

using namespace plan;
namespace fs = std::filesystem;

/// One state "w" of [rows, 6], whose rows are split (and padded) over two
/// devices, and an entry that leaves it as it is.
Plan makePlan(int64_t rows = 5) {
  PlanBuilder b({{{"data", 2}}, -1});
  int32_t compute = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("state", FrameKind::state);
  int32_t tmp = b.addFrame("tmp", FrameKind::tmp);
  int32_t w = b.addBuffer(frame, "w", DType::f32, {3, 6});
  int32_t x = b.addBuffer(tmp, "x", DType::f32, {1});
  int32_t f = b.addProgram("forward.c0", Phase::forward, 0);
  b.emit(f, compute, Fill{b.view(x), 0});
  Entry entry;
  entry.name = "train";
  entry.prologue = entry.epilogue = {-1};
  entry.table = {{f, 0}};
  b.plan().entries = {entry};
  State state;
  state.name = "w";
  state.shape = {rows, 6};
  Layout layout = Layout::split({rows, 6}, {{0}, {}}, b.plan().mesh);
  state.parts = {{{0, 0}, layout, {}, b.view(w)}};
  b.plan().states = {state};
  b.place();
  return b.take();
}

std::unique_ptr<Session> openSession() {
  SessionOptions options;
  options.bypassLoader = true;
  auto session = Session::open(makePlan(), options);
  EXPECT_TRUE(session.ok()) << session.message();
  return *std::move(session);
}

/// Each step has values of its own.
HostTensor statesOf(int64_t step) {
  HostTensor value = HostTensor::zeros(DType::f32, {5, 6});
  for (int64_t i = 0; i < 30; ++i) {
    storeElement(DType::f32, value.bytes.data(), i,
                 static_cast<double>(100 * step + i));
  }
  return value;
}

struct TestFolder {
  std::string path =
      testing::TempDir() + "llmc-checkpoint-run-" + std::to_string(::getpid());
  TestFolder() { fs::remove_all(path); }
  ~TestFolder() { fs::remove_all(path); }
};

/// Checkpoints after 1, 2 and 3 steps, of which one stays.
Status writeThree(const std::string &folder, FileCalls &calls,
                  const std::function<void(int64_t)> &written) {
  CheckpointOptions options;
  options.folder = folder;
  options.keep = 1;
  options.calls = &calls;
  LLMC_TRY_ASSIGN(auto checkpoints, Checkpointing::open(options, nullptr));
  auto session = openSession();
  LLMC_TRY(checkpoints->begin(*session, "train"));
  for (int64_t step = 1; step <= 3; ++step) {
    LLMC_TRY(session->writeState("w", statesOf(step)));
    LLMC_TRY(checkpoints->write(*session, step).status());
    written(step);
  }
  return Status::success();
}

/// The step that a run would go on from, with its states checked; 0: none.
int64_t resume(const std::string &folder) {
  CheckpointOptions options;
  options.folder = folder;
  options.resume = options.mayBegin = true;
  auto checkpoints = Checkpointing::open(options, nullptr);
  EXPECT_TRUE(checkpoints.ok()) << checkpoints.message();
  if (!checkpoints.ok() || !(*checkpoints)->isResumed()) {
    return 0;
  }
  int64_t step = (*checkpoints)->firstStep();
  auto session = openSession();
  Status status = (*checkpoints)->begin(*session, "train");
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(session->readState("w")->bytes, statesOf(step).bytes);
  for (const auto &entry : fs::directory_iterator(folder)) {
    EXPECT_NE(entry.path().filename().string().rfind(".writing-", 0), 0u);
  }
  return step;
}

//===----------------------------------------------------------------------===//
// A disk of which the power is lost
//===----------------------------------------------------------------------===//

/// A file, or a folder with its names; what is durable, and what is not yet.
struct Node {
  bool isFolder = false;
  std::string data, syncedData;
  std::map<std::string, std::shared_ptr<Node>> names, syncedNames;
};
enum class Loss { nothing, data, halfOfData, names };

/// Does what it is asked for, and keeps what the disk would have.
class Disk final : public FileCalls {
public:
  explicit Disk(std::string root) : root(std::move(root)) {
    top->isFolder = true;
  }
  /// After each call.
  std::function<void()> called;

  Status makeFolder(const std::string &path) override {
    auto node = add(path);
    node->isFolder = true;
    return note(FileCalls::makeFolder(path));
  }
  Result<int> create(const std::string &path) override {
    open = add(path);
    Result<int> file = FileCalls::create(path);
    (void)note({});
    return file;
  }
  Status write(int file, const std::string &path, const void *data,
               size_t bytes) override {
    open->data.append(static_cast<const char *>(data), bytes);
    return note(FileCalls::write(file, path, data, bytes));
  }
  Status sync(int file, const std::string &path) override {
    open->syncedData = open->data;
    return note(FileCalls::sync(file, path));
  }
  Status syncFolder(const std::string &path) override {
    auto node = path == root ? top : find(path);
    node->syncedNames = node->names;
    return note(FileCalls::syncFolder(path));
  }
  Status rename(const std::string &from, const std::string &to) override {
    auto node = find(from);
    parentOf(from).names.erase(nameOf(from));
    parentOf(to).names[nameOf(to)] = node;
    return note(FileCalls::rename(from, to));
  }
  Status remove(const std::string &path) override {
    parentOf(path).names.erase(nameOf(path));
    return note(FileCalls::remove(path));
  }

  /// What is found after the loss.
  void restore(const std::string &path, Loss loss) const {
    fs::remove_all(path);
    restoreNode(*top, path, loss);
  }

private:
  static std::string nameOf(const std::string &path) {
    return path.substr(path.rfind('/') + 1);
  }
  Node &parentOf(const std::string &path) {
    std::string parent = path.substr(0, path.rfind('/'));
    return parent == root ? *top : *top->names.at(nameOf(parent));
  }
  std::shared_ptr<Node> find(const std::string &path) {
    return parentOf(path).names.at(nameOf(path));
  }
  std::shared_ptr<Node> add(const std::string &path) {
    return parentOf(path).names[nameOf(path)] = std::make_shared<Node>();
  }
  Status note(Status status) {
    called();
    return status;
  }
  static void restoreNode(const Node &node, const std::string &path,
                          Loss loss) {
    if (!node.isFolder) {
      size_t synced = node.syncedData.size(), all = node.data.size();
      size_t kept = loss == Loss::nothing      ? all
                    : loss == Loss::halfOfData ? (synced + all) / 2
                                               : synced;
      std::ofstream(path) << node.data.substr(0, kept);
      return;
    }
    fs::create_directories(path);
    for (const auto &[name, inner] :
         loss == Loss::names ? node.syncedNames : node.names) {
      restoreNode(*inner, path + "/" + name, loss);
    }
  }

  std::string root;
  std::shared_ptr<Node> top = std::make_shared<Node>(), open;
};

TEST(CheckpointRun, SurvivesALossOfPowerAfterEachCall) {
  TestFolder folder;
  std::string work = folder.path + "/work", found = folder.path + "/found";
  Disk disk(work);
  int64_t complete = 0, calls = 0;
  disk.called = [&] {
    ++calls;
    for (Loss loss :
         {Loss::nothing, Loss::data, Loss::halfOfData, Loss::names}) {
      disk.restore(found, loss);
      int64_t step = resume(found);
      EXPECT_GE(step, complete) << "call " << calls;
      EXPECT_LE(step, complete + 1) << "call " << calls;
    }
  };
  Status status =
      writeThree(work, disk, [&](int64_t step) { complete = step; });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(complete, 3);
  EXPECT_GE(calls, 30);
  EXPECT_EQ(resume(work), 3);
}

/// The call of that number fails.
class FailingCalls final : public FileCalls {
public:
  FailingCalls(int64_t at, int code) : at(at), code(code) {}

  Status makeFolder(const std::string &path) override {
    return fails() ? fileError("make a folder", path)
                   : FileCalls::makeFolder(path);
  }
  Result<int> create(const std::string &path) override {
    return fails() ? Result<int>(fileError("create a file", path))
                   : FileCalls::create(path);
  }
  Status write(int file, const std::string &path, const void *data,
               size_t bytes) override {
    return fails() ? fileError("write", path)
                   : FileCalls::write(file, path, data, bytes);
  }
  Status sync(int file, const std::string &path) override {
    return fails() ? fileError("sync", path) : FileCalls::sync(file, path);
  }
  Status syncFolder(const std::string &path) override {
    return fails() ? fileError("sync", path) : FileCalls::syncFolder(path);
  }
  Status rename(const std::string &from, const std::string &to) override {
    return fails() ? fileError("rename to", to) : FileCalls::rename(from, to);
  }
  Status remove(const std::string &path) override {
    return fails() ? fileError("remove", path) : FileCalls::remove(path);
  }
  bool hasFailed() const { return calls > at; }

private:
  bool fails() {
    errno = code;
    return calls++ == at;
  }
  int64_t at, calls = 0;
  int code;
};

TEST(CheckpointRun, EachCallThatFailsIsOneLine) {
  for (int code : {ENOSPC, EROFS}) {
    for (int64_t at = 0;; ++at) {
      TestFolder folder;
      FailingCalls calls(at, code);
      int64_t complete = 0;
      Status status = writeThree(folder.path, calls,
                                 [&](int64_t step) { complete = step; });
      if (!calls.hasFailed()) {
        EXPECT_GE(at, 30);
        break;
      }
      ASSERT_EQ(status.kind(), ErrorKind::noCheckpoint) << at;
      EXPECT_NE(status.error().hint, "");
      EXPECT_THAT(status.message(), testing::HasSubstr(std::strerror(code)));
      int64_t step = resume(folder.path);
      EXPECT_GE(step, complete) << at;
      EXPECT_LE(step, complete + 1) << at;
    }
  }
}

TEST(CheckpointRun, WhatIsAskedForIsChecked) {
  CheckpointOptions options;
  options.folder = "x";
  for (const char *every : {"0", "-1", "m", "5x", "1.5", " 5"}) {
    options.every = every;
    EXPECT_EQ(checkOptions(options).kind(), ErrorKind::usage) << every;
  }
  for (const char *every : {"", "1", "10m"}) {
    options.every = every;
    EXPECT_TRUE(checkOptions(options).ok()) << every;
  }
  options.keep = -1;
  EXPECT_EQ(checkOptions(options).kind(), ErrorKind::usage);
  options = {};
  EXPECT_TRUE(checkOptions(options).ok());
  options.resume = true;
  EXPECT_EQ(checkOptions(options).message(),
            "--resume: expected --checkpoint <folder> too");
}

TEST(CheckpointRun, ARunFromTheStartWantsAnEmptyFolder) {
  TestFolder folder;
  ASSERT_TRUE(writeThree(folder.path, systemCalls(), [](int64_t) {}).ok());
  CheckpointOptions options;
  options.folder = folder.path;
  auto again = Checkpointing::open(options, nullptr);
  ASSERT_EQ(again.kind(), ErrorKind::usage);
  EXPECT_THAT(again.message(),
              testing::HasSubstr("got one with step-00000003"));
  options.resume = true;
  options.seed = 5;
  EXPECT_EQ(Checkpointing::open(options, nullptr).kind(), ErrorKind::mismatch);
  options.folder += "/none";
  EXPECT_EQ(Checkpointing::open(options, nullptr).kind(),
            ErrorKind::noCheckpoint);
}

// All that does not fit is listed at once, before a state is touched.
TEST(CheckpointRun, OtherStatesAreListed) {
  TestFolder folder;
  ASSERT_TRUE(writeThree(folder.path, systemCalls(), [](int64_t) {}).ok());
  CheckpointOptions options;
  options.folder = folder.path;
  options.resume = true;
  auto checkpoints = Checkpointing::open(options, nullptr);
  ASSERT_TRUE(checkpoints.ok()) << checkpoints.message();
  Plan plan = makePlan();
  State other = plan.states[0];
  other.name = "v";
  plan.states[0].name = "u";
  plan.states.push_back(other);
  SessionOptions unchecked;
  unchecked.bypassLoader = true;
  auto session = Session::open(std::move(plan), unchecked);
  ASSERT_TRUE(session.ok()) << session.message();
  Status status = (*checkpoints)->begin(**session, "train");
  ASSERT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(status.message(), "expected a checkpoint of this plan's states, "
                              "got one; without u, v; with besides w");
}

// States that are numbered by the ops of a program, where another mesh has more
// of these, or cuts a loop: which is which is not known.
TEST(CheckpointRun, RenumberedStatesBeginAnew) {
  auto open = [](int count, int64_t rows) {
    Plan plan = makePlan(rows);
    State state = plan.states[0];
    state.role = StateRole::carried;
    plan.states.clear();
    // All lie in one place, which number 0 is the last to write.
    for (int i = count; i-- > 0;) {
      state.name = "train.amax." + std::to_string(i);
      plan.states.push_back(state);
    }
    SessionOptions unchecked;
    unchecked.bypassLoader = true;
    return *Session::open(std::move(plan), unchecked);
  };
  TestFolder folder;
  CheckpointOptions options;
  options.folder = folder.path;
  {
    auto checkpoints = *Checkpointing::open(options, nullptr);
    auto session = open(1, 5);
    ASSERT_TRUE(checkpoints->begin(*session, "train").ok());
    ASSERT_TRUE(session->writeState("train.amax.0", statesOf(4)).ok());
    ASSERT_TRUE(checkpoints->write(*session, 1).ok());
  }
  options.resume = true;
  for (auto [count, rows] : {std::pair(1, 5), {2, 5}, {1, 6}}) {
    auto checkpoints = *Checkpointing::open(options, nullptr);
    auto session = open(count, rows);
    Status status = checkpoints->begin(*session, "train");
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(session->readState("train.amax.0")->bytes == statesOf(4).bytes,
              count == 1 && rows == 5);
  }
}

} // namespace
} // namespace llmc::rt::test

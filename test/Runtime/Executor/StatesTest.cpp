//===- StatesTest.cpp - Initial values of states --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws do not depend on the mesh; files are read with care; padding is zero.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Safetensors.h"
#include "llmc/Runtime/Executor/Session.h"
#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

namespace llmc::rt::test {
namespace {

using namespace plan;

/// One state "w" of [5, 6], its rows split (and padded) over `devices`, and an
/// entry that does nothing to it.
Plan makePlan(int64_t devices, Source source, DType dtype = DType::f32) {
  PlanBuilder b({{{"data", devices}}, -1});
  int32_t compute = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("state", FrameKind::state);
  int32_t tmp = b.addFrame("tmp", FrameKind::tmp);
  int64_t rows = (5 + devices - 1) / devices;
  int32_t w = b.addBuffer(frame, "w", dtype, {rows, 6});
  int32_t x = b.addBuffer(tmp, "x", DType::f32, {1});
  int32_t f = b.addProgram("forward.c0", Phase::forward, 0);
  b.emit(f, compute, Fill{b.view(x), 0});
  Entry entry;
  entry.name = "forward";
  entry.kind = EntryKind::forward;
  entry.prologue = entry.epilogue = {-1};
  entry.table = {{f, 0}};
  b.plan().entries = {entry};
  State state;
  state.name = "w";
  state.shape = {5, 6};
  state.dtype = dtype;
  state.source = source;
  Layout layout = Layout::split({5, 6}, {{0}, {}}, b.plan().mesh);
  state.parts = {{{0, 0}, layout, {}, b.view(w)}};
  b.plan().states = {state};
  b.plan().files = {"weights.safetensors", "raw.bin", "../outside.bin"};
  b.plan().seed = 3;
  b.place();
  return b.take();
}

Source draw(DrawKind kind, double a, double b) {
  Source source;
  source.draw = {kind, a, b};
  return source;
}

Source fromFile(int32_t file, std::string tensor, int64_t offset = 0) {
  Source source;
  source.kind = SourceKind::file;
  source.file = file;
  source.tensor = std::move(tensor);
  source.offset = offset;
  return source;
}

SessionOptions options() {
  SessionOptions options;
  options.folder = testing::TempDir();
  return options;
}

HostTensor stateOf(Plan plan) {
  auto session = Session::open(std::move(plan), options());
  if (!session.ok()) {
    ADD_FAILURE() << session.message();
    return {};
  }
  EXPECT_TRUE((*session)->run("forward", 0).ok());
  return *(*session)->readState("w");
}

Status openStatus(Plan plan) {
  return Session::open(std::move(plan), options()).status();
}

// 5 rows on 1, 2, 3 and 5 devices: the same values, whatever is padded.
TEST(StatesTest, DrawsDoNotDependOnTheMesh) {
  Source normal = draw(DrawKind::normal, 0, 1);
  HostTensor one = stateOf(makePlan(1, normal));
  ASSERT_EQ(one.shape, (std::vector<int64_t>{5, 6}));
  EXPECT_NE(one.at(0), one.at(1));
  for (int64_t devices : {2, 3, 5}) {
    EXPECT_EQ(stateOf(makePlan(devices, normal)).bytes, one.bytes);
  }
}

TEST(StatesTest, TheSeedDecides) {
  SessionOptions other = options();
  other.seed = 4;
  Source normal = draw(DrawKind::normal, 0, 1);
  auto session = Session::open(makePlan(1, normal), other);
  ASSERT_TRUE(session.ok());
  EXPECT_NE((*session)->readState("w")->bytes,
            stateOf(makePlan(1, normal)).bytes);
}

/// Writes the test's tensors: "w" 0..29, "nan", "small".
void writeWeights() {
  std::vector<float> w(30), nan(30), raw(34);
  for (int i = 0; i < 30; ++i) {
    w[i] = raw[i + 4] = static_cast<float>(i);
  }
  nan[7] = std::numeric_limits<float>::quiet_NaN();
  auto bytes = [](const std::vector<float> &list, size_t count) {
    return std::string_view(reinterpret_cast<const char *>(list.data()),
                            count * sizeof(float));
  };
  std::string folder = testing::TempDir();
  ASSERT_TRUE(writeSafetensors({{"w", DType::f32, {5, 6}, bytes(w, 30)},
                                {"nan", DType::f32, {5, 6}, bytes(nan, 30)},
                                {"small", DType::f32, {5, 5}, bytes(w, 25)}},
                               folder + "/weights.safetensors")
                  .ok());
  ASSERT_TRUE(writeFileAtomically(folder + "/raw.bin", bytes(raw, 34)).ok());
}

TEST(StatesTest, FilesAreReadByBoxes) {
  writeWeights();
  for (int64_t devices : {1, 2, 3}) {
    HostTensor named = stateOf(makePlan(devices, fromFile(0, "w")));
    HostTensor raw = stateOf(makePlan(devices, fromFile(1, "", 16)));
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(named.at(i), i);
      ASSERT_EQ(raw.at(i), i);
    }
  }
  Source converted = fromFile(1, "", 16);
  converted.dtype = DType::f32;
  for (const Source &source : {fromFile(0, "w"), converted}) {
    HostTensor wide = stateOf(makePlan(2, source, DType::f64));
    EXPECT_EQ(wide.dtype, DType::f64);
    EXPECT_EQ(wide.at(29), 29);
  }
}

// A state with the name of a part has that part of complex elements.
TEST(StatesTest, PartsOfComplexTensors) {
  std::vector<float> pairs(60);
  for (int i = 0; i < 30; ++i) {
    pairs[2 * i] = static_cast<float>(i);
    pairs[2 * i + 1] = static_cast<float>(-i);
  }
  std::string_view bytes(reinterpret_cast<const char *>(pairs.data()), 240);
  ASSERT_TRUE(writeSafetensors({{"w", DType::f32, {5, 6, 2}, bytes, true}},
                               testing::TempDir() + "/weights.safetensors")
                  .ok());
  for (int64_t devices : {1, 2, 3}) {
    for (const char *name : {"w.real", "w.imag"}) {
      Plan plan = makePlan(devices, fromFile(0, "w"));
      plan.states[0].name = name;
      auto session = Session::open(std::move(plan), options());
      ASSERT_TRUE(session.ok()) << session.message();
      HostTensor found = *(*session)->readState(name);
      EXPECT_EQ(found.at(29), name == std::string("w.real") ? 29 : -29);
    }
  }
  EXPECT_EQ(openStatus(makePlan(1, fromFile(0, "w"))).kind(),
            ErrorKind::mismatch);
}

TEST(StatesTest, BadFilesAreRefused) {
  writeWeights();
  Status nan = openStatus(makePlan(2, fromFile(0, "nan")));
  EXPECT_EQ(nan.kind(), ErrorKind::numeric);
  EXPECT_NE(nan.message().find("'w', got NaN or infinity at element 7"),
            std::string::npos)
      << nan.message();
  auto expectMismatch = [](const Plan &plan, const std::string &message) {
    Status status = openStatus(plan);
    EXPECT_EQ(status.kind(), ErrorKind::mismatch);
    EXPECT_EQ(status.message(), message);
  };
  expectMismatch(makePlan(1, fromFile(0, "small")),
                 "expected tensor 'small' of f32[5, 6], got f32[5, 5]");
  expectMismatch(makePlan(1, fromFile(0, "absent")),
                 "expected tensor 'absent' for state 'w'");
  expectMismatch(makePlan(1, fromFile(0, "w"), DType::i32),
                 "expected tensor 'w' of i32[5, 6], got f32[5, 6]");
  Source integers = fromFile(1, "");
  integers.dtype = DType::i32;
  expectMismatch(makePlan(1, integers),
                 "expected values of state 'w' of f32, got i32");
  EXPECT_EQ(openStatus(makePlan(1, fromFile(1, "", 17 * 4))).kind(),
            ErrorKind::malformed);
  Source wide = fromFile(1, "");
  wide.dtype = DType::f64;
  EXPECT_EQ(openStatus(makePlan(1, wide)).kind(), ErrorKind::malformed);
  EXPECT_EQ(openStatus(makePlan(1, fromFile(2, ""))).kind(),
            ErrorKind::mismatch);
}

// No part of the name climbs, wherever it stands; dots alone do not.
TEST(StatesTest, FilesLieInTheFolder) {
  writeWeights();
  std::string folder = testing::TempDir();
  auto open = [&](const std::string &name, bool trust = false) {
    Plan plan = makePlan(1, fromFile(0, "w"));
    plan.files[0] = name;
    SessionOptions trusting = options();
    trusting.trustKernels = trust;
    return Session::open(plan, trusting).status();
  };
  std::filesystem::create_directories(folder + "/a");
  for (const std::string &name :
       {std::string("../weights.safetensors"),
        std::string("a/../../weights.safetensors"),
        std::string("a/../weights.safetensors"), std::string("a/.."),
        std::string(".."), folder + "/weights.safetensors"}) {
    Status status = open(name);
    EXPECT_EQ(status.kind(), ErrorKind::mismatch) << name;
    EXPECT_EQ(status.message(),
              "expected initial values within the plan's folder, got '" + name +
                  "'");
  }
  EXPECT_TRUE(open("a/../weights.safetensors", true).ok());
  EXPECT_TRUE(open(folder + "/weights.safetensors", true).ok());
  EXPECT_TRUE(open("weights.safetensors").ok());
  for (const std::string &name :
       {std::string("..a"), std::string("a.."), std::string("a/..b/c")}) {
    EXPECT_EQ(open(name).kind(), ErrorKind::malformed) << name;
  }
}

// Up to the last byte of the file, and one byte further.
TEST(StatesTest, RawValuesEndWithTheFile) {
  writeWeights(); // 34 numbers; the state has 30.
  EXPECT_TRUE(openStatus(makePlan(2, fromFile(1, "", 16))).ok());
  Status status = openStatus(makePlan(2, fromFile(1, "", 17)));
  EXPECT_EQ(status.kind(), ErrorKind::malformed);
  EXPECT_EQ(status.message(), "expected the values of state 'w' at byte 17 "
                              "within the file, got 136 bytes");
  EXPECT_EQ(openStatus(makePlan(2, fromFile(1, "", INT64_MAX - 100))).kind(),
            ErrorKind::malformed);
}

// Constants may hold infinities, as masks do; whole numbers are not looked at.
TEST(StatesTest, OnlyParametersMustBeFinite) {
  writeWeights();
  Plan plan = makePlan(2, fromFile(0, "nan"));
  for (StateRole role : {StateRole::parameter, StateRole::optimizer,
                         StateRole::carried, StateRole::constant}) {
    plan.states[0].role = role;
    EXPECT_EQ(openStatus(plan).kind(),
              role == StateRole::constant ? ErrorKind::ok : ErrorKind::numeric);
  }
  std::vector<float> values(30);
  values[29] = -std::numeric_limits<float>::infinity();
  ASSERT_TRUE(
      writeFileAtomically(testing::TempDir() + "/raw.bin",
                          {reinterpret_cast<const char *>(values.data()), 120})
          .ok());
  Status status = openStatus(makePlan(3, fromFile(1, "", 0)));
  EXPECT_NE(status.message().find("at element 29"), std::string::npos)
      << status.message();
  EXPECT_TRUE(openStatus(makePlan(3, fromFile(1, "", 0), DType::i32)).ok());
}

TEST(StatesTest, CopiesThatDiffer) {
  PlanBuilder b({{{"data", 2}}, -1});
  int32_t frame = b.addFrame("state", FrameKind::state);
  int32_t w = b.addBuffer(frame, "w", DType::f32, {2});
  int32_t c = b.addStream("C", StreamKind::compute);
  int32_t p = b.addProgram("p", Phase::other);
  b.emit(p, c, Fill{b.view(w, 0, {1}, {}, b.times(4, b.coordinate(0))), 1});
  State state;
  state.name = "w";
  state.shape = {2};
  state.parts = {{{0}, Layout::whole({2}), {}, b.view(w)}};
  b.plan().states = {state};
  Entry entry;
  entry.name = "e";
  entry.kind = EntryKind::forward;
  entry.numChunks = 0;
  entry.prologue = {p};
  entry.epilogue = {-1};
  b.plan().entries = {entry};
  b.place();
  auto session = Session::open(b.take(), options());
  ASSERT_TRUE(session.ok()) << session.message();
  EXPECT_TRUE(*(*session)->copiesAgree("w"));
  ASSERT_TRUE((*session)->run("e", 0).ok());
  EXPECT_FALSE(*(*session)->copiesAgree("w"));
}

TEST(StatesTest, WrittenStatesAreReadBack) {
  auto session =
      Session::open(makePlan(3, draw(DrawKind::zeros, 0, 0)), options());
  ASSERT_TRUE(session.ok());
  HostTensor value = HostTensor::zeros(DType::f32, {5, 6});
  for (int i = 0; i < 30; ++i) {
    storeElement(DType::f32, value.bytes.data(), i, i * i);
  }
  ASSERT_TRUE((*session)->writeState("w", value).ok());
  EXPECT_EQ((*session)->readState("w")->bytes, value.bytes);
  EXPECT_EQ((*session)->writeState("v", value).kind(), ErrorKind::usage);
  Status type =
      (*session)->writeState("w", HostTensor::zeros(DType::i32, {5, 6}));
  EXPECT_EQ(type.kind(), ErrorKind::mismatch);
  EXPECT_EQ(type.message(), "expected state 'w' of f32[5, 6], got i32[5, 6]");
  value.shape = {6, 5};
  Status status = (*session)->writeState("w", value);
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_EQ(status.message(), "expected state 'w' of f32[5, 6], got f32[6, 5]");
}

// More than the machine has is refused before it is taken.
TEST(StatesTest, TooMuchMemoryIsRefused) {
  Plan plan = makePlan(2, draw(DrawKind::zeros, 0, 0));
  plan.arenas[0] = int64_t(1) << 45;
  Status status = openStatus(plan);
  EXPECT_EQ(status.kind(), ErrorKind::outOfMemory) << status.message();
}

// Columns of more bytes than the host sees at once: each row goes through all
// of the device's memory again.
TEST(StatesTest, LargeTransposedStates) {
  constexpr int64_t rows = 3, columns = 500000;
  PlanBuilder b({{{"data", 1}}, -1});
  b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("state", FrameKind::state);
  int32_t w = b.addBuffer(frame, "w", DType::i32, {rows, columns});
  State state;
  state.name = "w";
  state.dtype = DType::i32;
  state.shape = {rows, columns};
  state.parts = {{{0, 0},
                  Layout::whole(state.shape),
                  {},
                  b.view(w, 0, state.shape, {1, rows})}};
  b.plan().states = {state};
  b.place();
  auto session = Session::open(b.take(), options());
  ASSERT_TRUE(session.ok()) << session.message();
  HostTensor value = HostTensor::zeros(DType::i32, state.shape);
  for (int64_t i = 0; i < rows * columns; ++i) {
    storeInteger(DType::i32, value.bytes.data(), i, i);
  }
  ASSERT_TRUE((*session)->writeState("w", value).ok());
  EXPECT_TRUE((*session)->readState("w")->bytes == value.bytes);
}

} // namespace
} // namespace llmc::rt::test

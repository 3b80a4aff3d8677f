//===- BackendTests.cpp - The public tests of ONNX backends ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc-onnx-backend <data> <list> <unsupported> [--kernels | --devices=<2|4>]
//   [--every=N]
//
// Runs the tests that a list names, "node/test_abs<TAB>ops" in each line, in
// processes of their own, several at a time. A line of the list of unsupported
// tests is a name, a tab and a reason. Fails where a test fails that is not on
// that list, and where one passes that is.
//
//===----------------------------------------------------------------------===//

#include "BackendCase.h"
#include "BackendRuns.h"
#include "Driver/Compile.h"
#include "llmc/Runtime/Base/File.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <map>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace llmc;
using namespace llmc::onnxtest;

/// Seconds after which a test has failed.
static constexpr unsigned kMostSeconds = 60;

/// Lines of a name and the rest, which a tab parts.
static std::vector<std::pair<std::string, std::string>>
readLines(const std::string &path) {
  std::vector<std::pair<std::string, std::string>> lines;
  rt::Result<std::string> text = rt::readFile(path);
  if (!text) {
    llvm::errs() << text.message() << "\n";
    std::exit(2);
  }
  StringRef rest = *text;
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    rest = next;
    if (!line.empty() && !line.starts_with("#"))
      lines.push_back(
          {line.split('\t').first.str(), line.split('\t').second.str()});
  }
  return lines;
}

namespace {
/// What computes the outputs.
struct How {
  bool byKernels = false;
  /// In lockstep; 0: the whole program by the interpreter.
  int64_t devices = 0;
};
} // namespace

static rt::Result<std::vector<HostTensor>>
runTest(MLIRContext &context, BackendCase &test, const How &how) {
  if (how.byKernels)
    return runByKernels(context, test);
  if (how.devices)
    return runOnDevices(context, test, how.devices,
                        llvm::xxh3_64bits(test.model));
  return runByInterpreter(context, test);
}

/// "" where the test passes, else why not.
static std::string runOne(const std::string &folder, const How &how) {
  std::unique_ptr<MLIRContext> context = driver::makeContext();
  std::string diagnosed;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &each) {
    if (diagnosed.empty())
      diagnosed = each.str();
    return success();
  });
  rt::Result<BackendCase> test = readCase(*context, folder);
  if (!test)
    return rt::describe(test.error());
  rt::Result<std::vector<HostTensor>> results = runTest(*context, *test, how);
  if (!results)
    return rt::describe(results.error()) +
           (diagnosed.empty() ? "" : " [" + diagnosed + "]");
  if (results->size() < test->outputs.size())
    return "expected more results";
  for (size_t i = 0; i < test->outputs.size(); ++i)
    if (std::string why = compare(test->outputs[i], (*results)[i]);
        !why.empty())
      return "output " + std::to_string(i) + ": " + why;
  return "";
}

namespace {
/// A test that runs in a process of its own, which tells by a pipe.
struct Running {
  std::string name;
  int pipe = -1;
};
} // namespace

static Running startTest(const std::string &name, const std::string &folder,
                         const How &how, pid_t &process) {
  int ends[2];
  if (::pipe(ends) != 0)
    std::exit(2);
  process = ::fork();
  if (process == 0) {
    ::close(ends[0]);
    ::alarm(kMostSeconds);
    std::string why = runOne(folder, how);
    why = why.substr(0, 400);
    (void)!::write(ends[1], why.data(), why.size());
    ::_exit(why.empty() ? 0 : 1);
  }
  ::close(ends[1]);
  return {name, ends[0]};
}

/// Waits for one test, and returns its name with why it failed.
static std::pair<std::string, std::string>
finishOne(std::map<pid_t, Running> &running) {
  int status = 0;
  pid_t process = ::wait(&status);
  Running test = running[process];
  running.erase(process);
  char text[512];
  ssize_t size = ::read(test.pipe, text, sizeof(text));
  ::close(test.pipe);
  std::string why(text, size > 0 ? size : 0);
  if (WIFSIGNALED(status))
    why = "signal " + std::to_string(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0 && why.empty())
    why = "exit " + std::to_string(WEXITSTATUS(status));
  return {test.name, why};
}

/// Runs all tests; the failed ones with their reasons.
static std::map<std::string, std::string>
runAll(const std::string &data,
       ArrayRef<std::pair<std::string, std::string>> tests, const How &how) {
  std::map<std::string, std::string> failed;
  std::map<pid_t, Running> running;
  // More than there are processors: a test waits for its files too.
  size_t most = 2 * std::max(1u, std::thread::hardware_concurrency());
  auto finish = [&] {
    auto [name, why] = finishOne(running);
    if (!why.empty())
      failed[name] = why;
  };
  for (auto &[name, ops] : tests) {
    if (running.size() >= most)
      finish();
    pid_t process = 0;
    Running test = startTest(name, data + "/" + name, how, process);
    running[process] = test;
  }
  while (!running.empty())
    finish();
  return failed;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    llvm::errs() << "expected a folder of data, a list of tests, a list of "
                    "unsupported tests\n";
    return 2;
  }
  How how;
  size_t every = 1;
  for (StringRef flag : ArrayRef(argv, argc).drop_front(4)) {
    bool isWrong = false;
    if (flag.consume_front("--devices="))
      isWrong = flag.getAsInteger(10, how.devices);
    else if (flag.consume_front("--every="))
      isWrong = flag.getAsInteger(10, every) || every == 0;
    else
      isWrong = !(how.byKernels = flag == "--kernels");
    if (isWrong) {
      llvm::errs() << "expected --kernels, --devices=2 or 4, --every=N\n";
      return 2;
    }
  }
  std::vector<std::pair<std::string, std::string>> tests;
  for (auto [number, test] : llvm::enumerate(readLines(argv[2])))
    if (number % every == 0)
      tests.push_back(test);
  std::map<std::string, std::string> unsupported;
  for (auto &[name, reason] : readLines(argv[3]))
    unsupported[name] = reason;
  std::map<std::string, std::string> failed = runAll(argv[1], tests, how);
  int wrong = 0;
  for (auto &[name, ops] : tests) {
    bool isFailed = failed.count(name), isListed = unsupported.count(name);
    if (isFailed == isListed)
      continue;
    ++wrong;
    llvm::outs() << name << ": "
                 << (isFailed ? failed[name]
                              : "passes, and is listed as "
                                "unsupported")
                 << "\n";
  }
  llvm::outs() << tests.size() - failed.size() << " of " << tests.size()
               << " tests pass, " << wrong << " not as listed\n";
  return wrong ? 1 : 0;
}

//===- ForkDriver.cpp - Many inputs, a process for each -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ForkDriver.h.
//
// Tests: test/Fuzz/driver.test
//===----------------------------------------------------------------------===//

#include "ForkDriver.h"

#include "llmc/Runtime/Base/Status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace llmc::test {

namespace {
// No error has these codes.
constexpr int hangCode = 121, memoryCode = 122, sanitizerCode = 99;

//===--- The child
//---------------------------------------------------------===//

struct Watch {
  int seconds = 0;
  int64_t megabytes = 0;
  int64_t ticks = 0;
};
Watch watch;
constexpr int ticksPerSecond = 20;
/// Seconds of waiting for one of processor time: other work may be running.
constexpr int patience = 12;

/// Pages of this process; only calls that a signal handler may make.
int64_t residentPages() {
  char text[128] = {};
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return 0;
  }
  ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  const char *second = size > 0 ? std::strchr(text, ' ') : nullptr;
  int64_t pages = 0;
  for (const char *c = second ? second + 1 : ""; *c >= '0' && *c <= '9'; ++c) {
    pages = pages * 10 + (*c - '0');
  }
  return pages;
}

void onTick(int) {
  int kept = errno;
  timespec used = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  if (used.tv_sec >= watch.seconds ||
      ++watch.ticks > int64_t(watch.seconds) * patience * ticksPerSecond) {
    _exit(hangCode);
  }
  if (residentPages() * sysconf(_SC_PAGESIZE) > watch.megabytes << 20) {
    _exit(memoryCode);
  }
  errno = kept;
}

void startWatch(const FuzzOptions &options) {
  int64_t resident = residentPages() * sysconf(_SC_PAGESIZE);
  watch = {options.seconds, options.megabytes + (resident >> 20), 0};
  struct sigaction action = {};
  action.sa_handler = onTick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  itimerval timer = {};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = 1000000 / ticksPerSecond;
  setitimer(ITIMER_REAL, &timer, nullptr);
  // Should the handler never run.
  rlimit processor = {static_cast<rlim_t>(options.seconds) * 3,
                      static_cast<rlim_t>(options.seconds) * 3};
  setrlimit(RLIMIT_CPU, &processor);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

//===--- The parent
//--------------------------------------------------------===//

struct Trial {
  int64_t index = 0;
  /// Of its files.
  std::string folder;
};

/// What a child came to; empty reason: no fault.
struct Outcome {
  int code = 0;
  std::string reason;
};

Outcome judge(int status) {
  if (WIFSIGNALED(status)) {
    return {-WTERMSIG(status), fmt::format("signal {} ({})", WTERMSIG(status),
                                           strsignal(WTERMSIG(status)))};
  }
  int code = WEXITSTATUS(status);
  switch (code) {
  case hangCode:
    return {code, "does not end in time"};
  case memoryCode:
    return {code, "takes too much memory"};
  case sanitizerCode:
    return {code, "a sanitizer's report"};
  case 0:
  case 1:
  case 2:
  case 3:
  case 4:
  case 5:
  case 12:
  case 13:
  case 15:
    return {code, ""};
  }
  return {code, fmt::format("exit code {}", code)};
}

std::string describeCode(int code) {
  return code == 0
             ? "accepted"
             : std::string(rt::kindName(static_cast<rt::ErrorKind>(code)));
}

std::string readWhole(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Driver {
public:
  Driver(const FuzzSubject &subject, const FuzzOptions &options)
      : subject_(subject), options_(options) {}

  int tryAll();

private:
  pid_t start(const Trial &trial, const std::string *input) const;
  void finish(pid_t child, int status);
  void keep(const Trial &trial, const Outcome &outcome);
  Outcome tryAgain(const std::string &input, int64_t index) const;
  std::string shorten(const std::string &input, int64_t index, int code) const;
  std::string input(int64_t index) const {
    return options_.one.empty() ? subject_.make(options_.seed, index)
                                : readWhole(options_.one);
  }

  const FuzzSubject &subject_;
  const FuzzOptions &options_;
  std::map<pid_t, Trial> running_;
  std::vector<std::string> folders_;
  std::map<int, int64_t> counts_;
  int64_t faults_ = 0;
};
} // namespace

/// Forks; the child tries `input`, or the one that its index makes.
pid_t Driver::start(const Trial &trial, const std::string *given) const {
  std::fflush(stdout);
  pid_t child = fork();
  if (child != 0) {
    return child;
  }
  std::string log = trial.folder + "/log";
  int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  startWatch(options_);
  int code = subject_.run(given ? *given : input(trial.index), trial.index,
                          trial.folder);
  std::fflush(stdout);
  std::fflush(stderr);
  _exit(code);
}

Outcome Driver::tryAgain(const std::string &input, int64_t index) const {
  std::string folder = options_.folder + "/again";
  std::filesystem::create_directories(folder);
  int status = 0;
  waitpid(start({index, folder}, &input), &status, 0);
  return judge(status);
}

/// Leaves out lines, many at a time at first, while it fails the same way.
std::string Driver::shorten(const std::string &input, int64_t index,
                            int code) const {
  std::vector<std::string> lines;
  std::istringstream stream(input);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  auto join = [](const std::vector<std::string> &lines) {
    return fmt::format("{}\n", fmt::join(lines, "\n"));
  };
  int tries = 0;
  for (size_t step = lines.size() / 2; step > 0; step /= 2) {
    for (size_t i = 0; i < lines.size() && tries < 200; ++tries) {
      std::vector<std::string> fewer = lines;
      size_t end = std::min(i + step, lines.size());
      fewer.erase(fewer.begin() + i, fewer.begin() + end);
      if (tryAgain(join(fewer), index).code == code) {
        lines = fewer;
      } else {
        i += step;
      }
    }
  }
  return join(lines);
}

void Driver::keep(const Trial &trial, const Outcome &outcome) {
  std::string path = fmt::format("{}/{}-{}-{}", options_.folder,
                                 subject_.name(), options_.seed, trial.index);
  std::string log = readWhole(trial.folder + "/log");
  std::string text = input(trial.index);
  if (subject_.isText() && outcome.code != hangCode) {
    text = shorten(text, trial.index, outcome.code);
  }
  std::ofstream(path, std::ios::binary) << text;
  std::ofstream(path + ".log", std::ios::binary) << log;
  fmt::print("FAULT: {}: {}; --first {} --count 1 --one {}\n", path,
             outcome.reason, trial.index, path);
  std::istringstream lines(log);
  std::string line;
  for (int i = 0; i < 12 && std::getline(lines, line); ++i) {
    fmt::print("    {}\n", line.substr(0, 200));
  }
  std::fflush(stdout);
}

void Driver::finish(pid_t child, int status) {
  auto found = running_.find(child);
  if (found == running_.end()) {
    return;
  }
  Trial trial = found->second;
  running_.erase(found);
  Outcome outcome = judge(status);
  if (outcome.reason.empty()) {
    ++counts_[outcome.code];
  } else {
    ++faults_;
    keep(trial, outcome);
  }
  folders_.push_back(trial.folder);
}

int Driver::tryAll() {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < options_.jobs; ++i) {
    folders_.push_back(fmt::format("{}/child-{}", options_.folder, i));
    std::filesystem::create_directories(folders_.back());
  }
  int64_t next = options_.first, end = options_.first + options_.count;
  while (next < end || !running_.empty()) {
    while (next < end && !folders_.empty()) {
      Trial trial = {next++, folders_.back()};
      folders_.pop_back();
      pid_t child = start(trial, nullptr);
      if (child < 0) {
        fmt::print("FAULT: cannot fork: {}\n", std::strerror(errno));
        return 1;
      }
      running_[child] = trial;
    }
    int status = 0;
    pid_t child = wait(&status);
    if (child > 0) {
      finish(child, status);
    }
  }
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  std::string text = fmt::format("{} of seed {}: {} tried", subject_.name(),
                                 options_.seed, options_.count);
  for (auto [code, count] : counts_) {
    text += fmt::format(", {} {}", count, describeCode(code));
  }
  fmt::print("{}; {} faults; {:.0f} s\n", text, faults_, seconds.count());
  return faults_ ? 1 : 0;
}

FuzzOptions readFuzzOptions(int argc, char **argv) {
  FuzzOptions options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    bool isFlag = word.rfind("--", 0) == 0 && i + 1 < argc;
    std::string value = isFlag ? argv[i + 1] : "";
    i += isFlag;
    if (word == "--seed") {
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (word == "--first") {
      options.first = std::atoll(value.c_str());
    } else if (word == "--count") {
      options.count = std::atoll(value.c_str());
    } else if (word == "--jobs") {
      options.jobs = std::max(1, std::atoi(value.c_str()));
    } else if (word == "--seconds") {
      options.seconds = std::max(1, std::atoi(value.c_str()));
    } else if (word == "--megabytes") {
      options.megabytes = std::max(1, std::atoi(value.c_str()));
    } else if (word == "--folder") {
      options.folder = value;
    } else if (word == "--one") {
      options.one = value;
    } else if (!isFlag) {
      options.rest.push_back(word);
    } else {
      fmt::print(stderr,
                 "expected --seed, --first, --count, --jobs, --seconds,"
                 " --megabytes, --folder or --one, got '{}'\n",
                 word);
      std::exit(2);
    }
  }
  return options;
}

int fuzz(const FuzzSubject &subject, const FuzzOptions &options) {
  return Driver(subject, options).tryAll();
}

} // namespace llmc::test

// A report ends the child with a code of its own; the environment may add to
// these. Containers and allocators that cross into MLIR carry no marks.
extern "C" __attribute__((used)) const char *__asan_default_options() {
  return "exitcode=99:allow_user_poisoning=0:detect_container_overflow=0:"
         "detect_leaks=0:allocator_may_return_null=0:handle_abort=0";
}
extern "C" __attribute__((used)) const char *__ubsan_default_options() {
  return "exitcode=99:halt_on_error=1:print_stacktrace=1";
}

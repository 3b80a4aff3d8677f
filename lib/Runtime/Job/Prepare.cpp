//===- Prepare.cpp - What a launcher does before a start ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace llmc::rt::job {

Status checkFewer(const LaunchOptions &options) {
  if (options.nodes > 1 &&
      (!options.fewer.empty() || !options.prepare.empty())) {
    return makeError(ErrorKind::usage,
                     "--elastic and --prepare: expected one machine, got "
                     "several: their launchers do not agree on a number");
  }
  int above = options.processes;
  for (int number : options.fewer) {
    if (number < 1 || number >= above) {
      return makeError(ErrorKind::usage,
                       fmt::format("--elastic: expected numbers of processes "
                                   "below {}, each at least 1, got {}",
                                   above, number));
    }
    above = number;
  }
  return Status::success();
}

int processesLeft(const LaunchOptions &options, int processes, int lost) {
  if (options.fewer.empty()) {
    return processes;
  }
  for (int number : options.fewer) {
    if (number <= processes - std::max(lost, 1)) {
      return number;
    }
  }
  return 0;
}

static std::string fillIn(std::string text, int processes) {
  const std::string digits = std::to_string(processes);
  for (size_t at = 0; (at = text.find("{n}", at)) != std::string::npos;
       at += digits.size()) {
    text.replace(at, 3, digits);
  }
  return text;
}

LaunchOptions withProcesses(const LaunchOptions &options, int processes) {
  LaunchOptions now = options;
  now.processes = processes;
  if (options.fewer.empty() && options.prepare.empty()) {
    return now;
  }
  now.prepare = fillIn(now.prepare, processes);
  for (std::string &word : now.command) {
    word = fillIn(word, processes);
  }
  return now;
}

LaunchResult prepare(const LaunchOptions &options) {
  if (options.prepare.empty()) {
    return {};
  }
  std::fflush(nullptr);
  pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execl("/bin/sh", "sh", "-c", options.prepare.c_str(), nullptr);
    ::_exit(127);
  }
  if (pid < 0) {
    return {exitCode(ErrorKind::outOfMemory),
            fmt::format("cannot start '{}': {}", options.prepare,
                        std::strerror(errno))};
  }
  ::setpgid(pid, pid);
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (int signal = options.signal ? options.signal->exchange(0) : 0) {
      ::kill(-pid, signal);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return code == 0 ? LaunchResult{}
                   : LaunchResult{code, fmt::format("'{}' ended with code {}",
                                                    options.prepare, code)};
}

} // namespace llmc::rt::job

//===- StopSignals.cpp - SIGINT and SIGTERM -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/EndToEnd/signals.test.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/StopSignals.h"

#include <csignal>
#include <mutex>
#include <thread>

namespace llmc::rt {

namespace {
/// Never destroyed: the thread lives as long as the process.
struct Shared {
  std::atomic<bool> asked{false}, running{false};
  std::atomic<int> signal{SIGTERM};
  std::mutex mutex;
  std::function<void()> cleanup;
};

Shared &shared() {
  static auto *all = new Shared;
  return *all;
}

sigset_t endingSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

/// By the signal itself, so that whoever waits for the process sees it.
void endBy(int signal) {
  {
    std::lock_guard<std::mutex> lock(shared().mutex);
    if (shared().cleanup) {
      shared().cleanup();
    }
  }
  std::signal(signal, SIG_DFL);
  sigset_t set = endingSignals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
}

void serveSignals() {
  sigset_t set = endingSignals();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) {
      continue;
    }
    bool isSecond = shared().asked.load();
    shared().signal = signal;
    shared().asked = true;
    if (isSecond || !shared().running) {
      endBy(signal);
    }
  }
}
} // namespace

void StopSignals::take() {
  sigset_t set = endingSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A file that grows beyond what is allowed is an error of its write.
  std::signal(SIGXFSZ, SIG_IGN);
  shared();
  std::thread(serveSignals).detach();
}

StopSignals::Run::Run() { shared().running = true; }
StopSignals::Run::~Run() { shared().running = false; }

std::atomic<bool> &StopSignals::asked() { return shared().asked; }
int StopSignals::signal() { return shared().signal; }

void StopSignals::setCleanup(std::function<void()> cleanup) {
  std::lock_guard<std::mutex> lock(shared().mutex);
  shared().cleanup = std::move(cleanup);
}

} // namespace llmc::rt

//===- GuardedCopy.cpp - Bytes of a mapping that may vanish ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Base/FileTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/GuardedCopy.h"

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace llmc::rt {

namespace {
/// What a thread copies at the moment.
struct Guard {
  sigjmp_buf back;
  uintptr_t begin = 0, end = 0;
};

thread_local Guard *volatile active = nullptr;
struct sigaction before;

void handle(int number, siginfo_t *info, void *) {
  Guard *guard = active;
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (guard && address >= guard->begin && address < guard->end) {
    siglongjmp(guard->back, 1);
  }
  // Not ours: the instruction runs again, and meets who was there before.
  sigaction(number, &before, nullptr);
}

void takeSignal() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  // Nothing is blocked in the handler, so the jump has no mask to restore.
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}
} // namespace

bool copyGuarded(void *to, const void *from, size_t bytes) {
  static std::once_flag once;
  std::call_once(once, takeSignal);
  Guard guard;
  // A page is read from its first byte on, whichever is asked for.
  guard.begin = reinterpret_cast<uintptr_t>(from);
  guard.end = guard.begin + bytes;
  if (sigsetjmp(guard.back, 0) != 0) {
    active = nullptr;
    return false;
  }
  active = &guard;
  std::memcpy(to, from, bytes);
  active = nullptr;
  return true;
}

} // namespace llmc::rt

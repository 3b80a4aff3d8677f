//===- Faults.cpp - Who followed an address that is not his ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A handler of SIGSEGV and SIGBUS says what the address is, and leaves the rest
// to who handled the signal before.
//
//===----------------------------------------------------------------------===//

#include "Core/Handles.h"
#include "Core/Memory.h"

#include <csignal>
#include <cstdio>
#include <unistd.h>

using namespace llmc::standin;

static struct sigaction previous[2];

static void say(const char *format, unsigned long long number) {
  char text[512];
  const Activity &now = activity();
  int length = std::snprintf(text, sizeof text, format, number);
  if (now.kernel)
    length += std::snprintf(text + length, sizeof text - length,
                            ", in kernel '%s', block %u, thread %u", now.kernel,
                            now.block, now.thread);
  length += std::snprintf(text + length, sizeof text - length, "\n");
  (void)!write(STDERR_FILENO, text, length);
}

static void handleFault(int signal, siginfo_t *info, void *) {
  auto address = reinterpret_cast<uint64_t>(info->si_addr);
  const Memory &memory = Memory::get();
  if (memory.deviceOf(address) >= 0)
    say("stand-in: the host touched device memory at 0x%llx", address);
  else if (memory.viewOf(address) >= 0)
    say("stand-in: device memory at 0x%llx is touched, where nothing is "
        "allocated",
        memory.backwards(address));
  else if (Handles::get().holds(address))
    say("stand-in: the host looked into the handle 0x%llx", address);
  else if (activity().kernel)
    say("stand-in: address 0x%llx is touched, which is none of a device",
        address);
  // The instruction faults again, and then ends as it would have without us.
  sigaction(signal, &previous[signal == SIGBUS], nullptr);
}

void llmc::standin::watchFaults() {
  struct sigaction action = {};
  action.sa_sigaction = handleFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  Memory::get();
  Handles::get();
  sigaction(SIGSEGV, &action, &previous[0]);
  sigaction(SIGBUS, &action, &previous[1]);
}

Activity &llmc::standin::activity() {
  static thread_local Activity now;
  return now;
}

//===- Fiber.cpp - Stacks to switch between -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers that a function of the x86-64 System V convention keeps are
// pushed on the stack that is left, and popped from the one that is entered.
//
//===----------------------------------------------------------------------===//

#include "Core/Fiber.h"
#include "Core/Report.h"

#include <cstdint>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LLMC_STANDIN_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define LLMC_STANDIN_ASAN 1
#endif
#ifdef LLMC_STANDIN_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

using namespace llmc::standin;

extern "C" void llmcStandInSwitch(void **save, void *load);
asm(R"(
  .text
  .p2align 4
  .hidden llmcStandInSwitch
  .globl llmcStandInSwitch
  .type llmcStandInSwitch, @function
llmcStandInSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .size llmcStandInSwitch, .-llmcStandInSwitch
)");

FiberStack FiberStack::make() {
  constexpr size_t guard = 4096, bytes = 64 << 10;
  void *memory = mmap(nullptr, guard + bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE))
    violation("no memory for the stack of a thread");
  return {static_cast<char *>(memory) + guard, bytes};
}

void llmc::standin::prepare(StopPoint &point, const FiberStack &stack,
                            void (*entry)()) {
  point.stack = stack;
  auto *top = reinterpret_cast<uint64_t *>(stack.bottom + stack.bytes);
  *--top = 0;                                 // the entry returns nowhere
  *--top = reinterpret_cast<uint64_t>(entry); // what `retq` goes to
  for (int i = 0; i < 6; ++i)
    *--top = 0;
  point.stackPointer = top;
}

void llmc::standin::switchTo(StopPoint &here, StopPoint &there, bool over) {
#ifdef LLMC_STANDIN_ASAN
  __sanitizer_start_switch_fiber(over ? nullptr : &here.fakeStack,
                                 there.stack.bottom, there.stack.bytes);
#endif
  llmcStandInSwitch(&here.stackPointer, there.stackPointer);
#ifdef LLMC_STANDIN_ASAN
  __sanitizer_finish_switch_fiber(here.fakeStack, nullptr, nullptr);
#endif
  (void)over;
}

void llmc::standin::arrived(StopPoint &from) {
#ifdef LLMC_STANDIN_ASAN
  const void *bottom = nullptr;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &from.stack.bytes);
  from.stack.bottom = static_cast<char *>(const_cast<void *>(bottom));
#endif
  (void)from;
}

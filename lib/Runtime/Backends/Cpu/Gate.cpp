//===- Gate.cpp - Where streams wait for the host -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream that stands at a gate is linked to it, as to an event, and counts
// among what the step waits for: it is no deadlock. Whoever opens the gate, on
// a thread of its own, looks at these streams again.
//
//   C [ backward | gate 3 | update ]     reader: copies box 3, opens to 3
//                    ^ stands                    C moves on to the update
//
// Tested by test/Runtime/Device and test/Runtime/Backends/Cpu.
//
//===----------------------------------------------------------------------===//

#include "Pool.h"

namespace llmc::rt::cpu {

static double secondsBetween(TimePoint begin, TimePoint end) {
  return std::chrono::duration<double>(end - begin).count();
}

bool Pool::passesGate(CpuStream &stream, const GateEntry &entry) {
  CpuGate &gate = *entry.gate;
  if (stream.skips || gate.opened >= entry.value) {
    return true;
  }
  if (!gate.waiters) {
    gate.began = std::chrono::steady_clock::now();
  }
  stream.state = CpuStream::State::blocked;
  stream.nextWaiter = gate.waiters;
  gate.waiters = &stream;
  ++atGates;
  return false;
}

void Pool::openGate(CpuGate &gate, uint64_t value) {
  std::lock_guard<std::mutex> lock(mutex);
  gate.opened = value;
  if (!gate.waiters) {
    return;
  }
  gate.stood += secondsBetween(gate.began, std::chrono::steady_clock::now());
  for (CpuStream *each = std::exchange(gate.waiters, nullptr); each;
       each = each->nextWaiter) {
    --atGates;
    unsettled.push_back(each);
  }
  settleAll();
  if (active) {
    goOn();
  }
  if (!ready.empty()) {
    wake.notify_one();
  }
}

double Pool::stoodSeconds(const CpuGate &gate) const {
  std::lock_guard<std::mutex> lock(mutex);
  return gate.stood +
         (gate.waiters
              ? secondsBetween(gate.began, std::chrono::steady_clock::now())
              : 0);
}

void CpuGate::open(uint64_t value) { pool.openGate(*this, value); }

double CpuGate::stoodSeconds() const { return pool.stoodSeconds(*this); }

} // namespace llmc::rt::cpu

//===- Gate.cpp - A tape in two pieces ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph that is launched waits for no host. So a tape with gates is two
// pieces, each a graph of its own: what stands before the first gate, as the
// forward and backward of a step, and all else, as its update. The device's
// thread launches the first, waits until the gate is open for all of the
// second, and launches that.
//
//   tape    F  B  gate 2  update w  gate 5  update v
//   pieces  F  B | 5:     update w          update v
//
// Tested by test/Runtime/Device.
//
//===----------------------------------------------------------------------===//

#include "Tape.h"

#include <algorithm>

namespace llmc::rt::cuda {

void CudaGate::open(uint64_t value) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    opened = value;
  }
  changed.notify_all();
}

double CudaGate::stoodSeconds() const {
  std::lock_guard<std::mutex> lock(mutex);
  return stood;
}

void CudaGate::pass(uint64_t value) {
  std::unique_lock<std::mutex> lock(mutex);
  if (opened >= value) {
    return;
  }
  auto begin = std::chrono::steady_clock::now();
  changed.wait(lock, [&] { return opened >= value; });
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  stood += time.count();
}

std::vector<Piece> Tape::pieces() const {
  std::vector<Piece> pieces = {{0, commands.size()}};
  size_t whole = 0; // The repeat that is open ends before this command.
  size_t begin = 0; // Of the latest repeat.
  for (size_t i = 0; i < commands.size(); ++i) {
    if (const auto *repeat = std::get_if<RepeatCommand>(&commands[i].work)) {
      begin = i;
      whole = repeat->end;
    }
    const auto *gate = std::get_if<GateCommand>(&commands[i].work);
    if (!gate) {
      continue;
    }
    if (pieces.size() == 1) {
      size_t first = i < whole ? begin : i;
      pieces.front().end = first;
      pieces.push_back({first, commands.size(), gate->gate, 0});
    }
    pieces.back().value = std::max(pieces.back().value, gate->value);
  }
  return pieces;
}

} // namespace llmc::rt::cuda

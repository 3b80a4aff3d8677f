//===- BufferNames.h - What the buffers of a plan hold ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For people: a state by its name, a gradient by that of its parameter, and any
// value by the place of the op that writes it first.
//
// Test: test/Tools/llmc/explain.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_BUFFERNAMES_H
#define LLMC_TOOLS_LLMC_BUFFERNAMES_H

#include "Places.h"
#include "llmc/Runtime/Plan/Format/Plan.h"
#include <vector>

namespace llmc::driver {

class BufferNames {
public:
  BufferNames(const rt::plan::Plan &plan, const Places &places);

  /// "embed", "the gradient of embed", or "" for what has no name.
  std::string nameOf(int32_t buffer) const;
  /// A line of the user's file.
  std::string placeOf(int32_t buffer) const;

private:
  const rt::plan::Plan &plan;
  const Places &places;
  /// By buffer: index of the state that lies there, or whose gradient does; the
  /// location of the first instruction that writes it. -1: none.
  std::vector<int32_t> states, gradients, writers;
};

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_BUFFERNAMES_H

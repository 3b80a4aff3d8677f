//===- Library.cpp - What a library is asked for --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Library.h"

namespace llmc::rt {

/// a, b, the bias where there is one, and c.
template <typename Shape>
static std::vector<LibraryOperand> operandsOfSum(const Shape &shape) {
  std::vector<LibraryOperand> operands = {{"a", shape.a, true, false},
                                          {"b", shape.b, true, false}};
  if (shape.hasBias) {
    operands.push_back({"bias", shape.bias, true, false});
  }
  operands.push_back({"c", shape.c, shape.beta != 0, true});
  return operands;
}

std::vector<LibraryOperand> operandsOf(const LibraryDescriptor &descriptor) {
  return std::visit([](const auto &each) { return operandsOfSum(each); },
                    descriptor);
}

} // namespace llmc::rt

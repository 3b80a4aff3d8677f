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

static std::vector<LibraryOperand> operandsOf(const ContractionShape &shape) {
  return operandsOfSum(shape);
}

static std::vector<LibraryOperand> operandsOf(const ConvolutionShape &shape) {
  return operandsOfSum(shape);
}

static std::vector<LibraryOperand> operandsOf(const AttentionShape &shape) {
  std::vector<LibraryOperand> operands;
  auto read = [&](std::string_view name, DType dtype) {
    operands.push_back({name, dtype, true, false});
  };
  auto write = [&](std::string_view name, DType dtype) {
    operands.push_back({name, dtype, false, true});
  };
  for (std::string_view name : {"q", "k", "v"}) {
    read(name, shape.dtype);
  }
  if (shape.hasBias) {
    read("bias", shape.bias);
  }
  if (shape.hasOffset) {
    read("offset", DType::i32);
  }
  if (shape.hasDropout()) {
    read("state", DType::u64);
  }
  if (!shape.isGradient) {
    write("out", shape.dtype);
    write("logsumexp", shape.accumulate);
    return operands;
  }
  read("logsumexp", shape.accumulate);
  read("delta", shape.accumulate);
  read("cotangent", shape.dtype);
  for (std::string_view name : {"dq", "dk", "dv"}) {
    write(name, shape.dtype);
  }
  return operands;
}

static std::vector<LibraryOperand> operandsOf(const ArgsortShape &shape) {
  std::vector<LibraryOperand> operands;
  for (const ArgsortKey &key : shape.keys) {
    operands.push_back({"key", key.dtype, true, false});
  }
  operands.push_back({"out", DType::i32, false, true});
  return operands;
}

static std::vector<LibraryOperand>
operandsOf(const GroupedContractionShape &shape) {
  std::vector<LibraryOperand> operands = operandsOfSum(shape.product);
  LibraryOperand c = operands.back();
  operands.back() = {"sizes", shape.sizes, true, false};
  if (shape.hasFirst) {
    operands.push_back({"first", shape.sizes, true, false});
  }
  operands.push_back(c);
  return operands;
}

std::vector<LibraryOperand> operandsOf(const LibraryDescriptor &descriptor) {
  return std::visit([](const auto &each) { return operandsOf(each); },
                    descriptor);
}

} // namespace llmc::rt

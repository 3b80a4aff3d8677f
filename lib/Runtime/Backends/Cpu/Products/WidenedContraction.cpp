//===- WidenedContraction.cpp - Contractions of what oneDNN lacks ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// oneDNN multiplies f16 on few processors, floats of eight bits hardly
// anywhere, and two types on none. Such sides are copied to f32 in the
// workspace, which has all their values, and the matrices of f32 are
// multiplied; a narrow result is made in f32 and rounded once. So sums are
// those of f32, as in the plain loops.
//
//   c f32 = a f16 (m k) * b f16 (k n)  ->  a', b' in f32; c = a' * b'
//
// A copy has the strides of the operand: a transposed side stays one.
//
// Tested by test/Runtime/Backends/Cpu/ContractionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include "../StridedCopy.h"

#include <array>
#include <optional>

namespace llmc::rt::cpu {

namespace {

using Stride = int64_t ContractionIndex::*;

bool isUpToSingle(DType type) {
  return type == DType::f32 || type == DType::bf16 || type == DType::f16 ||
         findSmallFloat(type);
}

/// An operand's copy, and where it lies in the workspace.
struct WideOperand {
  StridedCopy copy;
  uint64_t offset;
};

class WidenedSlice final : public OpSlice {
public:
  std::array<std::optional<WideOperand>, 3> operands;
  std::unique_ptr<OpSlice> product;
  /// Of the product's own workspace.
  uint64_t offset = 0;

  uint64_t workspaceBytes() const override {
    return offset + product->workspaceBytes();
  }

  void run(const SliceBuffers &at) override {
    auto *workspace = static_cast<char *>(at.workspace);
    auto wide = [&](size_t i, void *own) -> void * {
      return operands[i] ? workspace + operands[i]->offset : own;
    };
    SliceBuffers inner = {wide(0, const_cast<void *>(at.a)),
                          wide(1, const_cast<void *>(at.b)), at.bias,
                          wide(2, at.c), workspace + offset};
    if (operands[0]) {
      operands[0]->copy.read(at.a, workspace + operands[0]->offset);
    }
    if (operands[1]) {
      operands[1]->copy.read(at.b, workspace + operands[1]->offset);
    }
    product->run(inner);
    if (operands[2]) {
      operands[2]->copy.write(inner.c, at.c, /*adds=*/false);
    }
  }

  /// Copies the operand along `stride` of the indices.
  void widen(size_t operand, const std::vector<ContractionIndex> &indices,
             Stride stride, DType type) {
    std::vector<CopiedDim> dims;
    for (const ContractionIndex &index : indices) {
      if (index.*stride != 0) {
        dims.push_back({index.size, index.*stride});
      }
    }
    if (dims.empty()) {
      dims.push_back({1, 1});
    }
    StridedCopy copy(std::move(dims), type);
    uint64_t bytes = (copy.bytes() + 63) / 64 * 64;
    operands[operand].emplace(WideOperand{std::move(copy), offset});
    offset += bytes;
  }
};

} // namespace

Result<std::unique_ptr<OpSlice>> makeWidenedSlice(const MatrixShape &shape) {
  std::unique_ptr<OpSlice> none;
  DType a = shape.shape.a, b = shape.shape.b, c = shape.shape.c;
  bool isWritten = c == DType::f32 || shape.shape.beta == 0;
  if (!isUpToSingle(a) || !isUpToSingle(b) || !isUpToSingle(c) || !isWritten ||
      shape.shape.accumulate != DType::f32 || !shape.outerK.empty()) {
    return std::move(none);
  }
  auto slice = std::make_unique<WidenedSlice>();
  MatrixShape wide = shape;
  auto widen = [&](size_t operand, DType &type, Stride stride) {
    if (type == DType::f32) {
      return;
    }
    std::vector<ContractionIndex> indices = shape.batch;
    indices.insert(indices.end(), {shape.m, shape.k, shape.n});
    slice->widen(operand, indices, stride, type);
    type = DType::f32;
  };
  widen(0, wide.shape.a, &ContractionIndex::strideA);
  widen(1, wide.shape.b, &ContractionIndex::strideB);
  widen(2, wide.shape.c, &ContractionIndex::strideC);
  LLMC_TRY_ASSIGN(slice->product, makeLibrarySlice(wide));
  if (!slice->product) {
    return std::move(none);
  }
  return std::unique_ptr<OpSlice>(std::move(slice));
}

} // namespace llmc::rt::cpu

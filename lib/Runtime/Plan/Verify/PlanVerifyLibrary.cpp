//===- PlanVerifyLibrary.cpp - Calls of a library -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A descriptor is sound, and it is that of the operands: their number, types
// and accesses, and every element that the library reaches lies in them. A
// result lies apart from all else; there is as much workspace as was asked for.
//
// Test: test/Runtime/Plan/Verify/PlanVerifyLibraryTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"

#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/Float8Factors.h"

#include <fmt/format.h>

namespace llmc::rt::plan {

namespace {
using Kind = ContractionIndexKind;
using Index = ContractionIndex;
using Window = ConvolutionWindow;

/// How an operand is walked. The bias has strides where it likes, but along k
/// and windows.
struct Walk {
  const Operand &operand;
  std::string_view name;
  int64_t Index::*stride;
  Kind absent;
  int64_t Window::*windowSize = nullptr;
  int64_t Window::*windowStride = nullptr;
};

/// A sum of products, as both kinds of descriptors see it.
struct Sum {
  std::string_view kind;
  const std::vector<Index> &indices;
  std::vector<Window> windows;
};
} // namespace

/// The elements that the indices reach, against the operand.
static Status checkReach(const Sum &sum, const Walk &walk) {
  Checked last = 0;
  for (const Index &index : sum.indices) {
    if (index.kind == walk.absent && index.*walk.stride != 0) {
      return mismatch(fmt::format("expected stride 0 of operand {} along an "
                                  "index that it lacks, got {}",
                                  walk.name, index.*walk.stride));
    }
    if (index.size == 0 && index.kind == walk.absent) {
      continue;
    }
    if (index.size == 0) {
      return Status::success();
    }
    last = last + Checked(index.size - 1) * (index.*walk.stride);
  }
  for (const Window &window : sum.windows) {
    if (!walk.windowSize) {
      break;
    }
    if (window.*walk.windowSize == 0) {
      return Status::success();
    }
    last = last +
           Checked(window.*walk.windowSize - 1) * (window.*walk.windowStride);
  }
  Checked bytes = (last + 1) * sizeOf(walk.operand.dtype);
  int64_t span = *spanOf(walk.operand);
  if (!bytes.within(0, span)) {
    return mismatch(fmt::format(
        "expected the indices of a {} to reach at most {} "
        "bytes of operand {}, got {}",
        sum.kind, span, walk.name, bytes.valid() ? bytes.value() : -1));
  }
  return Status::success();
}

/// Elements of c as the indices count them; they must be those of its shape.
static Status checkResult(const Sum &sum, const Operand &c) {
  Checked elements = 1;
  for (const Index &index : sum.indices) {
    if (index.kind != Kind::k) {
      elements = elements * index.size;
    }
  }
  for (const Window &window : sum.windows) {
    elements = elements * window.sizeC;
  }
  int64_t expected = elementsOf(c);
  if (!elements.within(expected, expected)) {
    return mismatch(fmt::format(
        "expected the indices of a {} to make {} elements, got {}", sum.kind,
        expected, elements.valid() ? elements.value() : -1));
  }
  return Status::success();
}

/// Of a contraction or convolution.
template <typename Shape>
static Status checkTypes(std::string_view kind, const Shape &shape) {
  bool floats = isFloat(shape.a);
  if (!multiplyTogether(shape.a, shape.b) || floats != isFloat(shape.c) ||
      floats != isFloat(shape.accumulate)) {
    return mismatch(fmt::format("a {} of {} and {} into {}, accumulated in {}",
                                kind, nameOf(shape.a), nameOf(shape.b),
                                nameOf(shape.c), nameOf(shape.accumulate)));
  }
  if (shape.hasBias && isFloat(shape.bias) != floats) {
    return mismatch(fmt::format("a {} of {} with a bias of {}", kind,
                                nameOf(shape.a), nameOf(shape.bias)));
  }
  return Status::success();
}

/// Operands are as many as `operandsOf` says.
static Status checkSum(const Sum &sum, bool hasBias,
                       const std::vector<Operand> &operands) {
  LLMC_TRY(checkReach(sum, {operands[0], "a", &Index::strideA, Kind::n,
                            &Window::sizeA, &Window::strideA}));
  LLMC_TRY(checkReach(sum, {operands[1], "b", &Index::strideB, Kind::m,
                            &Window::sizeB, &Window::strideB}));
  const Operand &c = operands.back();
  LLMC_TRY(checkReach(sum, {c, "c", &Index::strideC, Kind::k, &Window::sizeC,
                            &Window::strideC}));
  if (hasBias) {
    LLMC_TRY(
        checkReach(sum, {operands[2], "bias", &Index::strideBias, Kind::k}));
  }
  return checkResult(sum, c);
}

static Status check(const ContractionShape &shape,
                    const std::vector<Operand> &operands) {
  LLMC_TRY(checkTypes("contraction", shape));
  if (!isFloat(shape.a) && shape.activation != Activation::none) {
    return mismatch(fmt::format("expected activation {} of floats, got {}",
                                nameOf(shape.activation), nameOf(shape.a)));
  }
  return checkSum({"contraction", shape.indices, {}}, shape.hasBias, operands);
}

static Status check(const ConvolutionShape &shape,
                    const std::vector<Operand> &operands) {
  LLMC_TRY(checkTypes("convolution", shape));
  return checkSum({"convolution", shape.indices, shape.windows}, shape.hasBias,
                  operands);
}

static Status check(const AttentionShape &shape,
                    const std::vector<Operand> &operands) {
  return checkAttention(shape, operands);
}

/// Elements of a row-major buffer, against what the descriptor says.
static Status checkBuffer(const Operand &operand, std::string_view kind,
                          std::string_view name, Checked elements) {
  int64_t span = *spanOf(operand);
  if (!(elements * sizeOf(operand.dtype)).within(0, span)) {
    return mismatch(fmt::format(
        "expected {} to reach at most {} bytes of operand {}, got {} elements "
        "of {}",
        kind, span, name, elements.valid() ? elements.value() : -1,
        nameOf(operand.dtype)));
  }
  return Status::success();
}

static Status checkSizes(const GroupedContractionShape &shape,
                         const std::vector<Operand> &operands) {
  if (isFloat(shape.sizes)) {
    return mismatch(fmt::format("expected sizes of groups to be integers, got "
                                "{}",
                                nameOf(shape.sizes)));
  }
  Checked batches = 1;
  for (const Index &index : shape.product.indices) {
    batches = index.kind == Kind::batch ? batches * index.size : batches;
  }
  Checked lists = shape.hasOwnSizes ? batches : Checked(1);
  std::string_view kind = phraseOf(shape);
  LLMC_TRY(checkBuffer(operands[2], kind, "sizes", lists * shape.numSizes));
  return shape.hasFirst ? checkBuffer(operands[3], kind, "first", batches)
                        : Status::success();
}

/// The matrices of groups are walked as by one index more, which b has, or c
/// where rows are contracted.
static Status check(const GroupedContractionShape &shape,
                    const std::vector<Operand> &operands) {
  LLMC_TRY(checkTypes("grouped contraction", shape.product));
  LLMC_TRY(checkSizes(shape, operands));
  bool isOfResult = shape.product.indices[shape.rows].kind == Kind::k;
  std::vector<Index> indices = shape.product.indices;
  Index groups{isOfResult ? Kind::n : Kind::k, shape.groups, 0, 0, 0, 0};
  (isOfResult ? groups.strideC : groups.strideB) = shape.stride;
  indices.push_back(groups);
  return checkSum({"grouped contraction", indices, {}}, /*hasBias=*/false,
                  operands);
}

static Status check(const ArgsortShape &shape,
                    const std::vector<Operand> &operands) {
  Checked rows = Checked(shape.outer) * shape.inner;
  for (size_t i = 0; i < shape.keys.size(); ++i) {
    LLMC_TRY(
        checkBuffer(operands[i], phraseOf(shape), "key", rows * shape.size));
  }
  const Operand &out = operands.back();
  int64_t expected = elementsOf(out);
  Checked made = rows * shape.count;
  if (!made.within(expected, expected)) {
    return mismatch(
        fmt::format("expected an argsort to make {} elements, got {}", expected,
                    made.valid() ? made.value() : -1));
  }
  return checkBuffer(out, phraseOf(shape), "out", made);
}

/// The operands against what a call of this descriptor takes.
static Status checkOperands(const Library &library) {
  std::vector<LibraryOperand> expected = operandsOf(library.descriptor);
  std::string_view kind = phraseOf(library.descriptor);
  if (library.operands.size() != expected.size()) {
    return mismatch(fmt::format("expected {} operands of {}, got {}",
                                expected.size(), kind,
                                library.operands.size()));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const LibraryOperand &want = expected[i];
    if (library.operands[i].dtype != want.dtype) {
      return mismatch(fmt::format(
          "expected operand {} of {} to be of {}, got {}", want.name, kind,
          nameOf(want.dtype), nameOf(library.operands[i].dtype)));
    }
    Access access = !want.isWritten ? Access::read
                    : want.isRead   ? Access::readWrite
                                    : Access::write;
    if (library.access[i] != access) {
      return mismatch(fmt::format("expected access {} of operand {} of {}, "
                                  "got {}",
                                  nameOf(access), want.name, kind,
                                  nameOf(library.access[i])));
    }
  }
  return Status::success();
}

/// What is written lies apart from all else.
static Status checkOverlaps(const Scene &scene, const Library &library) {
  std::vector<LibraryOperand> named = operandsOf(library.descriptor);
  for (size_t i = 0; i < library.operands.size(); ++i) {
    for (size_t j = 0; j < library.operands.size(); ++j) {
      if (i != j && library.access[i] != Access::read &&
          mayOverlap(scene, library.operands[i], library.operands[j])) {
        return mismatch(fmt::format(
            "expected operand {} of {} to lie apart from operand {}",
            named[i].name, phraseOf(library.descriptor), named[j].name));
      }
    }
  }
  return Status::success();
}

Status checkLibrary(const Scene &scene, const Library &library) {
  LLMC_TRY(checkOperands(library));
  LLMC_TRY(std::visit(
      [&](const auto &each) { return check(each, library.operands); },
      library.descriptor));
  LLMC_TRY(checkOverlaps(scene, library));
  int64_t bytes = library.workspace.present() ? *spanOf(library.workspace) : 0;
  if (bytes < library.workspaceBytes) {
    return mismatch(fmt::format("expected {} bytes of workspace for {}, got {}",
                                library.workspaceBytes,
                                phraseOf(library.descriptor), bytes));
  }
  return Status::success();
}

} // namespace llmc::rt::plan

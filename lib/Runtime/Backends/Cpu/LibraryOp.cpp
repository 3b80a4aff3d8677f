//===- LibraryOp.cpp - What CPU calls in place of a kernel ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cpu/ContractionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "LibraryOp.h"

#include "Argsort.h"
#include "Attention/Attention.h"
#include "Products/Contraction.h"
#include "Products/Convolution.h"
#include "Products/GroupedContraction.h"

#include <fmt/format.h>

namespace llmc::rt::cpu {

namespace {
struct Make {
  const LibraryShape &shape;

  Result<std::unique_ptr<CpuLibraryOp>>
  operator()(const ContractionShape &contraction) const {
    return makeContraction(contraction, shape.name, shape.threads,
                           static_cast<ContractionForm>(shape.form));
  }
  Result<std::unique_ptr<CpuLibraryOp>>
  operator()(const ConvolutionShape &convolution) const {
    return makeConvolution(convolution, shape.name, shape.threads);
  }
  Result<std::unique_ptr<CpuLibraryOp>>
  operator()(const AttentionShape &attention) const {
    return makeAttention(attention, shape.name, shape.threads);
  }
  Result<std::unique_ptr<CpuLibraryOp>>
  operator()(const ArgsortShape &argsort) const {
    return makeArgsort(argsort, shape.name, shape.threads);
  }
  Result<std::unique_ptr<CpuLibraryOp>>
  operator()(const GroupedContractionShape &grouped) const {
    return makeGroupedContraction(grouped, shape.name, shape.threads);
  }
};
} // namespace

Result<std::unique_ptr<CpuLibraryOp>>
CpuLibraryOp::make(const LibraryShape &shape) {
  if (shape.threads < 1) {
    return makeError(
        ErrorKind::mismatch,
        fmt::format("expected at least 1 thread in {} '{}', got {}",
                    nameOf(shape.descriptor), shape.name, shape.threads));
  }
  bool hasForms = std::holds_alternative<ContractionShape>(shape.descriptor);
  if (shape.form > (hasForms ? UINT8_MAX : 0)) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected form 0 of {} '{}' on a processor, "
                                 "got {}",
                                 nameOf(shape.descriptor), shape.name,
                                 shape.form));
  }
  return std::visit(Make{shape}, shape.descriptor);
}

} // namespace llmc::rt::cpu

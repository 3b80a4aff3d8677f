//===- KernelForms.h - Forms that kernels of an op may have -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   stablehlo.add          element
//   stablehlo.dot_general  library, decompose (sums of nothing)
//   stablehlo.transpose    element, alias (where only sizes of 1 move)
//
// Tests: test/Dialect/Graph/AnswersTest.cpp, test/Tools/llmc/known-ops.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_KERNELFORMS_H
#define LLMC_DIALECT_GRAPH_IR_KERNELFORMS_H

#include "llmc/Dialect/Graph/IR/Kernel.h"
#include "mlir/IR/OpDefinition.h"

#include "llmc/Dialect/Graph/IR/KernelForms.h.inc"

namespace llmc::graph {

/// "element", "reduction", "library", "update", "view" or "other ops".
StringRef nameOf(KernelForm form);

/// The answer of an op whose kernels all have one form.
template <typename Op, KernelForm form>
struct OneFormModel
    : KernelFormsOpInterface::ExternalModel<OneFormModel<Op, form>, Op> {
  static SmallVector<KernelForm> getKernelForms() { return {form}; }
};

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_KERNELFORMS_H

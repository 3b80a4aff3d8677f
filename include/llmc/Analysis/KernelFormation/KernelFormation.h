//===- KernelFormation.h - Which ops share a kernel -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups the ops of a block into kernels by their kernel forms and sharding
// rules, never by name. Phase 6 asks it what a region would keep in memory and
// move; phase 7 makes the kernels.
//
//   x -> reduce -> mean; x - mean -> square -> reduce -> variance; …   (rows)
//   =>  one kernel: x in; mean, variance and the normalised rows out
//
// Test: test/Solvers/Fusion/KernelClustersTest.cpp, test/Transforms/Kernels
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_KERNELFORMATION_KERNELFORMATION_H
#define LLMC_ANALYSIS_KERNELFORMATION_KERNELFORMATION_H

#include "llmc/Support/LLVM.h"
#include "llvm/ADT/SetVector.h"
#include <string>
#include <vector>

namespace llmc {

/// One kernel: what it computes inside, reads and writes.
struct KernelSpec {
  enum class Kind {
    /// Rows of aligned ops, with reductions over trailing dims.
    Rows,
    /// Reductions of one input shape over one set of dims of any place.
    Reduce,
    /// One Update op.
    Update
  };
  Kind kind = Kind::Rows;
  /// In program order; includes cheap ops that other kernels compute again.
  SmallVector<Operation *> ops;
  /// The ops whose rows are the kernel's rows; the others are computed element
  /// by element where these ask for them.
  llvm::SetVector<Operation *> aligned;
  SmallVector<Value> inputs;
  /// Of an Update: the position among the inputs of what it changes. That is
  /// memory of its own; where code reads the value too, it is another input.
  std::optional<unsigned> changed;
  SmallVector<Value> outputs;
  /// Rows: the leading dims that all values share.
  SmallVector<int64_t> rowShape;
};

/// A kernel's traffic, for remarks.
struct KernelPrice {
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
};

struct KernelFormation {
  /// A step of the block: `kernels[index]` or `others[index]`.
  struct Step {
    bool isKernel;
    size_t index;
  };
  std::vector<KernelSpec> kernels;
  /// Ops that stay what they are: contractions, collectives, fences. (Aliases
  /// stay too, wherever what they show is read from memory.)
  SmallVector<Operation *> others;
  /// An order in which all can run.
  std::vector<Step> order;
  /// Values that are kept in memory.
  llvm::SetVector<Value> kept;
};

/// True for ops that are computed element by element: form Element, and
/// reductions over dims of size 1.
bool isElementwise(Operation *op);

/// True for ops of form Alias that kernels may read through: another type for
/// the bytes of one value, and nothing else.
bool isView(Operation *op);

/// Forms the kernels of `block` (no op of form Decompose may be left in it).
/// On failure an error has been emitted.
FailureOr<KernelFormation> formKernels(Block &block);

/// The values that kernels would keep in memory if, of the terminator's
/// operands, only those counted for which `isRead` says so. Ops of form
/// Decompose count as ops of no kernel.
llvm::SetVector<Value>
findKeptValues(Block &block, function_ref<bool(mlir::OpOperand &)> isRead);

KernelPrice getKernelPrice(const KernelSpec &spec);

/// "rows 8x128: 7 ops, 2 inputs, 3 outputs", for remarks and tests.
std::string describeKernel(const KernelSpec &spec);

} // namespace llmc

#endif // LLMC_ANALYSIS_KERNELFORMATION_KERNELFORMATION_H

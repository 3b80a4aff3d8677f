//===- Kernel.h - What an op tells the kernel former ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op's kernel answer is one of a few forms. The former groups ops by form
// and by their sharding rules into kernels; the emitter writes loops and asks
// each op for the scalar code of one element. Kernels compute with signless
// types: an op reads signedness from its own types.
//
//   Element      result[i] from operands at indices computed from i
//   Reduction    result[i] = combine over the reduced dimensions
//   Library      a call of a device's library, which the op builds
//   Update       result = an operand with some elements combined in place
//   Alias        the same bytes under another type: no kernel at all, and
//                chains are fused through it
//   Decompose    replaced by other graph ops before kernels are formed
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_KERNEL_H
#define LLMC_DIALECT_GRAPH_IR_KERNEL_H

#include "llmc/Support/LLVM.h"
#include <optional>

namespace llmc::graph {

enum class KernelForm { Element, Reduction, Library, Update, Alias, Decompose };

/// Gives the scalar element of operand `operand` at `indices` (index values,
/// one for each dimension of that operand).
using ElementSource = function_ref<Value(unsigned operand, ValueRange indices)>;

/// A reduction: operands [0, numInputs) are reduced over `dims`, operands
/// [numInputs, 2 * numInputs) are the initial values (identities after import).
struct ReductionShape {
  unsigned numInputs = 1;
  SmallVector<int64_t> dims;
  /// The combining step is no operation that is known to be associative:
  /// elements are taken one after the other, in row-major order.
  bool isOrdered = false;
};

/// One step of an Update: where the update element at some index goes.
struct UpdateTarget {
  /// Indices into the changed operand (and the result).
  SmallVector<Value> indices;
  /// i1: false when the element is dropped; null when always in bounds.
  Value inBounds;
};

/// How an Update that reads what it has written takes the dims of its space:
/// updates that differ in one of the first `apart` dims neither read nor write
/// what others write; those of the next `ordered` dims are taken one after the
/// other; of those that differ in the dims after these alone, none reads
/// what another writes.
struct UpdateOrder {
  unsigned apart = 0, ordered = 0;
};

/// Arithmetic work of one execution of an op.
struct OpCost {
  int64_t flops = 0;
  int64_t transcendentals = 0;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
  /// What a model's utilisation counts (PaLM, 2204.02311, appendix B): flops of
  /// products that are added up, also of those that a mask leaves out, and not
  /// of those that a gradient computes again.
  int64_t modelFlops = 0;
};

/// Bytes of all tensor operands and results, no flops.
OpCost getTrafficCost(Operation *op);
/// `flopsPerElement` and `transcendentalsPerElement` for each result element.
OpCost getElementwiseCost(Operation *op, int64_t flopsPerElement,
                          int64_t transcendentalsPerElement);

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_KERNEL_H

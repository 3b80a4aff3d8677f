//===- BodyCopies.h - Copies of a loop's scalar body ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a loop is written once, as scalar code at a position, and copied
// to wherever a thread comes by: for one position, or for neighbours as vector
// code (LoopWidening.h). A copy has the accumulators of its positions as
// values.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_BODYCOPIES_H
#define LLMC_LIB_TRANSFORMS_KERNELS_BODYCOPIES_H

#include "KernelTarget.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace llmc::kernels {

class LoopWidening;

class BodyCopies {
public:
  /// Writes the body of `request` at the builder's insertion point, where it
  /// stays until `erase`; copies are made in front of it.
  BodyCopies(OpBuilder &builder, Location loc, const LoopRequest &request)
      : builder(builder), loc(loc), request(request) {}
  LogicalResult write(LoopBody body);
  /// Leaves the builder where the body stood.
  void erase();

  /// Whether the body stores to anything but accumulators.
  bool hasStores();
  /// Neighbours that one access of 16 bytes takes, up to `most`, a power of
  /// two: all accesses are to neighbours that begin at a multiple of their
  /// number, or the same for all positions, as far as what widens the body can
  /// show. 1 where there is nothing to gain.
  int64_t getWidth(int64_t most);

  /// The body for `width` positions from `position` on, which is a multiple of
  /// `width`, at the insertion point. `lanes` are the accumulators of these
  /// positions, one value for each of the request's buffers: scalars for a
  /// width of 1.
  LogicalResult copy(int64_t width, Value position,
                     llvm::MutableArrayRef<Value> lanes);

private:
  void copyScalar(Value position, llvm::MutableArrayRef<Value> lanes);
  LogicalResult widen(LoopWidening &widening, Value position,
                      llvm::MutableArrayRef<Value> lanes);
  bool canWiden(int64_t width);

  OpBuilder &builder;
  Location loc;
  const LoopRequest &request;
  mlir::scf::ForOp loop;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_BODYCOPIES_H

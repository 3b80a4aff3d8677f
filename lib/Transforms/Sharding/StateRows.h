//===- StateRows.h - Where a state's row is found ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of a state has its whole's row when it has none of its own; an
// optimizer state without `rest` lies as its parameter does.
//
//   dist.state @W.0 part of @W ...          row of @W
//   dist.state @W.m {of = @W} without row   rest of @W
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_STATEROWS_H
#define LLMC_LIB_TRANSFORMS_SHARDING_STATEROWS_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "mlir/IR/BuiltinOps.h"

namespace llmc {

class StateRows {
public:
  explicit StateRows(mlir::ModuleOp module);

  dist::StateOp lookup(mlir::StringAttr name) const {
    return states.lookup(name);
  }
  /// Its own, or that of its whole; null layouts where nothing is given.
  dist::LayoutAttr getRest(dist::StateOp state) const;
  dist::LayoutAttr getUse(dist::StateOp state) const;
  dist::LayoutAttr getGradient(dist::StateOp state) const;
  /// The parameter to which an optimizer state belongs (that part of it), or
  /// null.
  dist::StateOp getParameter(dist::StateOp state) const;

  dist::RowAttr getRow(dist::StateOp state) const;

private:
  llvm::DenseMap<mlir::StringAttr, dist::StateOp> states;
  /// By whole and offsets.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, dist::StateOp>
      parts;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_STATEROWS_H

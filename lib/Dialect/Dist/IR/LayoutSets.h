//===- LayoutSets.h - Canonical order of a layout's sets --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Partial axes, replicated axes and pins are sets: they are sorted whenever a
// layout is built, so that equal layouts are equal attributes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_LAYOUTSETS_H
#define LLMC_DIALECT_DIST_IR_LAYOUTSETS_H

#include "llmc/Dialect/Dist/IR/Dist.h"

namespace llmc::dist {

struct LayoutSets {
  llvm::SmallVector<PartialAttr> partial;
  llvm::SmallVector<AxisAttr> replicated;
  llvm::SmallVector<PinAttr> at;
};

/// Sorts by kind and name; partial sets of one kind become one.
LayoutSets sortLayoutSets(mlir::MLIRContext *context,
                          llvm::ArrayRef<PartialAttr> partial,
                          llvm::ArrayRef<AxisAttr> replicated,
                          llvm::ArrayRef<PinAttr> at);

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_LAYOUTSETS_H

//===- ProductGroups.h - The rows of a block's group ------------*- C++ -*-===//
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CALLS_PRODUCTGROUPS_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CALLS_PRODUCTGROUPS_H

#include "ProductForm.h"

namespace llmc::kernels {

/// What the sizes of groups say of a block.
struct GroupTile {
  /// From the first line of the tile on, before `end`: lines of m where rows
  /// are free, terms of the group where they are contracted.
  Value begin, end;
  /// The number of the group's matrix, and whether there is one; null where
  /// rows are contracted.
  Value matrix, hasMatrix;
  /// Sizes are below zero, or more together than there are rows.
  Value isWrong;
};

/// Of tile `tile` of `tileRows` lines, of which a row has `rowsOfOne`.
GroupTile findFreeTile(GridCode &code, const ProductGroups &groups, Value batch,
                       Value tile, int64_t rowsOfOne, int64_t tileRows);
/// Of the group of `matrix`, of which a row has `rowsOfOne` terms.
GroupTile findGroup(GridCode &code, const ProductGroups &groups, Value batch,
                    Value matrix, int64_t rowsOfOne);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CALLS_PRODUCTGROUPS_H

//===- StateParts.h - Which states are worth splitting ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_STATEPARTS_H
#define LLMC_TRANSFORMS_TRAINING_STATEPARTS_H

#include "llmc/Dialect/Dist/IR/Dist.h"

namespace llmc::training {

/// Whether the state's row splits the dimension, at rest or in use, so that
/// slices along it would be gathered.
inline bool isSplitByRow(dist::StateOp state, int64_t dim) {
  dist::RowAttr row = state.getRowAttr();
  if (!row)
    return false;
  for (dist::LayoutAttr layout : {row.getRest(), row.getUse()})
    if (layout && !layout.getDims()[dim].getAxes().empty())
      return true;
  return false;
}

/// The most devices along the dimension in a layout of the row; 1 without one.
inline int64_t countDevicesOfRow(dist::StateOp state, int64_t dim) {
  dist::RowAttr row = state.getRowAttr();
  int64_t most = 1;
  if (!row)
    return most;
  for (auto mesh : state->getParentOfType<ModuleOp>().getOps<dist::MeshOp>())
    for (dist::LayoutAttr layout : {row.getRest(), row.getUse()}) {
      int64_t count = 1;
      if (layout)
        for (dist::AxisAttr axis : layout.getDims()[dim].getAxes())
          count *= mesh.getAxes().getSize(axis.getName());
      most = std::max(most, count);
    }
  return most;
}

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_STATEPARTS_H

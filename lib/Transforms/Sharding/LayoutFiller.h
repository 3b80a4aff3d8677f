//===- LayoutFiller.h - Layouts of new ops between others -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each factor of a new op is split as one of its tensors with a known layout
// says, forth and back until nothing changes. Large tensors speak first: that a
// mean over the batch is stored split must not move the batch.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_LAYOUTFILLER_H
#define LLMC_LIB_TRANSFORMS_SHARDING_LAYOUTFILLER_H

#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace llmc {

/// Finds layouts for new ops between values that have one.
class LayoutFiller {
public:
  LayoutFiller(ArrayRef<Operation *> ops, dist::MeshAxesAttr mesh,
               dist::LayoutAttr like)
      : ops(ops), mesh(mesh), like(like) {}

  /// Values from outside, and results that are given.
  void fix(Value value, dist::LayoutAttr layout) {
    if (layout)
      given.push_back({value, layout});
  }
  LogicalResult run();

private:
  LogicalResult open();
  void spread();
  void write();
  bool visit(Operation *op, const graph::ShardingRule &rule);
  bool write(Value value, const graph::TensorFactors &tensor,
             const graph::ShardingRule &rule, const FactorSplits &splits);

  ArrayRef<Operation *> ops;
  dist::MeshAxesAttr mesh;
  dist::LayoutAttr like;
  SmallVector<std::pair<Value, dist::LayoutAttr>> given;
  std::vector<graph::ShardingRule> rules;
  llvm::DenseMap<Value, dist::LayoutAttr> layouts;
  /// Values that may be written.
  llvm::DenseSet<Value> isOpen;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_LAYOUTFILLER_H

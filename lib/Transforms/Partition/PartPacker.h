//===- PartPacker.h - Ops on parts become ops on what they make -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pack is a list of values that lie side by side along a dimension of one
// tensor. What is known to lie so (arguments that share a buffer) is followed
// through ops: equal ops on the parts, whose rule passes the dimension, are one
// op on the whole, whatever they are.
//
//   %a = dot %x, %Wa   %b = dot %x, %Wb     ->   %ab = dot %x, %Wab
//   %s = add (dot %a, %Wa), (dot %b, %Wb)   ->   %s = dot concat(%a, %b), %Wab
//
// Test: test/Transforms/Partition/merge-parts.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_PARTITION_PARTPACKER_H
#define LLMC_LIB_TRANSFORMS_PARTITION_PARTPACKER_H

#include "llmc/Dialect/Graph/IR/ShardingRule.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <vector>

namespace llmc {

struct Pack {
  std::vector<Value> parts;
  int64_t dim = 0;
  bool operator<(const Pack &other) const;
};

class DeadOps;

/// Packs of one block of which every op is of use. Questions change nothing;
/// after `build` the block must be finished. The work is that on the ops that
/// the parts reach, however long the block is.
class PartPacker {
public:
  explicit PartPacker(mlir::Block &block) : block(block) {}

  /// The parts are known to lie side by side, in `whole` once that exists.
  void addKnown(const Pack &pack, Value whole = Value());

  /// The parts can be had as one value with nothing copied.
  bool canPack(const Pack &pack);
  /// The same, or as a contraction (after collectives) of which one side is
  /// copied together.
  bool canContract(const Pack &pack);
  /// Whether the parts are lines that one op of their segment may copy
  /// together.
  bool canCopyLine(const Pack &pack);
  /// What the parts make; copied together where it must be.
  Value build(const Pack &pack);

  /// The packs of results of equal ops that use the parts at this operand of
  /// `first`, of which the first uses the first part; nothing when the ops
  /// differ.
  std::optional<std::vector<Operation *>> findEqualUsers(const Pack &pack,
                                                         mlir::OpOperand &use);
  /// Where equal ops contract the packed dimension and their results are added
  /// up and used for nothing else: the last addition.
  Operation *findSum(ArrayRef<Operation *> ops, unsigned operand, int64_t dim);
  /// Replaces such a sum by one op.
  void buildSum(Operation *sum, ArrayRef<Operation *> ops);

  /// Values that are still used become slices of their packs; what nothing uses
  /// is gone. False where the ops cannot be ordered.
  bool finish();

private:
  struct Merge;
  /// How the ops that make the parts are merged; nothing when they differ.
  std::optional<Merge> findMerge(const Pack &pack, bool mayCopy);
  std::optional<Merge> findMergeOf(ArrayRef<Operation *> ops, int factor,
                                   const graph::ShardingRule &rule,
                                   bool mayCopy);
  std::optional<Merge> findMergeOfJoins(ArrayRef<Operation *> ops, int64_t dim,
                                        bool mayCopy);
  Value buildMerge(const Pack &pack, const Merge &merge);
  Operation *mergeOps(ArrayRef<Operation *> ops, const Merge &merge,
                      ArrayRef<std::pair<unsigned, int64_t>> packedResults);
  bool canHave(const Pack &operand, Operation *user, bool mayCopy);
  Value copyTogether(const Pack &pack, Operation *like);
  Value buildFor(Operation *user, const Pack &pack);
  void sliceKnown(const Pack &pack, Value whole, DeadOps &dead);

  /// Ops that are new.
  struct CreatedOps : mlir::OpBuilder::Listener {
    void notifyOperationInserted(Operation *op,
                                 mlir::OpBuilder::InsertPoint) override {
      ops.insert(op);
    }
    llvm::SetVector<Operation *> ops;
  };

  mlir::Block &block;
  CreatedOps created;
  /// Ops that others were built for: they may have lost their uses.
  llvm::SetVector<Operation *> replaced;
  std::map<Pack, Value> known;
  /// Those of `known` whose parts are gone, as they were found.
  std::vector<Pack> order;
  std::map<Pack, bool> answers;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_PARTITION_PARTPACKER_H

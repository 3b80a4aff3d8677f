//===- SampleLoop.h - A loop whose samples end by themselves ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   while(%i = 0 of each, %y = %a) cond { any(%i < 9 & g(%y)) } do {
//     %on = %i < 9 & g(%y)
//     return select(%on, %i + 1, %i), select(%on, f(%y), %y)
//   }
//     ->
//   while(%i = 0 of each, %y = %a, %k = 0) cond { %k < 9 } do {
//     %on = %i < 9 & g(%y)
//     %z = f(select(%on, %y, %a))
//     return select(%on, %i + 1, %i), select(%on, %z, %y), %k + 1
//   }
//
// So `jax.vmap` prints a loop that the run may end. What a sample becomes, and
// whether it goes on, depends on its own values alone, and all of them stay
// what they are from the trip on in which it does not: it has ended for good.
// Until then its counter goes on by equal steps from one number, the same for
// all samples, to a known end. So there are at most as many trips as that
// counts, and more trips than the text has change nothing. Those after a
// sample's end compute on its values before the loop, as in BoundedLoop.h.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_SAMPLELOOP_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_SAMPLELOOP_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::stablehlo {

class SampleLoop {
public:
  explicit SampleLoop(WhileOp loop);

  /// A bound of the trips; nothing where the loop is none of this kind.
  std::optional<int64_t> getTrips() const { return trips; }
  /// Builds the counted loop in front of the loop, which has a bound, and
  /// appends what stands for its results.
  void build(OpBuilder &builder, SmallVectorImpl<Value> &results);

private:
  /// A value that goes around.
  struct Carried {
    bool isSame = false;
    /// Its dim for each dim of the flags.
    SmallVector<int64_t> dims;
    /// What it becomes where its sample goes on.
    Value next;
  };

  bool matchFlags();
  bool matchCarried(unsigned number);
  bool areAlike(Value ofCondition, Value ofBody);
  bool isSame(Value value) const;
  bool isOfSample(Value value, int64_t dim, unsigned flagDim);
  bool keepsApart(int64_t flagDim);
  bool isResultOfSample(mlir::OpResult result, int64_t dim, unsigned flagDim);
  std::optional<int64_t> getNumber(Value value) const;
  std::optional<int64_t> countTrips(Value part);
  WhileOp makeLoop(OpBuilder &b);
  Value select(OpBuilder &b, unsigned number, Value on, Value onTrue,
               Value onFalse);
  void buildBody(OpBuilder &b, Block &block);

  WhileOp loop;
  /// Which samples go on: in the condition, and in the body.
  Value flags, mask;
  SmallVector<Carried> carried;
  std::optional<int64_t> trips;
  /// Values of the condition, and those of the body that are the same.
  llvm::DenseMap<Value, Value> alike;
  /// Values of a trip with a dim, for one dim of the flags.
  llvm::DenseMap<std::pair<Value, int64_t>, bool> ofSample;
};

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_SAMPLELOOP_H

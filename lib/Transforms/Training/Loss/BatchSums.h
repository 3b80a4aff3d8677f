//===- BatchSums.h - How values depend on the batch -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of several microbatches has the loss of its whole batch when that loss
// is linear in means over the batch. This analysis follows the batch, which is
// the first dimension of every input, from the inputs to the loss:
//
//   fixed    does not depend on the data
//   sample   has the batch in a dimension, and each sample's part depends on
//            that sample alone
//   linear   linear in sums over the batch
//   count    a function of sums of the data alone: max(sum(mask), 1)
//   mixed    anything else: `culprit` is the op at which it begins
//
// A sum over the batch has degree 1, as it grows with the batch; a mean has
// degree 0, and so must the loss. A constant that is a number of elements of
// the sum takes one degree away when it divides. It may as well be a weight of
// that size, so a value keeps all degrees that it can be read with.
//
// A sum over some pieces of the batch, as over the samples of one device, is a
// sample of what is left, of which there are sums alone. The batch may grow in
// these pieces or in those, so it has a degree for each; both must be 0 in the
// end: what is divided by the samples of a device is divided by the number of
// devices too.
//
// What an op does with the batch is read from its sharding rule.
//
// What a loop carries is, in all of its trips, what `join` makes of its start
// and of what a trip leaves: zeros join anything, since gradients are added up
// from zeros.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_BATCHSUMS_H
#define LLMC_TRANSFORMS_TRAINING_BATCHSUMS_H

#include "BatchPieces.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace llmc::dist {
struct LoopRun;
} // namespace llmc::dist

namespace llmc::training {

/// A set of small degrees.
class Degrees {
public:
  static Degrees of(int degree) { return Degrees(1u << (degree + kMost)); }
  static Degrees all() { return Degrees((1u << (2 * kMost + 1)) - 1); }
  bool has(int degree) const { return bits & of(degree).bits; }
  bool isEmpty() const { return bits == 0; }
  bool operator==(Degrees other) const { return bits == other.bits; }
  Degrees operator&(Degrees other) const { return Degrees(bits & other.bits); }
  Degrees operator|(Degrees other) const { return Degrees(bits | other.bits); }
  /// All sums of one of each; with `sign` -1 all differences.
  Degrees plus(Degrees other, int sign = 1) const;

private:
  static constexpr int kMost = 6;
  explicit Degrees(unsigned bits) : bits(bits) {}
  unsigned bits;
};

struct BatchState {
  enum class Kind { Fixed, Sample, Linear, Count, Mixed };
  Kind kind = Kind::Fixed;
  /// Fixed: all elements are zero, which is a sum of every degree.
  bool isZero = false;
  /// Depends on inputs and constants alone.
  bool isData = false;
  Degrees degrees = Degrees::of(0);
  /// No constant has been read as a count.
  bool isPlain = true;
  /// Sample: where the batch lies, major to minor; `place` is a dimension.
  /// None where the batch has one sample.
  SmallVector<BatchPiece, 1> pieces;
  /// Sample: a sum over the rest of the batch, and its degree in that.
  bool isPartial = false;
  Degrees inParts = Degrees::of(0);
  /// Numbers of elements that a sum may be divided by.
  SmallVector<int64_t, 4> counts = {1};
  /// Mixed: all the same the sum of what is fixed and of sums over the batch,
  /// of whatever degrees: the gradient of a mean and of a weight's decay, say.
  bool isAffine = false;
  /// Mixed: where it begins, and what is wrong there.
  Operation *culprit = nullptr;
  StringRef reason;

  /// Depends on the batch in the same way.
  bool isLike(const BatchState &other) const;
  static BatchState zero();
  /// What is like the one or like the other, depending on the trip; Mixed, with
  /// this culprit, where that is nothing else.
  static BatchState join(const BatchState &a, const BatchState &b,
                         Operation *culprit);
  bool isAffineSum() const {
    return kind == Kind::Fixed || kind == Kind::Linear || isAffine;
  }
  bool isSum() const { return kind == Kind::Linear || kind == Kind::Count; }
  /// The degree with which a sum of the data is read in a function that is not
  /// linear: 1, unless a constant in it can be a count.
  int pickDegree() const;
};

class BatchSums {
public:
  explicit BatchSums(mlir::func::FuncOp function);

  const BatchState &get(Value value) const { return states.at(value); }
  /// The mean of `value` over microbatches is its value for the whole batch,
  /// once the uses in `findScales` have those of the whole batch.
  bool isMean(Value value) const;
  /// Operands by which sums are multiplied or divided and that are sums of the
  /// data themselves, or functions of them, on the way to `value`.
  SmallVector<mlir::OpOperand *> findScales(Value value) const;
  /// Adds the sums over the batch that `value`, a sum of the data or a function
  /// of such sums, is computed from.
  void findRoots(Value value, llvm::SetVector<Value> &roots) const;

private:
  struct Visit;
  void visit(Operation &op);
  void visit(const dist::LoopRun &run);
  bool visitForwarding(Operation &op);
  void mixByCondition(const dist::LoopRun &run);
  bool close(const dist::LoopRun &run);
  bool isZero(Value value) const { return get(value).isZero; }
  bool isZero(Operation &op) const;

  llvm::DenseMap<Value, BatchState> states;
  /// Of values that loops carry: what they are at the start of any trip, where
  /// that is not what they are at the start of the first.
  llvm::DenseMap<Value, BatchState> carried;
  llvm::SetVector<mlir::OpOperand *> scales;
};

/// What is in both, in the order of the first.
SmallVector<int64_t, 4> intersectCounts(ArrayRef<int64_t> a,
                                        ArrayRef<int64_t> b);
/// The products of one of `counts` and some of `sizes`.
SmallVector<int64_t, 4> extendCounts(ArrayRef<int64_t> counts,
                                     ArrayRef<int64_t> sizes);

/// The float that all elements of a constant are.
std::optional<double> getNumber(Value value);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_BATCHSUMS_H

//===- AttentionRaise.cpp - nn.attention from what was matched ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each value goes from the atoms of its dims to the canonical ones by at most a
// reshape, a permutation, a repetition and a reshape.
//
// Test: test/Transforms/Training/raise-attention.mlir
//===----------------------------------------------------------------------===//

#include "AttentionPatterns.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/BitArithmetic.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::getShape;
namespace hlo = llmc::stablehlo;

namespace {
/// Builds canonical values; each list of atoms is a dim.
class CanonicalBuilder {
public:
  CanonicalBuilder(OpBuilder &b, Location loc, const DimAtoms &atoms)
      : b(b), loc(loc), atoms(atoms) {}

  /// The view with these dims; where it repeats, of size 1 or `isFull`.
  Value build(const AtomView &view, ArrayRef<AtomList> dims, bool isFull);
  /// A canonical value with the dims of the text.
  Value restore(Value value, ArrayRef<AtomList> dims,
                ArrayRef<AtomList> wanted);

  SmallVector<int64_t> shapeOf(ArrayRef<AtomList> dims) {
    return llvm::map_to_vector(
        dims, [&](ArrayRef<int> dim) { return atoms.sizeOf(dim); });
  }

  OpBuilder &b;
  Location loc;
  const DimAtoms &atoms;

private:
  SmallVector<int64_t> sizesOf(ArrayRef<int> list) {
    return llvm::map_to_vector(list,
                               [&](int atom) { return atoms.sizeOf(atom); });
  }
  Value permute(Value value, ArrayRef<int> from, ArrayRef<int> to);
};
} // namespace

/// From one order of atoms to another one, a dim for each.
Value CanonicalBuilder::permute(Value value, ArrayRef<int> from,
                                ArrayRef<int> to) {
  value = hlo::reshape(b, loc, value, sizesOf(from));
  SmallVector<int64_t> permutation;
  for (int atom : to)
    permutation.push_back(llvm::find(from, atom) - from.begin());
  return llvm::is_sorted(permutation)
             ? value
             : hlo::transpose(b, loc, value, permutation);
}

Value CanonicalBuilder::build(const AtomView &view, ArrayRef<AtomList> dims,
                              bool isFull) {
  AtomList own = atoms.flatten(view.dims), order;
  SmallVector<int64_t> shape, places, whole;
  for (ArrayRef<int> dim : dims) {
    bool isThere = llvm::any_of(
        dim, [&](int atom) { return llvm::is_contained(own, atom); });
    for (int atom : dim) {
      if (llvm::is_contained(own, atom)) {
        places.push_back(whole.size());
        order.push_back(atom);
      }
      whole.push_back(atoms.sizeOf(atom));
    }
    shape.push_back(isThere || isFull ? atoms.sizeOf(dim) : 1);
    // A dim that is repeated as a whole stays one.
    if (!isThere && !isFull)
      whole.resize(whole.size() - dim.size());
  }
  Value value = permute(view.value, own, order);
  if (places.size() != whole.size()) {
    auto type = cast<RankedTensorType>(value.getType());
    value = hlo::broadcastInDim(b, loc, value, type.clone(whole), places);
  }
  return hlo::reshape(b, loc, value, shape);
}

Value CanonicalBuilder::restore(Value value, ArrayRef<AtomList> dims,
                                ArrayRef<AtomList> wanted) {
  AtomList from = atoms.flatten(dims), to = atoms.flatten(wanted);
  return hlo::reshape(b, loc, permute(value, from, to), shapeOf(wanted));
}

/// Both with the larger of their dims, each of which is 1 in one or equal.
static void repeatAlike(CanonicalBuilder &with, Value &x, Value &y) {
  SmallVector<int64_t> shape;
  for (auto [a, b] : llvm::zip_equal(getShape(x), getShape(y)))
    shape.push_back(a == 1 ? b : a);
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  for (Value *value : {&x, &y})
    if (getShape(*value) != ArrayRef<int64_t>(shape))
      *value = hlo::broadcastInDim(
          with.b, with.loc, *value,
          cast<RankedTensorType>(value->getType()).clone(shape), dims);
}

/// All that is added to the scores, as one addend; null where nothing is.
static Value makeBias(CanonicalBuilder &with, const AttentionMatch &match,
                      ArrayRef<AtomList> dims, Type element) {
  OpBuilder &b = with.b;
  Location loc = with.loc;
  Value bias;
  for (const ScoreTerm &term : match.terms) {
    Value value = hlo::convertTo(
        b, loc, with.build(term.value, dims, /*isFull=*/false), element);
    if (term.factor != 1)
      value = hlo::mul(b, loc, value,
                       hlo::constantLike(b, loc, value, term.factor));
    if (bias)
      repeatAlike(with, bias, value);
    bias = bias ? hlo::add(b, loc, bias, value) : value;
  }
  for (const ScoreMask &mask : match.masks) {
    Value flags = with.build(mask.mask.flags, dims, /*isFull=*/false);
    auto type = cast<RankedTensorType>(flags.getType()).clone(element);
    if (!bias)
      bias = hlo::constantSplat(b, loc, type, 0);
    repeatAlike(with, bias, flags);
    Value fill = hlo::constantLike(b, loc, bias, -INFINITY);
    bias = mask.mask.isNegated ? hlo::select(b, loc, flags, fill, bias)
                               : hlo::select(b, loc, flags, bias, fill);
  }
  return bias;
}

/// Whether each row sees a column, with dims of size 1 where rows are alike.
static Value makeSees(CanonicalBuilder &with, const AttentionMatch &match,
                      ArrayRef<AtomList> dims) {
  OpBuilder &b = with.b;
  Location loc = with.loc;
  Value seen;
  auto add = [&](Value flags) {
    if (seen)
      repeatAlike(with, seen, flags);
    seen = seen ? hlo::logicalAnd(b, loc, seen, flags) : flags;
  };
  for (const ScoreMask &mask : match.masks) {
    Value flags = with.build(mask.mask.flags, dims, /*isFull=*/false);
    add(mask.mask.isNegated ? hlo::logicalNot(b, loc, flags) : flags);
  }
  int64_t columns = dims.size() - 1;
  if (match.causal) {
    SmallVector<int64_t> shape(dims.size(), 1), whole = with.shapeOf(dims);
    shape[columns - 1] = whole[columns - 1];
    shape[columns] = whole[columns];
    auto type = RankedTensorType::get(shape, b.getI32Type());
    Value rows = hlo::iota(b, loc, type, columns - 1);
    Value shift =
        hlo::constantLike(b, loc, rows, static_cast<double>(*match.causal));
    add(hlo::compare(b, loc, hlo::ComparisonDirection::LE,
                     hlo::iota(b, loc, type, columns),
                     hlo::add(b, loc, rows, shift)));
  }
  SmallVector<int64_t> shape(getShape(seen));
  shape.back() = 1;
  Value any = hlo::reduce(b, loc, ReductionKind::bitOr, seen, {columns});
  return hlo::reshape(b, loc, any, shape);
}

/// Where a row sees nothing, the mean of all values.
static Value makeUniform(CanonicalBuilder &with, const AttentionMatch &match,
                         ArrayRef<AtomList> dims, nn::AttentionOp attention) {
  OpBuilder &b = with.b;
  Location loc = with.loc;
  RankedTensorType type = attention.getResult().getType();
  Type wide = getElementTypeOrSelf(attention.getLogsumexp().getType());
  Value values = hlo::convertTo(b, loc, attention.getValue(), wide);
  int64_t batches = attention.getNumBatches(), last = type.getRank() - 1;
  Value mean = hlo::reduceAdd(b, loc, values, {batches});
  double columns = getShape(values)[batches];
  mean = hlo::div(b, loc, mean, hlo::constantLike(b, loc, mean, columns));
  SmallVector<int64_t> places = llvm::to_vector(llvm::seq<int64_t>(0, batches));
  places.push_back(last);
  mean = hlo::broadcastInDim(
      b, loc, hlo::convertTo(b, loc, mean, type.getElementType()), type,
      places);
  Value sees = hlo::broadcastInDim(
      b, loc, makeSees(with, match, dims), type.clone(b.getI1Type()),
      llvm::to_vector(llvm::seq<int64_t>(0, last + 1)));
  return hlo::select(b, loc, sees, attention.getResult(), mean);
}

/// For each canonical dim of the scores the step of the counter along it;
/// nothing where a dim has no step, or the counter has another dim.
static std::optional<SmallVector<int64_t>> findSteps(const DimAtoms &atoms,
                                                     const Affine &position,
                                                     ArrayRef<AtomList> dims) {
  llvm::SmallDenseMap<int, int64_t> steps;
  for (auto [atom, step] : position.terms) {
    AtomList parts = atoms.expand(atom);
    for (int part : llvm::reverse(parts)) {
      steps[part] = step;
      step *= atoms.sizeOf(part);
    }
  }
  SmallVector<int64_t> found;
  for (ArrayRef<int> dim : dims) {
    AtomList parts = atoms.expand(dim);
    int64_t step = parts.empty() ? 0 : steps.lookup(parts.back()), next = step;
    for (int part : llvm::reverse(parts)) {
      if (steps.lookup(part) != next)
        return std::nullopt;
      next *= atoms.sizeOf(part);
      steps.erase(part);
    }
    found.push_back(step);
  }
  bool isSound = position.constant >= 0 && llvm::all_of(steps, [](auto each) {
                   return each.second == 0;
                 });
  for (int64_t step : found)
    isSound = isSound && step >= 0;
  return isSound ? std::optional(found) : std::nullopt;
}

/// The sum as ui64 of rank 0.
static Value buildSum(CanonicalBuilder &with, const ScalarSum &sum) {
  OpBuilder &b = with.b;
  hlo::BitArithmetic bits(b, with.loc);
  auto whole = RankedTensorType::get({}, b.getIntegerType(64, false));
  if (!sum.scalar)
    return bits.constant(whole, sum.number);
  Value scalar = hlo::reshape(b, with.loc, sum.scalar, {});
  if (sum.number != 0)
    scalar = bits.apply<hlo::AddOp>(scalar, sum.number);
  return bits.convert(scalar, 64);
}

/// The key and the first counter.
static Value buildState(CanonicalBuilder &with, const DropMatch &drop) {
  OpBuilder &b = with.b;
  hlo::BitArithmetic bits(b, with.loc);
  ScalarSum first = drop.first;
  first.number += static_cast<uint64_t>(drop.position.constant);
  Value high = bits.apply<hlo::ShiftLeftOp>(buildSum(with, drop.draw.key[1]),
                                            uint64_t(32));
  Value key = bits.apply<hlo::OrOp>(buildSum(with, drop.draw.key[0]), high);
  SmallVector<Value> parts;
  for (Value part : {key, buildSum(with, first)})
    parts.push_back(hlo::reshape(b, with.loc, part, {1}));
  return hlo::concatenate(b, with.loc, parts, 0);
}

static AttentionSizes getSizes(const AttentionMatch &match,
                               const DimAtoms &atoms) {
  AttentionSizes sizes;
  for (int atom : match.batches)
    sizes.batches.push_back(atoms.sizeOf(atom));
  for (int atom : match.groups)
    sizes.groups.push_back(atoms.sizeOf(atom));
  sizes.rows = atoms.sizeOf(match.rows);
  sizes.columns = atoms.sizeOf(match.columns);
  sizes.depth = atoms.sizeOf(match.depth);
  sizes.values = atoms.sizeOf(match.values);
  sizes.scale = match.scale;
  sizes.causal = match.causal;
  sizes.hasBias = !match.terms.empty() || !match.masks.empty();
  if (match.drop)
    sizes.dropout = match.drop->dropout;
  return sizes;
}

bool training::raiseAttention(
    Operation *op, ConstantCones &cones,
    function_ref<StringRef(const AttentionSizes &)> whyNot, StringRef &reason) {
  AttentionMatcher matcher(cones);
  std::optional<AttentionMatch> match = matcher.match(op, reason);
  if (!match)
    return false;
  if (StringRef why = whyNot(getSizes(*match, matcher.atoms)); !why.empty()) {
    reason = why;
    return false;
  }
  OpBuilder b(op);
  CanonicalBuilder with(b, op->getLoc(), matcher.atoms);
  AtomDims batches, groups;
  for (int atom : match->batches)
    batches.push_back({atom});
  for (int atom : match->groups)
    groups.push_back({atom});
  auto dimsOf = [&](bool hasGroups, ArrayRef<int> x, ArrayRef<int> y) {
    AtomDims dims(batches);
    if (hasGroups)
      dims.append(groups);
    dims.push_back(AtomList(x));
    dims.push_back(AtomList(y));
    return dims;
  };
  AtomDims result = dimsOf(true, match->rows, match->values),
           scores = dimsOf(true, match->rows, match->columns);
  std::optional<SmallVector<int64_t>> steps;
  if (match->drop)
    steps = findSteps(matcher.atoms, match->drop->position, scores);
  if (match->drop && !steps) {
    reason = "the counter of what drops weights does not follow their dims";
    return false;
  }
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  Type wide = element.isF64() ? element : b.getF32Type();
  Value state;
  if (match->drop)
    state = buildState(with, *match->drop);
  auto attention = nn::AttentionOp::create(
      b, op->getLoc(),
      with.build(match->query, dimsOf(true, match->rows, match->depth), true),
      with.build(match->key, dimsOf(false, match->columns, match->depth), true),
      with.build(match->value, dimsOf(false, match->columns, match->values),
                 true),
      makeBias(with, *match, scores, wide), match->scale, match->causal,
      match->isSafe || match->isUniform);
  if (match->drop) {
    attention.getStateMutable().assign(state);
    attention.setBitStrides(*steps);
    attention.setDropoutAttr(
        nn::DropoutAttr::get(b.getContext(), match->drop->dropout));
  }
  Value made = attention.getResult();
  if (match->isUniform)
    made = makeUniform(with, *match, scores, attention);
  op->getResult(0).replaceAllUsesWith(
      with.restore(made, result, match->result));
  return true;
}

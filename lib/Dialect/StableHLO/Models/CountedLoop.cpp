//===- CountedLoop.cpp - A loop that stays one ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CountedLoop.h.
//
// Test: test/Import/StableHLO/keep-loops.mlir
//===----------------------------------------------------------------------===//

#include "CountedLoop.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

namespace {
/// What becomes of one value that goes around a loop.
enum class Part { Counter, Invariant, Stack, Written, Carried };

/// A loop whose counter is known.
struct CountedLoop {
  explicit CountedLoop(WhileOp loop)
      : loop(loop), body(loop.getBody().front()) {}

  /// False where it is none, or reads stacks in other ways.
  bool match();

  WhileOp loop;
  Block &body;
  unsigned counter = 0;
  int64_t trips = 0;
  SmallVector<Part> parts;

private:
  bool matchCounter();
  Value getStart(Value ofCondition);
  std::optional<Part> classify(unsigned number);
  bool isRowRead(Operation *user, Value stack);
  bool isRowBox(ValueRange starts, ArrayRef<int64_t> sizes,
                RankedTensorType stack);

  Value returned(unsigned number) {
    return body.getTerminator()->getOperand(number);
  }
};
} // namespace

static std::optional<int64_t> getNumber(Value value) {
  std::optional<HostTensor> constant =
      value ? graph::getConstant(value) : std::nullopt;
  if (!constant || constant->isFloat() || constant->getNumElements() != 1)
    return std::nullopt;
  return constant->getInt(0);
}

/// What a value of the condition is when the loop starts, if no trip changes
/// it; null where one may.
Value CountedLoop::getStart(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &loop.getCond().front())
    return value;
  unsigned number = argument.getArgNumber();
  bool isSame = returned(number) == body.getArgument(number);
  return isSame ? loop->getOperand(number) : Value();
}

/// Reads `counter < end`, from 0 by ones.
bool CountedLoop::matchCounter() {
  Block &cond = loop.getCond().front();
  auto compare = cond.getTerminator()->getOperand(0).getDefiningOp<CompareOp>();
  if (!compare || compare.getComparisonDirection() != ComparisonDirection::LT)
    return false;
  auto argument = dyn_cast<BlockArgument>(compare.getLhs());
  if (!argument || argument.getOwner() != &cond)
    return false;
  counter = argument.getArgNumber();
  auto step = returned(counter).getDefiningOp<AddOp>();
  std::optional<int64_t> first = getNumber(loop->getOperand(counter)),
                         end = getNumber(getStart(compare.getRhs()));
  if (!step || !end || first != 0 || *end < 1)
    return false;
  trips = *end;
  Value own = body.getArgument(counter);
  return (step.getLhs() == own && getNumber(step.getRhs()) == 1) ||
         (step.getRhs() == own && getNumber(step.getLhs()) == 1);
}

/// One row, whose number is that of the trip.
bool CountedLoop::isRowBox(ValueRange starts, ArrayRef<int64_t> sizes,
                           RankedTensorType stack) {
  if (stack.getRank() == 0 || stack.getDimSize(0) != trips || sizes[0] != 1 ||
      sizes.drop_front() != stack.getShape().drop_front() ||
      starts[0] != body.getArgument(counter))
    return false;
  return llvm::all_of(starts.drop_front(),
                      [](Value start) { return getNumber(start) == 0; });
}

bool CountedLoop::isRowRead(Operation *user, Value stack) {
  auto slice = dyn_cast<DynamicSliceOp>(user);
  return slice && slice->getBlock() == &body && slice.getOperand() == stack &&
         isRowBox(slice.getStartIndices(), slice.getSliceSizes(),
                  cast<RankedTensorType>(stack.getType()));
}

/// Nothing where the loop reads or writes parts of it in another way.
std::optional<Part> CountedLoop::classify(unsigned number) {
  if (number == counter)
    return Part::Counter;
  Value own = body.getArgument(number), next = returned(number);
  Operation *end = body.getTerminator();
  auto users = own.getUsers();
  if (next == own) {
    bool isReadByRows = llvm::any_of(
        users, [&](Operation *user) { return isRowRead(user, own); });
    bool isOnlyReadSo = llvm::all_of(users, [&](Operation *user) {
      return user == end || isRowRead(user, own);
    });
    if (isReadByRows && isOnlyReadSo)
      return Part::Stack;
    return Part::Invariant;
  }
  auto write = next.getDefiningOp<DynamicUpdateSliceOp>();
  if (write && write.getOperand() == own) {
    auto update = cast<RankedTensorType>(write.getUpdate().getType());
    bool isRow = isRowBox(write.getStartIndices(), update.getShape(),
                          cast<RankedTensorType>(own.getType()));
    if (isRow && own.hasOneUse() && next.hasOneUse())
      return Part::Written;
    return std::nullopt;
  }
  return Part::Carried;
}

bool CountedLoop::match() {
  if (!matchCounter())
    return false;
  for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
    std::optional<Part> part = classify(i);
    if (!part)
      return false;
    parts.push_back(*part);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Whether it is kept
//===----------------------------------------------------------------------===//

/// Unrolled to more ops than this, a loop is kept whatever it does.
static constexpr int64_t kMostOps = 4096;
/// Fewer trips are unrolled: the parts of a loop cost more than its copies.
static constexpr int64_t kFewestTrips = 4;

/// Whether a value is made in the trips of a loop that has been kept.
static bool isOfTrips(Operation *loop) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> work;
  auto add = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && seen.insert(def).second)
        work.push_back(def);
  };
  loop->walk([&](Operation *inner) { add(inner); });
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (isa<dist::EnterOp>(op))
      return true;
    if (!isa<dist::LeaveOp>(op))
      add(op);
  }
  return false;
}

static bool callsLibrary(Operation *op) {
  auto kernel = dyn_cast<graph::KernelOpInterface>(op);
  return kernel && kernel.getKernelForm() == graph::KernelForm::Library;
}

bool stablehlo::isKept(WhileOp loop) {
  CountedLoop counted(loop);
  if (loop->hasAttr(dist::DistDialect::kUnroll) || !counted.match() ||
      counted.trips < kFewestTrips)
    return false;
  int64_t numOps = 0;
  bool isLarge = false, hasBranches = false;
  loop.getBody().walk([&](Operation *op) {
    ++numOps;
    isLarge |= callsLibrary(op);
    hasBranches |= isa<CaseOp, IfOp>(op);
  });
  // Which branch a trip takes is often known from its number.
  return ((isLarge && !hasBranches) || numOps * counted.trips > kMostOps) &&
         !isOfTrips(loop);
}

//===----------------------------------------------------------------------===//
// Keeping it
//===----------------------------------------------------------------------===//

namespace {
/// Builds what `keepLoop` does.
class Keeper {
public:
  Keeper(CountedLoop &counted, OpBuilder &builder)
      : counted(counted), loop(counted.loop), builder(builder),
        loc(loop->getLoc()),
        attr(dist::LoopAttr::get(builder.getContext(), makeName(),
                                 counted.trips)) {}

  void enter();
  void copyBody();
  void leave(SmallVectorImpl<Value> &results);

private:
  StringAttr makeName();
  Value enter(Value value, dist::EnterKind kind, int64_t number = -1) {
    return dist::EnterOp::create(builder, loc, value, kind, attr, number);
  }
  Value leave(Value value, dist::LeaveKind kind) {
    return dist::LeaveOp::create(builder, loc, value, kind, attr);
  }
  Value makeCount();
  void enterCaptured();
  bool copyRow(Operation &op);

  CountedLoop &counted;
  WhileOp loop;
  OpBuilder &builder;
  Location loc;
  dist::LoopAttr attr;
  IRMapping mapping;
};
} // namespace

/// A name that no loop of the function has.
StringAttr Keeper::makeName() {
  llvm::DenseSet<Attribute> taken;
  for (auto other : loop->getBlock()->getOps<dist::EnterOp>())
    taken.insert(other.getLoop().getName());
  for (int64_t number = 0;; ++number) {
    StringAttr name = builder.getStringAttr("loop" + std::to_string(number));
    if (!taken.contains(name))
      return name;
  }
}

/// The number of the trip, as a row of the numbers.
Value Keeper::makeCount() {
  auto scalar =
      cast<RankedTensorType>(loop->getOperand(counted.counter).getType());
  auto type = RankedTensorType::get({counted.trips}, scalar.getElementType());
  return enter(stablehlo::iota(builder, loc, type, 0), dist::EnterKind::Row);
}

/// What the body reads from around the loop enters it too: its cotangents of
/// all trips are added up.
void Keeper::enterCaptured() {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop.getBody(), captured);
  for (Value value : captured) {
    Operation *def = value.getDefiningOp();
    if (!def || !def->hasTrait<OpTrait::ConstantLike>())
      mapping.map(value, enter(value, dist::EnterKind::Same));
  }
}

void Keeper::enter() {
  using dist::EnterKind;
  enterCaptured();
  for (auto [i, part] : llvm::enumerate(counted.parts)) {
    Value from = loop->getOperand(i), own = counted.body.getArgument(i);
    switch (part) {
    case Part::Counter:
      mapping.map(own, makeCount());
      break;
    case Part::Invariant:
      mapping.map(own, enter(from, EnterKind::Same));
      break;
    case Part::Stack:
      mapping.map(own, enter(from, EnterKind::Row));
      break;
    case Part::Carried:
      mapping.map(own, enter(from, EnterKind::Carry, static_cast<int64_t>(i)));
      break;
    case Part::Written:
      break;
    }
  }
}

/// A row that is read or written, whose stack has become the row.
bool Keeper::copyRow(Operation &op) {
  auto partOf = [&](Value stack) -> std::optional<Part> {
    auto argument = dyn_cast<BlockArgument>(stack);
    if (!argument || argument.getOwner() != &counted.body)
      return std::nullopt;
    return counted.parts[argument.getArgNumber()];
  };
  if (auto slice = dyn_cast<DynamicSliceOp>(op);
      slice && partOf(slice.getOperand()) == Part::Stack) {
    auto type = cast<RankedTensorType>(slice.getResult().getType());
    mapping.map(slice.getResult(),
                stablehlo::reshape(builder, op.getLoc(),
                                   mapping.lookup(slice.getOperand()),
                                   type.getShape()));
    return true;
  }
  auto write = dyn_cast<DynamicUpdateSliceOp>(op);
  return write && partOf(write.getOperand()) == Part::Written;
}

void Keeper::copyBody() {
  for (Operation &op : counted.body.without_terminator())
    if (!copyRow(op))
      builder.clone(op, mapping);
}

void Keeper::leave(SmallVectorImpl<Value> &results) {
  using dist::LeaveKind;
  Operation *end = counted.body.getTerminator();
  for (auto [i, part] : llvm::enumerate(counted.parts)) {
    Value from = loop->getOperand(i), last = end->getOperand(i);
    auto type = cast<RankedTensorType>(from.getType());
    if (part == Part::Carried) {
      Value next = dist::NextOp::create(
          builder, loc, mapping.lookup(counted.body.getArgument(i)),
          mapping.lookupOrDefault(last));
      results.push_back(leave(next, LeaveKind::Last));
    } else if (part == Part::Written) {
      Value row = mapping.lookupOrDefault(
          last.getDefiningOp<DynamicUpdateSliceOp>().getUpdate());
      row = stablehlo::reshape(builder, loc, row, type.getShape().drop_front());
      results.push_back(leave(row, LeaveKind::Stack));
    } else if (part == Part::Counter) {
      results.push_back(stablehlo::constantSplat(
          builder, loc, type, static_cast<double>(counted.trips)));
    } else {
      results.push_back(from);
    }
  }
}

void stablehlo::keepLoop(WhileOp loop, OpBuilder &builder,
                         SmallVectorImpl<Value> &results) {
  CountedLoop counted(loop);
  counted.match();
  Keeper keeper(counted, builder);
  keeper.enter();
  keeper.copyBody();
  keeper.leave(results);
}

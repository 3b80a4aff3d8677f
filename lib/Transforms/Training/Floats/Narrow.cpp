//===- Narrow.cpp - Contractions multiply narrow floats -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %y  = dot %x, %W : f32, f32 -> f32          forward
//   %gW = dot %x, %g : f32, f32 -> f32          backward
//   becomes
//   %xn = convert %x : f32 -> bf16              forward
//   %Wn = convert %W : f32 -> bf16
//   %y  = dot %xn, %Wn : bf16, bf16 -> f32
//   %gn = convert %g : f32 -> bf16              backward
//   %gW = dot %xn, %gn : bf16, bf16 -> f32      %xn is what is kept
//
// Which operands these are, the op says (PrecisionOpInterface); of which type,
// the marks of step and states (FactorTypes.h). All that lies between two
// contractions stays wide. This is done on the derivative, so that cotangents
// are factors like any others, and gradients are not rounded.
//
// A value has one conversion in each block that reads it: in the forward for
// what the backward reads too, so that the narrow one is kept, or what is
// gathered of it; of a weight that is not gathered it is made again
// (llmc-trim-activations). A conversion stands before ops that move or repeat
// the value.
//
// With `dist.saved_precision` what is no factor is kept narrow too, where all
// that reads it in the backward may read it rounded:
//
//   %d = nn.gelu_grad %h, %g   ->   %hn = convert %h, in the forward
//                                   %hw = convert %hn : bf16 -> f32
//                                   %d  = nn.gelu_grad %hw, %g
//
// Floats of eight bits have a scale for each tensor (FactorScales.h). What is
// linear in each factor, and takes two types, multiplies f8E4M3FN, and
// cotangents of f8E5M2, and its result is divided by both scales; other ops, as
// attention, multiply bf16.
//
// Test: test/Transforms/Training/narrow.mlir
//===----------------------------------------------------------------------===//

#include "../Parts/PartBuilder.h"
#include "../TrainingMarks.h"
#include "FactorScales.h"
#include "FactorTypes.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Dist/IR/PrecisionMarks.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include <map>
#include <tuple>

namespace llmc {
#define GEN_PASS_DEF_NARROWPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using dist::DistDialect;
using dist::Phase;
using graph::PrecisionOpInterface;

namespace {
class FunctionNarrower {
public:
  FunctionNarrower(func::FuncOp function, const FactorTypes &types,
                   const FactorScales &scales)
      : function(function), types(types), scales(scales),
        loops(function.front()) {}

  void run();

private:
  /// Where the narrow form of a value stands.
  struct Place {
    /// In front of it, or behind it.
    Operation *at;
    bool isBehind;
    /// Whose block it has.
    Operation *block;
    Phase phase;
  };

  bool canNarrow(PrecisionOpInterface op, FloatType type);
  void narrow(PrecisionOpInterface op, FloatType type);
  void quantize(PrecisionOpInterface op);
  void widenResult(OpResult result, FloatType type);
  void keepNarrow(OpResult value, FloatType type);
  Place findPlace(Value value, Operation *user);
  Value getNarrow(Value value, FloatType type, Operation *user) {
    return getScaled(value, type, user).value;
  }
  ScaledValue getScaled(Value value, FloatType type, Operation *user);
  ScaledValue build(Value value, FloatType type, Operation *user, Place place);
  ScaledValue convert(OpBuilder &builder, Value value, FloatType type,
                      Operation *user);
  dist::LoopAttr getLoop(Operation *op) const;

  func::FuncOp function;
  const FactorTypes &types;
  FactorScales scales;
  dist::LoopRuns loops;
  /// Of what now stands for the results of ops of a trip.
  llvm::DenseMap<Operation *, dist::LoopAttr> newLoops;
  /// By value, type, block and phase.
  std::map<std::tuple<void *, void *, int64_t, int>, ScaledValue> built;
};

/// What is built after a place.
struct NewOps : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    ops.push_back(op);
  }
  SmallVector<Operation *> ops;
};
} // namespace

static Type withElement(Type type, FloatType element) {
  return cast<RankedTensorType>(type).clone(element);
}

static Phase getPhase(Operation *op) {
  auto phase = op->getAttrOfType<dist::PhaseAttr>(DistDialect::kPhase);
  return phase ? phase.getValue() : Phase::Forward;
}

static bool isMoved(Value value) {
  auto move = value.getDefiningOp<PrecisionOpInterface>();
  return move && move.isMove();
}

/// It enters a loop as it is, or by rows.
static bool isEntering(Value value) {
  auto enter = value.getDefiningOp<dist::EnterOp>();
  return enter && !enter.isCarry();
}

/// Every phase can convert it: arguments, what enters a trip as it is,
/// constants, and these moved.
static bool isEverywhere(Value value) {
  while (isMoved(value))
    value = value.getDefiningOp()->getOperand(0);
  if (isa<BlockArgument>(value) || matchPattern(value, m_Constant()))
    return true;
  return isEntering(value);
}

/// What a value is before it is moved, and enters loops.
static Value getOrigin(Value value) {
  while (isMoved(value) || isEntering(value))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

//===----------------------------------------------------------------------===//
// Narrow values
//===----------------------------------------------------------------------===//

/// The operation that moves a value, where conversions stand before it: the
/// value has no more elements than the result, or is a weight, whose slices are
/// all of it (and which is gathered as a whole).
static Operation *getMove(Value value) {
  if (!isMoved(value))
    return nullptr;
  Operation *move = value.getDefiningOp();
  auto before = cast<RankedTensorType>(move->getOperand(0).getType());
  auto after = cast<RankedTensorType>(value.getType());
  bool isSmall = before.getNumElements() <= after.getNumElements();
  return isSmall || isEverywhere(value) ? move : nullptr;
}

/// In the block of the user, and in the phase of the value; where the forward
/// has no user in that block, with the value.
FunctionNarrower::Place FunctionNarrower::findPlace(Value value,
                                                    Operation *user) {
  if (isEverywhere(value))
    return {user, false, user, getPhase(user)};
  Operation *maker = value.getDefiningOp();
  Phase phase = getPhase(maker);
  bool isKept = phase == Phase::Forward && getPhase(user) != Phase::Forward;
  return isKept ? Place{maker, true, maker, phase}
                : Place{user, false, user, phase};
}

ScaledValue FunctionNarrower::convert(OpBuilder &builder, Value value,
                                      FloatType type, Operation *user) {
  if (type.getWidth() > 8)
    return {stablehlo::convertTo(builder, user->getLoc(), value, type), {}};
  dist::LoopAttr loop;
  if (Operation *maker = value.getDefiningOp())
    loop = getLoop(maker);
  return scales.build(builder, user->getLoc(), value, type,
                      !isEverywhere(getOrigin(value)), loop);
}

/// The innermost loop in whose trips the op runs, or null.
dist::LoopAttr FunctionNarrower::getLoop(Operation *op) const {
  if (dist::LoopAttr loop = newLoops.lookup(op))
    return loop;
  int run = loops.getRunOf(op);
  return run < 0 ? dist::LoopAttr() : loops.getRuns()[run].loop;
}

ScaledValue FunctionNarrower::build(Value value, FloatType type,
                                    Operation *user, Place place) {
  Operation *move = getMove(value);
  ScaledValue result;
  if (move)
    result = getScaled(move->getOperand(0), type, user);
  NewOps made;
  OpBuilder builder(function.getContext(), &made);
  if (place.isBehind)
    builder.setInsertionPointAfter(place.at);
  else
    builder.setInsertionPoint(place.at);
  if (move) {
    IRMapping mapping;
    mapping.map(move->getOperand(0), result.value);
    Operation *copy = builder.clone(*move, mapping);
    result.value = copy->getResult(0);
    result.value.setType(withElement(result.value.getType(), type));
  } else {
    result = convert(builder, value, type, user);
  }
  for (Operation *op : made.ops) {
    copyMarks(place.block, op);
    if (place.block->hasAttr(DistDialect::kPhase))
      setPhaseMark(op, place.phase);
  }
  return result;
}

ScaledValue FunctionNarrower::getScaled(Value value, FloatType type,
                                        Operation *user) {
  if (getElementTypeOrSelf(value.getType()) == type)
    return {value, {}};
  if (auto convert = value.getDefiningOp<stablehlo::ConvertOp>();
      convert && type.getWidth() > 8 &&
      getElementTypeOrSelf(convert->getOperand(0)) == type)
    return {convert->getOperand(0), {}};
  auto keyOf = [&](Operation *block, Phase phase) {
    return std::tuple(value.getAsOpaquePointer(),
                      const_cast<void *>(type.getAsOpaquePointer()),
                      getBlockMark(block).value_or(0), static_cast<int>(phase));
  };
  Place place = findPlace(value, user);
  for (auto key : {keyOf(user, Phase::Forward), keyOf(user, place.phase),
                   keyOf(place.block, place.phase)})
    if (auto known = built.find(key); known != built.end())
      return known->second;
  ScaledValue result = build(value, type, user, place);
  built[keyOf(place.block, place.phase)] = result;
  return result;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// All factors are of this type, or wider; not all of this type.
bool FunctionNarrower::canNarrow(PrecisionOpInterface op, FloatType type) {
  bool isWider = false;
  for (unsigned factor : op.getFactors()) {
    Type own = getElementTypeOrSelf(op->getOperand(factor).getType());
    if (own == type)
      continue;
    auto element = dyn_cast<FloatType>(own);
    if (!element || element.getWidth() <= type.getWidth())
      return false;
    isWider = true;
  }
  return isWider;
}

void FunctionNarrower::widenResult(OpResult result, FloatType type) {
  Type wide = result.getType();
  result.setType(withElement(wide, type));
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfter(result.getOwner());
  Value converted =
      stablehlo::convertTo(builder, result.getLoc(), result,
                           cast<RankedTensorType>(wide).getElementType());
  Operation *convert = converted.getDefiningOp();
  copyMarks(result.getOwner(), convert);
  newLoops[convert] = getLoop(result.getOwner());
  result.replaceAllUsesExcept(converted, convert);
}

/// It is made in the backward, or moved from what is, into a loop too.
static bool isCotangent(Value value) {
  Value origin = getOrigin(value);
  return !isEverywhere(origin) &&
         getPhase(origin.getDefiningOp()) != Phase::Forward;
}

/// The result is linear in each of its factors, which may be of two types.
static bool isScalable(PrecisionOpInterface op) {
  auto rule = dyn_cast<graph::ShardingRuleOpInterface>(op.getOperation());
  if (!rule || !op.mixesTypes() || op->getNumResults() != 1 ||
      !op.getFactorResults().empty())
    return false;
  return llvm::any_of(rule.getShardingRule().carries, [&](auto &carried) {
    return carried.kind == ReductionKind::sum &&
           llvm::all_of(op.getFactors(), [&](unsigned factor) {
             return llvm::is_contained(carried.groups,
                                       SmallVector<int>{int(factor)});
           });
  });
}

void FunctionNarrower::quantize(PrecisionOpInterface op) {
  MLIRContext *context = op->getContext();
  SmallVector<Value> inverses;
  for (unsigned factor : op.getFactors()) {
    Value value = op->getOperand(factor);
    auto type = isCotangent(value) ? FloatType(Float8E5M2Type::get(context))
                                   : FloatType(Float8E4M3FNType::get(context));
    ScaledValue scaled = getScaled(value, type, op);
    op->setOperand(factor, scaled.value);
    if (scaled.inverse)
      inverses.push_back(scaled.inverse);
  }
  Value result = op->getResult(0);
  auto own = cast<FloatType>(getElementTypeOrSelf(result.getType()));
  // Products of two scaled tensors are no numbers of narrower floats.
  if (own.getWidth() < 32)
    result.setType(withElement(result.getType(), Float32Type::get(context)));
  NewOps made;
  OpBuilder builder(context, &made);
  builder.setInsertionPointAfter(op);
  Value unscaled = stablehlo::convertTo(
      builder, op->getLoc(),
      FactorScales::unscale(builder, op->getLoc(), result, inverses), own);
  llvm::SmallPtrSet<Operation *, 8> added(made.ops.begin(), made.ops.end());
  for (Operation *each : made.ops)
    copyMarks(op, each);
  newLoops[unscaled.getDefiningOp()] = getLoop(op);
  result.replaceAllUsesExcept(unscaled, added);
}

void FunctionNarrower::narrow(PrecisionOpInterface op, FloatType type) {
  if (type.getWidth() == 8 && isScalable(op))
    return quantize(op);
  if (type.getWidth() == 8)
    type = BFloat16Type::get(op->getContext());
  if (!canNarrow(op, type))
    return;
  for (unsigned factor : op.getFactors())
    op->setOperand(factor, getNarrow(op->getOperand(factor), type, op));
  for (unsigned result : op.getFactorResults())
    widenResult(op->getResult(result), type);
}

/// A product of others with the operand, or an op that says so.
static bool mayRound(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (auto answers = dyn_cast<PrecisionOpInterface>(op);
      answers && llvm::is_contained(answers.getRoundable(), number))
    return true;
  auto rule = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!rule || op->getNumOperands() < 2)
    return false;
  return llvm::any_of(rule.getShardingRule().carries, [&](auto &carried) {
    return carried.kind == ReductionKind::sum &&
           llvm::any_of(carried.groups, [&](ArrayRef<int> group) {
             return group.size() == 1 && group[0] == int(number);
           });
  });
}

/// Where all of the backward may read a value rounded, it reads the narrow one.
void FunctionNarrower::keepNarrow(OpResult value, FloatType type) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  auto element =
      tensor ? dyn_cast<FloatType>(tensor.getElementType()) : FloatType();
  if (!element || element.getWidth() <= type.getWidth() || isEverywhere(value))
    return;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (!use.getOwner()->hasTrait<OpTrait::IsTerminator>() &&
        getPhase(use.getOwner()) != Phase::Forward)
      uses.push_back(&use);
  if (uses.empty() ||
      !llvm::all_of(uses, [](OpOperand *use) { return mayRound(*use); }))
    return;
  for (OpOperand *use : llvm::reverse(uses)) {
    Operation *user = use->getOwner();
    OpBuilder builder(user);
    Value wide = stablehlo::convertTo(builder, user->getLoc(),
                                      getNarrow(value, type, user), element);
    copyMarks(user, wide.getDefiningOp());
    use->set(wide);
  }
}

void FunctionNarrower::run() {
  SmallVector<PrecisionOpInterface> ops(
      function.front().getOps<PrecisionOpInterface>());
  for (PrecisionOpInterface op : ops)
    if (FloatType type = types.of(op); type && canNarrow(op, type))
      narrow(op, type);
  if (FloatType type = types.getSaved())
    for (Operation &op : llvm::make_early_inc_range(function.front()))
      if (getPhase(&op) == Phase::Forward)
        for (OpResult result : op.getResults())
          keepNarrow(result, type);
  scales.finish();
  eraseDeadOps(function.front());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// All but updates, which stay wide.
static llvm::SetVector<Operation *> collectFunctions(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SetVector<Operation *> functions;
  for (auto step : module.getOps<dist::StepOp>())
    functions.insert(symbols.lookup(step.getMicrobatch()));
  for (func::FuncOp function : getGraphFunctions(module))
    functions.insert(function);
  return functions;
}

namespace {
struct NarrowPass : llmc::impl::NarrowPassBase<NarrowPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FactorTypes types(module);
    if (types.isEmpty())
      return markAllAnalysesPreserved();
    llvm::DenseMap<StringAttr, dist::StepOp> steps;
    Scaling scaling;
    for (auto step : module.getOps<dist::StepOp>()) {
      steps[step.getMicrobatchAttr().getAttr()] = step;
      scaling = Scaling::of(step);
    }
    for (Operation *op : collectFunctions(module)) {
      auto function = cast<func::FuncOp>(op);
      if (function.isExternal())
        continue;
      dist::StepOp step = steps.lookup(function.getSymNameAttr());
      types.collect(function);
      FunctionNarrower(function, types, FactorScales(function, scaling, step))
          .run();
    }
    for (Operation &op : *module.getBody())
      for (StringRef mark :
           {DistDialect::kPrecision, dist::kSavedPrecision, dist::kScaling})
        op.removeAttr(mark);
  }
};
} // namespace

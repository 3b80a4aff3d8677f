//===- NarrowIndices.cpp - Indices of 32 bits where they fit --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU has no instructions for integers of 64 bits: it adds them in two, and
// divides them in some hundred. What a launch has of rows, blocks and threads
// bounds each index that is made of them, and so does what an index is compared
// with by minima and maxima:
//
//   %row = addi %begin, %block : index         below 768 by LaunchBounds
//   %at = remui %row, %c64 : index
//   %x = memref.load %m[%at]
//     ->  %0 = index_cast %begin : index to i32
//         %row = addi %0, %block overflow<nsw, nuw> : i32
//         %at = remui %row, %c64_i32 : i32
//         %x = memref.load %m[index_cast %at]  extended once, for the address
//
// Each op is looked at by itself: where its operands and its result fit, it
// computes with 32 bits, and all others keep 64. That no sum overflows is said
// to LLVM, which then still takes constants out of addresses.
//
// Test: test/Codegen/narrow-indices.test, test/Codegen/LaneTest.cpp
//
//===----------------------------------------------------------------------===//

#include "NarrowIndices.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include <limits>

using namespace mlir;

namespace llmc::codegen {

LaunchBounds LaunchBounds::of(dist::KernelOp kernel) {
  LaunchBounds bounds;
  bounds.rows = std::max<int64_t>(kernel.getRows(), 1);
  int64_t ofBlock = 1;
  if (dist::LaunchShapeAttr shape = kernel.getShapeAttr()) {
    ofBlock = shape.getRows();
    bounds.threads = shape.getThreads();
  }
  bounds.blocks = llvm::divideCeil(bounds.rows, ofBlock);
  for (auto [number, argument] : llvm::enumerate(kernel.getArgumentRange()))
    if (argument.isScalar() && argument.getBound() > 0)
      bounds.below[number] = argument.getBound();
  // A launch has all rows (KernelAbi.h).
  unsigned begin = kernel.getArguments().size();
  bounds.below[begin] = 1;
  bounds.below[begin + 1] = bounds.rows + 1;
  return bounds;
}

namespace {

/// The ranges of what a launch has.
class LaunchRanges : public dataflow::IntegerRangeAnalysis {
public:
  LaunchRanges(DataFlowSolver &solver, const LaunchBounds &bounds)
      : IntegerRangeAnalysis(solver), bounds(bounds) {}

  void setToEntryState(dataflow::IntegerValueRangeLattice *lattice) override {
    auto argument = dyn_cast<BlockArgument>(lattice->getAnchor());
    if (argument && argument.getType().isIndex() &&
        isa<func::FuncOp>(argument.getOwner()->getParentOp()) &&
        bounds.below.contains(argument.getArgNumber()))
      return setBelow(lattice, bounds.below.lookup(argument.getArgNumber()));
    IntegerRangeAnalysis::setToEntryState(lattice);
  }

  LogicalResult visitOperation(
      Operation *op,
      ArrayRef<const dataflow::IntegerValueRangeLattice *> operands,
      ArrayRef<dataflow::IntegerValueRangeLattice *> results) override {
    if (isa<gpu::ThreadIdOp>(op)) {
      setBelow(results[0], bounds.threads);
      return success();
    }
    if (isa<gpu::BlockIdOp>(op)) {
      setBelow(results[0], bounds.blocks);
      return success();
    }
    return IntegerRangeAnalysis::visitOperation(op, operands, results);
  }

private:
  void setBelow(dataflow::IntegerValueRangeLattice *lattice, int64_t bound) {
    constexpr unsigned indexBits = IndexType::kInternalStorageBitWidth;
    auto range = ConstantIntRanges::fromUnsigned(APInt(indexBits, 0),
                                                 APInt(indexBits, bound - 1));
    propagateIfChanged(lattice, lattice->join(IntegerValueRange(range)));
  }

  const LaunchBounds &bounds;
};

/// One function of a kernel.
class Narrowing {
public:
  Narrowing(func::FuncOp function, const LaunchBounds &bounds)
      : function(function), bounds(bounds) {}

  LogicalResult run();

private:
  bool fits(Value value, bool isUnsigned = false) const;
  bool fits(Operation *op) const;
  bool fits(scf::ForOp loop) const;
  Value narrow(OpBuilder &builder, Value wide);
  void widen(OpBuilder &builder, Value narrowed, Value wide);
  void narrow(Operation *op, bool isUnsigned);
  void narrow(scf::ForOp loop);
  void sayThatItFits(Operation *op, bool isUnsigned);

  func::FuncOp function;
  const LaunchBounds &bounds;
  DataFlowSolver solver{DataFlowConfig().setInterprocedural(false)};
  /// Of what is extended, what it was before.
  llvm::DenseMap<Value, Value> narrowed;
};

} // namespace

static bool isIndex(Type type) { return getElementTypeOrSelf(type).isIndex(); }

/// Of the shape of `type`.
static Type getWords(Type type) {
  Type word = IntegerType::get(type.getContext(), 32);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(word)) : word;
}

static std::optional<ConstantIntRanges> getRange(const DataFlowSolver &solver,
                                                 Value value) {
  auto *lattice = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!lattice || lattice->getValue().isUninitialized())
    return std::nullopt;
  return lattice->getValue().getValue();
}

/// The one place that says which indices have 32 bits: all their values are
/// numbers of 32 bits with a sign.
bool Narrowing::fits(Value value, bool isUnsigned) const {
  std::optional<ConstantIntRanges> range = getRange(solver, value);
  return range &&
         range->smin().sge(isUnsigned ? 0
                                      : std::numeric_limits<int32_t>::min()) &&
         range->smax().sle(std::numeric_limits<int32_t>::max());
}

/// Whether the op says the same of extended numbers and of these.
bool Narrowing::fits(Operation *op) const {
  bool isUnsigned =
      isa<arith::DivUIOp, arith::RemUIOp, arith::MinUIOp, arith::MaxUIOp>(op);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    isUnsigned = compare.getPredicate() >= arith::CmpIPredicate::ult;
  else if (!isUnsigned &&
           !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
                arith::RemSIOp, arith::MinSIOp, arith::MaxSIOp, arith::AndIOp,
                arith::OrIOp, arith::XOrIOp, arith::SelectOp>(op))
    return false;
  // The least number by -1 would overflow.
  if (isa<arith::DivSIOp, arith::RemSIOp>(op)) {
    std::optional<ConstantIntRanges> divisor =
        getRange(solver, op->getOperand(1));
    if (!divisor || divisor->smin().sle(0))
      return false;
  }
  auto isNarrow = [&](Value value) {
    return !isIndex(value.getType()) || fits(value, isUnsigned);
  };
  auto isOfIndices = [](Value value) { return isIndex(value.getType()); };
  return llvm::any_of(op->getOperands(), isOfIndices) &&
         llvm::all_of(op->getOperands(), isNarrow) &&
         llvm::all_of(op->getResults(), isNarrow);
}

/// The number after the last one, with which the loop ends, fits as well.
bool Narrowing::fits(scf::ForOp loop) const {
  if (!loop.getInductionVar().getType().isIndex() ||
      !fits(loop.getLowerBound()) || !fits(loop.getUpperBound()) ||
      !fits(loop.getStep(), /*isUnsigned=*/true))
    return false;
  int64_t end = getRange(solver, loop.getUpperBound())->smax().getSExtValue() +
                getRange(solver, loop.getStep())->smax().getSExtValue();
  return end <= std::numeric_limits<int32_t>::max();
}

Value Narrowing::narrow(OpBuilder &builder, Value wide) {
  if (!isIndex(wide.getType()))
    return wide;
  if (Value known = narrowed.lookup(wide))
    return known;
  return arith::IndexCastOp::create(builder, wide.getLoc(),
                                    getWords(wide.getType()), wide);
}

/// `wide` has been replaced by what extends `value`.
void Narrowing::widen(OpBuilder &builder, Value value, Value wide) {
  Value extended =
      arith::IndexCastOp::create(builder, wide.getLoc(), wide.getType(), value);
  narrowed[extended] = value;
  wide.replaceAllUsesWith(extended);
}

/// The ranges have no place where 64 bits would overflow, so none overflows 32.
void Narrowing::sayThatItFits(Operation *op, bool isUnsigned) {
  auto flags = arith::IntegerOverflowFlags::nsw;
  if (isUnsigned)
    flags = flags | arith::IntegerOverflowFlags::nuw;
  if (auto add = dyn_cast<arith::AddIOp>(op))
    add.setOverflowFlags(flags);
  else if (auto subtract = dyn_cast<arith::SubIOp>(op))
    subtract.setOverflowFlags(flags);
  else if (auto multiply = dyn_cast<arith::MulIOp>(op))
    multiply.setOverflowFlags(flags);
}

void Narrowing::narrow(Operation *op, bool isUnsigned) {
  OpBuilder builder(op);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, narrow(builder, operand));
  Operation *made = builder.clone(*op, mapping);
  sayThatItFits(made, isUnsigned);
  for (auto [wide, value] : llvm::zip(op->getResults(), made->getResults())) {
    if (!isIndex(wide.getType())) {
      wide.replaceAllUsesWith(value);
      continue;
    }
    value.setType(getWords(value.getType()));
    widen(builder, value, wide);
  }
  op->erase();
}

void Narrowing::narrow(scf::ForOp loop) {
  OpBuilder builder(loop);
  for (OpOperand *bound :
       {&loop.getLowerBoundMutable(), &loop.getUpperBoundMutable(),
        &loop.getStepMutable()})
    bound->set(narrow(builder, bound->get()));
  Value position = loop.getInductionVar();
  builder.setInsertionPointToStart(loop.getBody());
  position.setType(builder.getI32Type());
  auto extended = arith::IndexCastOp::create(builder, loop.getLoc(),
                                             builder.getIndexType(), position);
  position.replaceAllUsesExcept(extended, extended);
  narrowed[extended] = position;
}

LogicalResult Narrowing::run() {
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<LaunchRanges>(bounds);
  if (failed(solver.initializeAndRun(function)))
    return failure();
  // All is decided before anything changes: what is made has no range.
  SmallVector<std::pair<Operation *, bool>> ops;
  auto isNatural = [&](Value value) {
    return fits(value, /*isUnsigned=*/true);
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop ? fits(loop) : fits(op))
      ops.push_back({op, llvm::all_of(op->getOperands(), isNatural) &&
                             llvm::all_of(op->getResults(), isNatural)});
  });
  for (auto [op, isUnsigned] : ops) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      narrow(loop);
    else
      narrow(op, isUnsigned);
  }
  return success();
}

namespace {
class NarrowIndicesPass
    : public PassWrapper<NarrowIndicesPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NarrowIndicesPass)

  explicit NarrowIndicesPass(llvm::StringMap<LaunchBounds> bounds)
      : bounds(std::move(bounds)) {}

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto known = bounds.find(function.getSymName());
      if (known != bounds.end() && !function.isExternal() &&
          failed(Narrowing(function, known->second).run()))
        return signalPassFailure();
    }
  }

private:
  llvm::StringMap<LaunchBounds> bounds;
};
} // namespace

std::unique_ptr<mlir::Pass>
createNarrowIndicesPass(llvm::StringMap<LaunchBounds> bounds) {
  return std::make_unique<NarrowIndicesPass>(std::move(bounds));
}

} // namespace llmc::codegen

//===- TrainingMarks.cpp - What phase 1 reads off functions ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingMarks.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Analysis/Program/ScheduleProblem.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using llmc::dist::DistDialect;

FlatSymbolRefAttr training::getRead(func::FuncOp function, unsigned index) {
  return dist::getState(dist::getArgumentPort(function, index));
}

bool training::isParameter(func::FuncOp function, unsigned index) {
  return dist::isPort(dist::getArgumentPort(function, index),
                      dist::PortKind::Parameter);
}

bool training::isInput(func::FuncOp function, unsigned index) {
  return dist::isPort(dist::getArgumentPort(function, index),
                      dist::PortKind::Input);
}

bool training::hasDerivative(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (dist::isAnyPort(dist::getResultPort(function, i),
                        {dist::PortKind::Gradient, dist::PortKind::Parameter}))
      return true;
  return false;
}

std::optional<int64_t> training::getBlockMark(Operation *op) {
  if (auto block = op->getAttrOfType<IntegerAttr>(DistDialect::kBlock))
    return block.getInt();
  return std::nullopt;
}

int64_t training::getBlockOf(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? getBlockMark(op).value_or(0) : 0;
}

void training::setBlockMark(Operation *op, int64_t block) {
  op->setAttr(DistDialect::kBlock,
              IntegerAttr::get(IntegerType::get(op->getContext(), 64), block));
}

void training::markNewBlocks(func::FuncOp function, int64_t last) {
  auto getMark = [](Operation *op) {
    return op ? training::getBlockMark(op) : std::nullopt;
  };
  for (Operation &op : llvm::reverse(function.front().without_terminator())) {
    if (getMark(&op))
      continue;
    std::optional<int64_t> block;
    for (Value operand : op.getOperands())
      if (std::optional<int64_t> mark = getMark(operand.getDefiningOp()))
        block = std::max(*mark, block.value_or(*mark));
    if (!block)
      for (Operation *user : op.getUsers())
        if (std::optional<int64_t> mark = getMark(user))
          block = std::min(*mark, block.value_or(*mark));
    training::setBlockMark(&op, block.value_or(last));
  }
}

void training::setPhaseMark(Operation *op, dist::Phase phase) {
  op->setAttr(DistDialect::kPhase,
              dist::PhaseAttr::get(op->getContext(), phase));
}

std::string training::getMicrobatchName(dist::TrainingOp training) {
  return (training.getSymName() + ".microbatch").str();
}

std::string training::getUpdateName(dist::TrainingOp training) {
  return (training.getSymName() + ".update").str();
}

std::string training::getCountsName(dist::TrainingOp training) {
  return (training.getSymName() + ".counts").str();
}

std::string training::getBoundName(dist::TrainingOp training) {
  return (training.getSymName() + ".count_bound").str();
}

Value training::applyBound(OpBuilder &builder, dist::TrainingOp training,
                           Value count, SymbolTable &symbols) {
  auto bound = symbols.lookup<func::FuncOp>(getBoundName(training));
  if (!bound)
    return count;
  IRMapping mapping;
  mapping.map(bound.getArgument(0), count);
  for (Operation &op : bound.front().without_terminator())
    builder.clone(op, mapping);
  return mapping.lookup(bound.front().getTerminator()->getOperand(0));
}

FailureOr<func::FuncOp> training::findMicrobatch(dist::TrainingOp training) {
  std::string name = getMicrobatchName(training);
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      training, StringAttr::get(training.getContext(), name));
  if (function)
    return function;
  return training.emitOpError()
         << "expected function @" << name
         << " in the module, got none; run 'llmc-sum-loss' first";
}

int64_t training::countChunks(ModuleOp module) {
  int64_t numChunks = 1;
  for (auto mesh : module.getOps<dist::MeshOp>())
    numChunks = getPipelineSize(mesh);
  for (auto training : module.getOps<dist::TrainingOp>())
    numChunks = getNumChunks(training.getSchedule(), numChunks);
  return numChunks;
}

unsigned training::findLoss(func::FuncOp function) {
  unsigned index = 0;
  while (
      !dist::isPort(dist::getResultPort(function, index), dist::PortKind::Loss))
    ++index;
  return index;
}

void training::makeStep(dist::TrainingOp recipe, func::FuncOp microbatch,
                        func::FuncOp update) {
  OpBuilder builder(recipe);
  OperationState state(recipe.getLoc(), dist::StepOp::getOperationName());
  state.addAttribute("sym_name", recipe.getSymNameAttr());
  state.addAttribute("microbatch",
                     FlatSymbolRefAttr::get(microbatch.getNameAttr()));
  state.addAttribute("update", FlatSymbolRefAttr::get(update.getNameAttr()));
  state.addAttribute("microbatches", recipe.getMicrobatchesAttr());
  state.addAttribute("schedule", recipe.getScheduleAttr());
  if (auto recompute = recipe.getRecomputeAttr())
    state.addAttribute("recompute", recompute);
  state.addAttributes(llvm::to_vector(recipe->getDiscardableAttrs()));
  if (std::optional<Type> type = recipe.getPrecision();
      type && isa<BFloat16Type, Float16Type, Float8E4M3FNType>(*type))
    state.addAttribute(DistDialect::kPrecision, recipe.getPrecisionAttr());
  builder.create(state);
  recipe.erase();
}

dist::RowAttr training::getMomentRow(dist::StateOp parameter,
                                     RankedTensorType type) {
  dist::RowAttr row = parameter.getRowAttr();
  if (!row)
    return {};
  dist::LayoutAttr rest =
      row.getOptimizer() ? row.getOptimizer() : row.getRest();
  if (!rest || rest.getRank() != type.getRank())
    return {};
  return dist::RowAttr::get(parameter.getContext(), rest);
}

SmallVector<func::FuncOp> training::getGraphFunctions(ModuleOp module) {
  llvm::SetVector<Operation *> functions;
  SymbolTable symbols(module);
  auto add = [&](FlatSymbolRefAttr symbol) {
    if (auto function = symbols.lookup<func::FuncOp>(symbol.getAttr()))
      functions.insert(function);
  };
  for (auto recipe : module.getOps<dist::TrainingOp>())
    add(recipe.getForwardAttr());
  for (auto entry : module.getOps<dist::EntryOp>())
    add(entry.getFunctionAttr());
  SmallVector<func::FuncOp> result;
  for (Operation *function : functions)
    result.push_back(cast<func::FuncOp>(function));
  return result;
}

void training::setResults(func::FuncOp function, ValueRange values) {
  function.front().getTerminator()->setOperands(values);
  (void)function.removeResAttrsAttr();
  function.setType(FunctionType::get(
      function.getContext(), function.getArgumentTypes(), values.getTypes()));
}

/// An identity that only stops a derivative.
static bool isStop(Operation &op) {
  return isa<stablehlo::OptimizationBarrierOp>(op) &&
         op.hasAttr(DistDialect::kStopGradient);
}

Value training::getStopped(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || !isStop(*result.getOwner()))
    return {};
  return result.getOwner()->getOperand(result.getResultNumber());
}

void training::eraseDerivativeMarks(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.front()))
    if (isStop(op)) {
      op.replaceAllUsesWith(op.getOperands());
      op.erase();
    }
  for (Operation &op : function.front())
    for (StringRef mark :
         {DistDialect::kStopGradient, DistDialect::kJaxFunction})
      op.removeAttr(mark);
}

void training::eraseDeadOps(Block &block) {
  dist::eraseDeadLoops(block);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void training::eraseUnusedArguments(func::FuncOp function) {
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  (void)function.eraseArguments(unused);
}

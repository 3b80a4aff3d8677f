//===- StepOps.cpp - Recipes, steps and entries ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifies the functions of a program against its states: which argument reads
// what, which result replaces what, and that `@microbatch` hands `@update`
// exactly the sums that it takes. Tested by
// test/Dialect/Dist/invalid-step.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Dist/IR/StateBuffers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace llmc::dist;

/// What a function of each use may take and return beside states and, as
/// arguments, hyper values.
static constexpr PortKind kOfModel[] = {PortKind::Input, PortKind::Step,
                                        PortKind::Microbatch};
static constexpr PortKind kOfUpdate[] = {PortKind::Gradient, PortKind::LossSum,
                                         PortKind::Count, PortKind::MetricSum,
                                         PortKind::Step};
static constexpr PortKind kFromForward[] = {PortKind::Loss, PortKind::Output,
                                            PortKind::Gradient};
/// Of a forward function that is the whole step.
static constexpr PortKind kFromWholeStep[] = {PortKind::Loss, PortKind::Output};
static constexpr PortKind kFromMicrobatch[] = {
    PortKind::LossSum, PortKind::Count, PortKind::MetricSum,
    PortKind::Gradient};
static constexpr PortKind kFromUpdate[] = {PortKind::Metric};
static constexpr PortKind kFromEntry[] = {PortKind::Loss, PortKind::Output,
                                          PortKind::Metric};

namespace {
/// A function of a program, as seen by the op that uses it.
class FunctionChecker {
public:
  FunctionChecker(Operation *user, func::FuncOp function,
                  const StateBuffers &buffers, SymbolTableCollection &tables)
      : user(user), function(function), signature(function), buffers(buffers),
        tables(tables) {}

  /// Every argument is a state, a hyper value or one of `others`.
  LogicalResult verifyArguments(ArrayRef<PortKind> others);
  /// Every result replaces a state, at most one each, or is one of `others`.
  LogicalResult verifyResults(ArrayRef<PortKind> others, bool parameters);
  /// There is one result of this kind.
  LogicalResult verifyOneResult(PortKind kind);

private:
  LogicalResult verifyKind(StringRef where, unsigned index, PortAttr port,
                           ArrayRef<PortKind> others);
  /// The state exists and has the port's role, the value's shape and element
  /// type.
  LogicalResult verifyState(StringRef where, unsigned index, PortAttr port,
                            Type type);
  LogicalResult verifyHyper(unsigned index, FlatSymbolRefAttr symbol,
                            Type type);
  LogicalResult verifyWrite(FlatSymbolRefAttr symbol, bool parameters);
  InFlightDiagnostic fail() {
    InFlightDiagnostic diag = user->emitOpError();
    diag.attachNote(function.getLoc()) << "function is defined here";
    return diag;
  }

  Operation *user;
  func::FuncOp function;
  Signature signature;
  const StateBuffers &buffers;
  SymbolTableCollection &tables;
  llvm::DenseSet<Attribute> written;
};
} // namespace

static bool isSameTensor(Type a, Type b) {
  auto left = dyn_cast<RankedTensorType>(a);
  auto right = dyn_cast<RankedTensorType>(b);
  return left && right && left.getShape() == right.getShape() &&
         left.getElementType() == right.getElementType();
}

LogicalResult FunctionChecker::verifyState(StringRef where, unsigned index,
                                           PortAttr port, Type type) {
  FlatSymbolRefAttr symbol = port.getSymbol();
  if (!symbol)
    return fail() << "expected the symbol of a state in the port of " << where
                  << " " << index << " of @" << function.getName()
                  << ", got none";
  auto state = tables.lookupNearestSymbolFrom<StateOp>(user, symbol);
  if (!state)
    return fail() << "expected state " << symbol << " of " << where << " "
                  << index << " of @" << function.getName()
                  << " in the module, got none";
  if (getPortKind(state.getRole()) != port.getKind())
    return fail() << "expected port '" << stringifyRole(state.getRole())
                  << "' of state " << symbol << " for " << where << " " << index
                  << " of @" << function.getName() << ", got '"
                  << stringifyPortKind(port.getKind()) << "'";
  BufferOp buffer = buffers.lookup(symbol.getAttr());
  RankedTensorType wanted =
      buffer ? buffer.getTensorType() : state.getTensorType();
  if (!isSameTensor(wanted, type))
    return fail() << "expected " << wanted << " of state " << symbol << " for "
                  << where << " " << index << " of @" << function.getName()
                  << ", got " << type;
  return success();
}

LogicalResult FunctionChecker::verifyHyper(unsigned index,
                                           FlatSymbolRefAttr symbol,
                                           Type type) {
  auto hyper = tables.lookupNearestSymbolFrom<HyperOp>(user, symbol);
  if (!hyper)
    return fail() << "expected hyper value " << symbol << " of argument "
                  << index << " of @" << function.getName()
                  << " in the module, got none";
  if (!isSameTensor(hyper.getType(), type))
    return fail() << "expected " << hyper.getType() << " of hyper value "
                  << symbol << " for argument " << index << " of @"
                  << function.getName() << ", got " << type;
  return success();
}

LogicalResult FunctionChecker::verifyKind(StringRef where, unsigned index,
                                          PortAttr port,
                                          ArrayRef<PortKind> others) {
  if (isAnyPort(port, others))
    return success();
  InFlightDiagnostic diag = fail()
                            << "expected " << where << " " << index << " of @"
                            << function.getName() << " to be a state"
                            << (where == "argument" ? ", hyper" : "");
  for (PortKind kind : others)
    diag << ", " << stringifyPortKind(kind);
  if (port)
    return diag << ", got " << port;
  return diag << ", got no port";
}

LogicalResult FunctionChecker::verifyArguments(ArrayRef<PortKind> others) {
  for (auto [i, port] : llvm::enumerate(signature.arguments)) {
    Type type = function.getArgumentTypes()[i];
    LogicalResult result = success();
    if (port && port.isState())
      result = verifyState("argument", i, port, type);
    else if (FlatSymbolRefAttr hyper = getHyper(port))
      result = verifyHyper(i, hyper, type);
    else
      result = verifyKind("argument", i, port, others);
    if (failed(result))
      return failure();
  }
  return success();
}

/// A state is replaced once, by a function that may.
LogicalResult FunctionChecker::verifyWrite(FlatSymbolRefAttr symbol,
                                           bool parameters) {
  if (!written.insert(symbol).second)
    return fail() << "expected state " << symbol << " to be written once by @"
                  << function.getName();
  auto state = tables.lookupNearestSymbolFrom<StateOp>(user, symbol);
  // No result has the port of a constant.
  if (!parameters && state.getRole() != Role::Carried)
    return fail() << "expected @" << function.getName()
                  << " to write no state of role '"
                  << stringifyRole(state.getRole()) << "', got " << symbol;
  return success();
}

LogicalResult FunctionChecker::verifyResults(ArrayRef<PortKind> others,
                                             bool parameters) {
  for (auto [i, port] : llvm::enumerate(signature.results)) {
    if (!port || !port.isState()) {
      if (failed(verifyKind("result", i, port, others)))
        return failure();
      continue;
    }
    if (failed(verifyState("result", i, port, function.getResultTypes()[i])) ||
        failed(verifyWrite(port.getSymbol(), parameters)))
      return failure();
  }
  return success();
}

LogicalResult FunctionChecker::verifyOneResult(PortKind kind) {
  int64_t count = llvm::count_if(
      signature.results, [&](PortAttr port) { return isPort(port, kind); });
  if (count == 1)
    return success();
  return user->emitOpError()
         << "expected one result '" << stringifyPortKind(kind) << "' of @"
         << function.getName() << ", got " << count;
}

/// The function named, or an error at `user`.
static func::FuncOp findFunction(Operation *user, FlatSymbolRefAttr symbol,
                                 SymbolTableCollection &tables) {
  auto function = tables.lookupNearestSymbolFrom<func::FuncOp>(user, symbol);
  if (!function)
    user->emitOpError() << "expected function " << symbol
                        << " in the module, got none";
  return function;
}

/// Block -> chunk: from 0 on, each chunk after the one before it.
static LogicalResult verifyChunks(Operation *op,
                                  std::optional<ArrayRef<int64_t>> chunks) {
  if (!chunks)
    return success();
  int64_t last = 0;
  for (int64_t chunk : *chunks) {
    if (chunk < last || chunk > last + 1)
      return op->emitOpError() << "expected chunks that ascend from 0 by at "
                                  "most 1, got "
                               << chunk << " after " << last;
    last = chunk;
  }
  return success();
}

static LogicalResult verifyMicrobatches(Operation *op, int64_t microbatches) {
  if (microbatches >= 1)
    return success();
  return op->emitOpError() << "expected at least 1 microbatch, got "
                           << microbatches;
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

static LogicalResult verifyLossScale(TrainingOp op) {
  std::optional<ArrayRef<double>> scale = op.getLossScale();
  if (!scale)
    return success();
  int exponent = 0;
  bool isSound =
      scale->size() == 2 && std::isfinite(scale->front()) &&
      std::frexp(scale->front(), &exponent) == 0.5 && scale->back() >= 1 &&
      scale->back() == std::floor(scale->back()) && scale->back() <= INT32_MAX;
  if (isSound)
    return success();
  return op.emitOpError() << "expected a loss scale of a power of two and a "
                             "number of steps, got "
                          << op.getLossScaleAttr();
}

LogicalResult TrainingOp::verify() {
  if (failed(verifyMicrobatches(*this, getMicrobatches())))
    return failure();
  if (getClip()) {
    double clip = getClip()->convertToDouble();
    if (!(clip > 0) || !std::isfinite(clip))
      return emitOpError() << "expected a positive norm to clip at, got "
                           << clip;
  }
  if (getAccumulate() && !isa<FloatType>(*getAccumulate()))
    return emitOpError() << "expected a float to accumulate in, got "
                         << *getAccumulate();
  if (std::optional<Type> type = getPrecision();
      type && !isa<Float32Type, Float64Type, BFloat16Type, Float16Type,
                   Float8E4M3FNType>(*type))
    return emitOpError()
           << "expected precision f32, f64, bf16, f16 or f8E4M3FN, got "
           << *type;
  return verifyLossScale(*this);
}

LogicalResult ExecutionOp::verify() {
  if (getThreads() < 1)
    return emitOpError() << "expected at least 1 thread, got " << getThreads();
  for (Operation *before = (*this)->getPrevNode(); before;
       before = before->getPrevNode())
    if (isa<ExecutionOp>(before))
      return emitOpError() << "expected once in a module";
  return success();
}

/// A gradient has the shape of its state; a device may hold another part of it
/// than of the state.
static LogicalResult verifyGradient(Operation *user, func::FuncOp function,
                                    unsigned index, FlatSymbolRefAttr symbol,
                                    const StateBuffers &buffers,
                                    SymbolTableCollection &tables) {
  if (!symbol)
    return user->emitOpError() << "expected the state of gradient " << index
                               << " of @" << function.getName() << ", got none";
  auto state = tables.lookupNearestSymbolFrom<StateOp>(user, symbol);
  if (!state)
    return user->emitOpError()
           << "expected state " << symbol << " of result " << index << " of @"
           << function.getName() << " in the module, got none";
  auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[index]);
  bool isWhole = !buffers.lookup(symbol.getAttr());
  if (!type || (isWhole && type.getShape() != state.getTensorType().getShape()))
    return user->emitOpError()
           << "expected the shape of " << state.getTensorType() << " of state "
           << symbol << " for result " << index << " of @" << function.getName()
           << ", got " << function.getResultTypes()[index];
  return success();
}

LogicalResult TrainingOp::verifySymbolUses(SymbolTableCollection &tables) {
  func::FuncOp forward = findFunction(*this, getForwardAttr(), tables);
  bool isWhole = !getOptimizerAttr();
  if (!forward ||
      (!isWhole && !findFunction(*this, getOptimizerAttr(), tables)))
    return failure();
  StateBuffers buffers((*this)->getParentOp());
  FunctionChecker checker(*this, forward, buffers, tables);
  if (failed(checker.verifyArguments(kOfModel)) ||
      failed(checker.verifyResults(isWhole ? ArrayRef(kFromWholeStep)
                                           : ArrayRef(kFromForward),
                                   /*parameters=*/isWhole)) ||
      failed(checker.verifyOneResult(PortKind::Loss)))
    return failure();
  llvm::DenseSet<Attribute> differentiated;
  for (unsigned i = 0; i < forward.getNumResults(); ++i) {
    PortAttr port = getResultPort(forward, i);
    if (!isPort(port, PortKind::Gradient))
      continue;
    if (failed(verifyGradient(*this, forward, i, port.getSymbol(), buffers,
                              tables)))
      return failure();
    if (!differentiated.insert(port.getSymbol()).second)
      return emitOpError() << "expected one gradient of " << port.getSymbol()
                           << " from @" << forward.getName() << ", got two";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Step
//===----------------------------------------------------------------------===//

LogicalResult StepOp::verify() {
  if (failed(verifyMicrobatches(*this, getMicrobatches())))
    return failure();
  return verifyChunks(*this, getChunks());
}

/// Each sum that `update` takes is a result of `microbatch` of the same type.
static LogicalResult verifySums(StepOp step, func::FuncOp microbatch,
                                func::FuncOp update,
                                const StateBuffers &buffers,
                                SymbolTableCollection &tables) {
  llvm::DenseMap<Attribute, Type> sums;
  for (unsigned i = 0; i < microbatch.getNumResults(); ++i) {
    PortAttr port = getResultPort(microbatch, i);
    if (!isSum(port))
      continue;
    if (port.getKind() == PortKind::Gradient &&
        failed(verifyGradient(step, microbatch, i, port.getSymbol(), buffers,
                              tables)))
      return failure();
    Type type = microbatch.getResultTypes()[i];
    if (!sums.try_emplace(port.getSlot(), type).second)
      return step.emitOpError() << "expected one " << port.getSlot()
                                << " from @" << microbatch.getName();
  }
  for (unsigned i = 0; i < update.getNumArguments(); ++i) {
    PortAttr port = getArgumentPort(update, i);
    if (!isSum(port))
      continue;
    auto sum = sums.find(port.getSlot());
    if (sum == sums.end())
      return step.emitOpError()
             << "expected @" << microbatch.getName() << " to return "
             << port.getSlot() << ", which argument " << i << " of @"
             << update.getName() << " takes";
    if (sum->second != update.getArgumentTypes()[i])
      return step.emitOpError()
             << "expected " << sum->second << " of " << port.getSlot()
             << " for argument " << i << " of @" << update.getName() << ", got "
             << update.getArgumentTypes()[i];
  }
  return success();
}

LogicalResult StepOp::verifySymbolUses(SymbolTableCollection &tables) {
  func::FuncOp microbatch = findFunction(*this, getMicrobatchAttr(), tables);
  func::FuncOp update = findFunction(*this, getUpdateAttr(), tables);
  if (!microbatch || !update)
    return failure();
  StateBuffers buffers((*this)->getParentOp());
  FunctionChecker first(*this, microbatch, buffers, tables);
  FunctionChecker second(*this, update, buffers, tables);
  if (failed(first.verifyArguments(kOfModel)) ||
      failed(first.verifyResults(kFromMicrobatch, /*parameters=*/false)) ||
      failed(second.verifyArguments(kOfUpdate)) ||
      failed(second.verifyResults(kFromUpdate, /*parameters=*/true)) ||
      failed(first.verifyOneResult(PortKind::LossSum)) ||
      failed(first.verifyOneResult(PortKind::Count)))
    return failure();
  return verifySums(*this, microbatch, update, buffers, tables);
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

LogicalResult EntryOp::verify() { return verifyChunks(*this, getChunks()); }

/// What is counted is a step, for which nothing else counts; each count is an
/// external value.
static LogicalResult verifyCounts(EntryOp op, func::FuncOp function,
                                  SymbolTableCollection &tables) {
  Operation *step = tables.lookupNearestSymbolFrom(op, op.getCountsAttr());
  if (!isa_and_nonnull<TrainingOp, StepOp, TimelineOp>(step))
    return op.emitOpError() << "expected a training step " << op.getCountsAttr()
                            << " in the module to count for, got none";
  if (EntryOp first = findCounting(step); first != op)
    return op.emitOpError()
           << "expected one entry that counts for " << op.getCountsAttr()
           << ", got @" << first.getSymName() << " before";
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    PortAttr port = getResultPort(function, i);
    auto hyper =
        isPort(port, PortKind::Metric)
            ? tables.lookupNearestSymbolFrom<HyperOp>(op, port.getName())
            : HyperOp();
    if (!hyper || hyper.getRule().getKind() != RuleKind::External)
      return op.emitOpError()
             << "expected result " << i << " of @" << function.getName()
             << " to be a metric with the name of an external hyper value, got "
             << port;
  }
  return success();
}

LogicalResult EntryOp::verifySymbolUses(SymbolTableCollection &tables) {
  func::FuncOp function = findFunction(*this, getFunctionAttr(), tables);
  if (!function)
    return failure();
  StateBuffers buffers((*this)->getParentOp());
  FunctionChecker checker(*this, function, buffers, tables);
  if (failed(checker.verifyArguments(kOfModel)) ||
      failed(checker.verifyResults(kFromEntry, /*parameters=*/false)))
    return failure();
  return getCounts() ? verifyCounts(*this, function, tables) : success();
}

EntryOp llmc::dist::findCounting(Operation *step) {
  auto module = step->getParentOfType<ModuleOp>();
  auto name = SymbolTable::getSymbolName(step);
  for (auto entry : module.getOps<EntryOp>())
    if (entry.getCounts() == name.getValue())
      return entry;
  return {};
}

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

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/StepSums.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <cmath>

using namespace mlir;
using namespace llmc::dist;

namespace {
/// A function of a program, as seen by the op that uses it.
class FunctionChecker {
public:
  FunctionChecker(Operation *user, func::FuncOp function,
                  SymbolTableCollection &tables)
      : user(user), function(function), tables(tables) {}

  /// Every argument is an input, a hyper value or a read of a state;
  /// `extraRoles` may be there besides.
  LogicalResult verifyArguments(ArrayRef<StringRef> extraRoles);
  /// Results that write states fit these.
  LogicalResult verifyWrites(bool parameters);

private:
  /// The symbol exists and has the value's shape and element type.
  LogicalResult verifyState(StringRef kind, unsigned index,
                            FlatSymbolRefAttr symbol, Type type,
                            StateOp *state = nullptr);
  LogicalResult verifyHyper(unsigned index, FlatSymbolRefAttr symbol,
                            Type type);
  InFlightDiagnostic fail() {
    InFlightDiagnostic diag = user->emitOpError();
    diag.attachNote(function.getLoc()) << "function is defined here";
    return diag;
  }

  Operation *user;
  func::FuncOp function;
  SymbolTableCollection &tables;
};
} // namespace

/// What a device holds of the state, from localize on.
static BufferOp findBuffer(Operation *user, FlatSymbolRefAttr state,
                           SymbolTableCollection &tables) {
  auto name = StringAttr::get(user->getContext(), state.getValue() + ".local");
  return tables.lookupNearestSymbolFrom<BufferOp>(user, name);
}

static bool haveSameShape(Type a, Type b) {
  auto left = dyn_cast<RankedTensorType>(a);
  auto right = dyn_cast<RankedTensorType>(b);
  return left && right && left.getShape() == right.getShape() &&
         left.getElementType() == right.getElementType();
}

LogicalResult FunctionChecker::verifyState(StringRef kind, unsigned index,
                                           FlatSymbolRefAttr symbol, Type type,
                                           StateOp *found) {
  auto state = tables.lookupNearestSymbolFrom<StateOp>(user, symbol);
  if (!state)
    return fail() << "expected state " << symbol << " of " << kind << " "
                  << index << " of @" << function.getName()
                  << " in the module, got none";
  BufferOp buffer = findBuffer(user, symbol, tables);
  RankedTensorType wanted =
      buffer ? buffer.getTensorType() : state.getTensorType();
  if (!haveSameShape(wanted, type))
    return fail() << "expected " << wanted << " of state " << symbol << " for "
                  << kind << " " << index << " of @" << function.getName()
                  << ", got " << type;
  if (found)
    *found = state;
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
  if (!haveSameShape(hyper.getType(), type))
    return fail() << "expected " << hyper.getType() << " of hyper value "
                  << symbol << " for argument " << index << " of @"
                  << function.getName() << ", got " << type;
  return success();
}

LogicalResult FunctionChecker::verifyArguments(ArrayRef<StringRef> extraRoles) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    Type type = function.getArgumentTypes()[i];
    auto symbol = [&](StringRef name) {
      return function.getArgAttrOfType<FlatSymbolRefAttr>(i, name);
    };
    if (FlatSymbolRefAttr state = symbol(DistDialect::kReads)) {
      if (failed(verifyState("argument", i, state, type)))
        return failure();
      continue;
    }
    if (FlatSymbolRefAttr hyper = symbol(DistDialect::kHyper)) {
      if (failed(verifyHyper(i, hyper, type)))
        return failure();
      continue;
    }
    auto role = function.getArgAttrOfType<StringAttr>(i, DistDialect::kRole);
    StringRef name = role ? role.getValue() : StringRef();
    if (symbol(DistDialect::kGradientOf))
      name = "gradient";
    bool isSum = llvm::is_contained(extraRoles, "loss_sum") && isStepSum(name);
    if (!isSum && !llvm::is_contained(extraRoles, name))
      return fail() << "expected argument " << i << " of @"
                    << function.getName()
                    << " to read a state, hold a hyper value or have role "
                    << llvm::join(extraRoles, ", ") << ", got role \"" << name
                    << "\"";
  }
  return success();
}

LogicalResult FunctionChecker::verifyWrites(bool parameters) {
  llvm::DenseSet<Attribute> written;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto symbol = function.getResultAttrOfType<FlatSymbolRefAttr>(
        i, DistDialect::kWrites);
    if (!symbol)
      continue;
    StateOp state;
    if (failed(verifyState("result", i, symbol, function.getResultTypes()[i],
                           &state)))
      return failure();
    if (!written.insert(symbol).second)
      return fail() << "expected state " << symbol << " to be written once by @"
                    << function.getName();
    bool allowed = state.getRole() == Role::Carried ||
                   (parameters && state.getRole() != Role::Constant);
    if (!allowed)
      return fail() << "expected @" << function.getName()
                    << " to write no state of role '"
                    << stringifyRole(state.getRole()) << "', got " << symbol;
  }
  return success();
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

static SmallVector<unsigned> findResults(func::FuncOp function,
                                         StringRef role) {
  SmallVector<unsigned> found;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto name =
            function.getResultAttrOfType<StringAttr>(i, DistDialect::kRole);
        name && name.getValue() == role)
      found.push_back(i);
  return found;
}

static LogicalResult verifyOneResult(Operation *user, func::FuncOp function,
                                     StringRef role) {
  size_t count = findResults(function, role).size();
  if (count == 1)
    return success();
  return user->emitOpError() << "expected one result of @" << function.getName()
                             << " with role \"" << role << "\", got " << count;
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
  if (getPrecision() && !getPrecision()->isF32() && !getPrecision()->isF64())
    return emitOpError() << "expected precision f32 or f64, got "
                         << *getPrecision();
  return success();
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

LogicalResult TrainingOp::verifySymbolUses(SymbolTableCollection &tables) {
  func::FuncOp forward = findFunction(*this, getForwardAttr(), tables);
  if (!forward || !findFunction(*this, getOptimizerAttr(), tables))
    return failure();
  FunctionChecker checker(*this, forward, tables);
  if (failed(checker.verifyArguments({"input", "step", "microbatch"})) ||
      failed(checker.verifyWrites(/*parameters=*/false)))
    return failure();
  return verifyOneResult(*this, forward, "loss");
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
                                SymbolTableCollection &tables) {
  llvm::DenseMap<Attribute, Type> sums;
  MLIRContext *context = step.getContext();
  for (unsigned i = 0; i < microbatch.getNumResults(); ++i)
    if (auto role =
            microbatch.getResultAttrOfType<StringAttr>(i, DistDialect::kRole);
        role && isStepSum(role.getValue()))
      sums[StringAttr::get(context, role.getValue())] =
          microbatch.getResultTypes()[i];
  for (unsigned i = 0; i < microbatch.getNumResults(); ++i)
    if (auto symbol = microbatch.getResultAttrOfType<FlatSymbolRefAttr>(
            i, DistDialect::kGradientOf)) {
      auto state = tables.lookupNearestSymbolFrom<StateOp>(step, symbol);
      if (!state)
        return step.emitOpError()
               << "expected state " << symbol << " of result " << i << " of @"
               << microbatch.getName() << " in the module, got none";
      auto type = dyn_cast<RankedTensorType>(microbatch.getResultTypes()[i]);
      // A device may hold another part of a gradient than of its state.
      bool isWhole = !findBuffer(step, symbol, tables);
      if (!type ||
          (isWhole && type.getShape() != state.getTensorType().getShape()))
        return step.emitOpError()
               << "expected the shape of " << state.getTensorType()
               << " of state " << symbol << " for result " << i << " of @"
               << microbatch.getName() << ", got "
               << microbatch.getResultTypes()[i];
      if (!sums.try_emplace(symbol, microbatch.getResultTypes()[i]).second)
        return step.emitOpError() << "expected one gradient of " << symbol
                                  << " from @" << microbatch.getName();
    }
  for (unsigned i = 0; i < update.getNumArguments(); ++i) {
    Attribute key =
        update.getArgAttrOfType<FlatSymbolRefAttr>(i, DistDialect::kGradientOf);
    auto role = update.getArgAttrOfType<StringAttr>(i, DistDialect::kRole);
    if (!key && role && isStepSum(role.getValue()))
      key = StringAttr::get(context, role.getValue());
    if (!key)
      continue;
    auto sum = sums.find(key);
    if (sum == sums.end())
      return step.emitOpError() << "expected @" << microbatch.getName()
                                << " to return " << key << ", which argument "
                                << i << " of @" << update.getName() << " takes";
    if (sum->second != update.getArgumentTypes()[i])
      return step.emitOpError()
             << "expected " << sum->second << " of " << key << " for argument "
             << i << " of @" << update.getName() << ", got "
             << update.getArgumentTypes()[i];
  }
  return success();
}

LogicalResult StepOp::verifySymbolUses(SymbolTableCollection &tables) {
  func::FuncOp microbatch = findFunction(*this, getMicrobatchAttr(), tables);
  func::FuncOp update = findFunction(*this, getUpdateAttr(), tables);
  if (!microbatch || !update)
    return failure();
  FunctionChecker first(*this, microbatch, tables);
  FunctionChecker second(*this, update, tables);
  if (failed(first.verifyArguments({"input", "step", "microbatch"})) ||
      failed(first.verifyWrites(/*parameters=*/false)) ||
      failed(
          second.verifyArguments({"gradient", "loss_sum", "count", "step"})) ||
      failed(second.verifyWrites(/*parameters=*/true)) ||
      failed(verifyOneResult(*this, microbatch, "loss_sum")) ||
      failed(verifyOneResult(*this, microbatch, "count")))
    return failure();
  return verifySums(*this, microbatch, update, tables);
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

LogicalResult EntryOp::verify() { return verifyChunks(*this, getChunks()); }

LogicalResult EntryOp::verifySymbolUses(SymbolTableCollection &tables) {
  func::FuncOp function = findFunction(*this, getFunctionAttr(), tables);
  if (!function)
    return failure();
  FunctionChecker checker(*this, function, tables);
  if (failed(checker.verifyArguments({"input", "step", "microbatch"})))
    return failure();
  return checker.verifyWrites(/*parameters=*/false);
}

//===- InlineCalls.cpp - One function from many ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JAX prints each jitted helper as a private function whose ops have relative
// locations. Each call is replaced by the callee's body, and the locations of
// its ops become fused<callsite>(op at call), which prefixes the name.
//
//   %0 = call @mlp(%x) loc("layer0")     ->  tanh %x loc("layer0/tanh")
//
// Where JAX's derivative of a function is not that of its ops and only its name
// tells (`@relu_3`), the op of its result keeps the name.
//
// Tests: test/Import/StableHLO/{inline-calls,functions}.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Support/CallPlace.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

/// Calls nest at most this deep; a function that calls itself goes beyond.
static constexpr int maxDepth = 100;

static std::optional<StringRef> nameIn(Location location) {
  std::optional<StringRef> name;
  location->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    name = named.getName().getValue();
    return WalkResult::interrupt();
  });
  return name;
}

/// The place of an inlined op: its own, else that of its call.
static Location choosePlace(Location own, Location call) {
  auto named = dyn_cast<NameLoc>(call);
  if (hasOwnPlace(own) || !named || isa<UnknownLoc>(named.getChildLoc()))
    return own;
  return makeCallPlace(named.getChildLoc());
}

/// `inner` seen from the call at `outer`: "outer/inner" where both have names,
/// else the pair.
static Location prefix(Location inner, Location outer) {
  MLIRContext *context = inner.getContext();
  std::optional<StringRef> outerName = nameIn(outer);
  if (auto named = dyn_cast<NameLoc>(inner); named && outerName) {
    std::string name = (*outerName + "/" + named.getName().getValue()).str();
    return NameLoc::get(StringAttr::get(context, name),
                        choosePlace(named.getChildLoc(), outer));
  }
  return CallSiteLoc::get(inner, outer);
}

/// Replaces `call` by the body of `callee`.
static void inlineCall(func::CallOp call, func::FuncOp callee) {
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  for (Operation &op : callee.getBody().front().without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    copy->walk([&](Operation *inner) {
      inner->setLoc(prefix(inner->getLoc(), call.getLoc()));
    });
  }
  Operation *end = callee.getBody().front().getTerminator();
  for (auto [result, value] : llvm::zip(call.getResults(), end->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
}

/// The functions that `func` calls, each once, in order.
static rt::Result<SmallVector<func::FuncOp>> getCallees(ModuleOp module,
                                                        func::FuncOp func) {
  SmallVector<func::FuncOp> callees;
  rt::Status status;
  func.walk([&](func::CallOp call) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock()) {
      status = rt::makeError(ErrorKind::unsupported,
                             describePlace(call.getLoc()) +
                                 "expected a call of a function with one "
                                 "block, got '" +
                                 call.getCallee().str() + "'");
      return WalkResult::interrupt();
    }
    if (!llvm::is_contained(callees, callee))
      callees.push_back(callee);
    return WalkResult::advance();
  });
  if (!status.ok())
    return status;
  return callees;
}

/// A frame of the user's program stands in the op's location, below the name
/// that JAX gives it. JAX's own frames are never printed.
static bool isFromUser(Operation &op) {
  auto named = dyn_cast<NameLoc>(op.getLoc());
  return named && hasOwnPlace(named.getChildLoc());
}

/// The name of a function without the number that keeps names apart.
static StringRef dropNumber(StringRef name) {
  auto [stem, number] = name.rsplit('_');
  bool isNumber = !number.empty() && llvm::all_of(number, llvm::isDigit);
  return isNumber ? stem : name;
}

/// Marks what JAX's functions of certain names return; calls in `func` are
/// inlined.
static void keepName(func::FuncOp func) {
  StringRef name = dropNumber(func.getName());
  Block &body = func.getBody().front();
  if (!func.isPrivate() || func.getNumResults() != 1 ||
      !llvm::is_contained(dist::DistDialect::kNamedJaxFunctions, name) ||
      llvm::any_of(body, isFromUser))
    return;
  if (Operation *result = body.getTerminator()->getOperand(0).getDefiningOp())
    result->setAttr(dist::DistDialect::kJaxFunction,
                    StringAttr::get(func.getContext(), name));
}

/// Inlines below `func`, callees first, so that each body is copied whole.
static rt::Status inlineBelow(ModuleOp module, func::FuncOp func,
                              llvm::DenseSet<Operation *> &done, int depth) {
  if (!done.insert(func).second)
    return rt::Status::success();
  if (depth > maxDepth)
    return rt::makeError(ErrorKind::malformed,
                         describePlace(func.getLoc()) +
                             "expected calls nested at most " +
                             std::to_string(maxDepth) + " deep, got more");
  LLMC_TRY_ASSIGN(SmallVector<func::FuncOp> callees, getCallees(module, func));
  for (func::FuncOp callee : callees)
    LLMC_TRY(inlineBelow(module, callee, done, depth + 1));
  SmallVector<func::CallOp> calls;
  func.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    bool isRecursive = callee == func;
    callee.walk([&](func::CallOp) { isRecursive = true; });
    if (isRecursive)
      return rt::makeError(ErrorKind::unsupported,
                           describePlace(call.getLoc()) +
                               "expected functions that do not call "
                               "themselves, got '" +
                               callee.getName().str() + "'");
    inlineCall(call, callee);
  }
  keepName(func);
  return rt::Status::success();
}

rt::Status import::inlineCalls(ModuleOp module, func::FuncOp main) {
  llvm::DenseSet<Operation *> done;
  LLMC_TRY(inlineBelow(module, main, done, 0));
  for (func::FuncOp func :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (func != main)
      func.erase();
  return rt::Status::success();
}

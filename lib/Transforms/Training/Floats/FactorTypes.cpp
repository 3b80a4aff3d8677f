//===- FactorTypes.cpp - Which floats each contraction multiplies ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction is of a parameter where a factor of it is computed from that
// parameter and constants alone, or where its result, moved and added to
// others, is the parameter's gradient. All others are of the step.
//
//   dist.state @W {dist.precision = f32}
//   %y  = dot %x, transpose %W      of @W
//   %gx = dot %gy, %W               of @W
//   %gW = dot %x, %gy -> gradient   of @W
//   %s  = dot %q, %k                of the step
//
// Test: test/Transforms/Training/narrow.mlir
//===----------------------------------------------------------------------===//

#include "FactorTypes.h"
#include "../TrainingMarks.h"
#include "llmc/Dialect/Dist/IR/PrecisionMarks.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using dist::DistDialect;

static FloatType readMark(Operation *op,
                          StringRef name = DistDialect::kPrecision) {
  auto mark = op->getAttrOfType<TypeAttr>(name);
  return mark ? cast<FloatType>(mark.getValue()) : FloatType();
}

FactorTypes::FactorTypes(ModuleOp module) {
  for (auto step : module.getOps<dist::StepOp>()) {
    type = readMark(step);
    saved = readMark(step, dist::kSavedPrecision);
  }
  SymbolTable symbols(module);
  for (auto state : module.getOps<dist::StateOp>()) {
    Operation *whole = state;
    if (FlatSymbolRefAttr of = state.getPartOfAttr())
      whole = symbols.lookup(of.getAttr());
    if (FloatType mark = readMark(whole))
      states[FlatSymbolRefAttr::get(state.getSymNameAttr())] = mark;
  }
}

static bool hasFactors(Operation *op) {
  auto answers = dyn_cast<graph::PrecisionOpInterface>(op);
  return answers && !answers.getFactors().empty();
}

/// From the parameter on, through all that is computed from it and constants.
void FactorTypes::collectReaders(BlockArgument parameter, FloatType wanted) {
  llvm::SetVector<Value> values;
  values.insert(parameter);
  auto isOf = [&](Value value) {
    return values.contains(value) || matchPattern(value, m_Constant());
  };
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (hasFactors(user))
        found.try_emplace(user, wanted);
      else if (llvm::all_of(user->getOperands(), isOf))
        values.insert(user->result_begin(), user->result_end());
    }
}

/// Its result is the sum of its operands, or of their elements.
static bool isSum(Operation *op) {
  auto rule = dyn_cast<graph::ShardingRuleOpInterface>(op);
  auto isFloat = [](Value value) {
    return isa<FloatType>(getElementTypeOrSelf(value.getType()));
  };
  if (!rule || !llvm::all_of(op->getOperands(), isFloat))
    return false;
  return llvm::any_of(rule.getShardingRule().carries, [&](auto &carried) {
    return carried.kind == ReductionKind::sum && carried.groups.size() == 1 &&
           carried.groups[0].size() == op->getNumOperands();
  });
}

void FactorTypes::collectGradient(Value gradient, FloatType wanted) {
  llvm::SetVector<Operation *> ops;
  auto add = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      ops.insert(op);
  };
  add(gradient);
  for (size_t i = 0; i < ops.size(); ++i) {
    Operation *op = ops[i];
    if (hasFactors(op))
      found.try_emplace(op, wanted);
    else if (isSum(op))
      llvm::for_each(op->getOperands(), add);
  }
}

void FactorTypes::collect(func::FuncOp function) {
  llvm::DenseSet<Attribute> read;
  for (BlockArgument argument : function.getArguments()) {
    FlatSymbolRefAttr state = getRead(function, argument.getArgNumber());
    FloatType wanted = state ? states.lookup(state) : FloatType();
    if (!wanted)
      continue;
    size_t before = found.size();
    collectReaders(argument, wanted);
    if (found.size() > before)
      read.insert(state);
  }
  Operation *end = function.front().getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (FlatSymbolRefAttr state =
            dist::getGradientOf(dist::getResultPort(function, i));
        state && read.contains(state))
      collectGradient(end->getOperand(i), states.lookup(state));
}

FloatType FactorTypes::of(Operation *op) const {
  auto known = found.find(op);
  return known == found.end() ? type : known->second;
}

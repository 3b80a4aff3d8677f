//===- ShardingRule.cpp - How an op's dimensions hang together ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Construction, printing and checking of sharding rules (ShardingRule.h).
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/ShardingRule.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;

bool Factor::operator==(const Factor &other) const {
  return size == other.size && kind == other.kind &&
         reduction == other.reduction && isAddressed == other.isAddressed;
}

bool Linearity::operator==(const Linearity &other) const {
  return kind == other.kind && groups == other.groups;
}

bool ShardingRule::operator==(const ShardingRule &other) const {
  return factors == other.factors && operands == other.operands &&
         results == other.results && carries == other.carries &&
         addends == other.addends && distributed == other.distributed;
}

size_t ShardingRuleHash::operator()(const ShardingRule &rule) const {
  llvm::hash_code hash =
      llvm::hash_combine(rule.operands.size(), rule.results.size());
  for (const Factor &factor : rule.factors)
    hash = llvm::hash_combine(hash, factor.size, factor.kind, factor.reduction);
  for (ArrayRef<TensorFactors> tensors :
       {ArrayRef(rule.operands), ArrayRef(rule.results)})
    for (const TensorFactors &tensor : tensors)
      for (ArrayRef<int> dim : tensor)
        hash = llvm::hash_combine(hash, dim);
  return hash;
}

int ShardingRule::addFactor(int64_t size, FactorKind kind,
                            ReductionKind reduction) {
  factors.push_back({size, kind, reduction});
  return static_cast<int>(factors.size()) - 1;
}

void ShardingRule::addLinear(ReductionKind kind,
                             ArrayRef<SmallVector<int>> groups) {
  carries.push_back({kind, SmallVector<SmallVector<int>>(groups)});
}

static TensorFactors emptyFactors(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return TensorFactors(type ? type.getRank() : 0);
}

ShardingRule ShardingRule::forOp(Operation *op) {
  ShardingRule rule;
  for (Value operand : op->getOperands())
    rule.operands.push_back(emptyFactors(operand));
  for (Value result : op->getResults())
    rule.results.push_back(emptyFactors(result));
  return rule;
}

ShardingRule ShardingRule::elementwise(Operation *op) {
  ShardingRule rule = forOp(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    int factor = rule.addFactor(type.getDimSize(d));
    for (TensorFactors &operand : rule.operands)
      if (static_cast<int64_t>(operand.size()) == type.getRank())
        operand[d].push_back(factor);
    for (TensorFactors &result : rule.results)
      result[d].push_back(factor);
  }
  return rule;
}

/// Factor 0 is "a", 25 "z", 26 "a1", ...
static std::string nameFactor(int factor) {
  std::string name(1, static_cast<char>('a' + factor % 26));
  return factor < 26 ? name : name + std::to_string(factor / 26);
}

static void printTensor(llvm::raw_ostream &os, const TensorFactors &tensor) {
  os << "[";
  llvm::interleaveComma(tensor, os, [&](const SmallVector<int, 1> &dim) {
    if (dim.empty())
      os << "1";
    for (int factor : dim)
      os << nameFactor(factor);
  });
  os << "]";
}

std::string ShardingRule::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto printTensors = [&](ArrayRef<TensorFactors> tensors) {
    os << "(";
    llvm::interleave(
        tensors, os, [&](const TensorFactors &t) { printTensor(os, t); }, ",");
    os << ")";
  };
  printTensors(operands);
  os << "->";
  printTensors(results);
  os << " {";
  llvm::ListSeparator comma;
  for (auto [i, factor] : llvm::enumerate(factors)) {
    os << comma << nameFactor(i) << "=" << factor.size;
    if (factor.kind == FactorKind::Reduced)
      os << " reduced " << StringRef(nameOf(factor.reduction));
    else if (factor.kind == FactorKind::Whole)
      os << " whole";
    else if (factor.kind == FactorKind::Permuted)
      os << " permuted";
  }
  os << "}";
  return text;
}

static LogicalResult verifyTensor(Operation *op, const ShardingRule &rule,
                                  Value value, const TensorFactors &tensor,
                                  StringRef what, int number) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  int64_t rank = type ? type.getRank() : 0;
  if (rank != static_cast<int64_t>(tensor.size()))
    return op->emitOpError()
           << "expected a rule with " << rank << " dimensions for " << what
           << " #" << number << ", got " << tensor.size();
  for (int64_t d = 0; d < rank; ++d) {
    int64_t product = 1;
    for (int factor : tensor[d])
      product *= rule.factors[factor].size;
    if (product != type.getDimSize(d))
      return op->emitOpError() << "expected factors of dim " << d << " of "
                               << what << " #" << number << " to multiply to "
                               << type.getDimSize(d) << ", got " << product;
  }
  return success();
}

LogicalResult graph::verifyRule(Operation *op, const ShardingRule &rule) {
  if (rule.operands.size() != op->getNumOperands() ||
      rule.results.size() != op->getNumResults())
    return op->emitOpError()
           << "expected a rule for " << op->getNumOperands() << " operands and "
           << op->getNumResults() << " results, got " << rule.operands.size()
           << " and " << rule.results.size();
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (failed(verifyTensor(op, rule, operand, rule.operands[i], "operand", i)))
      return failure();
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (failed(verifyTensor(op, rule, result, rule.results[i], "result", i)))
      return failure();
  return success();
}

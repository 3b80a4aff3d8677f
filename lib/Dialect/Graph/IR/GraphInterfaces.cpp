//===- GraphInterfaces.cpp - The five answers of a graph op ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated interface code, the table of refusals and default costs.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Runtime/Base/CollectiveKind.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;

#include "llmc/Dialect/Graph/IR/GraphInterfaces.cpp.inc"

StringRef graph::stringifyAnswer(Answer answer) {
  switch (answer) {
  case Answer::Rule:
    return "sharding rule";
  case Answer::Derivative:
    return "derivative";
  case Answer::Cost:
    return "cost";
  case Answer::Kernel:
    return "kernel";
  case Answer::Evaluation:
    return "evaluation";
  }
  return "";
}

namespace {
struct Refusal {
  /// Empty: each collective.
  StringRef op;
  Answer answer;
  StringRef reason;
};
} // namespace

static const Refusal refusals[] = {
#define LLMC_REFUSAL(op, answer, reason) {op, Answer::answer, reason},
#define LLMC_REFUSAL_OF_COLLECTIVES(answer, reason)                            \
  {"", Answer::answer, reason},
#include "llmc/Dialect/Graph/IR/Refusals.def"
};

StringRef graph::getRefusal(StringRef opName, Answer answer) {
  StringRef kind = opName;
  bool isCollective = kind.consume_front("dist.") && collectiveNamed(kind);
  for (const Refusal &row : refusals)
    if (row.answer == answer &&
        (row.op.empty() ? isCollective : row.op == opName))
      return row.reason;
  return "";
}

InFlightDiagnostic graph::emitMissingAnswer(Operation *op, Answer answer) {
  StringRef name = op->getName().getStringRef();
  StringRef reason = getRefusal(name, answer);
  InFlightDiagnostic diagnostic =
      emitRefusal(op->getLoc(), rt::ErrorKind::unsupported);
  diagnostic << (answer == Answer::Evaluation ? "expected an " : "expected a ")
             << stringifyAnswer(answer) << " of '" << name << "', got none";
  if (!reason.empty())
    diagnostic << ": " << reason;
  return diagnostic;
}

/// Bytes of a ranked tensor of static shape; 0 for everything else.
static int64_t getTensorBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  return tensor.getNumElements() * getElementBytes(tensor.getElementType());
}

OpCost graph::getTrafficCost(Operation *op) {
  OpCost cost;
  for (Value operand : op->getOperands())
    cost.bytesRead += getTensorBytes(operand.getType());
  for (Value result : op->getResults())
    cost.bytesWritten += getTensorBytes(result.getType());
  return cost;
}

OpCost graph::getElementwiseCost(Operation *op, int64_t flopsPerElement,
                                 int64_t transcendentalsPerElement) {
  OpCost cost = getTrafficCost(op);
  for (Value result : op->getResults())
    if (auto type = dyn_cast<RankedTensorType>(result.getType())) {
      cost.flops += flopsPerElement * type.getNumElements();
      cost.transcendentals += transcendentalsPerElement * type.getNumElements();
    }
  return cost;
}

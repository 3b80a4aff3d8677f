//===- AnswersTest.cpp - Every graph op answers or refuses ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks over all registered ops that may stand in a graph function: each has
// the five answers, or a row in Refusals.def for the one it lacks; and no row
// is stale. Each op that has a derivative has a row in docs/derivatives.md,
// whose rows test/EndToEnd/derivatives.test compares with JAX.
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/KernelForms.h"
#include "llmc/Dialect/StableHLO/IR/Versions.h"
#include "llmc/Runtime/Base/CollectiveKind.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>
#include <set>

using namespace llmc;
using namespace llmc::test;
using graph::Answer;

namespace {
constexpr Answer kAnswers[] = {Answer::Rule, Answer::Derivative, Answer::Cost,
                               Answer::Kernel, Answer::Evaluation};

bool hasAnswer(mlir::RegisteredOperationName op, Answer answer) {
  switch (answer) {
  case Answer::Rule:
    return op.hasInterface<graph::ShardingRuleOpInterface>();
  case Answer::Derivative:
    return op.hasInterface<graph::DerivativeOpInterface>();
  case Answer::Cost:
    return op.hasInterface<graph::CostOpInterface>();
  case Answer::Kernel:
    return op.hasInterface<graph::KernelOpInterface>();
  case Answer::Evaluation:
    return op.hasInterface<graph::EvaluationOpInterface>();
  }
  return false;
}

/// What programs consist of once graphs are cut up: no computation of a graph.
const llvm::StringRef kProgramOps[] = {
    "dist.segment",     "dist.transfer", "dist.launch",
    "dist.contract",    "dist.convolve", "dist.attend",
    "dist.attend_grad", "dist.argsort",  "dist.contract_groups"};

/// Ops of a function's body: no symbols or other ops of modules, no
/// terminators, none that import replaces by others.
bool isGraphOp(mlir::RegisteredOperationName op) {
  return llvm::is_contained(getGraphDialects(), op.getDialectNamespace()) &&
         !llvm::is_contained(kProgramOps, op.getStringRef()) &&
         !op.hasInterface<mlir::SymbolOpInterface>() &&
         !op.hasTrait<mlir::OpTrait::HasParent<mlir::ModuleOp>::Impl>() &&
         !op.hasTrait<mlir::OpTrait::IsTerminator>() &&
         !op.hasInterface<graph::ExpansionOpInterface>() &&
         !op.hasInterface<graph::DeviceOpInterface>();
}

TEST(Answers, EveryGraphOpAnswersOrRefuses) {
  GraphContext context;
  int numOps = 0;
  for (mlir::RegisteredOperationName op :
       context.get()->getRegisteredOperations()) {
    if (!isGraphOp(op))
      continue;
    ++numOps;
    for (Answer answer : kAnswers)
      EXPECT_TRUE(hasAnswer(op, answer) ||
                  !graph::getRefusal(op.getStringRef(), answer).empty())
          << op.getStringRef().str() << " lacks a "
          << graph::stringifyAnswer(answer).str()
          << ", and has no row in Refusals.def";
  }
  EXPECT_GE(numOps, 45) << "are all dialects registered?";
}

TEST(Answers, KernelsListTheirForms) {
  GraphContext context;
  for (mlir::RegisteredOperationName op :
       context.get()->getRegisteredOperations()) {
    auto *listed = op.getInterface<graph::KernelFormsOpInterface>();
    EXPECT_EQ(hasAnswer(op, Answer::Kernel), listed != nullptr)
        << op.getStringRef().str();
    EXPECT_TRUE(!listed || !listed->getKernelForms().empty())
        << op.getStringRef().str();
  }
}

TEST(Answers, VersionsOfStableHLO) {
  EXPECT_EQ(stablehlo::getFirstVersion("stablehlo.add"), "0.9.0");
  EXPECT_EQ(stablehlo::getFirstVersion("stablehlo.tan"), "1.4.0");
  EXPECT_EQ(stablehlo::getFirstVersion("stablehlo.ragged_all_to_all"), "");
  EXPECT_EQ(stablehlo::getFirstVersion("chlo.erf"), "");
}

/// What a text may hold may stand in a manual region too. Constants and other
/// sources are the same on all devices.
TEST(Answers, EveryOpOfTextsHasABatchedForm) {
  GraphContext context;
  for (mlir::RegisteredOperationName op :
       context.get()->getRegisteredOperations()) {
    llvm::StringRef dialect = op.getDialectNamespace();
    bool isOfTexts = dialect == "stablehlo" || dialect == "chlo";
    bool isSource = op.getStringRef() == "stablehlo.constant" ||
                    op.getStringRef() == "stablehlo.iota";
    if (isOfTexts && isGraphOp(op) && !isSource)
      EXPECT_TRUE(op.hasInterface<graph::BatchingOpInterface>())
          << op.getStringRef().str()
          << " says nothing of values of all devices (Batching.h)";
  }
}

struct Row {
  std::string op;
  Answer answer;
};

/// The table, its rows for collectives written out.
std::vector<Row> readRefusals() {
  std::vector<Row> rows;
  auto addCollectives = [&](Answer answer) {
    for (unsigned kind = 0; kind < numCollectiveKinds; ++kind)
      rows.push_back(
          {"dist." + std::string(nameOf(CollectiveKind(kind))), answer});
  };
#define LLMC_REFUSAL(op, answer, reason) rows.push_back({op, Answer::answer});
#define LLMC_REFUSAL_OF_COLLECTIVES(answer, reason)                            \
  addCollectives(Answer::answer);
#include "llmc/Dialect/Graph/IR/Refusals.def"
  return rows;
}

TEST(Answers, NoRefusalIsStale) {
  GraphContext context;
  for (const Row &row : readRefusals()) {
    EXPECT_NE(graph::getRefusal(row.op, row.answer), "") << row.op;
    auto op = mlir::RegisteredOperationName::lookup(row.op, context.get());
    ASSERT_TRUE(op) << row.op << " is no registered op";
    EXPECT_FALSE(hasAnswer(*op, row.answer))
        << row.op << " has a " << graph::stringifyAnswer(row.answer).str()
        << " and a row that refuses it";
  }
}

/// What stands in back quotes in the first column of the tables.
std::set<std::string> readDerivativeRows() {
  auto file = llvm::MemoryBuffer::getFile(LLMC_SOURCE "/docs/derivatives.md");
  std::set<std::string> rows;
  if (!file)
    return rows;
  llvm::SmallVector<llvm::StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line.consume_front("| `"))
      rows.insert(line.take_until([](char c) { return c == '`'; }).str());
  return rows;
}

TEST(Answers, EveryDerivativeHasARow) {
  GraphContext context;
  std::set<std::string> rows = readDerivativeRows(), ops;
  for (mlir::RegisteredOperationName op :
       context.get()->getRegisteredOperations())
    if (isGraphOp(op) && hasAnswer(op, Answer::Derivative))
      ops.insert(op.getStringRef().str());
  // What JAX leaves open of an op that is written with others has a row too.
  std::set<std::string> written;
  for (mlir::RegisteredOperationName op :
       context.get()->getRegisteredOperations())
    if (op.hasInterface<graph::ExpansionOpInterface>())
      written.insert(op.getStringRef().str());
  for (const std::string &op : ops)
    EXPECT_TRUE(rows.count(op)) << op << " has no row in docs/derivatives.md";
  for (const std::string &row : rows)
    EXPECT_TRUE(ops.count(row) || written.count(row) ||
                row.find('.') == std::string::npos)
        << row << " of docs/derivatives.md is no op with a derivative";
}
} // namespace

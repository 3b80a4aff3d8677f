//===- AnswerHarness.cpp - Checks of rule, kernel and evaluation ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See AnswerHarness.h.
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "EvaluatedOps.h"
#include "ScalarRun.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/OneRound.h"
#include "llmc/Interpreter/Interpreter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::test;

namespace {
using Tensors = SmallVector<HostTensor>;

struct Subject {
  GraphContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  Tensors arguments;

  explicit Subject(StringRef text, uint64_t seed = 1)
      : module(context.parse(text)) {
    if (!module)
      return;
    function = getFunction(*module);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      arguments.push_back(drawArgument(function, i, seed));
  }

  FailureOr<Tensors> run() {
    Tensors results;
    Interpreter interpreter;
    if (failed(interpreter.interpret(function, arguments, results)))
      return failure();
    return results;
  }

  testing::AssertionResult fail(StringRef what) {
    return testing::AssertionFailure() << what.str() << "\n"
                                       << context.takeMessages();
  }
};

double getNumber(const HostTensor &tensor, int64_t i) {
  return tensor.isFloat() ? tensor.getFloat(i)
                          : static_cast<double>(tensor.getInt(i));
}

/// Empty if equal up to `tolerance` relative to max(1, |value|).
std::string compare(const HostTensor &expected, const HostTensor &got,
                    double tolerance) {
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    double x = getNumber(expected, i), y = getNumber(got, i);
    bool isSame = (std::isnan(x) && std::isnan(y)) || x == y ||
                  std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(x));
    if (!isSame)
      return "element " + std::to_string(i) + ": expected " +
             std::to_string(x) + ", got " + std::to_string(y);
  }
  return "";
}
} // namespace

std::vector<double> test::evaluate(StringRef text, uint64_t seed) {
  Subject subject(text, seed);
  if (!subject.function)
    return {};
  FailureOr<Tensors> results = subject.run();
  if (failed(results))
    return {};
  std::vector<double> numbers;
  for (int64_t i = 0; i < results->front().getNumElements(); ++i)
    numbers.push_back(getNumber(results->front(), i));
  return numbers;
}

std::string test::printRule(StringRef text) {
  Subject subject(text);
  if (!subject.function)
    return subject.context.takeMessages();
  std::string printed;
  for (Operation &op : subject.function.front())
    if (auto rule = dyn_cast<graph::ShardingRuleOpInterface>(&op)) {
      if (failed(graph::verifyRule(&op, rule.getShardingRule())))
        return subject.context.takeMessages();
      printed = rule.getShardingRule().str();
    }
  return printed;
}

std::string test::printVjp(StringRef text, StringRef opName) {
  Subject subject(text);
  if (!subject.function)
    return subject.context.takeMessages();
  FailureOr<func::FuncOp> vjp = buildVjp(subject.function);
  if (failed(vjp) || failed(verify(*subject.module)))
    return subject.context.takeMessages();
  std::string printed;
  llvm::raw_string_ostream os(printed);
  AsmState state(*vjp, OpPrintingFlags().useLocalScope());
  vjp->walk([&](Operation *op) {
    if (op->getName().stripDialect() != opName)
      return;
    // Without the result's number, so that tests do not count values.
    std::string line;
    llvm::raw_string_ostream lineStream(line);
    op->print(lineStream, state);
    os << StringRef(line).split(" = ").second << "\n";
  });
  return printed;
}

testing::AssertionResult test::checkKernels(StringRef text, double tolerance,
                                            uint64_t seed) {
  Subject subject(text, seed);
  if (!subject.function)
    return subject.fail("expected a function");
  FailureOr<std::vector<EvaluatedOp>> ops = evaluateOps(subject.function, seed);
  if (failed(ops))
    return subject.fail("evaluation failed");
  for (auto &[op, operands, results] : *ops) {
    ScalarRun run(op, operands);
    Tensors computed;
    if (!run.isPossible() || isTable(op))
      continue;
    std::string error = run.compute(computed);
    for (size_t i = 0; i < computed.size() && error.empty(); ++i)
      error = compare(results[i], computed[i], tolerance);
    if (!error.empty())
      return subject.fail(op->getName().getStringRef().str() + ": " + error);
  }
  return testing::AssertionSuccess();
}

/// Replaces each op for which `build` returns results, and compares the
/// function's results before and after.
static testing::AssertionResult checkReplaced(
    StringRef text, double tolerance, uint64_t seed,
    llvm::function_ref<FailureOr<SmallVector<Value>>(Operation *, OpBuilder &)>
        build) {
  Subject subject(text, seed);
  if (!subject.function)
    return subject.fail("expected a function");
  FailureOr<Tensors> expected = subject.run();
  int numReplaced = 0;
  for (Operation &op : llvm::make_early_inc_range(subject.function.front())) {
    OpBuilder builder(&op);
    FailureOr<SmallVector<Value>> results = build(&op, builder);
    if (failed(results))
      return subject.fail("no form");
    if (results->empty())
      continue;
    op.replaceAllUsesWith(*results);
    op.erase();
    ++numReplaced;
  }
  if (numReplaced == 0 || failed(verify(*subject.module)))
    return subject.fail("nothing replaced, or by invalid ops");
  FailureOr<Tensors> got = subject.run();
  if (failed(expected) || failed(got))
    return subject.fail("evaluation failed");
  for (auto [x, y] : llvm::zip_equal(*expected, *got)) {
    std::string error = compare(x, y, tolerance);
    if (!error.empty())
      return subject.fail(error);
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult
test::checkDecomposition(StringRef text, double tolerance, uint64_t seed) {
  return checkReplaced(
      text, tolerance, seed,
      [](Operation *op, OpBuilder &builder) -> FailureOr<SmallVector<Value>> {
        SmallVector<Value> results;
        auto kernel = dyn_cast<graph::KernelOpInterface>(op);
        if (kernel && failed(kernel.decompose(builder, results)) &&
            kernel.getKernelForm() == graph::KernelForm::Decompose)
          return failure();
        return results;
      });
}

testing::AssertionResult test::checkOneRound(StringRef text,
                                             ArrayRef<int64_t> parts,
                                             double tolerance, uint64_t seed) {
  return checkReplaced(
      text, tolerance, seed,
      [&](Operation *op, OpBuilder &builder) -> FailureOr<SmallVector<Value>> {
        SmallVector<Value> terms, results;
        if (auto model = dyn_cast<graph::OneRoundOpInterface>(op)) {
          model.buildPartTerms(builder, parts, terms);
          model.buildFromTerms(builder, parts, terms, results);
        }
        return results;
      });
}

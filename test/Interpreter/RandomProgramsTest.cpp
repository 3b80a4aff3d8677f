//===- RandomProgramsTest.cpp - Properties of random graphs ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLMC_TEST_SEED chooses other programs; a failure prints the seed and the
// text.
//
//===----------------------------------------------------------------------===//

#include "RandomPrograms.h"
#include "ClosedPrograms.h"
#include "DerivativeHarness.h"
#include "ElementHarness.h"
#include "RuleHarness.h"
#include "llmc/Interpreter/Interpreter.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <cmath>

using namespace llmc;
using namespace llmc::test;

namespace {
/// Calls `check` on a program for each recipe.
template <typename Check>
void forEachProgram(ProgramOptions options, Check check, bool isRaw = false) {
  uint64_t base = readSetting("LLMC_TEST_SEED", 1);
  for (int recipe = 0; recipe < getNumRecipes(options); ++recipe) {
    options.seed = base * 1000 + recipe;
    options.firstRecipe = recipe;
    std::string text = makeProgram(options);
    if (!isRaw)
      text = closeRegions(text);
    testing::AssertionResult result = check(text);
    EXPECT_TRUE(result) << "recipe " << getRecipeName(options, recipe)
                        << ", LLMC_TEST_SEED=" << base << "\n"
                        << text;
    if (!result)
      return;
  }
}

TEST(RandomPrograms, AreFunctionsOfTheSeed) {
  ProgramOptions options;
  std::string first = makeProgram(options);
  EXPECT_EQ(first, makeProgram(options));
  options.seed = 2;
  EXPECT_NE(first, makeProgram(options));
}

TEST(RandomPrograms, DerivativesAgreeWithDifferences) {
  ProgramOptions options;
  options.smooth = true;
  options.numRecipes = 6;
  forEachProgram(options,
                 [](const std::string &text) { return checkDerivative(text); });
}

TEST(RandomPrograms, RulesHold) {
  RuleChecks checks;
  forEachProgram(
      {}, [&](const std::string &text) { return checkRules(text, &checks); });
  EXPECT_GT(checks.numHalved, 200);
  EXPECT_GT(checks.numReduced, 5);
  EXPECT_GT(checks.numCarried, 100);
}

TEST(RandomPrograms, ScalarCodeAgreesWithEvaluation) {
  ProgramOptions options;
  options.numRecipes = 3;
  for (const char *element : {"f64", "f32"}) {
    options.element = element;
    forEachProgram(options,
                   [](const std::string &text) { return checkElements(text); });
  }
}

/// The results of the first function of `module` on its random arguments.
SmallVector<HostTensor> interpret(ModuleOp module) {
  mlir::func::FuncOp function = getFunction(module);
  SmallVector<HostTensor> arguments, results;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(drawArgument(function, i, 1));
  Interpreter interpreter;
  if (failed(interpreter.interpret(function, arguments, results)))
    results.clear();
  return results;
}

testing::AssertionResult checkCanonicalize(const std::string &text) {
  GraphContext context;
  auto module = context.parse(text);
  if (!module)
    return testing::AssertionFailure() << context.takeMessages();
  SmallVector<HostTensor> before = interpret(*module);
  mlir::PassManager manager(context.get());
  manager.addPass(mlir::createCanonicalizerPass());
  manager.addPass(mlir::createCSEPass());
  if (failed(manager.run(*module)))
    return testing::AssertionFailure() << context.takeMessages();
  SmallVector<HostTensor> after = interpret(*module);
  if (before.empty() || before.size() != after.size())
    return testing::AssertionFailure() << context.takeMessages();
  for (auto [x, y] : llvm::zip_equal(before, after))
    for (int64_t i = 0; i < x.getNumElements(); ++i)
      if (!(x.getFloat(i) == y.getFloat(i)))
        return testing::AssertionFailure()
               << x.getFloat(i) << " became " << y.getFloat(i);
  return testing::AssertionSuccess();
}

TEST(RandomPrograms, CanonicalizationKeepsEveryBit) {
  forEachProgram({}, checkCanonicalize, /*isRaw=*/true);
}

/// Bodies that use outer values mean the same after they have been closed.
testing::AssertionResult checkClosing(const std::string &text) {
  GraphContext context;
  auto module = context.parse(text);
  if (!module)
    return testing::AssertionFailure() << context.takeMessages();
  SmallVector<HostTensor> before = interpret(*module);
  if (!closeRegions(*module) || before.empty())
    return testing::AssertionFailure() << context.takeMessages();
  SmallVector<HostTensor> after = interpret(*module);
  if (before.size() != after.size())
    return testing::AssertionFailure() << context.takeMessages();
  for (auto [x, y] : llvm::zip_equal(before, after))
    for (int64_t i = 0; i < x.getNumElements(); ++i)
      if (!(std::abs(x.getFloat(i) - y.getFloat(i)) <= 1e-13))
        return testing::AssertionFailure()
               << x.getFloat(i) << " became " << y.getFloat(i);
  return testing::AssertionSuccess();
}

TEST(RandomPrograms, ClosingRegionsKeepsTheValues) {
  forEachProgram({}, checkClosing, /*isRaw=*/true);
}
} // namespace

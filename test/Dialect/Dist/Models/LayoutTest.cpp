//===- LayoutTest.cpp - Answers of the ops that state layouts -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "RuleHarness.h"
#include "llmc/Interpreter/Interpreter.h"

using namespace llmc::test;

namespace {
const char *constraint = R"(
  dist.mesh @mesh = <"data"=2>
  func.func @f(%x: tensor<4x2xf64>) -> tensor<4x2xf64> {
    %y = dist.constraint %x to <@mesh, [{"data"}, {}]> : tensor<4x2xf64>
    return %y : tensor<4x2xf64>
  })";

TEST(Constraint, ItsCotangentHasTheSameConstraint) {
  EXPECT_TRUE(checkLinear(constraint));
  EXPECT_TRUE(checkKernels(constraint));
  std::string text = printVjp(constraint, "constraint");
  EXPECT_NE(text.find("%arg1 to <@mesh, [{\"data\"}, {}]>"), std::string::npos)
      << text;
}

TEST(Constraint, ItsRuleHolds) {
  RuleChecks checks;
  EXPECT_TRUE(checkRules(constraint, &checks));
  EXPECT_EQ(checks.numHalved, 2);
  EXPECT_EQ(checks.numCarried, 6);
}

const char *fence = R"(
  func.func @f(%x: tensor<3xf32>, %y: tensor<2xf32>, %z: tensor<4xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
    %a, %b = dist.fence(%x, %y) after(%z) : tensor<3xf32>, tensor<2xf32> after tensor<4xf32>
    return %a, %b : tensor<3xf32>, tensor<2xf32>
  })";

TEST(Fence, IsTheIdentityOfItsInputs) {
  EXPECT_TRUE(checkKernels(fence));
  EXPECT_EQ(printRule(fence), "([a],[b],[c])->([a],[b]) {a=3, b=2, c=4}");
}

/// @f on the device at `coordinate` of axis "b".
std::vector<double> evaluateAt(const char *text, int64_t coordinate) {
  GraphContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = context.parse(text);
  if (!module)
    return {};
  mlir::func::FuncOp function = getFunction(*module);
  llvm::SmallVector<llmc::HostTensor> arguments, results;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(drawArgument(function, i, 1));
  llmc::Interpreter interpreter;
  interpreter.setCoordinate("a", 1);
  interpreter.setCoordinate("b", coordinate);
  if (failed(interpreter.interpret(function, arguments, results)))
    return {};
  std::vector<double> numbers;
  for (int64_t i = 0; i < results[0].getNumElements(); ++i)
    numbers.push_back(results[0].getFloat(i));
  return numbers;
}

TEST(Coordinate, CountsMajorToMinor) {
  const char *text = R"(
    dist.mesh @mesh = <"a"=2, "b"=3>
    func.func @f() -> tensor<i32> {
      %c = dist.coordinate ["a", "b"] : tensor<i32>
      return %c : tensor<i32>
    })";
  EXPECT_EQ(evaluateAt(text, 2), std::vector<double>({5}));
  EXPECT_EQ(evaluate(text), std::vector<double>({0}));
}

TEST(Coordinate, CountsInTheMeshThatItNames) {
  const char *text = R"(
    dist.mesh @first = <"a"=2, "b"=3>
    dist.mesh @second = <"a"=4, "b"=5>
    func.func @f() -> tensor<i32> {
      %c = dist.coordinate ["a", "b"] on @second : tensor<i32>
      return %c : tensor<i32>
    })";
  EXPECT_EQ(evaluateAt(text, 4), std::vector<double>({9}));
}

TEST(Keep, IsTheIdentityOnGlobalValues) {
  const char *text = R"(
    #p = #dist.layout<@mesh, [{}], partial = [sum{"b"}]>
    #r = #dist.layout<@mesh, [{}]>
    dist.mesh @mesh = <"a"=2, "b"=3>
    func.func @f(%x: tensor<2xf32, #r> {test.values = dense<[1.0, 2.0]> : tensor<2xf32>}) -> tensor<2xf32, #p> {
      %k = dist.keep %x where "b" = 1 : tensor<2xf32, #r> -> tensor<2xf32, #p>
      return %k : tensor<2xf32, #p>
    })";
  EXPECT_EQ(evaluateAt(text, 1), std::vector<double>({1, 2}));
  EXPECT_EQ(evaluateAt(text, 2), std::vector<double>({1, 2}));
}

TEST(Keep, OfASplitDimIsTheIdentityOnGlobalValues) {
  const char *text = R"(
    #p = #dist.layout<@mesh, [{}], partial = [sum{"a"}]>
    #a = #dist.layout<@mesh, [{"a"}]>
    dist.mesh @mesh = <"a"=2, "b"=3>
    func.func @f(%x: tensor<2xf32, #a> {test.values = dense<[1.0, 2.0]> : tensor<2xf32>}) -> tensor<2xf32, #p> {
      %k = dist.keep %x where "a" : tensor<2xf32, #a> -> tensor<2xf32, #p>
      return %k : tensor<2xf32, #p>
    })";
  EXPECT_EQ(evaluateAt(text, 1), std::vector<double>({1, 2}));
}

TEST(Reshard, IsTheIdentityOnGlobalValues) {
  EXPECT_EQ(evaluate(R"(
    #a = #dist.layout<@mesh, [{"a"}]>
    #r = #dist.layout<@mesh, [{}]>
    dist.mesh @mesh = <"a"=2>
    func.func @f(%x: tensor<2xf32, #a> {test.values = dense<[1.0, 2.0]> : tensor<2xf32>}) -> tensor<2xf32, #r> {
      %y = dist.reshard %x : tensor<2xf32, #a> -> tensor<2xf32, #r>
      return %y : tensor<2xf32, #r>
    })"),
            std::vector<double>({1, 2}));
}

TEST(Join, IsTheSumOfItsOperands) {
  EXPECT_EQ(evaluate(R"(
    func.func @f(%x: tensor<2xf32> {test.values = dense<[1.0, 2.0]> : tensor<2xf32>},
                 %y: tensor<2xf32> {test.values = dense<[0.5, -8.0]> : tensor<2xf32>},
                 %z: tensor<2xf32> {test.values = dense<[16.0, 32.0]> : tensor<2xf32>}) -> tensor<2xf32> {
      %j = dist.join %x, %y, %z over "pipe" : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      return %j : tensor<2xf32>
    })"),
            std::vector<double>({17.5, 26}));
  // Integers wrap.
  EXPECT_EQ(evaluate(R"(
    func.func @f(%x: tensor<2xi32> {test.values = dense<[3, 2147483647]> : tensor<2xi32>},
                 %y: tensor<2xi32> {test.values = dense<[-5, 1]> : tensor<2xi32>}) -> tensor<2xi32> {
      %j = dist.join %x, %y over "pipe" : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
      return %j : tensor<2xi32>
    })"),
            std::vector<double>({-2, -2147483648.0}));
}

TEST(Keep, IsZeroElsewhere) {
  const char *text = R"(
    dist.mesh @mesh = <"a"=2, "b"=3>
    func.func @f(%x: tensor<2xf32> {test.values = dense<[1.0, 2.0]> : tensor<2xf32>}) -> tensor<2xf32> {
      %k = dist.keep %x where "b" = 1 : tensor<2xf32> -> tensor<2xf32>
      return %k : tensor<2xf32>
    })";
  EXPECT_EQ(evaluateAt(text, 1), std::vector<double>({1, 2}));
  EXPECT_EQ(evaluateAt(text, 2), std::vector<double>({0, 0}));
}

TEST(Collectives, AreTheIdentityOnGlobalValues) {
  EXPECT_EQ(evaluate(R"(
    #p = #dist.layout<@mesh, [{}], partial = [sum{"b"}]>
    #r = #dist.layout<@mesh, [{}]>
    dist.mesh @mesh = <"a"=2, "b"=3>
    func.func @f(%x: tensor<2xf32, #p> {test.values = dense<[1.0, 2.0]> : tensor<2xf32>}) -> tensor<2xf32, #r> {
      %y = dist.all_reduce %x over ["b"] sum : tensor<2xf32, #p> -> tensor<2xf32, #r>
      return %y : tensor<2xf32, #r>
    })"),
            std::vector<double>({1, 2}));
}

TEST(Collectives, OfLocalValuesNeedTheMesh) {
  GraphContext context;
  auto module = context.parse(R"(
    dist.mesh @mesh = <"b"=2>
    func.func @f(%x: tensor<2xf32>) -> tensor<4xf32> {
      %y = dist.all_gather %x dim 0 over ["b"] : tensor<2xf32> -> tensor<4xf32>
      return %y : tensor<4xf32>
    })");
  ASSERT_TRUE(module) << context.takeMessages();
  llvm::SmallVector<llmc::HostTensor> results;
  llmc::Interpreter interpreter;
  mlir::func::FuncOp function = getFunction(*module);
  EXPECT_TRUE(failed(interpreter.interpret(
      function, {drawArgument(function, 0, 1)}, results)));
  EXPECT_NE(context.takeMessages().find("evaluate the mesh in lockstep"),
            std::string::npos);
}
} // namespace

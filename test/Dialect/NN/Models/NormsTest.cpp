//===- NormsTest.cpp - Answers of layer_norm and rms_norm -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"
#include "GraphContext.h"
#include "RuleHarness.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/IR/Builders.h"
#include <cmath>

using namespace llmc::test;

namespace {
const char *const kNorms[] = {"layer_norm", "rms_norm"};

/// Rows of 2 x 5 elements for dims = 2, of 5 for dims = 1.
struct NormTypes {
  std::string full, rows;
  NormTypes(const std::string &element, int dims)
      : full("tensor<4x2x5x" + element + ">"),
        rows((dims == 2 ? "tensor<4x" : "tensor<4x2x") +
             (element == "bf16" ? "f32" : element) + ">") {}
};

/// @f gives the result, rstd or both.
std::string makeNorm(const std::string &name, const std::string &element,
                     int dims, const std::string &returned) {
  NormTypes types(element, dims);
  bool isBoth = returned.find(',') != std::string::npos;
  std::string list = isBoth             ? types.full + ", " + types.rows
                     : returned == "%r" ? types.rows
                                        : types.full;
  return "func.func @f(%x: " + types.full +
         " {test.low = -3.0, test.high = 3.0}) -> (" + list +
         ") {\n  %y, %r = nn." + name + " %x {dims = " + std::to_string(dims) +
         " : i64, epsilon = 0.1 : f64} : (" + types.full + ") -> (" +
         types.full + ", " + types.rows + ")\n  return " + returned + " : " +
         list + "\n}";
}

std::string makeNormGradient(const std::string &name,
                             const std::string &element, int dims) {
  NormTypes types(element, dims);
  return "func.func @f(%y: " + types.full + ", %r: " + types.rows +
         " {test.low = 0.5, test.high = 2.0}, %g: " + types.full + ") -> " +
         types.full + " {\n  %d = nn." + name +
         "_grad %y, %r, %g {dims = " + std::to_string(dims) + " : i64} : (" +
         types.full + ", " + types.rows + ", " + types.full + ") -> " +
         types.full + "\n  return %d : " + types.full + "\n}";
}

TEST(Norms, MomentsOfPartsAreJoined) {
  const std::vector<int64_t> parts[] = {{1, 1, 5}, {1, 2, 1}, {1, 2, 5}};
  for (ArrayRef<int64_t> of : parts)
    for (auto [element, tolerance] :
         {std::pair("f64", 1e-13), {"f32", 1e-5}, {"bf16", 4e-2}})
      EXPECT_TRUE(checkOneRound(makeNorm("layer_norm", element, 2, "%y, %r"),
                                of, tolerance))
          << element;
}

TEST(Norms, DerivativeAgreesWithDifferences) {
  for (const char *name : kNorms)
    for (int dims : {1, 2})
      for (const char *returned : {"%y", "%r", "%y, %r"})
        EXPECT_TRUE(checkDerivative(makeNorm(name, "f64", dims, returned)))
            << name << " " << dims << " " << returned;
}

TEST(Norms, DecomposeIntoEqualOps) {
  struct {
    const char *element;
    double tolerance;
  } cases[] = {{"f64", 1e-14}, {"f32", 1e-6}, {"bf16", 2e-2}};
  for (const char *name : kNorms)
    for (int dims : {1, 2})
      for (auto [element, tolerance] : cases) {
        EXPECT_TRUE(checkDecomposition(makeNorm(name, element, dims, "%y, %r"),
                                       tolerance))
            << name << " " << dims << " " << element;
        EXPECT_TRUE(checkDecomposition(makeNormGradient(name, element, dims),
                                       tolerance))
            << name << " " << dims << " " << element;
      }
}

TEST(Norms, RowsPassAndTheirElementsHaveADistributedForm) {
  for (const char *name : kNorms) {
    EXPECT_EQ(printRule(makeNorm(name, "f32", 1, "%y")),
              "([a, b, c])->([a, b, c],[a, b]) {a=4, b=2, c=5 whole}");
    EXPECT_EQ(printRule(makeNormGradient(name, "f32", 2)),
              "([a, b, c],[a],[a, b, c])->([a, b, c]) {a=4, b=2 whole, c=5 "
              "whole}");
    RuleChecks checks;
    EXPECT_TRUE(checkRules(makeNorm(name, "f64", 1, "%y"), &checks));
    EXPECT_EQ(checks.numHalved, 2);
    EXPECT_TRUE(checkRules(makeNormGradient(name, "f64", 1), &checks));
    EXPECT_EQ(checks.numCarried, 1);
  }
}

// All elements equal, a row of one element, and what is no number.
TEST(Norms, EdgesAreThoseOfTheOps) {
  std::string text = R"(
    func.func @f() -> tensor<4x2xf64> {
      %x = stablehlo.constant dense<[[3.0, 3.0], [0x7FF0000000000000, 1.0], [0x7FF8000000000000, 1.0], [1.0e+300, 1.0]]> : tensor<4x2xf64>
      %y, %r = nn.NORM %x {dims = 1 : i64, epsilon = EPS : f64} : (tensor<4x2xf64>) -> (tensor<4x2xf64>, tensor<4xf64>)
      return %y : tensor<4x2xf64>
    })";
  auto run = [&](const std::string &name, const std::string &epsilon) {
    std::string filled = text;
    filled.replace(filled.find("NORM"), 4, name);
    filled.replace(filled.find("EPS"), 3, epsilon);
    EXPECT_EQ(evaluate(filled).size(), 8u);
    return evaluate(filled);
  };
  std::vector<double> layer = run("layer_norm", "1.0e-5");
  EXPECT_EQ(layer[0], 0);
  EXPECT_TRUE(std::isnan(layer[2]) && std::isnan(layer[3]));
  EXPECT_TRUE(std::isnan(layer[4]) && std::isnan(layer[5]));
  EXPECT_EQ(layer[6], 0); // the variance is infinite
  EXPECT_TRUE(std::isnan(run("layer_norm", "0.0")[0]));
  std::vector<double> rms = run("rms_norm", "0.0");
  EXPECT_EQ(rms[0], 1);
  EXPECT_TRUE(std::isnan(rms[2]) && rms[3] == 0);
}

TEST(Norms, SecondDerivativesAreRefused) {
  for (const char *name : kNorms) {
    std::string message = printVjp(makeNormGradient(name, "f64", 1),
                                   std::string("nn.") + name + "_grad");
    EXPECT_NE(message.find("second derivatives are not built"),
              std::string::npos)
        << message;
  }
}

// The backward reads the result and rstd, and nothing where none is needed.
TEST(Norms, DerivativeReadsTheResult) {
  GraphContext context;
  auto module = context.parse(makeNorm("layer_norm", "f32", 1, "%y"));
  ASSERT_TRUE(module) << context.takeMessages();
  mlir::Operation *op = &getFunction(*module).front().front();
  mlir::OpBuilder builder(op->getBlock(), std::next(op->getIterator()));
  for (bool isNeeded : {false, true}) {
    llvm::SmallVector<mlir::Value> gradients(1);
    ASSERT_TRUE(llvm::succeeded(
        mlir::cast<llmc::graph::DerivativeOpInterface>(op).buildDerivative(
            builder, {op->getResult(0), mlir::Value()}, {isNeeded},
            gradients)));
    ASSERT_EQ(static_cast<bool>(gradients[0]), isNeeded);
    if (isNeeded)
      EXPECT_FALSE(llvm::is_contained(
          gradients[0].getDefiningOp()->getOperands(), op->getOperand(0)));
  }
}
} // namespace

//===- ArgsortTest.cpp - Answers of argsort -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "GraphContext.h"
#include "RuleHarness.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/IR/Builders.h"

using namespace llmc;
using namespace llmc::test;

namespace {
using Numbers = std::vector<double>;

/// The positions of the first `count` of `values`, in order.
Numbers order(const std::string &type, const std::string &values, int count,
              bool isDescending) {
  std::string result = "tensor<" + std::to_string(count) + "xi32>";
  return evaluate("func.func @f() -> " + result +
                  " {\n  %x = stablehlo.constant dense<" + values +
                  "> : " + type + "\n  %p = nn.argsort %x dim 0 descending [" +
                  (isDescending ? "true" : "false") + "] : (" + type + ") -> " +
                  result + "\n  return %p : " + result + "\n}");
}

TEST(Argsort, EqualElementsStandAsTheyLie) {
  EXPECT_EQ(order("tensor<5xi32>", "[3, 1, 3, 1, 2]", 5, false),
            (Numbers{1, 3, 4, 0, 2}));
  EXPECT_EQ(order("tensor<5xi32>", "[3, 1, 3, 1, 2]", 3, true),
            (Numbers{0, 2, 4}));
}

// Numbers of 64 bits are told apart beyond those of a double.
TEST(Argsort, IntegersAreNumbers) {
  EXPECT_EQ(order("tensor<4xui8>", "[200, 100, 255, 0]", 4, false),
            (Numbers{3, 1, 0, 2}));
  EXPECT_EQ(order("tensor<3xi8>", "[1, -128, 127]", 3, false),
            (Numbers{1, 0, 2}));
  EXPECT_EQ(order("tensor<3xi1>", "[true, false, true]", 3, false),
            (Numbers{1, 0, 2}));
  EXPECT_EQ(order("tensor<3xui64>",
                  "[18446744073709551615, 18446744073709551614, 7]", 3, false),
            (Numbers{2, 1, 0}));
}

// -NaN, -1, -0, 0, 1, infinity, NaN.
TEST(Argsort, FloatsAreInTotalOrder) {
  for (const char *element : {"f32", "f64"}) {
    std::string nan = element[1] == '3' ? "0x7FC00000" : "0x7FF8000000000000",
                minus = element[1] == '3' ? "0xFFC00000" : "0xFFF8000000000000",
                inf = element[1] == '3' ? "0x7F800000" : "0x7FF0000000000000";
    std::string values =
        "[" + nan + ", 0.0, " + inf + ", -1.0, " + minus + ", -0.0, 1.0]";
    std::string type = std::string("tensor<7x") + element + ">";
    EXPECT_EQ(order(type, values, 7, false), (Numbers{4, 3, 5, 1, 6, 2, 0}));
    EXPECT_EQ(order(type, values, 2, true), (Numbers{0, 2}));
  }
}

// Columns are ordered by their first key, then by their second, falling.
TEST(Argsort, LaterKeysDecideWhereEarlierOnesAreEqual) {
  EXPECT_EQ(evaluate(R"(
    func.func @f() -> tensor<3x2xi32> {
      %x = stablehlo.constant dense<[[1, 0], [0, 0], [1, 0]]> : tensor<3x2xi8>
      %y = stablehlo.constant dense<[[1.0, 2.0], [5.0, 3.0], [2.0, 1.0]]> : tensor<3x2xf64>
      %p = nn.argsort %x, %y dim 0 descending [false, true] : (tensor<3x2xi8>, tensor<3x2xf64>) -> tensor<3x2xi32>
      return %p : tensor<3x2xi32>
    })"),
            (Numbers{1, 1, 2, 0, 0, 2}));
}

std::string makeArgsort(const std::string &count) {
  return "func.func @f(%x: tensor<4x6x2xf64>, %y: tensor<4x6x2xi32>) -> "
         "tensor<4x" +
         count +
         "x2xi32> {\n  %p = nn.argsort %x, %y dim 1 descending [false, true] : "
         "(tensor<4x6x2xf64>, tensor<4x6x2xi32>) -> tensor<4x" +
         count + "x2xi32>\n  return %p : tensor<4x" + count + "x2xi32>\n}";
}

TEST(Argsort, AllDimsPassButTheOrderedOne) {
  EXPECT_EQ(printRule(makeArgsort("3")),
            "([a, b, d],[a, b, d])->([a, c, d]) {a=4, b=6 whole, c=3 whole, "
            "d=2}");
  RuleChecks checks;
  EXPECT_TRUE(checkRules(makeArgsort("6"), &checks));
  EXPECT_EQ(checks.numHalved, 2);
}

/// Of the only argsort of a module.
template <typename Get> auto askArgsort(StringRef text, Get get) {
  GraphContext context;
  auto module = context.parse(text);
  EXPECT_TRUE(static_cast<bool>(module)) << context.takeMessages();
  Operation *found = nullptr;
  module->walk([&](Operation *op) {
    if (op->getName().getStringRef() == "nn.argsort")
      found = op;
  });
  return get(found);
}

TEST(Argsort, CostsComparisonsOfALogarithm) {
  auto flops = [](Operation *op) {
    return llvm::cast<graph::CostOpInterface>(op).getCost().flops;
  };
  EXPECT_EQ(askArgsort(makeArgsort("3"), flops), 4 * 6 * 2 * 3 * 2);
}

TEST(Argsort, PositionsHaveNoDerivative) {
  EXPECT_TRUE(askArgsort(makeArgsort("3"), [](Operation *op) {
    return llvm::cast<graph::DerivativeOpInterface>(op).isInactive();
  }));
}

TEST(Argsort, ALibraryIsCalledWhereThereIsSomethingToCompare) {
  auto form = [](Operation *op) {
    return llvm::cast<graph::KernelOpInterface>(op).getKernelForm();
  };
  EXPECT_EQ(askArgsort(makeArgsort("3"), form), graph::KernelForm::Library);
  EXPECT_EQ(askArgsort(makeArgsort("0"), form), graph::KernelForm::Decompose);
  const char *single = R"(
    func.func @f(%x: tensor<4x1xf64>) -> tensor<4x1xi32> {
      %p = nn.argsort %x dim 1 descending [true] : (tensor<4x1xf64>) -> tensor<4x1xi32>
      return %p : tensor<4x1xi32>
    })";
  EXPECT_EQ(askArgsort(single, form), graph::KernelForm::Decompose);
  EXPECT_TRUE(checkDecomposition(single, 0));
  EXPECT_TRUE(askArgsort(makeArgsort("3"), [](Operation *op) {
    mlir::OpBuilder builder(op);
    auto call =
        llvm::cast<graph::KernelOpInterface>(op).buildLibraryCall(builder);
    return llvm::isa<dist::ArgsortOp>(call) &&
           call->getResultTypes() == op->getResultTypes();
  }));
}
} // namespace

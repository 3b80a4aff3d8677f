//===- PlanAttrsTest.cpp - Attributes of plans that code makes ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folds of expressions, and checks of what the text cannot say.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Plan/IR/Plan.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace llmc;
using plan::Cell;
using plan::ExprAttr;
using plan::ExprOp;

namespace {

class PlanAttrs : public testing::Test {
protected:
  PlanAttrs() { context.loadDialect<plan::PlanDialect>(); }

  ExprAttr number(int64_t value) {
    return ExprAttr::getConstant(&context, value);
  }
  ExprAttr fold(ExprOp op, int64_t a, int64_t b) {
    return ExprAttr::getBinary(op, number(a), number(b));
  }
  /// Two numbers that stay an op: the fold has no value.
  bool stays(ExprOp op, int64_t a, int64_t b) {
    ExprAttr expr = fold(op, a, b);
    return expr.getOp() == op && expr.getLhs() == number(a) &&
           expr.getRhs() == number(b);
  }

  /// The error with which an attribute is refused; "" when it is made.
  template <typename Attr, typename... Args> std::string refuse(Args... args) {
    std::string message;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &error) { message += error.str(); });
    auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
    Attr made = Attr::getChecked(emitError, &context, args...);
    EXPECT_EQ(static_cast<bool>(made), message.empty());
    return message;
  }

  MLIRContext context;
};

} // namespace

TEST_F(PlanAttrs, NumbersAreFolded) {
  EXPECT_EQ(fold(ExprOp::Add, 5, -7), number(-2));
  EXPECT_EQ(fold(ExprOp::Sub, 5, -7), number(12));
  EXPECT_EQ(fold(ExprOp::Mul, 5, -7), number(-35));
  EXPECT_EQ(fold(ExprOp::Min, 5, -7), number(-7));
  EXPECT_EQ(fold(ExprOp::Max, 5, -7), number(5));
  for (int64_t a : {1, 2, 3}) {
    EXPECT_EQ(fold(ExprOp::Equal, a, 2), number(a == 2));
    EXPECT_EQ(fold(ExprOp::Less, a, 2), number(a < 2));
    EXPECT_EQ(fold(ExprOp::LessEqual, a, 2), number(a <= 2));
  }
}

TEST_F(PlanAttrs, DivisionRoundsTowardsMinusInfinity) {
  struct Case {
    int64_t a, b, quotient, rest;
  };
  for (Case each : {Case{7, 2, 3, 1}, Case{-7, 2, -4, 1}, Case{7, -2, -4, -1},
                    Case{-7, -2, 3, -1}, Case{6, 2, 3, 0}, Case{-6, 2, -3, 0},
                    Case{6, -2, -3, 0}, Case{INT64_MIN, 1, INT64_MIN, 0},
                    Case{-5, -1, 5, 0}}) {
    EXPECT_EQ(fold(ExprOp::FloorDiv, each.a, each.b), number(each.quotient));
    EXPECT_EQ(fold(ExprOp::Mod, each.a, each.b), number(each.rest));
  }
}

TEST_F(PlanAttrs, WhatHasNoValueStays) {
  EXPECT_TRUE(stays(ExprOp::Add, INT64_MAX, 1));
  EXPECT_TRUE(stays(ExprOp::Sub, INT64_MIN, 1));
  EXPECT_TRUE(stays(ExprOp::Mul, INT64_MAX, 2));
  EXPECT_TRUE(stays(ExprOp::FloorDiv, 1, 0));
  EXPECT_TRUE(stays(ExprOp::Mod, 1, 0));
  EXPECT_TRUE(stays(ExprOp::FloorDiv, INT64_MIN, -1));
  EXPECT_TRUE(stays(ExprOp::Mod, INT64_MIN, -1));
}

TEST_F(PlanAttrs, NeutralNumbersAreLeftOut) {
  ExprAttr x = ExprAttr::getMicrobatch(&context);
  ExprAttr zero = number(0), one = number(1), two = number(2);
  EXPECT_EQ(ExprAttr::getBinary(ExprOp::Add, x, zero), x);
  EXPECT_EQ(ExprAttr::getBinary(ExprOp::Add, zero, x), x);
  EXPECT_EQ(ExprAttr::getBinary(ExprOp::Sub, x, zero), x);
  EXPECT_EQ(ExprAttr::getBinary(ExprOp::Mul, x, one), x);
  EXPECT_EQ(ExprAttr::getBinary(ExprOp::Mul, one, x), x);
  EXPECT_EQ(ExprAttr::getBinary(ExprOp::Mul, x, zero), zero);
  EXPECT_EQ(ExprAttr::getBinary(ExprOp::Mul, zero, x), zero);
  auto isKept = [](ExprOp op, ExprAttr lhs, ExprAttr rhs) {
    ExprAttr expr = ExprAttr::getBinary(op, lhs, rhs);
    return expr.getOp() == op && expr.getLhs() == lhs && expr.getRhs() == rhs;
  };
  EXPECT_TRUE(isKept(ExprOp::Sub, zero, x));
  EXPECT_TRUE(isKept(ExprOp::Add, x, one));
  EXPECT_TRUE(isKept(ExprOp::Add, x, x));
  EXPECT_TRUE(isKept(ExprOp::Mul, x, two));
  EXPECT_TRUE(isKept(ExprOp::Mul, two, x));
  EXPECT_TRUE(isKept(ExprOp::Mod, x, one));
  EXPECT_TRUE(isKept(ExprOp::FloorDiv, x, zero));
}

TEST_F(PlanAttrs, OperandsOfExpressions) {
  ExprAttr none, x = number(1);
  StringAttr noAxis, axis = StringAttr::get(&context, "data");
  StringAttr empty = StringAttr::get(&context, "");
  auto check = [&](ExprOp op, StringAttr axis, ExprAttr lhs, ExprAttr rhs) {
    return refuse<ExprAttr>(op, int64_t(0), axis, lhs, rhs);
  };
  EXPECT_EQ(check(ExprOp::Add, noAxis, x, x), "");
  EXPECT_EQ(check(ExprOp::Add, noAxis, none, x),
            "expected two operands of 'add'");
  EXPECT_EQ(check(ExprOp::Add, noAxis, x, none),
            "expected two operands of 'add'");
  EXPECT_EQ(check(ExprOp::Microbatch, noAxis, x, none),
            "expected no operands of 'microbatch'");
  EXPECT_EQ(check(ExprOp::Microbatch, noAxis, none, x),
            "expected no operands of 'microbatch'");
  EXPECT_EQ(check(ExprOp::Parameter, noAxis, none, none), "");
  std::string alone = "expected the name of an axis for 'coordinate' alone";
  EXPECT_EQ(check(ExprOp::Coordinate, axis, none, none), "");
  EXPECT_EQ(check(ExprOp::Coordinate, noAxis, none, none), alone);
  EXPECT_EQ(check(ExprOp::Coordinate, empty, none, none), alone);
  EXPECT_EQ(check(ExprOp::Microbatch, axis, none, none), alone);
}

TEST_F(PlanAttrs, CellsOfTables) {
  auto check = [&](int64_t stages, std::vector<Cell> cells) {
    return refuse<plan::TableAttr>(stages, ArrayRef<Cell>(cells));
  };
  Cell idle, run{0, 0};
  EXPECT_EQ(check(2, {idle, run, run, idle}), "");
  EXPECT_EQ(check(0, {idle}),
            "expected rows of at least one stage, got 1 cells for 0 stages");
  EXPECT_EQ(check(2, {}),
            "expected rows of at least one stage, got 0 cells for 2 stages");
  EXPECT_EQ(check(2, {idle, run, run}),
            "expected rows of at least one stage, got 3 cells for 2 stages");
  EXPECT_EQ(check(1, {run, Cell{-2, 0}}),
            "expected program and microbatch of at least 0, got -2 and 0");
  EXPECT_EQ(check(1, {run, Cell{0, -1}}),
            "expected program and microbatch of at least 0, got 0 and -1");
}

// Attributes with equal cells are one, others are not.
TEST_F(PlanAttrs, CellsAreCompared) {
  auto make = [&](Cell cell) {
    return plan::TableAttr::get(&context, 1, {cell});
  };
  EXPECT_EQ(make({1, 2}), make({1, 2}));
  EXPECT_NE(make({1, 2}), make({1, 3}));
  EXPECT_NE(make({1, 2}), make({0, 2}));
  EXPECT_FALSE((Cell{1, 2} == Cell{0, 2}));
  EXPECT_FALSE((Cell{1, 2} == Cell{1, 3}));
  EXPECT_TRUE((Cell{1, 2} == Cell{1, 2}));
}

TEST_F(PlanAttrs, MessagesHaveOperands) {
  EXPECT_EQ(refuse<plan::MessageAttr>(FlatSymbolRefAttr::get(&context, "t0"),
                                      number(0), ArrayRef<plan::OperandAttr>()),
            "expected at least one operand of transfer @t0");
}

//===- LoopsTest.cpp - Trips of loops -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Interpreter/Interpreter.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {

std::vector<std::vector<double>> run(StringRef text) {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module = context.parse(text);
  if (!module)
    return {};
  SmallVector<HostTensor> arguments, results;
  mlir::func::FuncOp function = getFunction(*module);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(drawArgument(function, i, 1));
  Interpreter interpreter;
  std::vector<std::vector<double>> values;
  if (failed(interpreter.interpret(function, arguments, results)))
    return values;
  for (const HostTensor &result : results) {
    values.emplace_back();
    for (int64_t i = 0; i < result.getNumElements(); ++i)
      values.back().push_back(result.getFloat(i));
  }
  return values;
}

using Rows = std::vector<std::vector<double>>;

// x = 1; three times x = x * w + b: with w = 2, 3, 4 and b = 1 it is 3, 10, 41.
constexpr const char *horner = R"(
  func.func @f(%W: tensor<3xf64> {test.values = dense<[2.0, 3.0, 4.0]> : tensor<3xf64>})
      -> (tensor<f64>, tensor<3xf64>, tensor<f64>) {
    %one = stablehlo.constant dense<1.0> : tensor<f64>
    %x = dist.enter carry %one of <"l", trips = 3LOOP> number(0) : tensor<f64> -> tensor<f64>
    %w = dist.enter row %W of <"l", trips = 3LOOP> : tensor<3xf64> -> tensor<f64>
    %b = dist.enter same %one of <"l", trips = 3LOOP> : tensor<f64> -> tensor<f64>
    %p = stablehlo.multiply %x, %w : tensor<f64>
    %y = stablehlo.add %p, %b : tensor<f64>
    %f = dist.next %x, %y : tensor<f64>
    %last = dist.leave last %f of <"l", trips = 3LOOP> : tensor<f64> -> tensor<f64>
    %all = dist.leave stack %y of <"l", trips = 3LOOP> : tensor<f64> -> tensor<3xf64>
    %sum = dist.leave sum %x of <"l", trips = 3LOOP> : tensor<f64> -> tensor<f64>
    return %last, %all, %sum : tensor<f64>, tensor<3xf64>, tensor<f64>
  })";

std::string hornerOf(const std::string &more) {
  std::string text = horner;
  for (size_t at; (at = text.find("LOOP")) != std::string::npos;)
    text.replace(at, 4, more);
  return text;
}

TEST(Loops, TripsRunOneAfterTheOther) {
  EXPECT_EQ(run(hornerOf("")), Rows({{41}, {3, 10, 41}, {14}}));
}

// Rows are those of the trip's number, whatever the order: 5, 16, 33.
TEST(Loops, ReversedOnesBeginWithTheLastTrip) {
  EXPECT_EQ(run(hornerOf(", reversed = true")),
            Rows({{33}, {33, 16, 5}, {22}}));
}

// A loop of three trips in each of two trips: the inner one begins with what
// the outer one carries, and reads rows of its row.
constexpr const char *nested = R"(
  func.func @f(%W: tensor<2x3xf64> {test.values = dense<[[2.0, 3.0, 4.0], [1.0, 2.0, 1.0]]> : tensor<2x3xf64>})
      -> (tensor<f64>, tensor<2x3xf64>, tensor<2xf64>) {
    %one = stablehlo.constant dense<1.0> : tensor<f64>
    %x = dist.enter carry %one of OUTER number(0) : tensor<f64> -> tensor<f64>
    %r = dist.enter row %W of OUTER : tensor<2x3xf64> -> tensor<3xf64>
    %y = dist.enter carry %x of INNER number(0) : tensor<f64> -> tensor<f64>
    %w = dist.enter row %r of INNER : tensor<3xf64> -> tensor<f64>
    %b = dist.enter same %one of INNER : tensor<f64> -> tensor<f64>
    %p = stablehlo.multiply %y, %w : tensor<f64>
    %z = stablehlo.add %p, %b : tensor<f64>
    %g = dist.next %y, %z : tensor<f64>
    %last = dist.leave last %g of INNER : tensor<f64> -> tensor<f64>
    %all = dist.leave stack %z of INNER : tensor<f64> -> tensor<3xf64>
    %sum = dist.leave sum %y of INNER : tensor<f64> -> tensor<f64>
    %f = dist.next %x, %last : tensor<f64>
    %out = dist.leave last %f of OUTER : tensor<f64> -> tensor<f64>
    %stack = dist.leave stack %all of OUTER : tensor<3xf64> -> tensor<2x3xf64>
    %sums = dist.leave stack %sum of OUTER : tensor<f64> -> tensor<2xf64>
    return %out, %stack, %sums : tensor<f64>, tensor<2x3xf64>, tensor<2xf64>
  })";

std::string nestedOf(const std::string &more) {
  std::string text = nested, outer = "<\"o\", trips = 2" + more;
  const std::pair<const char *, std::string> words[] = {
      {"OUTER", outer + ">"},
      {"INNER", "<\"i\", trips = 3" + more + ", in = " + outer + ">>"}};
  for (const auto &[word, loop] : words)
    for (size_t at; (at = text.find(word)) != std::string::npos;)
      text.replace(at, 5, loop);
  return text;
}

TEST(Loops, ALoopRunsAnewInEachTripOfAnother) {
  EXPECT_EQ(run(nestedOf("")),
            Rows({{86}, {3, 10, 41, 42, 85, 86}, {14, 168}}));
}

TEST(Loops, LoopsInEachOtherBothRunFromTheLastTrip) {
  EXPECT_EQ(run(nestedOf(", reversed = true")),
            Rows({{153}, {153, 76, 25, 6, 5, 2}, {107, 8}}));
}

TEST(Loops, WhatLeavesALoopIsOfTheOneAround) {
  GraphContext context;
  auto module = context.parse(nestedOf(""));
  ASSERT_TRUE(module) << context.takeMessages();
  dist::LoopRuns loops(getFunction(*module).front());
  ASSERT_EQ(loops.getRuns().size(), 2u);
  EXPECT_EQ(loops.getRuns()[0].loop.getName().getValue(), "o");
  EXPECT_EQ(loops.getRuns()[0].ops.size(), 12u);
  EXPECT_EQ(loops.getRuns()[1].in, 0);
  EXPECT_EQ(loops.getRuns()[1].ops.size(), 6u);
  EXPECT_EQ(loops.getRuns()[1].leaves.size(), 3u);
  // In a trip: two enters, the loop, three leaves and a next.
  EXPECT_EQ(loops.getSteps(0).size(), 7u);
  EXPECT_EQ(loops.getSteps().size(), 5u);
}

// The reversed run reads the carried values of the same trips.
TEST(Loops, BackwardsReadValuesOfTheSameTrip) {
  EXPECT_EQ(run(R"(
    func.func @f(%W: tensor<3xf64> {test.values = dense<[2.0, 3.0, 4.0]> : tensor<3xf64>}) -> tensor<3xf64> {
      %one = stablehlo.constant dense<1.0> : tensor<f64>
      %x = dist.enter carry %one of <"l", trips = 3> number(0) : tensor<f64> -> tensor<f64>
      %w = dist.enter row %W of <"l", trips = 3> : tensor<3xf64> -> tensor<f64>
      %y = stablehlo.multiply %x, %w : tensor<f64>
      %f = dist.next %x, %y : tensor<f64>
      %g = dist.enter carry %one of <"l", trips = 3, reversed = true> number(0) : tensor<f64> -> tensor<f64>
      %gw = stablehlo.multiply %g, %x : tensor<f64>
      %gx = stablehlo.multiply %g, %w : tensor<f64>
      %h = dist.next %g, %gx : tensor<f64>
      %all = dist.leave stack %gw of <"l", trips = 3, reversed = true> : tensor<f64> -> tensor<3xf64>
      return %all : tensor<3xf64>
    })"),
            Rows({{12, 8, 6}}));
}

// In each trip of a reversed loop one runs from its first trip, and again from
// its last one: the products so far, and their gradients.
constexpr const char *turned = R"(
  func.func @f(%W: tensor<3xf64> {test.values = dense<[2.0, 3.0, 4.0]> : tensor<3xf64>},
               %A: tensor<2xf64> {test.values = dense<[1.0, 10.0]> : tensor<2xf64>}) -> (tensor<2x3xf64>, tensor<f64>) {
    %one = stablehlo.constant dense<1.0> : tensor<f64>
    %t = dist.enter carry %one of <"o", trips = 2, reversed = true> number(0) : tensor<f64> -> tensor<f64>
    %a = dist.enter row %A of <"o", trips = 2, reversed = true> : tensor<2xf64> -> tensor<f64>
    %x = dist.enter carry %a of <"i", trips = 3, in = <"o", trips = 2, reversed = true>> number(0) : tensor<f64> -> tensor<f64>
    %w = dist.enter row %W of <"i", trips = 3, in = <"o", trips = 2, reversed = true>> : tensor<3xf64> -> tensor<f64>
    %y = stablehlo.multiply %x, %w : tensor<f64>
    %f = dist.next %x, %y : tensor<f64>
    %last = dist.leave last %f of <"i", trips = 3, in = <"o", trips = 2, reversed = true>> : tensor<f64> -> tensor<f64>
    %g = dist.enter carry %one of <"i", trips = 3, reversed = true, in = <"o", trips = 2, reversed = true>> number(0) : tensor<f64> -> tensor<f64>
    %gw = stablehlo.multiply %x, %g : tensor<f64>
    %gx = stablehlo.multiply %g, %w : tensor<f64>
    %h = dist.next %g, %gx : tensor<f64>
    %gs = dist.leave stack %gw of <"i", trips = 3, reversed = true, in = <"o", trips = 2, reversed = true>> : tensor<f64> -> tensor<3xf64>
    %u = stablehlo.multiply %t, %a : tensor<f64>
    %v = stablehlo.add %u, %last : tensor<f64>
    %n = dist.next %t, %v : tensor<f64>
    %all = dist.leave stack %gs of <"o", trips = 2, reversed = true> : tensor<3xf64> -> tensor<2x3xf64>
    %end = dist.leave last %n of <"o", trips = 2, reversed = true> : tensor<f64> -> tensor<f64>
    return %all, %end : tensor<2x3xf64>, tensor<f64>
  })";

// The last trip first: 1 * 10 + 240 = 250, then 250 * 1 + 24.
TEST(Loops, BothDirectionsRunInAReversedTrip) {
  EXPECT_EQ(run(turned), Rows({{12, 8, 6, 120, 80, 60}, {274}}));
}

TEST(LoopRuns, AnOpOfBothDirectionsIsOfTheReversedRun) {
  GraphContext context;
  auto module = context.parse(turned);
  ASSERT_TRUE(module) << context.takeMessages();
  dist::LoopRuns loops(getFunction(*module).front());
  ASSERT_EQ(loops.getRuns().size(), 3u);
  EXPECT_EQ(loops.getRuns()[1].ops.size(), 4u);
  EXPECT_FALSE(loops.getRuns()[1].loop.getReversed());
  EXPECT_EQ(loops.getRuns()[2].ops.size(), 4u);
  EXPECT_TRUE(loops.getRuns()[2].loop.getReversed());
  EXPECT_EQ(loops.getRuns()[2].in, 0);
  EXPECT_EQ(loops.getRuns()[2].loop.getForward(),
            loops.getRuns()[1].loop.getForward());
}

// Two values change places; what a trip carries is that of the trip before.
TEST(Loops, CarriedValuesChangePlacesAtOnce) {
  EXPECT_EQ(run(R"(
    func.func @f() -> (tensor<f64>, tensor<f64>) {
      %one = stablehlo.constant dense<1.0> : tensor<f64>
      %two = stablehlo.constant dense<2.0> : tensor<f64>
      %x = dist.enter carry %one of <"l", trips = 3> number(0) : tensor<f64> -> tensor<f64>
      %y = dist.enter carry %two of <"l", trips = 3> number(1) : tensor<f64> -> tensor<f64>
      %f = dist.next %x, %y : tensor<f64>
      %g = dist.next %y, %x : tensor<f64>
      %a = dist.leave last %f of <"l", trips = 3> : tensor<f64> -> tensor<f64>
      %b = dist.leave last %g of <"l", trips = 3> : tensor<f64> -> tensor<f64>
      return %a, %b : tensor<f64>, tensor<f64>
    })"),
            Rows({{2}, {1}}));
}

// x is halved, and y is what x was, as long as x is greater than 1.
std::string halves(double start) {
  return R"(
    func.func @f() -> (tensor<f64>, tensor<f64>) {
      %one = stablehlo.constant dense<1.0> : tensor<f64>
      %half = stablehlo.constant dense<0.5> : tensor<f64>
      %x0 = stablehlo.constant dense<)" +
         std::to_string(start) + R"(> : tensor<f64>
      %before = stablehlo.compare GT, %x0, %one, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %on = dist.enter carry %before of <"l", conditional = true> number(0) : tensor<i1> -> tensor<i1>
      %x = dist.enter carry %x0 of <"l", conditional = true> number(1) : tensor<f64> -> tensor<f64>
      %y = dist.enter carry %one of <"l", conditional = true> number(2) : tensor<f64> -> tensor<f64>
      %z = stablehlo.multiply %x, %half : tensor<f64>
      %again = stablehlo.compare GT, %z, %one, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %goes = dist.next %on, %again : tensor<i1>
      %f = dist.next %x, %z : tensor<f64>
      %g = dist.next %y, %x : tensor<f64>
      %a = dist.leave last %f of <"l", conditional = true> : tensor<f64> -> tensor<f64>
      %b = dist.leave last %g of <"l", conditional = true> : tensor<f64> -> tensor<f64>
      return %a, %b : tensor<f64>, tensor<f64>
    })";
}

TEST(Loops, AConditionEndsThem) {
  EXPECT_EQ(run(halves(12)), Rows({{0.75}, {1.5}}));
  EXPECT_EQ(run(halves(1.5)), Rows({{0.75}, {1.5}}));
  EXPECT_EQ(run(halves(0.5)), Rows({{0.5}, {1}}));
}

// What no trip changes is computed once, also where it stands among the ops of
// a trip, or after a value that leaves.
TEST(LoopRuns, StepsPutWhatTripsReadBeforeThem) {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module = context.parse(R"(
    func.func @f(%W: tensor<3xf64>) -> (tensor<f64>, tensor<f64>) {
      %w = dist.enter row %W of <"l", trips = 3> : tensor<3xf64> -> tensor<f64>
      %s = dist.leave sum %w of <"l", trips = 3> : tensor<f64> -> tensor<f64>
      %c = stablehlo.constant dense<2.0> : tensor<f64>
      %p = stablehlo.multiply %w, %c : tensor<f64>
      %t = dist.leave sum %p of <"l", trips = 3> : tensor<f64> -> tensor<f64>
      return %s, %t : tensor<f64>, tensor<f64>
    })");
  ASSERT_TRUE(module) << context.takeMessages();
  dist::LoopRuns loops(getFunction(*module).front());
  ASSERT_EQ(loops.getRuns().size(), 1u);
  EXPECT_EQ(loops.getRuns()[0].ops.size(), 2u);
  EXPECT_EQ(loops.getRuns()[0].leaves.size(), 2u);
  std::vector<dist::LoopStep> steps = loops.getSteps();
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_TRUE(steps[0].op->hasTrait<mlir::OpTrait::ConstantLike>());
  EXPECT_EQ(steps[1].run, 0);
  EXPECT_TRUE(isa<dist::LeaveOp>(steps[2].op));
  EXPECT_TRUE(isa<dist::LeaveOp>(steps[3].op));
}

// A loop of which nothing is read goes away, with what closes it.
TEST(LoopRuns, DeadLoopsAreErased) {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module = context.parse(R"(
    func.func @f(%W: tensor<3xf64>, %v: tensor<f64>) -> tensor<f64> {
      %w = dist.enter row %W of <"l", trips = 3> : tensor<3xf64> -> tensor<f64>
      %x = dist.enter carry %v of <"l", trips = 3> number(0) : tensor<f64> -> tensor<f64>
      %z = dist.enter carry %v of <"l", trips = 3> number(1) : tensor<f64> -> tensor<f64>
      %y = stablehlo.multiply %x, %w : tensor<f64>
      %q = stablehlo.multiply %z, %x : tensor<f64>
      %f = dist.next %x, %y : tensor<f64>
      %g = dist.next %z, %q : tensor<f64>
      %last = dist.leave last %g of <"l", trips = 3> : tensor<f64> -> tensor<f64>
      %all = dist.leave stack %q of <"l", trips = 3> : tensor<f64> -> tensor<3xf64>
      return %last : tensor<f64>
    })");
  ASSERT_TRUE(module) << context.takeMessages();
  Block &block = getFunction(*module).front();
  // The carried x is needed by the trips after, though it is not read at last.
  dist::eraseDeadLoops(block);
  EXPECT_EQ(llvm::range_size(block), 9);
  block.getTerminator()->setOperand(0, block.getArgument(1));
  dist::eraseDeadLoops(block);
  EXPECT_EQ(llvm::range_size(block), 1);
}

} // namespace

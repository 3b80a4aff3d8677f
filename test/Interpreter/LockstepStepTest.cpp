//===- LockstepStepTest.cpp - Steps on all devices ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One program twice: whole, and as local text for <"d"=2, "t"=2>, in which the
// three columns of x and w lie in two pairs, one of them padded.
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Interpreter/LockstepStepInterpreter.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::HasSubstr;

namespace {
constexpr const char *kWhole = R"(
  dist.mesh @mesh = <"d"=2, "t"=2>
  dist.state @w : tensor<3xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
  func.func @micro(%x: tensor<4x3xf32> {dist.port = #dist.port<input "x">},
      %w: tensor<3xf32> {dist.port = #dist.port<parameter @w>})
      -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>},
          tensor<3xf32> {dist.port = #dist.port<gradient @w>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.constant dense<4.0> : tensor<f32>
    %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
    %p = stablehlo.multiply %g, %w : tensor<3xf32>
    %l = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    return %l, %n, %g : tensor<f32>, tensor<f32>, tensor<3xf32>
  }
  func.func @update(%w: tensor<3xf32> {dist.port = #dist.port<parameter @w>},
      %g: tensor<3xf32> {dist.port = #dist.port<gradient @w>},
      %loss: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>})
      -> (tensor<3xf32> {dist.port = #dist.port<parameter @w>},
          tensor<f32> {dist.port = #dist.port<metric "loss">}) {
    %new = stablehlo.subtract %w, %g : tensor<3xf32>
    %mean = stablehlo.divide %loss, %count : tensor<f32>
    return %new, %mean : tensor<3xf32>, tensor<f32>
  }
  dist.step @train microbatch(@micro) update(@update) microbatches(2) schedule(<1f1b>)
)";

constexpr const char *kLocal = R"(
  dist.mesh @mesh = <"d"=2, "t"=2>
  dist.state @w : tensor<3xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
  dist.buffer @w.local of @w : tensor<2xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{"t"}:4]>, [0]>]
  func.func @micro(%x: tensor<2x2xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"d"}, {"t"}:4]>>},
      %w: tensor<2xf32> {dist.port = #dist.port<parameter @w>})
      -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>},
          tensor<2xf32> {dist.port = #dist.port<gradient @w>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.constant dense<0.0> : tensor<2x2xf32>
    %n = stablehlo.constant dense<4.0> : tensor<f32>
    %c = dist.coordinate ["t"] : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %o = stablehlo.multiply %c, %two : tensor<i32>
    %ob = stablehlo.broadcast_in_dim %o, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %i = stablehlo.iota dim = 1 : tensor<2x2xi32>
    %k = stablehlo.add %ob, %i : tensor<2x2xi32>
    %end = stablehlo.constant dense<3> : tensor<2x2xi32>
    %in = stablehlo.compare LT, %k, %end : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %m = stablehlo.select %in, %x, %zeros : tensor<2x2xi1>, tensor<2x2xf32>
    %g = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
    %p = stablehlo.multiply %g, %w : tensor<2xf32>
    %l = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    return %l, %n, %g : tensor<f32>, tensor<f32>, tensor<2xf32>
  }
  func.func @update(%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>},
      %g: tensor<2xf32> {dist.port = #dist.port<gradient @w>},
      %loss: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>})
      -> (tensor<2xf32> {dist.port = #dist.port<parameter @w>},
          tensor<f32> {dist.port = #dist.port<metric "loss">}) {
    %full = dist.all_reduce %g over ["d"] sum : tensor<2xf32>
    %total = dist.all_reduce %loss over ["d", "t"] sum : tensor<f32>
    %new = stablehlo.subtract %w, %full : tensor<2xf32>
    %mean = stablehlo.divide %total, %count : tensor<f32>
    return %new, %mean : tensor<2xf32>, tensor<f32>
  }
  dist.step @train microbatch(@micro) update(@update) microbatches(2) schedule(<1f1b>)
)";

HostTensor giveInput(MLIRContext *context, int64_t step, int64_t microbatch) {
  HostTensor x(mlir::Float32Type::get(context), {4, 3});
  for (int64_t i = 0; i < 12; ++i)
    x.setFloat(i, static_cast<double>(i * i + 5 * microbatch + step));
  return x;
}

/// Runs two steps of both; the messages of what fails, or what differs.
std::string runBoth(const std::string &local, bool poison = true) {
  GraphContext context;
  auto whole = context.parse(kWhole), parts = context.parse(local);
  if (!whole || !parts)
    return context.takeMessages();
  StepInterpreter expected(*whole);
  if (failed(expected.initializeStates(3)))
    return context.takeMessages();
  LockstepOptions options;
  options.poison = poison;
  LockstepStepInterpreter lockstep(
      *parts, *parts->getOps<dist::MeshOp>().begin(), options);
  if (failed(lockstep.setStates(expected.getStates())))
    return context.takeMessages();
  for (int64_t step = 0; step < 2; ++step) {
    StepInterpreter::StepResult want;
    LockstepStepInterpreter::StepResult got;
    if (failed(expected.runStep(
            "train", step,
            [&](StringRef, int64_t step, int64_t m, mlir::RankedTensorType) {
              return giveInput(context.get(), step, m);
            },
            want)) ||
        failed(lockstep.runStep(
            "train", step,
            [&](StringRef, int64_t step, int64_t m) {
              return giveInput(context.get(), step, m);
            },
            got)))
      return context.takeMessages();
    for (auto &[name, value] : want.metrics)
      if (std::string error =
              compareTensors(value, got.metrics.lookup(name), 1e-5);
          !error.empty())
        return error;
    FailureOr<HostTensor> w = lockstep.getState("w");
    if (failed(w))
      return context.takeMessages();
    if (std::string error = compareTensors(expected.getState("w"), *w, 0);
        !error.empty())
      return error;
  }
  return "";
}

std::string replaced(const std::string &from, const std::string &to) {
  std::string text = kLocal;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(LockstepStep, AgreesWithTheWholeProgram) {
  EXPECT_EQ(runBoth(kLocal), "");
}

TEST(LockstepStep, PoisonShowsAMissingMask) {
  std::string text = replaced("stablehlo.reduce(%m", "stablehlo.reduce(%x");
  // Zero padding hides it.
  EXPECT_EQ(runBoth(text, /*poison=*/false), "");
  EXPECT_NE(runBoth(text), "");
}

TEST(LockstepStep, PaddingOfStatesStaysZero) {
  EXPECT_THAT(
      runBoth(replaced("stablehlo.subtract %w, %full : tensor<2xf32>",
                       "stablehlo.cosine %w : tensor<2xf32>")),
      HasSubstr("expected padding of zero at device \"d\"=0, \"t\"=1 after "
                "the step, got 1.000000e+00 in element 1"));
}

TEST(LockstepStep, ReplicasOfStatesAgree) {
  EXPECT_THAT(runBoth(replaced("stablehlo.subtract %w, %full",
                               "stablehlo.subtract %w, %g")),
              HasSubstr("cannot gather state 'w': replicas differ: device "
                        "\"d\"=1, \"t\"=0 and device \"d\"=0, \"t\"=0"));
}

TEST(LockstepStep, MetricsAreWhole) {
  EXPECT_THAT(runBoth(replaced("dist.all_reduce %loss over [\"d\", \"t\"] sum",
                               "dist.all_reduce %loss over [\"t\"] sum")),
              HasSubstr("expected metric 'loss' to be whole on every device: "
                        "replicas differ"));
}

TEST(LockstepStep, ALayoutThatDoesNotFitIsRefused) {
  EXPECT_THAT(runBoth(replaced("[{\"d\"}, {\"t\"}:4]>>},",
                               "[{\"d\"}:6, {\"t\"}:4]>>},")),
              HasSubstr("expected argument #0 of type 'tensor<2x2xf32>', got "
                        "'tensor<3x2xf32>'"));
}

TEST(LockstepStep, StatesThatDoNotFit) {
  GraphContext context;
  auto parts = context.parse(kLocal);
  ASSERT_TRUE(parts) << context.takeMessages();
  LockstepStepInterpreter lockstep(
      *parts, *parts->getOps<dist::MeshOp>().begin(), LockstepOptions());
  EXPECT_TRUE(failed(lockstep.setStates({})));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected a value of state @w, got none"));
  auto element = mlir::Float32Type::get(context.get());
  mlir::StringAttr w = mlir::StringAttr::get(context.get(), "w");
  NamedTensors states;
  states[w] = HostTensor(element, {3, 2});
  EXPECT_TRUE(failed(lockstep.setStates(states)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected a layout that fits 'tensor<3x2xf32>', got"));
  states[w] = HostTensor(element, {3});
  EXPECT_TRUE(succeeded(lockstep.setStates(states)));
  EXPECT_TRUE(failed(lockstep.getState("v")));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected a buffer that holds state 'v', got none"));
  LockstepStepInterpreter::StepResult result;
  EXPECT_TRUE(failed(lockstep.runStep(
      "train", 0,
      [&](StringRef, int64_t, int64_t) { return HostTensor(element, {4}); },
      result)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected a layout of input 'x' that fits "
                        "'tensor<4xf32>', got"));
  EXPECT_TRUE(failed(lockstep.runStep("train", 0, nullptr, result)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected a buffer, hyper value, input or sum for "
                        "argument #0 of 'micro', got none"));
}

TEST(LockstepStep, GradientsOfWhatIsNotThere) {
  GraphContext context;
  auto parts = context.parse(kLocal);
  ASSERT_TRUE(parts) << context.takeMessages();
  LockstepStepInterpreter lockstep(
      *parts, *parts->getOps<dist::MeshOp>().begin(), LockstepOptions());
  for (auto [step, state] :
       {std::pair("train", "v"), {"train", "mesh"}, {"train", "w"}}) {
    EXPECT_TRUE(failed(lockstep.gatherGradient(step, state, {})));
    EXPECT_EQ(context.takeMessages(), "expected a gradient of '" +
                                          std::string(state) + "' in step '" +
                                          step + "', got none\n");
  }
}
} // namespace

//===- LockstepStepTest.cpp - Steps on all devices ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One program twice: whole, and as local text for <"d"=2, "t"=2>, in which the
// three columns of x and w lie in two pairs, one of them padded.
//
//===----------------------------------------------------------------------===//

#include "LockstepProgram.h"
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
  auto parts = context.parse(std::string(kLocal) + R"(
    dist.state @u : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
    dist.state @u.0 part of @u box([0] [4]) : tensor<4xf32> {role = parameter}
  )");
  ASSERT_TRUE(parts) << context.takeMessages();
  LockstepStepInterpreter lockstep(
      *parts, *parts->getOps<dist::MeshOp>().begin(), LockstepOptions());
  for (auto [step, state] : {std::pair("train", "v"),
                             {"train", "mesh"},
                             {"train", "w"},
                             {"train", "u.0"},
                             {"other", "w"}}) {
    EXPECT_TRUE(failed(lockstep.gatherGradient(step, state, {})));
    EXPECT_EQ(context.takeMessages(), "expected a gradient of '" +
                                          std::string(state) + "' in step '" +
                                          step + "', got none\n");
  }
  // Of a whole, the first part is named.
  EXPECT_TRUE(failed(lockstep.gatherGradient("train", "u", {})));
  EXPECT_EQ(context.takeMessages(),
            "expected a gradient of 'u.0' in step 'train', got none\n");
}

TEST(LockstepStep, GradientsInBoxesOfOtherShapes) {
  const std::string port = "%g: tensor<2xf32> {dist.port = #dist.port<gradient "
                           "@w";
  auto gather = [&](const std::string &extent) {
    LocalRun run(replaced(port + ">}", port +
                                           ", boxes = [#dist.box<@w, <@mesh, "
                                           "[{\"t\"}:" +
                                           extent + "]>, [0]>]>}"));
    EXPECT_EQ(run.step(), "");
    EXPECT_TRUE(failed(run.lockstep->gatherGradient("train", "w", run.result)));
    return run.context.takeMessages();
  };
  // It fits, and what it holds is not reduced yet.
  EXPECT_THAT(gather("4"), HasSubstr("cannot gather the gradient of 'w': "
                                     "replicas differ"));
  EXPECT_THAT(gather("2"),
              HasSubstr("cannot gather the gradient of 'w': the layout does "
                        "not fit the shape"));
}

TEST(LockstepStep, NamesWhatAProgramLacks) {
  EXPECT_EQ(LocalRun(kLocal).step(), "");
  EXPECT_EQ(LocalRun(kLocal).step("w"), "expected a 'dist.step' named 'w'\n");
  for (const char *function : {"micro", "update"}) {
    LocalRun run(kLocal);
    erase(*run.module, function);
    run.restart();
    EXPECT_EQ(run.step(), "'dist.step' op expected functions of the module\n");
  }
}

TEST(LockstepStep, StopsWhereItsInputsDo) {
  LocalRun run(kLocal);
  EXPECT_EQ(run.step("train", /*isWhole=*/false), "");
  EXPECT_TRUE(run.result.gradients.empty());
}

TEST(LockstepStep, StopsAtOpsThatItCannotRun) {
  const char *said = "expected an evaluation of 'other.op', got none";
  const char *other = "\"other.op\"(%w) : (tensor<2xf32>) -> tensor<2xf32>";
  EXPECT_THAT(
      LocalRun(replaced("stablehlo.multiply %g, %w : tensor<2xf32>", other))
          .step(),
      HasSubstr(said));
  EXPECT_THAT(
      LocalRun(replaced("stablehlo.subtract %w, %full : tensor<2xf32>", other))
          .step(),
      HasSubstr(said));
}

TEST(LockstepStep, StopsAtElementsThatItDoesNotHold) {
  LocalRun run(kLocal);
  declareOthers(*run.module);
  EXPECT_THAT(
      run.step(),
      HasSubstr("'(tensor<f4E2M1FN>) -> ()', which is not supported\n"));
  EXPECT_TRUE(failed(run.lockstep->setStates({})));
  EXPECT_THAT(
      run.context.takeMessages(),
      HasSubstr("'(tensor<f4E2M1FN>) -> ()', which is not supported\n"));
}

/// kLocal with a hyper value in the place of a constant of @micro.
std::string withHyper() {
  std::string text = replaced(
      "%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>})\n      -> "
      "(tensor<f32> {dist.port = #dist.port<loss_sum>}",
      "%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>}, %h: "
      "tensor<f32> {dist.port = #dist.port<hyper @h>})\n      -> "
      "(tensor<f32> {dist.port = #dist.port<loss_sum>}");
  return text.replace(text.find("dist.buffer"), 11,
                      "dist.hyper @h : tensor<f32> = <external>\n  "
                      "dist.buffer");
}

TEST(LockstepStep, NamesHyperValuesThatAreMissing) {
  LocalRun run(withHyper());
  EXPECT_EQ(run.step(),
            "'dist.hyper' op expected a value from outside for 'h', got "
            "none\n");
  run.lockstep->setExternal("h", 2);
  EXPECT_EQ(run.step(), "");
}

// Where a buffer lives, its new value must.
TEST(LockstepStep, WritesStatesWhereTheyLive) {
  std::string text =
      replaced("<\"d\"=2, \"t\"=2>", "<\"d\"=2, \"t\"=2> pipeline \"d\"");
  EXPECT_EQ(LocalRun(text).step(), "");
  const std::string old = "%new = stablehlo.subtract %w, %full";
  text.replace(text.find(old), old.size(), old + " {dist.at = array<i64: 0>}");
  EXPECT_EQ(LocalRun(text).step(),
            "'func.func' op expected a new value of @w at device \"d\"=1, "
            "\"t\"=0, got none\n");
}

// A whole is what its parts are, and nothing where one of them is nowhere.
TEST(LockstepStep, JoinsStatesOfParts) {
  LocalRun run(std::string(kLocal) + R"(
    dist.state @u : tensor<4xf32> {role = parameter}
    dist.state @u.0 part of @u box([0] [1]) : tensor<1xf32> {role = parameter}
    dist.state @u.1 part of @u box([1] [3]) : tensor<3xf32> {role = parameter}
    dist.buffer @u.local of @u.0 : tensor<1xf32> holds [#dist.box<@u.0, #dist.layout<@mesh, [{}]>, [0]>]
  )");
  ASSERT_TRUE(run.module) << run.context.takeMessages();
  EXPECT_TRUE(failed(run.lockstep->getState("u")));
  EXPECT_EQ(run.context.takeMessages(),
            "expected a buffer that holds state 'u.1', got none\n");
}

/// kLocal that counts the rows of its input before a step; `count` computes
/// the number %0 from the local part %x.
std::string withCounts(const std::string &count) {
  std::string text = withHyper();
  return text + R"(
    func.func @count(%x: tensor<2x3xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"d"}, {}]>>})
        -> (tensor<f32> {dist.port = #dist.port<metric "h">}) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      )" +
         count + R"(
      return %0 : tensor<f32>
    }
    dist.entry @train.counts counts(@train) function(@count)
  )";
}

TEST(LockstepStep, CountsFirst) {
  std::string text = withCounts(
      "%s = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across "
      "dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>\n"
      "%0 = dist.all_reduce %s over [\"d\"] max : tensor<f32>");
  // The update reports what was counted.
  const std::string old = "%mean = stablehlo.divide %total, %count";
  const std::string taken = "%count: tensor<f32> {dist.port = "
                            "#dist.port<count>})\n      -> (tensor<2xf32> "
                            "{dist.port = #dist.port<parameter @w>}";
  ASSERT_NE(text.find(taken), std::string::npos);
  text.replace(text.find(taken), taken.size(),
               "%count: tensor<f32> {dist.port = #dist.port<count>}, %h: "
               "tensor<f32> {dist.port = #dist.port<hyper @h>})\n      -> "
               "(tensor<2xf32> {dist.port = #dist.port<parameter @w>}");
  text.replace(text.find(old), old.size(), "%mean = stablehlo.add %h, %zero");
  const std::string first = "%full = dist.all_reduce %g";
  text.replace(text.find(first), first.size(),
               "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n    " +
                   first);
  LocalRun run(text);
  EXPECT_EQ(run.step(), "");
  mlir::StringAttr loss = mlir::StringAttr::get(run.context.get(), "loss");
  // The greatest of each microbatch: 121 + 3 and 121 + 5 + 3.
  ASSERT_TRUE(run.result.metrics.lookup(loss));
  EXPECT_EQ(run.result.metrics.lookup(loss).getFloat(0), 253);
  EXPECT_EQ(run.step("train", /*isWhole=*/false), "");
}

TEST(LockstepStep, StopsAtCountsThatItCannotRun) {
  EXPECT_THAT(
      LocalRun(
          withCounts("%0 = \"other.op\"(%zero) : (tensor<f32>) -> tensor<f32>"))
          .step(),
      HasSubstr("expected an evaluation of 'other.op', got none"));
}
} // namespace

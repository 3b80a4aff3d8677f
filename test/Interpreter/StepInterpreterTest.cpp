//===- StepInterpreterTest.cpp - Evaluation of a training program ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Interpreter/StepInterpreter.h"
#include "GraphContext.h"
#include "llmc/Runtime/Base/Random.h"
#include "mlir/AsmParser/AsmParser.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::HasSubstr;

namespace {
// loss = w * x summed over microbatches; gradient = x; update w - lr * g.
constexpr const char *kProgram = R"(
  dist.mesh @mesh = <"data"=1>
  dist.state @w : tensor<2xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
  dist.state @seen : tensor<i32> {role = carried, source = #dist.draw<zeros>}
  dist.hyper @lr : tensor<f32> = #dist.rule<warmup_cosine, base = 0.5, warmup = 4, total = 8>
  func.func @micro(%x: tensor<2xf32> {dist.port = #dist.port<input "x">},
      %w: tensor<2xf32> {dist.port = #dist.port<parameter @w>},
      %seen: tensor<i32> {dist.port = #dist.port<carried @seen>},
      %m: tensor<i32> {dist.port = #dist.port<microbatch>})
      -> (tensor<2xf32> {dist.port = #dist.port<loss_sum>}, tensor<i32> {dist.port = #dist.port<count>},
          tensor<2xf32> {dist.port = #dist.port<gradient @w>},
          tensor<i32> {dist.port = #dist.port<carried @seen>}) {
    %loss = stablehlo.multiply %w, %x : tensor<2xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %seen, %one : tensor<i32>
    return %loss, %one, %x, %next : tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<i32>
  }
  func.func @update(%w: tensor<2xf32> {dist.port = #dist.port<parameter @w>},
      %g: tensor<2xf32> {dist.port = #dist.port<gradient @w>},
      %loss: tensor<2xf32> {dist.port = #dist.port<loss_sum>}, %count: tensor<i32> {dist.port = #dist.port<count>},
      %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>})
      -> (tensor<2xf32> {dist.port = #dist.port<parameter @w>},
          tensor<2xf32> {dist.port = #dist.port<metric "loss">},
          tensor<f32> {dist.port = #dist.port<metric "lr">}) {
    %half = stablehlo.constant dense<0.5> : tensor<2xf32>
    %d = stablehlo.multiply %g, %half : tensor<2xf32>
    %n = stablehlo.subtract %w, %d : tensor<2xf32>
    return %n, %loss, %lr : tensor<2xf32>, tensor<2xf32>, tensor<f32>
  }
  dist.step @train microbatch(@micro) update(@update) microbatches(3) schedule(<1f1b>)
  dist.entry @predict function(@predict.f)
  func.func @predict.f(%x: tensor<2xf32> {dist.port = #dist.port<input "x">},
      %w: tensor<2xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<2xf32> {dist.port = #dist.port<output "y">}) {
    %0 = stablehlo.multiply %w, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
)";

/// x = (microbatch + 1, step)
FailureOr<HostTensor> giveInput(StringRef input, int64_t step,
                                int64_t microbatch, RankedTensorType type) {
  HostTensor x(type);
  x.setFloat(0, microbatch + 1);
  x.setFloat(1, step);
  return x;
}

TEST(StepInterpreter, RunsMicrobatchesThenTheUpdate) {
  GraphContext context;
  auto module = context.parse(kProgram);
  ASSERT_TRUE(module) << context.takeMessages();
  StepInterpreter interpreter(*module);
  ASSERT_TRUE(succeeded(interpreter.initializeStates(7)))
      << context.takeMessages();
  HostTensor w = interpreter.getState("w");
  // The runtime's generator, by name and index.
  rt::RandomStream stream(7, "w");
  rt::Draw draw{rt::DrawKind::normal, 0, 0.5};
  EXPECT_EQ(w.getFloat(1),
            static_cast<float>(rt::drawElement(draw, stream, 1)));

  StepInterpreter::StepResult result;
  ASSERT_TRUE(succeeded(interpreter.runStep("train", 1, giveInput, result)))
      << context.takeMessages();
  auto name = [&](StringRef text) {
    return mlir::StringAttr::get(context.get(), text);
  };
  EXPECT_EQ(result.gradients.lookup(name("w")).getFloat(0), 6);
  EXPECT_EQ(result.gradients.lookup(name("w")).getFloat(1), 3);
  EXPECT_EQ(
      result.sums
          .lookup(dist::PortAttr::get(context.get(), dist::PortKind::Count))
          .getInt(0),
      3);
  EXPECT_FLOAT_EQ(result.metrics.lookup(name("loss")).getFloat(0),
                  6 * w.getFloat(0));
  EXPECT_EQ(result.metrics.lookup(name("lr")).getFloat(0), 0.25); // 0.5 * 2/4
  EXPECT_EQ(interpreter.getState("w").getFloat(0),
            static_cast<float>(w.getFloat(0) - 3));
  EXPECT_EQ(interpreter.getState("seen").getInt(0), 3);
}

// Refused together, before any is drawn.
TEST(StepInterpreter, RefusesStatesThatDoNotFit) {
  GraphContext context;
  auto module = context.parse(R"(
    dist.state @w : tensor<1000000000x1000xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
    dist.state @v : tensor<1000000000x1000000000xf64> {role = parameter, source = #dist.draw<normal, 0.5>})");
  ASSERT_TRUE(module) << context.takeMessages();
  StepInterpreter interpreter(*module);
  EXPECT_FALSE(succeeded(interpreter.initializeStates(7)));
  EXPECT_THAT(context.takeMessages(),
              ::testing::HasSubstr("expected states of at most 17179869184 "
                                   "bytes in the interpreter, got "
                                   "'tensor<1000000000x1000xf32>'"));
}

TEST(StepInterpreter, RunsEntries) {
  GraphContext context;
  auto module = context.parse(kProgram);
  ASSERT_TRUE(module) << context.takeMessages();
  StepInterpreter interpreter(*module);
  ASSERT_TRUE(succeeded(interpreter.initializeStates(7)));
  HostTensor w = interpreter.getState("w");
  w.setFloat(0, 4);
  ASSERT_TRUE(succeeded(interpreter.setState("w", w)));
  SmallVector<HostTensor> results;
  ASSERT_TRUE(
      succeeded(interpreter.runEntry("predict", 2, giveInput, results)));
  EXPECT_EQ(results[0].getFloat(0), 4);
}

// A whole and its parts agree, whoever is written; gradients are the whole's.
TEST(StepInterpreter, PartsAreBoxesOfTheirWhole) {
  GraphContext context;
  auto module = context.parse(R"(
    dist.state @w : tensor<2x3xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
    dist.state @w.0 part of @w box([0, 0] [2, 1]) : tensor<2x1xf32> {role = parameter}
    dist.state @w.1 part of @w box([0, 1] [2, 2]) : tensor<2x2xf32> {role = parameter}
    func.func @micro(%a: tensor<2x1xf32> {dist.port = #dist.port<parameter @w.0>}, %b: tensor<2x2xf32> {dist.port = #dist.port<parameter @w.1>})
        -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>},
            tensor<2x1xf32> {dist.port = #dist.port<gradient @w.0>}, tensor<2x2xf32> {dist.port = #dist.port<gradient @w.1>}) {
      %one = stablehlo.constant dense<1.0> : tensor<f32>
      return %one, %one, %a, %b : tensor<f32>, tensor<f32>, tensor<2x1xf32>, tensor<2x2xf32>
    }
    func.func @update(%a: tensor<2x1xf32> {dist.port = #dist.port<parameter @w.0>}, %b: tensor<2x2xf32> {dist.port = #dist.port<parameter @w.1>},
        %ga: tensor<2x1xf32> {dist.port = #dist.port<gradient @w.0>}, %gb: tensor<2x2xf32> {dist.port = #dist.port<gradient @w.1>})
        -> (tensor<2x1xf32> {dist.port = #dist.port<parameter @w.0>}, tensor<2x2xf32> {dist.port = #dist.port<parameter @w.1>}) {
      %x = stablehlo.add %a, %ga : tensor<2x1xf32>
      %y = stablehlo.negate %gb : tensor<2x2xf32>
      return %x, %y : tensor<2x1xf32>, tensor<2x2xf32>
    }
    dist.step @train microbatch(@micro) update(@update) microbatches(1) schedule(<1f1b>)
  )");
  ASSERT_TRUE(module) << context.takeMessages();
  StepInterpreter interpreter(*module);
  ASSERT_TRUE(succeeded(interpreter.initializeStates(7)))
      << context.takeMessages();
  HostTensor first = interpreter.getState("w");
  EXPECT_EQ(interpreter.getState("w.1").getFloat(2), first.getFloat(4));
  StepInterpreter::StepResult result;
  ASSERT_TRUE(succeeded(interpreter.runStep("train", 0, giveInput, result)))
      << context.takeMessages();
  ASSERT_EQ(result.gradients.size(), 1u);
  HostTensor gradient = result.gradients.begin()->second;
  HostTensor second = interpreter.getState("w");
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(gradient.getFloat(i), first.getFloat(i));
    EXPECT_EQ(second.getFloat(i), first.getFloat(i) * (i % 3 == 0 ? 2 : -1));
  }
  ASSERT_TRUE(succeeded(interpreter.setState("w", first)));
  EXPECT_EQ(interpreter.getState("w.0").getFloat(1), first.getFloat(3));
}

TEST(StepInterpreter, NamesWhatIsMissing) {
  GraphContext context;
  auto module = context.parse(kProgram);
  ASSERT_TRUE(module) << context.takeMessages();
  StepInterpreter interpreter(*module);
  ASSERT_TRUE(succeeded(interpreter.initializeStates(7)));
  StepInterpreter::StepResult result;
  EXPECT_TRUE(failed(interpreter.runStep("other", 0, giveInput, result)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected a 'dist.step' named 'other'"));
  EXPECT_TRUE(failed(interpreter.runStep("train", 0, nullptr, result)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected an input for argument #0 of 'micro'"));
  EXPECT_TRUE(failed(interpreter.setState("w", HostTensor())));
  EXPECT_TRUE(failed(interpreter.setState("v", HostTensor())));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected the name of a state, got 'v'"));
}

/// What the interpreter says of the program after `breakIt`, when it runs the
/// step (or the entry `predict`).
template <typename Break>
std::string runBroken(Break breakIt, bool isStep = true) {
  GraphContext context;
  auto module = context.parse(kProgram);
  EXPECT_TRUE(module) << context.takeMessages();
  auto erase = [&](StringRef name) {
    mlir::SymbolTable::lookupSymbolIn(*module, name)->erase();
  };
  breakIt(*module, erase);
  StepInterpreter interpreter(*module);
  if (failed(interpreter.initializeStates(7)))
    return context.takeMessages();
  SmallVector<HostTensor> results;
  StepInterpreter::StepResult result;
  if (isStep)
    (void)interpreter.runStep("train", 0, giveInput, result);
  else
    (void)interpreter.runEntry("predict", 0, giveInput, results);
  return context.takeMessages();
}

TEST(StepInterpreter, NamesWhatAProgramLacks) {
  auto none = [](ModuleOp, auto) {};
  EXPECT_EQ(runBroken(none), "");
  EXPECT_EQ(runBroken(none, false), "");
  for (const char *function : {"micro", "update"})
    EXPECT_THAT(runBroken([&](ModuleOp, auto erase) { erase(function); }),
                HasSubstr("expected functions of the module"));
  EXPECT_THAT(runBroken([](ModuleOp, auto erase) { erase("lr"); }),
              HasSubstr("expected a 'dist.hyper' named 'lr'"));
  for (const char *name : {"predict", "predict.f"})
    EXPECT_THAT(runBroken([&](ModuleOp, auto erase) { erase(name); }, false),
                HasSubstr("expected a 'dist.entry' named 'predict'"));
}

TEST(StepInterpreter, NamesStatesThatItCannotMake) {
  auto withSource = [](const char *source) {
    return [source](ModuleOp module, auto) {
      Operation *state = mlir::SymbolTable::lookupSymbolIn(module, "w");
      state->setAttr("source",
                     mlir::parseAttribute(source, module.getContext()));
    };
  };
  EXPECT_EQ(runBroken(withSource("#dist.draw<zeros>")), "");
  EXPECT_THAT(
      runBroken(withSource("\"else\"")),
      HasSubstr(
          "expected a drawn source or a file to interpret, got \"else\""));
}

TEST(StepInterpreter, TakesStatesOfTheirType) {
  GraphContext context;
  auto module = context.parse(kProgram);
  ASSERT_TRUE(module) << context.takeMessages();
  StepInterpreter interpreter(*module);
  // There are none yet.
  StepInterpreter::StepResult result;
  EXPECT_TRUE(failed(interpreter.runStep("train", 0, giveInput, result)));
  EXPECT_EQ(context.takeMessages(),
            "expected a state, hyper value, input or sum for argument #1 of "
            "'micro', got none\n");
  HostTensor other(mlir::Float32Type::get(context.get()), {3});
  EXPECT_TRUE(failed(interpreter.setState("w", other)));
  EXPECT_EQ(context.takeMessages(),
            "'dist.state' op expected a value of type 'tensor<2xf32>', got "
            "'tensor<3xf32>'\n");
  EXPECT_TRUE(failed(interpreter.setState("w", HostTensor())));
  EXPECT_EQ(context.takeMessages(),
            "'dist.state' op expected a value of type 'tensor<2xf32>', got "
            "nothing\n");
}

/// kProgram with `from` replaced by `to`.
std::string replaced(const std::string &from, const std::string &to) {
  std::string text = kProgram;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Runs a step of `text` after `breakIt`; all that is said.
template <typename Break>
std::string runStepOf(const std::string &text, Break breakIt) {
  GraphContext context;
  auto module = context.parse(text);
  if (!module)
    return context.takeMessages();
  StepInterpreter interpreter(*module);
  EXPECT_TRUE(succeeded(interpreter.initializeStates(7)));
  breakIt(*module);
  StepInterpreter::StepResult result;
  bool ok = succeeded(interpreter.runStep("train", 0, giveInput, result));
  std::string messages = context.takeMessages();
  EXPECT_EQ(ok, messages.empty());
  return messages;
}

std::string runStepOf(const std::string &text) {
  return runStepOf(text, [](ModuleOp) {});
}

TEST(StepInterpreter, StopsAtOpsThatItCannotRun) {
  const char *other = "\"other.op\"(%w) : (tensor<2xf32>) -> tensor<2xf32>";
  const char *said = "expected an evaluation of 'other.op', got none";
  EXPECT_THAT(
      runStepOf(replaced("stablehlo.multiply %w, %x : tensor<2xf32>", other)),
      HasSubstr(said));
  EXPECT_THAT(
      runStepOf(replaced("stablehlo.subtract %w, %d : tensor<2xf32>", other)),
      HasSubstr(said));
}

// What has become of the module since the states were made.
TEST(StepInterpreter, StopsAtElementsThatItDoesNotHold) {
  auto declare = [](ModuleOp module) {
    mlir::OpBuilder b(module.getBodyRegion());
    auto type = mlir::RankedTensorType::get(
        {}, mlir::Float4E2M1FNType::get(module.getContext()));
    auto function = mlir::func::FuncOp::create(b, module.getLoc(), "late",
                                               b.getFunctionType({type}, {}));
    function.setPrivate();
  };
  EXPECT_THAT(
      runStepOf(kProgram, declare),
      HasSubstr("'(tensor<f4E2M1FN>) -> ()', which is not supported\n"));
  GraphContext context;
  auto module = context.parse(kProgram);
  ASSERT_TRUE(module) << context.takeMessages();
  StepInterpreter interpreter(*module);
  ASSERT_TRUE(succeeded(interpreter.initializeStates(7)));
  declare(*module);
  SmallVector<HostTensor> results;
  EXPECT_TRUE(failed(interpreter.runEntry("predict", 0, giveInput, results)));
  EXPECT_THAT(
      context.takeMessages(),
      HasSubstr("'(tensor<f4E2M1FN>) -> ()', which is not supported\n"));
  EXPECT_TRUE(results.empty());
}

TEST(StepInterpreter, StopsAtStatesOfAnotherType) {
  auto retype = [](ModuleOp module) {
    mlir::SymbolTable::lookupSymbolIn(module, "out")
        ->setAttr("type",
                  mlir::TypeAttr::get(mlir::RankedTensorType::get(
                      {3}, mlir::Float32Type::get(module.getContext()))));
  };
  const std::string state = "dist.state @out : tensor<f32> {role = carried}\n";
  const std::string port =
      ", tensor<f32> {dist.port = #dist.port<carried @out>})";
  std::string inUpdate = state + kProgram;
  auto edit = [&](const std::string &from, const std::string &to) {
    size_t at = inUpdate.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    inUpdate.replace(at, from.size(), to);
  };
  edit("#dist.port<metric \"lr\">})", "#dist.port<metric \"lr\">}" + port);
  edit("return %n, %loss, %lr : tensor<2xf32>, tensor<2xf32>, tensor<f32>",
       "return %n, %loss, %lr, %lr : tensor<2xf32>, tensor<2xf32>, "
       "tensor<f32>, tensor<f32>");
  EXPECT_EQ(runStepOf(inUpdate), "");
  EXPECT_THAT(runStepOf(inUpdate, retype),
              HasSubstr("expected a value of type 'tensor<3xf32>', got "
                        "'tensor<f32>'\n"));
}

// The microbatches are counted first, all of them, and the sum is the value of
// the hyper parameter.
std::string withCounts(const std::string &op) {
  return replaced("dist.step @train", R"(
    dist.hyper @n : tensor<f32> = <external>
    func.func @count(%x: tensor<2xf32> {dist.port = #dist.port<input "x">})
        -> (tensor<f32> {dist.port = #dist.port<metric "n">}) {
      %s = stablehlo.slice %x [0:1] : (tensor<2xf32>) -> tensor<1xf32>
      %0 = )" + op + R"( : (tensor<1xf32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    dist.entry @train.counts counts(@train) function(@count)
    dist.step @train)");
}

TEST(StepInterpreter, CountsFirst) {
  std::string text = withCounts("stablehlo.reshape %s");
  const std::string lr = "%lr: tensor<f32> {dist.port = #dist.port<hyper @lr>}";
  text.replace(text.find(lr), lr.size(),
               "%lr: tensor<f32> {dist.port = #dist.port<hyper @n>}");
  GraphContext context;
  auto module = context.parse(text);
  ASSERT_TRUE(module) << context.takeMessages();
  StepInterpreter interpreter(*module);
  ASSERT_TRUE(succeeded(interpreter.initializeStates(7)));
  StepInterpreter::StepResult result;
  ASSERT_TRUE(succeeded(interpreter.runStep("train", 1, giveInput, result)))
      << context.takeMessages();
  EXPECT_EQ(result.metrics.lookup(mlir::StringAttr::get(context.get(), "lr"))
                .getFloat(0),
            6); // 1 + 2 + 3
  EXPECT_TRUE(failed(interpreter.runStep("train", 1, nullptr, result)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected an input for argument #0 of 'count', got "
                        "none\n"));
  EXPECT_THAT(runStepOf(withCounts("\"other.op\"(%s)")),
              HasSubstr("expected an evaluation of 'other.op', got none"));
}

TEST(StepInterpreter, NamesExternalValuesThatAreMissing) {
  std::string text =
      replaced("#dist.rule<warmup_cosine, base = 0.5, warmup = 4, total = 8>",
               "<external>");
  EXPECT_EQ(
      runStepOf(text),
      "'dist.hyper' op expected a value from outside for 'lr', got none\n");
}

// 256 + 1 is a tie in bf16, and 256 + 2 is not.
TEST(StepInterpreter, NarrowGradientsAreSummedInF32) {
  std::string text = replaced(
      "tensor<2xf32> {dist.port = #dist.port<gradient @w>},\n          "
      "tensor<i32>",
      "tensor<2xbf16> {dist.port = #dist.port<gradient @w>},\n          "
      "tensor<i32>");
  auto edit = [&](const std::string &from, const std::string &to) {
    size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  edit("return %loss, %one, %x, %next : tensor<2xf32>, tensor<i32>, "
       "tensor<2xf32>",
       "%g = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xbf16>\n"
       "return %loss, %one, %g, %next : tensor<2xf32>, tensor<i32>, "
       "tensor<2xbf16>");
  edit("%g: tensor<2xf32>", "%g: tensor<2xbf16>");
  edit("%d = stablehlo.multiply %g, %half",
       "%wide = stablehlo.convert %g : (tensor<2xbf16>) -> tensor<2xf32>\n"
       "%d = stablehlo.multiply %wide, %half");
  GraphContext context;
  auto module = context.parse(text);
  ASSERT_TRUE(module) << context.takeMessages();
  StepInterpreter interpreter(*module);
  ASSERT_TRUE(succeeded(interpreter.initializeStates(7)));
  StepInterpreter::StepResult result;
  ASSERT_TRUE(succeeded(interpreter.runStep(
      "train", 0,
      [](StringRef, int64_t, int64_t m, RankedTensorType type) {
        HostTensor x(type);
        x.setFloat(0, m == 0 ? 256 : 1);
        return FailureOr<HostTensor>(x);
      },
      result)))
      << context.takeMessages();
  HostTensor sum =
      result.gradients.lookup(mlir::StringAttr::get(context.get(), "w"));
  EXPECT_TRUE(sum.getElementType().isBF16());
  EXPECT_EQ(sum.getFloat(0), 258);
}
} // namespace

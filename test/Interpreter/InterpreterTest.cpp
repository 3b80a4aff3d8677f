//===- InterpreterTest.cpp - Evaluation of graph functions ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Interpreter/Interpreter.h"
#include "GraphContext.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::HasSubstr;

namespace {

TEST(HostTensor, NothingHasNoElements) {
  HostTensor nothing;
  EXPECT_FALSE(nothing);
  EXPECT_EQ(nothing.getNumElements(), 0);
  EXPECT_EQ(nothing.getNumBytes(), 0);
}
/// Interprets the first function of `text` on random arguments.
struct Evaluation {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module;
  Interpreter interpreter;
  SmallVector<HostTensor> arguments, results;
  bool ok = false;
  std::string messages;

  explicit Evaluation(StringRef text, InterpreterLimits limits = {})
      : interpreter(limits) {
    module = context.parse(text);
    if (module) {
      mlir::func::FuncOp function = getFunction(*module);
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        arguments.push_back(drawArgument(function, i, 1));
      ok = succeeded(interpreter.interpret(function, arguments, results));
    }
    messages = context.takeMessages();
  }
  double value(unsigned result, int64_t i = 0) {
    return results[result].getFloat(i);
  }
};

TEST(Interpreter, EvaluatesInOrder) {
  Evaluation run(R"(
    func.func @f(%x: tensor<2xf64> {test.values = dense<[1.0, 2.0]> : tensor<2xf64>})
        -> (tensor<2xf64>, tensor<2xf64>) {
      %0 = stablehlo.add %x, %x : tensor<2xf64>
      %1 = stablehlo.multiply %0, %x : tensor<2xf64>
      return %1, %x : tensor<2xf64>, tensor<2xf64>
    })");
  ASSERT_TRUE(run.ok) << run.messages;
  EXPECT_EQ(run.value(0, 0), 2);
  EXPECT_EQ(run.value(0, 1), 8);
  EXPECT_EQ(run.value(1, 1), 2);
}

TEST(Interpreter, EntersCalls) {
  Evaluation run(R"(
    func.func @f() -> tensor<f32> {
      %c = stablehlo.constant dense<3.0> : tensor<f32>
      %0 = call @twice(%c) : (tensor<f32>) -> tensor<f32>
      %1 = call @twice(%0) : (tensor<f32>) -> tensor<f32>
      %2 = stablehlo.add %1, %c : tensor<f32>
      return %2 : tensor<f32>
    }
    func.func private @twice(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.add %x, %x : tensor<f32>
      return %0 : tensor<f32>
    })");
  ASSERT_TRUE(run.ok) << run.messages;
  EXPECT_EQ(run.value(0), 15);
}

// A chain of 20 tensors of 8 KiB needs three of them at a time.
TEST(Interpreter, FreesDeadValues) {
  std::string text =
      "func.func @f(%0: tensor<1024xf64>) -> tensor<1024xf64> {\n";
  for (int i = 0; i < 20; ++i)
    text += "%" + std::to_string(i + 1) + " = stablehlo.negate %" +
            std::to_string(i) + " : tensor<1024xf64>\n";
  Evaluation run(text + "return %20 : tensor<1024xf64>\n}");
  ASSERT_TRUE(run.ok) << run.messages;
  EXPECT_LE(run.interpreter.getPeakLiveBytes(), 3 * 8192);
}

TEST(Interpreter, RefusesMoreLiveBytesThanAllowed) {
  InterpreterLimits limits;
  limits.maxLiveBytes = 100;
  Evaluation run(R"(
    func.func @f(%x: tensor<10xf64>) -> tensor<10xf64> {
      %0 = stablehlo.negate %x : tensor<10xf64>
      return %0 : tensor<10xf64>
    })",
                 limits);
  EXPECT_FALSE(run.ok);
  EXPECT_THAT(run.messages, HasSubstr("expected at most 100 bytes of live "
                                      "values in the interpreter, got 160"));
}

// Refused before anything is allocated: no machine has so much.
TEST(Interpreter, RefusesValuesThatNoMachineHolds) {
  Evaluation run(R"(
    func.func @f(%x: tensor<f64>) -> tensor<1000000000x1000000000xf64> {
      %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f64>) -> tensor<1000000000x1000000000xf64>
      return %0 : tensor<1000000000x1000000000xf64>
    })");
  EXPECT_FALSE(run.ok);
  EXPECT_THAT(run.messages,
              HasSubstr("bytes of live values in the interpreter, got "
                        "8000000000000000008"));
}

TEST(Interpreter, RefusesMoreOpsThanAllowed) {
  InterpreterLimits limits;
  limits.maxOps = 1;
  Evaluation run(R"(
    func.func @f(%x: tensor<f64>) -> tensor<f64> {
      %0 = stablehlo.negate %x : tensor<f64>
      %1 = stablehlo.negate %0 : tensor<f64>
      return %1 : tensor<f64>
    })",
                 limits);
  EXPECT_FALSE(run.ok);
  EXPECT_THAT(run.messages, HasSubstr("expected at most 1 executed ops"));
}

TEST(Interpreter, RefusesEndlessRecursion) {
  Evaluation run(R"(
    func.func @f(%x: tensor<f64>) -> tensor<f64> {
      %0 = call @f(%x) : (tensor<f64>) -> tensor<f64>
      return %0 : tensor<f64>
    })");
  EXPECT_FALSE(run.ok);
  EXPECT_THAT(run.messages,
              HasSubstr("expected regions and calls at most 100 deep"));
}

TEST(Interpreter, NamesAnOpWithoutEvaluation) {
  Evaluation run(R"(
    func.func @f(%x: tensor<f64>) -> tensor<f64> {
      %0 = "other.op"(%x) : (tensor<f64>) -> tensor<f64>
      return %0 : tensor<f64>
    })");
  EXPECT_FALSE(run.ok);
  EXPECT_THAT(run.messages,
              HasSubstr("expected an evaluation of 'other.op', got none"));
}

TEST(Interpreter, RefusesDynamicShapes) {
  Evaluation run(R"(
    func.func @f(%x: tensor<2xf64>) -> tensor<?xf64> {
      %0 = "other.op"(%x) : (tensor<2xf64>) -> tensor<?xf64>
      return %0 : tensor<?xf64>
    })");
  EXPECT_FALSE(run.ok);
  EXPECT_THAT(run.messages,
              HasSubstr("expected results of ranked tensor type"));
}

TEST(Interpreter, RefusesWrongArguments) {
  GraphContext context;
  auto module = context.parse(R"(
    func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> {
      return %x : tensor<2xf64>
    })");
  ASSERT_TRUE(module);
  HostTensor wrong(mlir::Float32Type::get(context.get()), {2});
  SmallVector<HostTensor> results;
  Interpreter interpreter;
  EXPECT_TRUE(
      failed(interpreter.interpret(getFunction(*module), {wrong}, results)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected argument #0 of type 'tensor<2xf64>', got "
                        "'tensor<2xf32>'"));
  EXPECT_TRUE(failed(interpreter.interpret(getFunction(*module), {}, results)));
  EXPECT_THAT(context.takeMessages(), HasSubstr("expected 1 arguments, got 0"));
}

TEST(Interpreter, RefusesBranches) {
  Evaluation run(R"(
    func.func @f(%x: tensor<f64>) -> tensor<f64> {
      "other.br"()[^next] : () -> ()
    ^next:
      return %x : tensor<f64>
    })");
  EXPECT_FALSE(run.ok);
  EXPECT_THAT(run.messages, HasSubstr("expected a region of one block"));
}

TEST(Interpreter, RefusesCallsOfDeclarations) {
  Evaluation run(R"(
    func.func @f(%x: tensor<f64>) -> tensor<f64> {
      %0 = call @g(%x) : (tensor<f64>) -> tensor<f64>
      return %0 : tensor<f64>
    }
    func.func private @g(tensor<f64>) -> tensor<f64>)");
  EXPECT_FALSE(run.ok);
  EXPECT_THAT(run.messages,
              HasSubstr("expected a call of a function with a body"));
}

// What is allowed is reached, and one less is refused.
TEST(Interpreter, MeetsItsLimits) {
  const char *text = R"(
    func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> {
      %0 = call @g(%x) : (tensor<2xf64>) -> tensor<2xf64>
      return %0 : tensor<2xf64>
    }
    func.func private @g(%x: tensor<2xf64>) -> tensor<2xf64> {
      %0 = stablehlo.negate %x : tensor<2xf64>
      return %0 : tensor<2xf64>
    })";
  Evaluation free(text);
  ASSERT_TRUE(free.ok) << free.messages;
  InterpreterLimits exact{free.interpreter.getPeakLiveBytes(), 2, 2};
  EXPECT_TRUE(Evaluation(text, exact).ok);
  for (InterpreterLimits less :
       {InterpreterLimits{exact.maxLiveBytes - 1, 2, 2},
        InterpreterLimits{exact.maxLiveBytes, 1, 2},
        InterpreterLimits{exact.maxLiveBytes, 2, 1}})
    EXPECT_FALSE(Evaluation(text, less).ok);
}

/// An evaluation that gives what the attributes of the op say.
struct GivesAnything : graph::EvaluationOpInterface::ExternalModel<
                           GivesAnything, mlir::UnrealizedConversionCastOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<HostTensor>,
                         graph::EvaluationScope &,
                         SmallVectorImpl<HostTensor> &results) const {
    for (mlir::Attribute value : op->getAttrOfType<mlir::ArrayAttr>("gives"))
      results.push_back(mlir::isa<mlir::UnitAttr>(value)
                            ? HostTensor()
                            : *HostTensor::fromAttribute(value));
    return mlir::success();
  }
};

std::string giveResults(StringRef gives) {
  GraphContext context;
  mlir::UnrealizedConversionCastOp::attachInterface<GivesAnything>(
      *context.get());
  std::string text = R"(
    func.func @f() -> tensor<f64> {
      %0 = builtin.unrealized_conversion_cast to tensor<f64> {gives = [)";
  auto module = context.parse(text + gives.str() + R"(]}
      return %0 : tensor<f64>
    })");
  if (!module)
    return context.takeMessages();
  SmallVector<HostTensor> results;
  Interpreter interpreter;
  (void)interpreter.interpret(getFunction(*module), {}, results);
  return context.takeMessages();
}

TEST(Interpreter, ChecksWhatEvaluationsGive) {
  EXPECT_EQ(giveResults("dense<1.0> : tensor<f64>"), "");
  EXPECT_THAT(giveResults(""),
              HasSubstr("expected 1 evaluated results, got 0"));
  EXPECT_THAT(giveResults("dense<1.0> : tensor<f64>, dense<1.0> : tensor<f64>"),
              HasSubstr("expected 1 evaluated results, got 2"));
  EXPECT_THAT(giveResults("dense<1.0> : tensor<f32>"),
              HasSubstr("expected an evaluated result #0 of type "
                        "'tensor<f64>', got 'tensor<f32>'"));
  EXPECT_THAT(giveResults("dense<1.0> : tensor<1xf64>"),
              HasSubstr("got 'tensor<1xf64>'"));
  EXPECT_THAT(giveResults("unit"), HasSubstr("got nothing"));
}

TEST(Interpreter, ShowsEveryOpToTheObserver) {
  GraphContext context;
  auto module = context.parse(R"(
    func.func @f(%x: tensor<f64>) -> tensor<f64> {
      %0 = stablehlo.negate %x {dist.name = "a"} : tensor<f64>
      %1 = stablehlo.abs %0 : tensor<f64>
      return %1 : tensor<f64>
    })");
  ASSERT_TRUE(module);
  HostTensor x(mlir::Float64Type::get(context.get()), {});
  x.setFloat(0, 5);
  Interpreter interpreter;
  std::vector<double> seen;
  interpreter.setObserver([&](Operation *op, ArrayRef<HostTensor> results) {
    if (op->hasAttr("dist.name"))
      seen.push_back(results[0].getFloat(0));
  });
  SmallVector<HostTensor> results;
  ASSERT_TRUE(
      succeeded(interpreter.interpret(getFunction(*module), {x}, results)));
  EXPECT_EQ(seen, std::vector<double>{-5});
}

// More bytes than 2^63 - 1, in one dimension after the other, in two results,
// or together with what lives already.
TEST(Interpreter, RefusesMoreBytesThanANumberHolds) {
  for (const char *types :
       {"tensor<4294967296x4294967296xf64>",
        "tensor<4611686018427387904xi8>, tensor<4611686018427387904xi8>",
        "tensor<9223372036854775807xi8>"}) {
    std::string text = "func.func @f(%x: tensor<f64>) {\n  ";
    text += StringRef(types).contains(", ") ? "%0:2" : "%0";
    text += " = \"other.op\"(%x) : (tensor<f64>) -> (";
    Evaluation run(text + types + ")\n  return\n}");
    EXPECT_FALSE(run.ok);
    EXPECT_THAT(run.messages,
                HasSubstr("bytes of live values in the interpreter, got "
                          "9223372036854775807\n"))
        << types;
  }
}

TEST(Interpreter, CountsItsArguments) {
  const char *text = R"(
    func.func @f(%x: tensor<10xf64>) -> tensor<10xf64> {
      return %x : tensor<10xf64>
    })";
  InterpreterLimits limits;
  limits.maxLiveBytes = 80;
  EXPECT_TRUE(Evaluation(text, limits).ok);
  limits.maxLiveBytes = 79;
  Evaluation run(text, limits);
  EXPECT_FALSE(run.ok);
  EXPECT_THAT(run.messages, HasSubstr("expected at most 79 bytes of live "
                                      "values in the interpreter, got 80\n"));
}

TEST(Interpreter, RefusesCallsOfNothing) {
  GraphContext context;
  auto module = context.parse(R"(
    func.func @f() {
      call @g() : () -> ()
      return
    }
    func.func private @g() {
      return
    })");
  ASSERT_TRUE(module) << context.takeMessages();
  mlir::SymbolTable::lookupSymbolIn(*module, "g")->erase();
  Interpreter interpreter;
  SmallVector<HostTensor> results;
  EXPECT_TRUE(failed(interpreter.interpret(getFunction(*module), {}, results)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected a call of a function with a body to "
                        "interpret\n"));
}

TEST(Interpreter, RefusesDeclarations) {
  GraphContext context;
  auto module = context.parse("func.func private @f()");
  ASSERT_TRUE(module) << context.takeMessages();
  Interpreter interpreter;
  SmallVector<HostTensor> results;
  EXPECT_TRUE(failed(interpreter.interpret(getFunction(*module), {}, results)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected a function with a body\n"));
}

// A value may be a single element instead of a tensor of rank 0.
TEST(Interpreter, TakesElementsAsScalars) {
  GraphContext context;
  auto module = context.parse(R"(
    func.func @f(%x: f32, %i: index, %n: i8) -> (i8, f32, index) {
      return %n, %x, %i : i8, f32, index
    }
    func.func @g(%x: none) {
      return
    })");
  ASSERT_TRUE(module) << context.takeMessages();
  auto scalar = [](Type type, double value) {
    HostTensor tensor(type, ArrayRef<int64_t>());
    tensor.setFloat(0, value);
    return tensor;
  };
  mlir::Builder b(context.get());
  HostTensor x = scalar(b.getF32Type(), 0.5), i = scalar(b.getIndexType(), 7),
             n = scalar(b.getI8Type(), -3);
  Interpreter interpreter;
  SmallVector<HostTensor> results;
  ASSERT_TRUE(succeeded(
      interpreter.interpret(getFunction(*module), {x, i, n}, results)))
      << context.takeMessages();
  EXPECT_EQ(results[0].getInt(0), -3);
  EXPECT_EQ(results[1].getFloat(0), 0.5);
  EXPECT_EQ(results[2].getInt(0), 7);
  auto other = module->lookupSymbol<mlir::func::FuncOp>("g");
  EXPECT_TRUE(failed(interpreter.interpret(other, {x}, results)));
  EXPECT_THAT(
      context.takeMessages(),
      HasSubstr("expected argument #0 of type 'none', got 'tensor<f32>'\n"));
  EXPECT_TRUE(failed(interpreter.interpret(getFunction(*module),
                                           {x, i, HostTensor()}, results)));
  EXPECT_THAT(context.takeMessages(),
              HasSubstr("expected argument #2 of type 'i8', got nothing\n"));
}

/// What the interpreter says of the region of the op that holds one, run on
/// two scalars and not from the op.
std::string runRegion(const std::string &body) {
  GraphContext context;
  auto module = context.parse("func.func @f(%x: tensor<f64>) {\n"
                              "  \"other.op\"() (" +
                              body + ") : () -> ()\n  return\n}");
  if (!module)
    return context.takeMessages();
  HostTensor scalar(mlir::Float64Type::get(context.get()), {});
  SmallVector<HostTensor> results;
  Interpreter interpreter;
  mlir::Region &region = getFunction(*module).front().front().getRegion(0);
  bool ok =
      succeeded(interpreter.evaluateRegion(region, {scalar, scalar}, results));
  std::string messages = context.takeMessages();
  EXPECT_EQ(ok, messages.empty());
  return messages;
}

TEST(Interpreter, SeesNoValuesAroundARegionAlone) {
  auto body = [](StringRef added, StringRef ended) {
    return "{\n^bb0(%a: tensor<f64>, %b: tensor<f64>):\n  %s = stablehlo.add "
           "%a, " +
           added.str() + " : tensor<f64>\n  stablehlo.return " + ended.str() +
           " : tensor<f64>\n}";
  };
  EXPECT_EQ(runRegion(body("%b", "%s")), "");
  EXPECT_THAT(runRegion(body("%x", "%s")),
              HasSubstr("'stablehlo.add' op expected a value of operand #1 "
                        "before this op, got none\n"));
  EXPECT_THAT(runRegion(body("%b", "%x")),
              HasSubstr("'stablehlo.return' op expected a value of operand #0 "
                        "before this op, got none\n"));
}

TEST(Interpreter, RefusesRegionsThatItCannotRun) {
  EXPECT_THAT(runRegion("{}"), HasSubstr("expected a region of one block\n"));
  EXPECT_THAT(runRegion("{\n^bb0(%a: tensor<f64>, %b: tensor<f64>):\n}"),
              HasSubstr("expected a region of one block\n"));
  EXPECT_THAT(runRegion("{\n^bb0(%a: tensor<f4E2M1FN>, %b: tensor<f64>):\n  "
                        "\"other.end\"() : () -> ()\n}"),
              HasSubstr("expected argument #0 of f64, f32, bf16, f16, floats "
                        "of 8 bits, i1 or integers of 4, 8, 16, 32 or 64 bits, "
                        "got "
                        "'tensor<f4E2M1FN>', which is not supported\n"));
  EXPECT_THAT(runRegion("{\n^bb0(%a: tensor<f64>):\n  stablehlo.return\n}"),
              HasSubstr("expected 1 arguments, got 2\n"));
}
} // namespace

//===- StoredElementsTest.cpp - The doors of the engines ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs over element types that no engine holds are refused by each
// engine, before anything is evaluated; the types that they hold are those of
// the runtime.
//
//===----------------------------------------------------------------------===//

#include "llmc/Support/StoredElements.h"
#include "GraphContext.h"
#include "RandomPrograms.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Interpreter/Interpreter.h"
#include "llmc/Interpreter/LockstepInterpreter.h"
#include "llmc/Interpreter/StepInterpreter.h"
#include "mlir/AsmParser/AsmParser.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::HasSubstr;

namespace {
const char *const kRefused[] = {
    "f8E4M3", "f8E3M4", "f6E3M2FN",     "f8E8M0FNU",   "f6E2M3FN", "f4E2M1FN",
    "tf32",   "f80",    "f128",         "i3",          "ui2",      "i2",
    "i24",    "si32",   "complex<f32>", "complex<f64>"};

TEST(StoredElements, AreThoseOfTheRuntime) {
  GraphContext context;
  for (int i = 0; i < rt::numDTypes; ++i) {
    auto dtype = static_cast<rt::DType>(i);
    std::string name(rt::nameOf(dtype));
    if (name[0] == 'u')
      name.insert(1, "i");
    Type type = mlir::parseType(name, context.get());
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(getRuntimeDType(type), dtype) << name;
    EXPECT_EQ(getElementBytes(type), rt::sizeOf(dtype)) << name;
  }
  for (const char *name : kRefused) {
    Type type = mlir::parseType(name, context.get());
    ASSERT_TRUE(type) << name;
    EXPECT_FALSE(getRuntimeDType(type)) << name;
    EXPECT_EQ(getElementBytes(type), 0) << name;
  }
}

/// What an engine says of a function.
using Engine = LogicalResult (*)(ModuleOp);

LogicalResult interpret(ModuleOp module) {
  SmallVector<HostTensor> results;
  return Interpreter().interpret(getFunction(module), {}, results);
}

LogicalResult runInLockstep(ModuleOp module) {
  LockstepInterpreter lockstep(*module.getOps<dist::MeshOp>().begin());
  SmallVector<DeviceTensors> results;
  return lockstep.run(getFunction(module), {}, results);
}

LogicalResult drawStates(ModuleOp module) {
  return StepInterpreter(module).initializeStates(1);
}

/// The first op of the function alone.
LogicalResult evaluate(ModuleOp module) {
  SmallVector<HostTensor> results;
  for (Operation &op : getFunction(module).front())
    if (op.getNumOperands() == 0)
      return Interpreter().evaluateOp(&op, {}, results);
  return llvm::failure();
}

void expectRefusal(Engine engine, const std::string &text,
                   const std::string &what) {
  GraphContext context;
  auto module = context.parse("dist.mesh @mesh = <\"a\"=2>\n" + text);
  ASSERT_TRUE(module) << what << context.takeMessages();
  EXPECT_TRUE(failed(engine(*module))) << what;
  EXPECT_THAT(context.takeMessages(), HasSubstr("which is not supported"))
      << what << text;
}

TEST(StoredElements, OthersAreRefusedByEachEngine) {
  ProgramOptions options;
  options.numRecipes = 2;
  for (const char *element : {"f8E4M3", "f8E3M4", "f6E2M3FN", "f4E2M1FN"})
    for (int recipe = 0; recipe < getNumRecipes(options); ++recipe) {
      options.seed = recipe + 1;
      options.firstRecipe = recipe;
      options.element = element;
      std::string text = makeProgram(options);
      std::string what = std::string(element) + ", recipe " +
                         getRecipeName(options, recipe) + "\n";
      expectRefusal(interpret, text, what);
      expectRefusal(runInLockstep, text, what);
      expectRefusal(drawStates, text, what);
    }
}

TEST(StoredElements, AreCheckedWhereverTheyStand) {
  for (const char *element : kRefused) {
    std::string type = std::string("tensor<4x") + element + ">";
    std::string argument = "func.func @f(%x: " + type + ") -> " + type +
                           " { return %x : " + type + " }";
    std::string declaration =
        "func.func @f() { return }\nfunc.func private @g(" + type + ")";
    std::string state = "func.func @f() { return }\ndist.state @s : " + type +
                        " {role = constant, source = #dist.draw<zeros>}";
    std::string inside =
        "func.func @f() {\n  \"test.op\"() ({\n  ^bb0(%y: " + type +
        "):\n    \"test.end\"() : () -> ()\n  }) : () -> "
        "()\n  return\n}";
    for (Engine engine : {interpret, runInLockstep})
      for (const std::string &text : {argument, inside})
        expectRefusal(engine, text, element);
    for (const std::string &text : {argument, inside, declaration})
      expectRefusal(drawStates, text, element);
    // A state of complex numbers is no valid one.
    if (!StringRef(element).starts_with("complex"))
      expectRefusal(drawStates, state, element);
    expectRefusal(evaluate, inside, element);
  }
}
} // namespace

//===- KernelProgramsTest.cpp - Random programs by their kernels ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A random program for each recipe, on one device: its kernels give what the
// interpreter gives. LLMC_TEST_SEED chooses other programs.
//
//===----------------------------------------------------------------------===//

#include "ClosedPrograms.h"
#include "KernelRunner.h"
#include "RandomPrograms.h"
#include "llmc/Codegen/KernelObject.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {
TEST(KernelPrograms, AgreeWithTheInterpreter) {
  uint64_t base = readSetting("LLMC_TEST_SEED", 1);
  ProgramOptions options;
  options.numRecipes = 3;
  for (int recipe = 0; recipe < getNumRecipes(options); ++recipe) {
    options.seed = base * 1000 + recipe;
    options.firstRecipe = recipe;
    std::string text = closeRegions(makeProgram(options));
    KernelRunner runner(text, options.seed);
    std::string what = std::string("recipe ") + getRecipeName(options, recipe) +
                       ", LLMC_TEST_SEED=" + std::to_string(base) + "\n" + text;
    ASSERT_TRUE(runner.isReady()) << runner.takeMessages() << what;
    ASSERT_TRUE(runner.run(2)) << what;
    EXPECT_LT(runner.getError(), 1e-11) << what;
  }
}

TEST(KernelPrograms, NarrowTypesAreRefused) {
  ProgramOptions options;
  options.numRecipes = 2;
  for (const char *element : {"f8E4M3", "f6E2M3FN", "f4E2M1FN"})
    for (int recipe = 0; recipe < getNumRecipes(options); ++recipe) {
      options.seed = recipe + 1;
      options.firstRecipe = recipe;
      options.element = element;
      std::string messages = formKernels(closeRegions(makeProgram(options)));
      EXPECT_THAT(messages, testing::HasSubstr("which is not supported"))
          << element << ", recipe " << getRecipeName(options, recipe);
    }
}

TEST(KernelPrograms, TheCodeGeneratorHasADoorOfItsOwn) {
  for (const char *element : {"f8E3M4", "f4E2M1FN", "i2", "f128"}) {
    GraphContext context;
    auto kernels =
        context.parse(std::string("func.func private @k(%x: memref<4x") +
                      element + ">) { return }");
    ASSERT_TRUE(kernels) << context.takeMessages();
    EXPECT_TRUE(failed(codegen::compileKernels(*kernels))) << element;
    EXPECT_THAT(context.takeMessages(),
                testing::HasSubstr("which is not supported"));
  }
}
} // namespace

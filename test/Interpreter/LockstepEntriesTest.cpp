//===- LockstepEntriesTest.cpp - Entries on all devices -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LockstepProgram.h"
#include <gmock/gmock.h>

using namespace llmc;
using namespace llmc::test;
using testing::HasSubstr;

namespace {

/// An entry that returns its input, and a number that nobody laid out.
const char *const kEntry = R"(
  dist.entry @predict function(@predict.f)
  func.func @predict.f(%x: tensor<2x2xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"d"}, {"t"}:4]>>})
      -> (tensor<2x2xf32> {dist.port = #dist.port<output "y", layout = <@mesh, [{"d"}, {"t"}:4]>>},
          tensor<i32> {dist.port = #dist.port<output "n">}) {
    %n = stablehlo.constant dense<4> : tensor<i32>
    return %x, %n : tensor<2x2xf32>, tensor<i32>
  }
)";

/// Runs @predict for results of these shapes; all that is said.
std::string predict(LocalRun &run, ArrayRef<int64_t> shape,
                    unsigned numResults = 2, StringRef name = "predict",
                    bool isWhole = true) {
  if (!run.module)
    return run.context.takeMessages();
  mlir::Builder b(run.context.get());
  SmallVector<mlir::RankedTensorType> wholes{
      mlir::RankedTensorType::get(shape, b.getF32Type()),
      mlir::RankedTensorType::get({}, b.getI32Type())};
  wholes.resize(numResults);
  SmallVector<HostTensor> results;
  bool ok = succeeded(run.lockstep->runEntry(
      name, 0,
      [&](StringRef, int64_t step, int64_t m) -> FailureOr<HostTensor> {
        if (!isWhole)
          return mlir::failure();
        return giveInput(run.context.get(), step, m);
      },
      wholes, results));
  if (ok) {
    EXPECT_EQ(compareTensors(giveInput(run.context.get(), 0, 0), results[0], 0),
              "");
    EXPECT_EQ(results[1].getInt(0), 4);
  }
  std::string messages = run.context.takeMessages();
  EXPECT_EQ(ok, messages.empty() && isWhole);
  return messages;
}

TEST(LockstepEntries, RunsEntries) {
  LocalRun run(std::string(kLocal) + kEntry);
  EXPECT_EQ(predict(run, {4, 3}), "");
  EXPECT_EQ(predict(run, {4, 3}, 2, "predict", /*isWhole=*/false), "");
  EXPECT_EQ(predict(run, {4, 3}, 1),
            "expected a 'dist.entry' named 'predict' with 1 results\n");
  EXPECT_EQ(predict(run, {4, 3}, 2, "train"),
            "expected a 'dist.entry' named 'train' with 2 results\n");
  EXPECT_EQ(predict(run, {4, 3, 1}),
            "'func.func' op cannot gather result #0: the layout does not fit "
            "the shape\n");
  LocalRun other(std::string(kLocal) + kEntry);
  erase(*other.module, "predict.f");
  other.restart();
  EXPECT_EQ(predict(other, {4, 3}),
            "expected a 'dist.entry' named 'predict' with 2 results\n");
  declareOthers(*run.module);
  EXPECT_THAT(
      predict(run, {4, 3}),
      HasSubstr("'(tensor<f4E2M1FN>) -> ()', which is not supported\n"));
}

/// Of an entry, which has one microbatch.
TEST(LockstepEntries, GivesEntriesTheirStep) {
  for (const char *port : {"step", "microbatch"}) {
    std::string text = std::string(kLocal) + kEntry;
    auto edit = [&](const std::string &from, const std::string &to) {
      size_t at = text.rfind(from);
      ASSERT_NE(at, std::string::npos) << from;
      text.replace(at, from.size(), to);
    };
    edit(")\n      -> (tensor<2x2xf32>", std::string(", %s: tensor<i32> "
                                                     "{dist.port = "
                                                     "#dist.port<") +
                                             port +
                                             ">})\n      -> (tensor<2x2xf32>");
    edit("return %x, %n", "%k = stablehlo.add %s, %n : tensor<i32>\n    "
                          "return %x, %k");
    LocalRun run(text);
    ASSERT_TRUE(run.module) << run.context.takeMessages();
    mlir::Builder b(run.context.get());
    SmallVector<HostTensor> results;
    ASSERT_TRUE(succeeded(run.lockstep->runEntry(
        "predict", 3,
        [&](StringRef, int64_t step, int64_t m) {
          return giveInput(run.context.get(), step, m);
        },
        {mlir::RankedTensorType::get({4, 3}, b.getF32Type()),
         mlir::RankedTensorType::get({}, b.getI32Type())},
        results)))
        << run.context.takeMessages();
    EXPECT_EQ(results[1].getInt(0), port == StringRef("step") ? 7 : 4);
  }
}

TEST(LockstepEntries, StopsAtEntriesThatItCannotRun) {
  std::string text = std::string(kLocal) + kEntry;
  const std::string old = "%n = stablehlo.constant dense<4> : tensor<i32>\n"
                          "    return %x";
  size_t at = text.find(old);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, old.size(),
               "%n = \"other.op\"() : () -> tensor<i32>\n    return %x");
  LocalRun run(text);
  EXPECT_THAT(predict(run, {4, 3}),
              HasSubstr("expected an evaluation of 'other.op', got none"));
}
} // namespace

//===- PartBuilderTest.cpp - Parts of the values of random programs -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part that is built from parts has the bits of a slice of the whole, for
// each value of random programs over all ops. LLMC_TEST_SEED chooses others.
//
//===----------------------------------------------------------------------===//

#include "Parts/PartBuilder.h"
#include "GraphContext.h"
#include "RandomPrograms.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Interpreter/Interpreter.h"
#include "llmc/Runtime/Base/Random.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using llmc::training::Cut;
using llmc::training::PartBuilder;

namespace {
struct Pair {
  Value part, slice;
  std::string what;
};

/// A random proper cut of `type`, or nothing where no dimension has two
/// positions.
std::optional<Cut> drawCut(RankedTensorType type,
                           const rt::RandomStream &stream, uint64_t &position) {
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.getDimSize(d) > 1)
      dims.push_back(d);
  if (dims.empty())
    return std::nullopt;
  auto draw = [&](int64_t bound) {
    rt::Draw uniform{rt::DrawKind::uniform, 0, static_cast<double>(bound)};
    return std::min<int64_t>(bound - 1, static_cast<int64_t>(rt::drawElement(
                                            uniform, stream, position++)));
  };
  Cut cut{dims[draw(dims.size())]};
  int64_t size = type.getDimSize(cut.dim);
  cut.begin = draw(size);
  cut.end = cut.begin + 1 + draw(size - cut.begin);
  if (cut.getSize() == size)
    --cut.end;
  return cut;
}

/// Builds a part and a slice of each value of `function`.
SmallVector<Pair> buildPairs(mlir::func::FuncOp function, uint64_t seed,
                             int &numBuilt) {
  rt::RandomStream stream(seed, "cuts");
  uint64_t position = 0;
  Operation *end = function.front().getTerminator();
  OpBuilder builder(end);
  PartBuilder parts(function.getContext());
  SmallVector<Pair> pairs;
  SmallVector<Operation *> ops;
  for (Operation &op : function.front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops)
    for (Value value : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      std::optional<Cut> cut =
          type ? drawCut(type, stream, position) : std::nullopt;
      if (!cut)
        continue;
      Value part = parts.build(value, *cut, end);
      SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
      starts[cut->dim] = cut->begin;
      limits[cut->dim] = cut->end;
      Value slice =
          stablehlo::slice(builder, op->getLoc(), value, starts, limits);
      numBuilt += !part.getDefiningOp() ||
                  part.getDefiningOp()->getOperands() != ValueRange(value);
      pairs.push_back({part, slice, op->getName().getStringRef().str()});
    }
  SmallVector<Value> results;
  for (const Pair &pair : pairs)
    results.append({pair.part, pair.slice});
  end->setOperands(results);
  function.setType(mlir::FunctionType::get(function.getContext(),
                                           function.getArgumentTypes(),
                                           ValueRange(results).getTypes()));
  function.setAllResultAttrs(SmallVector<Attribute>(
      results.size(), mlir::DictionaryAttr::get(function.getContext())));
  return pairs;
}

testing::AssertionResult checkParts(const std::string &text, uint64_t seed,
                                    int &numBuilt) {
  GraphContext context;
  auto module = context.parse(text);
  if (!module)
    return testing::AssertionFailure() << context.takeMessages();
  mlir::func::FuncOp function = getFunction(*module);
  SmallVector<Pair> pairs = buildPairs(function, seed, numBuilt);
  SmallVector<HostTensor> arguments, results;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(drawArgument(function, i, seed));
  Interpreter interpreter;
  if (failed(interpreter.interpret(function, arguments, results)))
    return testing::AssertionFailure() << context.takeMessages();
  for (auto [i, pair] : llvm::enumerate(pairs)) {
    const HostTensor &part = results[2 * i], &slice = results[2 * i + 1];
    if (part.getType() != slice.getType() ||
        StringRef(part.bytes(), part.getNumBytes()) !=
            StringRef(slice.bytes(), slice.getNumBytes()))
      return testing::AssertionFailure() << "a part of " << pair.what;
  }
  return testing::AssertionSuccess();
}

TEST(PartBuilder, PartsHaveTheBitsOfSlices) {
  uint64_t base = readSetting("LLMC_TEST_SEED", 1);
  ProgramOptions options;
  int numBuilt = 0;
  for (int recipe = 0; recipe < getNumRecipes(options); ++recipe)
    for (uint64_t turn = 0; turn < 3; ++turn) {
      options.seed = base * 1000 + recipe * 3 + turn;
      options.firstRecipe = recipe;
      std::string text = makeProgram(options);
      ASSERT_TRUE(checkParts(text, options.seed, numBuilt))
          << "recipe " << getRecipeName(options, recipe)
          << ", LLMC_TEST_SEED=" << base << "\n"
          << text;
    }
  // Most values are really computed from parts.
  EXPECT_GT(numBuilt, 500);
}

/// The uses that `op` has left where its rows 3 and 4 are built.
int countUsesOfWhole(const std::string &op) {
  GraphContext context;
  auto module = context.parse(R"(
    func.func @main(%a: tensor<4x2xf32>, %b: tensor<4x2xf32>,
                    %c: tensor<9x2xf32>) -> tensor<8x2xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %whole = )" + op + R"(
      return %whole : tensor<8x2xf32>
    })");
  if (!module) {
    ADD_FAILURE() << context.takeMessages();
    return -1;
  }
  Operation *end = getFunction(*module).front().getTerminator();
  Value whole = end->getOperand(0);
  Value part = PartBuilder(module->getContext()).build(whole, {0, 3, 5}, end);
  EXPECT_TRUE(part);
  return static_cast<int>(llvm::range_size(whole.getUses())) - 1;
}

TEST(PartBuilder, PartsOfWhatWasPutTogetherDoWithoutIt) {
  EXPECT_EQ(countUsesOfWhole("stablehlo.concatenate %a, %b, dim = 0 : "
                             "(tensor<4x2xf32>, tensor<4x2xf32>) -> "
                             "tensor<8x2xf32>"),
            0);
  EXPECT_EQ(countUsesOfWhole("stablehlo.slice %c [1:9, 0:2] : "
                             "(tensor<9x2xf32>) -> tensor<8x2xf32>"),
            0);
  EXPECT_EQ(countUsesOfWhole("stablehlo.pad %a, %zero, low = [3, 0], high = "
                             "[1, 0], interior = [0, 0] : (tensor<4x2xf32>, "
                             "tensor<f32>) -> tensor<8x2xf32>"),
            0);
}
} // namespace

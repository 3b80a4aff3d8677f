//===- GradientsTest.cpp - Phase 1 on whole models ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of texts printed by JAX against central differences of the loss, in
// f64 by the interpreter; and the same gradients with and without recognition.
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Import/StableHLO/Import.h"
#include "llmc/Interpreter/Interpreter.h"
#include "llmc/Runtime/Base/Random.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using mlir::OwningOpRef;
using mlir::func::FuncOp;

namespace {

struct Model {
  std::string text;
  /// Configuration beside the defaults.
  std::string config;
  bool raise = true;
};

#define LLMC_TEST_INIT "[[init]]\nmatch = \"*\"\ndraw = \"zeros\"\n"
const char *kGptInputs = LLMC_TEST_INIT "[data]\nfile = \"x\"\n"
                                        "inputs.tokens = 0\n"
                                        "inputs.targets = 1\n";
const char *kMlpInputs = LLMC_TEST_INIT "[data]\nfile = \"x\"\n"
                                        "inputs.x = 0\n"
                                        "inputs.y = 0\n";

class Phase1 : public testing::Test {
protected:
  OwningOpRef<ModuleOp> load(const Model &model) {
    import::Options options;
    auto config = rt::parseConfig(model.config, "test.toml", {});
    if (!config.ok()) {
      ADD_FAILURE() << config.status().message();
      return {};
    }
    options.config = *config;
    options.config.training.raise = model.raise;
    auto module = import::importStableHLO(
        *context.get(), std::string(LLMC_SOURCE) + "/" + model.text, options);
    if (!module.ok()) {
      ADD_FAILURE() << module.status().message();
      return {};
    }
    return std::move(*module);
  }

  OwningOpRef<ModuleOp> compile(const Model &model) {
    OwningOpRef<ModuleOp> module = load(model);
    if (!module)
      return {};
    mlir::PassManager pm(context.get());
    buildTrainingPipeline(pm);
    if (failed(pm.run(*module))) {
      ADD_FAILURE() << context.takeMessages();
      return {};
    }
    return module;
  }

  GraphContext context;
};

/// @train.microbatch with random arguments.
class Microbatch {
public:
  explicit Microbatch(ModuleOp module)
      : function(module.lookupSymbol<FuncOp>("train.microbatch")) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      arguments.push_back(drawTensor(
          mlir::cast<RankedTensorType>(function.getArgumentTypes()[i]), i + 1));
      HostTensor &value = arguments.back();
      // Class numbers: any byte.
      for (int64_t e = 0; e < value.getNumElements() && !value.isFloat(); ++e)
        value.setInt(e, (e * 37 + 11 * i) % 256);
    }
  }

  std::vector<HostTensor> run() {
    Interpreter interpreter;
    llvm::SmallVector<HostTensor> results;
    EXPECT_TRUE(
        llvm::succeeded(interpreter.interpret(function, arguments, results)));
    return {results.begin(), results.end()};
  }
  double runLoss() { return run()[0].getFloat(0); }

  /// Arguments that have a gradient, and the results with the gradients.
  std::vector<std::pair<unsigned, unsigned>> getGradients() {
    std::vector<std::pair<unsigned, unsigned>> pairs;
    for (unsigned r = 0; r < function.getNumResults(); ++r)
      for (unsigned a = 0; a < function.getNumArguments(); ++a)
        if (auto state = dist::getGradientOf(dist::getResultPort(function, r)))
          if (state == dist::getState(dist::getArgumentPort(function, a)))
            pairs.push_back({a, r});
    return pairs;
  }

  FuncOp function;
  std::vector<HostTensor> arguments;
};

double dot(const HostTensor &a, const HostTensor &b) {
  double sum = 0;
  for (int64_t i = 0; i < a.getNumElements(); ++i)
    sum += a.getFloat(i) * b.getFloat(i);
  return sum;
}

HostTensor moveAlong(const HostTensor &x, const HostTensor &v, double h) {
  HostTensor result = x;
  for (int64_t i = 0; i < x.getNumElements(); ++i)
    result.setFloat(i, x.getFloat(i) + h * v.getFloat(i));
  return result;
}

/// Central differences along one random direction for each parameter.
void checkGradients(ModuleOp module) {
  Microbatch microbatch(module);
  std::vector<HostTensor> results = microbatch.run();
  auto gradients = microbatch.getGradients();
  ASSERT_FALSE(gradients.empty());
  double norm = 0;
  for (auto [argument, result] : gradients)
    norm += dot(results[result], results[result]);
  norm = std::sqrt(norm);
  constexpr double h = 1e-5;
  for (auto [argument, result] : gradients) {
    HostTensor x = microbatch.arguments[argument];
    HostTensor v = drawTensor(x.getType(), 1000 + argument);
    microbatch.arguments[argument] = moveAlong(x, v, h);
    double up = microbatch.runLoss();
    microbatch.arguments[argument] = moveAlong(x, v, -h);
    double down = microbatch.runLoss();
    microbatch.arguments[argument] = x;
    double expected = (up - down) / (2 * h);
    double actual = dot(results[result], v);
    // A gradient that vanishes (a shift of all keys) is compared with the norm
    // of all.
    double scale = std::max(std::abs(expected), 1e-3 * norm);
    EXPECT_LE(std::abs(actual - expected), 1e-6 * scale)
        << "argument " << argument << ": " << actual << " and " << expected;
  }
}

int countEntropies(ModuleOp module) {
  int count = 0;
  module.walk([&](nn::SoftmaxCrossEntropyOp) { ++count; });
  return count;
}

TEST_F(Phase1, GradientsOfMlp) {
  auto module = compile({"test/EndToEnd/Inputs/mlp-f64.mlir", kMlpInputs});
  ASSERT_TRUE(module);
  checkGradients(*module);
}

TEST_F(Phase1, GradientsOfTransformer) {
  auto module = compile({"test/EndToEnd/Inputs/gpt-tiny-f64.mlir", kGptInputs});
  ASSERT_TRUE(module);
  checkGradients(*module);
}

TEST_F(Phase1, GradientsOfWidenedTransformer) {
  auto module =
      compile({"test/EndToEnd/Inputs/gpt-tiny.mlir",
               std::string(kGptInputs) + "[training]\nprecision = \"f64\"\n"});
  ASSERT_TRUE(module);
  checkGradients(*module);
}

TEST_F(Phase1, RecognitionsKeepTheGradients) {
  auto raised = compile({"test/EndToEnd/Inputs/gpt-tiny-f64.mlir", kGptInputs});
  auto plain =
      compile({"test/EndToEnd/Inputs/gpt-tiny-f64.mlir", kGptInputs, false});
  ASSERT_TRUE(raised && plain);
  EXPECT_EQ(countEntropies(*raised), 3) << "loss, step and evaluation";
  EXPECT_EQ(countEntropies(*plain), 0);
  std::vector<HostTensor> a = Microbatch(*raised).run();
  std::vector<HostTensor> b = Microbatch(*plain).run();
  ASSERT_EQ(a.size(), b.size());
  for (size_t r = 0; r < a.size(); ++r) {
    HostTensor difference = moveAlong(a[r], b[r], -1);
    EXPECT_LE(std::sqrt(dot(difference, difference)),
              1e-11 * (std::sqrt(dot(b[r], b[r])) + 1e-3))
        << "result " << r;
  }
}

TEST_F(Phase1, RecognisesTheExample) {
  auto module = load({"examples/gpt/gpt.mlir", kGptInputs});
  ASSERT_TRUE(module);
  mlir::PassManager pm(context.get());
  pm.addPass(createNormalizePass());
  pm.addPass(createRaisePass());
  pm.addPass(createFindBlocksPass());
  ASSERT_TRUE(succeeded(pm.run(*module))) << context.takeMessages();
  int entropies = 0, attentions = 0, norms = 0, gelus = 0;
  int64_t lastBlock = 0;
  getFunction(*module).walk([&](Operation *op) {
    entropies += mlir::isa<nn::SoftmaxCrossEntropyOp>(op);
    attentions += mlir::isa<nn::AttentionOp>(op);
    norms += mlir::isa<nn::LayerNormOp>(op);
    gelus += mlir::isa<nn::GeluOp>(op);
    if (auto block = op->getAttrOfType<mlir::IntegerAttr>("dist.block"))
      lastBlock = std::max(lastBlock, block.getInt());
  });
  EXPECT_EQ(entropies, 1);
  EXPECT_EQ(attentions, 4) << "one in each layer";
  EXPECT_EQ(norms, 9) << "two in each layer, one after them";
  EXPECT_EQ(gelus, 4) << "one in each layer";
  EXPECT_EQ(lastBlock, 5) << "four layers between prologue and epilogue";
}

} // namespace

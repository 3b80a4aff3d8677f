//===- GraphContext.cpp - A context with every graph dialect --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See GraphContext.h.
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <random>

using namespace mlir;
using namespace llmc;

ArrayRef<StringRef> test::getGraphDialects() {
  static const StringRef names[] = {"stablehlo", "chlo", "nn", "dist"};
  return names;
}

test::GraphContext::GraphContext() {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, dist::DistDialect>();
  stablehlo::registerModels(registry);
  chlo::registerModels(registry);
  nn::registerModels(registry);
  dist::registerModels(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->allowUnregisteredDialects();
  keepMessages();
}

test::GraphContext::GraphContext(std::unique_ptr<MLIRContext> given)
    : context(std::move(given)) {
  keepMessages();
}

void test::GraphContext::keepMessages() {
  context->getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
}

OwningOpRef<ModuleOp> test::GraphContext::parse(StringRef text) {
  return parseSourceString<ModuleOp>(text, ParserConfig(context.get()));
}

std::string test::GraphContext::takeMessages() {
  std::string result;
  std::swap(result, messages);
  return result;
}

func::FuncOp test::getFunction(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  return functions.empty() ? func::FuncOp() : *functions.begin();
}

/// Uniform in [low, high), the same on every machine.
static double drawUniform(std::mt19937_64 &engine, double low, double high) {
  return low + (high - low) * (static_cast<double>(engine() >> 11) * 0x1p-53);
}

static HostTensor drawBetween(RankedTensorType type, uint64_t seed, double low,
                              double high) {
  std::mt19937_64 engine(seed * 0x9e3779b97f4a7c15ull + 1);
  HostTensor tensor(type);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    double value = drawUniform(engine, low, high);
    if (tensor.isFloat())
      tensor.setFloat(i, value);
    else
      tensor.setInt(i, static_cast<int64_t>(std::floor(value)));
  }
  return tensor;
}

HostTensor test::drawArgument(func::FuncOp function, unsigned argument,
                              uint64_t seed) {
  auto type = cast<RankedTensorType>(function.getArgument(argument).getType());
  if (Attribute values = function.getArgAttr(argument, "test.values"))
    return *HostTensor::fromAttribute(values);
  bool isFloat = isa<FloatType>(type.getElementType());
  auto bound = [&](StringRef name, double otherwise) {
    auto value = function.getArgAttrOfType<FloatAttr>(argument, name);
    return value ? value.getValueAsDouble() : otherwise;
  };
  double highest = type.getElementType().isInteger(1) ? 2 : isFloat ? 1 : 4;
  return drawBetween(type, seed * 131 + argument,
                     bound("test.low", isFloat ? -1 : 0),
                     bound("test.high", highest));
}

HostTensor test::drawTensor(RankedTensorType type, uint64_t seed) {
  if (!isa<FloatType>(type.getElementType()))
    return HostTensor(type);
  return drawBetween(type, seed, -1, 1);
}

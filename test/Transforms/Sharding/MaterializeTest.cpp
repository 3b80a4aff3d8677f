//===- MaterializeTest.cpp - Any decided layouts, materialized ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever layouts are decided for the values of a program, splits and partial
// sums and stages that contradict each other included, phase 3 makes a program
// in which every op is legal by its rule and every move is one that a verifier
// knows. Random programs over all ops, random layouts.
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "RandomPrograms.h"
#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>
#include <random>

using namespace llmc;
using namespace llmc::test;
using dist::DistDialect;

namespace {
class LayoutDrawer {
public:
  LayoutDrawer(dist::MeshOp mesh, uint64_t seed) : mesh(mesh), engine(seed) {}

  dist::LayoutAttr draw(RankedTensorType type, bool mayBePartial,
                        bool isPinnedOnce) {
    MLIRContext *context = mesh.getContext();
    dist::MeshAxesAttr axes = mesh.getAxes();
    std::vector<SmallVector<dist::AxisAttr>> dims(type.getRank());
    SmallVector<dist::AxisAttr> sums;
    SmallVector<dist::PinAttr> pins;
    for (auto [name, size] : llvm::zip(axes.getNames(), axes.getSizes())) {
      if (mesh.getPipeline() && name.getValue() == *mesh.getPipeline()) {
        pins.push_back(
            dist::PinAttr::get(context, name, drawStages(size, isPinnedOnce)));
        continue;
      }
      auto axis = dist::AxisAttr::get(context, name.getValue());
      auto where = static_cast<int64_t>(engine() % (type.getRank() + 2));
      if (where < type.getRank())
        dims[where].push_back(axis);
      else if (where == type.getRank() && mayBePartial && engine() % 2)
        sums.push_back(axis);
    }
    SmallVector<dist::DimAttr> attributes;
    for (auto [size, list] : llvm::zip(type.getShape(), dims))
      attributes.push_back(makeDim(size, list));
    SmallVector<dist::PartialAttr> partial;
    if (!sums.empty())
      partial.push_back(
          dist::PartialAttr::get(context, ReductionKind::sum, sums));
    return canonicalLayout(
        dist::LayoutAttr::get(
            context, mlir::FlatSymbolRefAttr::get(mesh.getSymNameAttr()),
            attributes, partial, {}, pins),
        type.getShape(), axes);
  }

private:
  SmallVector<int64_t> drawStages(int64_t count, bool isOne) {
    SmallVector<int64_t> stages;
    for (int64_t stage = 0; stage < count; ++stage)
      if (engine() % 2)
        stages.push_back(stage);
    if (stages.empty() || isOne)
      stages = {static_cast<int64_t>(engine() % count)};
    return stages;
  }

  /// Padded where the parts do not divide it; whole where that is too much.
  dist::DimAttr makeDim(int64_t size, ArrayRef<dist::AxisAttr> list) {
    int64_t parts = 1;
    for (dist::AxisAttr axis : list)
      parts *= axis.getSize(mesh.getAxes());
    int64_t extent = (size + parts - 1) / parts * parts;
    if (size == 0 || extent >= 2 * size)
      return dist::DimAttr::get(mesh.getContext());
    if (extent == size)
      return dist::DimAttr::get(mesh.getContext(), list);
    return dist::DimAttr::get(mesh.getContext(), list, {}, {extent});
  }

  dist::MeshOp mesh;
  std::mt19937_64 engine;
};

bool isFloat(Type type) {
  return isa<mlir::FloatType>(cast<RankedTensorType>(type).getElementType());
}

/// Decides random layouts for everything in the module's function.
void decide(ModuleOp module, uint64_t seed) {
  LayoutDrawer drawer(*module.getOps<dist::MeshOp>().begin(), seed);
  mlir::func::FuncOp function = getFunction(module);
  dist::Signature signature(function);
  auto decided = [&](dist::PortKind kind, const std::string &name, Type of) {
    auto type = cast<RankedTensorType>(of);
    return dist::PortAttr::get(module.getContext(), kind, StringRef(name))
        .withLayout(drawer.draw(type, isFloat(type), false));
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    signature.arguments[i] =
        decided(dist::PortKind::Input, "x" + std::to_string(i), type);
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    signature.results[i] =
        decided(dist::PortKind::Output, "y" + std::to_string(i), type);
  signature.write(function);
  for (Operation &op : function.getBody().front().without_terminator()) {
    SmallVector<Attribute> layouts;
    SmallVector<dist::PinAttr> pins;
    for (Type type : op.getResultTypes()) {
      auto layout =
          drawer.draw(cast<RankedTensorType>(type), isFloat(type), true);
      // All results of an op live where it does.
      if (layouts.empty())
        pins = llvm::to_vector(layout.getAt());
      layouts.push_back(layout.withPins(pins));
    }
    op.setAttr(DistDialect::kLayouts,
               mlir::ArrayAttr::get(module.getContext(), layouts));
  }
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  dist::EntryOp::create(builder, module.getLoc(), "entry",
                        mlir::FlatSymbolRefAttr(), function.getSymName(),
                        nullptr, nullptr);
}

struct Counts {
  llvm::StringMap<int64_t> ops;
  void add(ModuleOp module) {
    module.walk([&](Operation *op) { ++ops[op->getName().getStringRef()]; });
  }
};

testing::AssertionResult check(const std::string &mesh,
                               const std::string &program, uint64_t seed,
                               Counts &counts) {
  GraphContext context;
  auto module = context.parse(program + "\n" + mesh);
  if (!module)
    return testing::AssertionFailure() << context.takeMessages();
  decide(*module, seed);
  std::string before;
  llvm::raw_string_ostream(before) << *module;
  mlir::PassManager manager(context.get());
  manager.addPass(createDistributeOpsPass());
  manager.addPass(createMaterializePass());
  manager.addPass(createExpandReshardsPass());
  manager.addPass(createVerifyMaterializedPass());
  if (failed(manager.run(*module)))
    return testing::AssertionFailure() << before << context.takeMessages();
  counts.add(*module);
  return testing::AssertionSuccess();
}

TEST(Materialize, AnyDecidedLayoutsBecomeLegal) {
  const char *const meshes[] = {
      R"(dist.mesh @mesh = <"x"=2>)", R"(dist.mesh @mesh = <"x"=2, "y"=3>)",
      R"(dist.mesh @mesh = <"p"=2, "x"=2> pipeline "p")"};
  Counts counts;
  ProgramOptions options;
  options.numRecipes = 6;
  uint64_t base = readSetting("LLMC_TEST_SEED", 1);
  for (int recipe = 0; recipe < getNumRecipes(options); ++recipe)
    for (const char *mesh : meshes) {
      options.seed = base * 1000 + recipe;
      options.firstRecipe = recipe;
      ASSERT_TRUE(check(mesh, makeProgram(options), options.seed, counts))
          << "recipe " << getRecipeName(options, recipe)
          << ", LLMC_TEST_SEED=" << base;
    }
  for (const char *name :
       {"dist.all_reduce", "dist.reduce_scatter", "dist.all_gather",
        "dist.all_to_all", "dist.keep", "dist.transfer", "dist.reshard"})
    EXPECT_GT(counts.ops[name], 5) << name;
}

} // namespace

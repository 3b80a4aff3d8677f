//===- ReshardOfLayoutsTest.cpp - Plans between layout attributes ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps and layouts after them on a mesh of pipe = 2, data = 2, tensor = 4,
// and the machine of a mesh as an attribute.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/ReshardOfLayouts.h"
#include "llmc/Analysis/Layouts/MachineOfMesh.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace llmc;

namespace {

class ReshardOfLayouts : public ::testing::Test {
protected:
  ReshardOfLayouts() {
    context.loadDialect<dist::DistDialect>();
    load("");
  }

  /// A mesh with these attributes, of which the pipeline is the first.
  void load(const std::string &attributes,
            const std::string &pipeline = "pipeline \"pipe\" ") {
    module = parseSourceString<ModuleOp>(
        "dist.mesh @mesh = <\"pipe\"=2, \"data\"=2, \"tensor\"=4> " + pipeline +
            attributes,
        ParserConfig(&context));
    ASSERT_TRUE(module);
    mesh = *module->getOps<dist::MeshOp>().begin();
  }

  dist::LayoutAttr layout(const std::string &text) {
    return dyn_cast_or_null<dist::LayoutAttr>(
        parseAttribute("#dist.layout<@mesh, " + text + ">", &context));
  }

  RankedTensorType type(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Float32Type::get(&context));
  }

  /// "reduce-scatter tensor -> [...]; view -> [...]", or the error.
  std::string plan(ArrayRef<int64_t> shape, const std::string &from,
                   const std::string &to) {
    FailureOr<LayoutReshards> reshards = LayoutReshards::of(mesh);
    if (failed(reshards))
      return "no machine";
    std::string error;
    FailureOr<LayoutPlan> found =
        reshards->plan(type(shape), layout(from), layout(to), error);
    if (failed(found))
      return error;
    std::string text;
    llvm::raw_string_ostream os(text);
    for (const ReshardStep &step : found->steps) {
      os << (step.kind ? nameOf(*step.kind) : "view");
      for (dist::AxisAttr axis : step.axes)
        os << " " << axis.getName().getValue();
      os << ' ' << step.bytes << "; ";
    }
    if (!found->steps.empty()) {
      EXPECT_EQ(found->steps.back().layout, layout(to));
    }
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  dist::MeshOp mesh;
};

TEST_F(ReshardOfLayouts, EqualLayoutsNeedNothing) {
  EXPECT_EQ(plan({8, 8}, "[{\"data\"}, {}]", "[{\"data\"}, {}]"), "");
}

TEST_F(ReshardOfLayouts, ReducesSendsAndGathers) {
  EXPECT_EQ(plan({8, 4},
                 "[{\"data\"}, {}], partial = [sum{\"tensor\"}], at = "
                 "{\"pipe\" = [0]}",
                 "[{\"data\"}, {}], at = {\"pipe\" = [1]}"),
            "reduce-scatter tensor 48; send pipe 16; all-gather tensor 48; ");
}

TEST_F(ReshardOfLayouts, OneCollectiveOverPipelineAndData) {
  EXPECT_EQ(plan({8, 4},
                 "[{\"tensor\"}, {}], partial = [sum{\"pipe\", \"data\"}], "
                 "at = {\"pipe\" = [0, 1]}",
                 "[{\"tensor\"}, {}], at = {\"pipe\" = [0, 1]}"),
            "all-reduce pipe data 48; ");
}

TEST_F(ReshardOfLayouts, UsesIdleReplicasPastASlowLinkOnly) {
  std::string from = "[{}], partial = [sum{\"data\"}]", to = "[{}]";
  EXPECT_EQ(plan({4096}, from, to), "all-reduce data 16384; ");
  load("machine <links = [#dist.link<\"network\", latency = 0.0, bandwidth = "
       "5.0e10>, #dist.link<\"nvlink\", latency = 0.0, bandwidth = 4.0e11>], "
       "axes = {tensor = \"nvlink\"}>");
  EXPECT_EQ(plan({4096}, from, to),
            "slice tensor 0; all-reduce data 4096; all-gather tensor 12288; ");
}

TEST_F(ReshardOfLayouts, LiftsAPinToBothStages) {
  EXPECT_EQ(plan({4}, "[{}], at = {\"pipe\" = [0]}",
                 "[{}], partial = [sum{\"pipe\"}], at = {\"pipe\" = [0, 1]}"),
            "lift pipe 0; ");
}

TEST_F(ReshardOfLayouts, ViewsUnsplitDimsWithAnotherExtent) {
  EXPECT_EQ(plan({6, 2}, "[{\"tensor\"}:8, {}]", "[{}, {}]"),
            "all-gather tensor 48; view 0; ");
  EXPECT_EQ(plan({6, 2}, "[{}, {}]", "[{\"tensor\"}:8, {}]"),
            "view 0; slice tensor 0; ");
  EXPECT_EQ(plan({384}, "[{\"tensor\"}:[6:8, 64]]", "[{}:[6:8, 64]]"),
            "all-gather tensor 1536; ");
}

TEST_F(ReshardOfLayouts, GathersBetweenTwoExtents) {
  EXPECT_EQ(plan({6}, "[{\"tensor\"}:8]", "[{\"data\", \"tensor\"}:8]"),
            "slice data 0; permute data tensor 4; ");
  EXPECT_EQ(plan({9}, "[{\"data\"}:10]", "[{\"data\", \"tensor\"}:16]"),
            "all-gather data 20; view 0; view 0; slice data 0; slice tensor "
            "0; ");
}

TEST_F(ReshardOfLayouts, SaysWhyThereIsNoPlan) {
  EXPECT_EQ(plan({8}, "[{\"x\"}]", "[{}]"),
            "expected an axis of the mesh, got 'x'");
  EXPECT_EQ(plan({8}, "[{\"tensor\":(1)2}]", "[{}]"),
            "expected whole mesh axes, got a part of 'tensor'");
  EXPECT_EQ(
      plan({8}, "[{}], partial = [sum{\"data\"}, max{\"tensor\"}]", "[{}]"),
      "expected partial values of one kind, got several kinds at once");
}

TEST_F(ReshardOfLayouts, RefusesEitherEnd) {
  EXPECT_EQ(plan({8}, "[{}]", "[{\"x\"}]"),
            "expected an axis of the mesh, got 'x'");
  EXPECT_EQ(plan({8, 8}, "[{}]", "[{}, {}]"), "expected layouts of 2 dims");
  EXPECT_EQ(plan({8, 8}, "[{}, {}]", "[{\"data\"}]"),
            "expected layouts of 2 dims");
  EXPECT_EQ(plan({8}, "[{}], partial = [sum{\"data\", \"x\"}]", "[{}]"),
            "expected an axis of the mesh, got 'x'");
  std::string odd = "expected an extent of dim 1 of at least its size 7 and "
                    "divisible by 2, got 7";
  EXPECT_EQ(plan({8, 7}, "[{}, {\"data\"}]", "[{}, {}]"), odd);
  EXPECT_EQ(plan({8, 7}, "[{}, {}]", "[{}, {\"data\"}]"), odd);
  // The first of two legs, and the second.
  EXPECT_EQ(plan({6}, "[{\"x\"}:8]", "[{\"data\"}:10]"),
            "expected an axis of the mesh, got 'x'");
  EXPECT_EQ(plan({6}, "[{\"data\"}:8]", "[{\"x\"}:10]"),
            "expected an axis of the mesh, got 'x'");
}

TEST_F(ReshardOfLayouts, PinsAreAlongThePipelineAxis) {
  EXPECT_EQ(plan({4}, "[{}], at = {\"data\" = [0]}", "[{}]"),
            "expected pins along the pipeline axis, got 'data'");
  EXPECT_EQ(plan({4}, "[{}]", "[{}], at = {\"data\" = [0]}"),
            "expected pins along the pipeline axis, got 'data'");
  EXPECT_EQ(plan({4}, "[{}]", "[{}], at = {\"pipe\" = [1]}"),
            "view 0; drop pipe 0; ");
  EXPECT_EQ(plan({8}, "[{\"pipe\"}]", "[{}]"), "all-gather pipe 16; ");
  load("", "");
  EXPECT_EQ(plan({4}, "[{}], at = {\"pipe\" = [0]}", "[{}]"),
            "expected pins along the pipeline axis, got 'pipe'");
  EXPECT_EQ(plan({8}, "[{\"pipe\"}]", "[{}]"), "all-gather pipe 16; ");
}

TEST_F(ReshardOfLayouts, OnlySumsAndProductsBecomePartial) {
  std::string refused = "expected a value that becomes partial to be a sum, or "
                        "a product over an axis other than the pipeline's";
  auto kind = [](const std::string &name, const std::string &rest = "[{}]") {
    return rest + ", partial = [" + name + "]";
  };
  EXPECT_EQ(plan({4}, "[{}]", kind("sum{\"data\"}")), "lift data 0; ");
  EXPECT_EQ(plan({4}, "[{}]", kind("product{\"data\"}")), "lift data 0; ");
  EXPECT_EQ(plan({4}, "[{}]", kind("product{\"pipe\"}")), refused);
  EXPECT_EQ(plan({4}, "[{}]", kind("max{\"data\"}")), refused);
  // One that is of this kind already stays so; of another kind, or over one of
  // two axes, it is not.
  EXPECT_EQ(
      plan({4}, kind("max{\"data\"}"), kind("max{\"data\"}", "[{\"tensor\"}]")),
      "slice tensor 0; ");
  EXPECT_EQ(plan({4}, kind("sum{\"data\"}"), kind("max{\"data\"}")), refused);
  EXPECT_EQ(plan({4}, kind("max{\"data\"}"), kind("max{\"data\", \"tensor\"}")),
            refused);
}

TEST_F(ReshardOfLayouts, AllOfAnAxisAsAPartIsTheAxis) {
  EXPECT_EQ(plan({8}, "[{\"tensor\":(1)4}]", "[{}]"),
            "view 0; all-gather tensor 24; ");
}

TEST_F(ReshardOfLayouts, GathersBetweenTwoWaysToPadToOneExtent) {
  EXPECT_EQ(
      plan({384}, "[{\"tensor\"}:[6:8, 64]]", "[{\"tensor\"}:[3:4, 128]]"),
      "all-gather tensor 1536; view 0; view 0; slice tensor 0; ");
}

TEST_F(ReshardOfLayouts, AMachineMayNameSomeOfWhatItHas) {
  load("machine <memory = 8.0e10>");
  FailureOr<MachineModel> read = readMachine(mesh);
  ASSERT_TRUE(succeeded(read));
  EXPECT_EQ(read->slowness(), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(read->memory, 80000000000);
  load("machine <links = [], flops = 3.0e14>");
  read = readMachine(mesh);
  ASSERT_TRUE(succeeded(read));
  EXPECT_EQ(read->slowness(), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(read->flops, 3e14);
}

TEST_F(ReshardOfLayouts, AMachineWithoutBoundsIsRefused) {
  std::string said;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { said = diagnostic.str(); });
  load("machine <links = [#dist.link<\"near\", latency = 0.0, bandwidth = "
       "4.0e11>, #dist.link<\"far\", latency = 0.0, bandwidth = 1.0e301>]>");
  EXPECT_EQ(plan({8}, "[{\"data\"}]", "[{}]"), "no machine");
  EXPECT_EQ(said.substr(0, 95),
            "'dist.mesh' op attribute 'machine': expected a positive bandwidth "
            "of link class 'far', got 1000");
}

TEST_F(ReshardOfLayouts, PricesByTheMachine) {
  load("machine <links = [#dist.link<\"network\", latency = 5.0e-6, bandwidth "
       "= 5.0e10>, #dist.link<\"nvlink\", latency = 1.0e-6, bandwidth = "
       "4.0e11>], axes = {tensor = \"nvlink\"}, memory = 8.0e10>");
  FailureOr<MachineModel> read = readMachine(mesh);
  ASSERT_TRUE(succeeded(read));
  EXPECT_EQ(read->slowness(), (std::vector<double>{8, 8, 1}));
  EXPECT_NEAR(read->latencyBytes()[1], 2e6, 1);
  EXPECT_NEAR(read->latencyBytes()[2], 4e5, 1);
  EXPECT_EQ(read->memory, 80000000000);
  // Latency makes one small message cheaper than three, bandwidth not.
  EXPECT_EQ(plan({8, 4}, "[{}, {}], partial = [sum{\"data\", \"tensor\"}]",
                 "[{}, {}]"),
            "all-reduce data tensor 224; ");
  EXPECT_EQ(plan({8192, 4096},
                 "[{}, {}], partial = [sum{\"data\", \"tensor\"}]", "[{}, {}]"),
            "reduce-scatter tensor 100663296; all-reduce data 33554432; "
            "all-gather tensor 100663296; ");
}

} // namespace

//===- PlanRefusalsTest.cpp - What no plan file can say -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refusals with their messages, and the workspaces of libraries.
//
//===----------------------------------------------------------------------===//

#include "PlanTargetFixture.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::test;

TEST_F(PlanTarget, RefusesKernelsThatTheManifestLacks) {
  manifest.kernels.clear();
  rt::Result<rtp::Plan> plan = target::buildPlan(*module, manifest, options);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.message().find("expected kernel 'square' in the manifest"),
            std::string::npos)
      << plan.message();
}

TEST_F(PlanTarget, RefusesTwoRulesForOneSource) {
  std::string two = planText, input = "offset = 3>>";
  two.insert(two.find(input) + input.size(),
             ", #plan.input<\"y\", tensor<8x4xf32>, "
             "data = #dist.data<\"corpus\", shuffle = false>>");
  module = mlir::parseSourceString<ModuleOp>(two, &context);
  ASSERT_TRUE(module);
  rt::Result<rtp::Plan> plan = target::buildPlan(*module, manifest, options);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.message().find("expected one rule for source 'corpus', got "
                                "another one for input y"),
            std::string::npos)
      << plan.message();
}

TEST_F(PlanTarget, RecordsTheWorkspaceOfLibraries) {
  auto ask = [](const rt::LibraryDescriptor &descriptor,
                int32_t threads) -> rt::Result<target::LibraryUse> {
    EXPECT_EQ(threads, 2);
    EXPECT_EQ(std::get<rt::ContractionShape>(descriptor).indices.size(), 3u);
    return target::LibraryUse{3, 128};
  };
  ASSERT_TRUE(succeeded(target::reserveWorkspaces(*module, ask)));
  bool found = false;
  module->walk([&](plan::LibraryOp op) {
    found = true;
    EXPECT_EQ(int64_t(op.getWorkspaceBytes()), 128);
    EXPECT_EQ(int64_t(op.getForm()), 3);
    ASSERT_TRUE(op.getWorkspace());
    auto buffer = module->lookupSymbol<plan::BufferOp>(
        op.getWorkspace()->getBuffer().getValue());
    ASSERT_TRUE(buffer);
    EXPECT_EQ(int64_t(buffer.getBytes()), 128);
  });
  EXPECT_TRUE(found);
}

TEST_F(PlanTarget, RefusesEntriesThatNameWhatIsNotThere) {
  replace("#dist.data<\"corpus\", offset = 3>", "\"corpus\"");
  EXPECT_EQ(refuse(), "plan.entry: expected a #dist.data for input x");
  replace("hypers([@lr])", "hypers([@lr, @none])");
  EXPECT_EQ(refuse(), "plan.entry: expected hyper value 'none'");
}

TEST_F(PlanTarget, RefusesOtherThanOneMesh) {
  replace("dist.state", "dist.mesh @other = <\"data\"=1>\ndist.state");
  EXPECT_EQ(refuse(), "dist.mesh: expected one mesh in a plan, got two");
  replace("dist.mesh @mesh = <\"data\"=1>", "");
  EXPECT_EQ(refuse(), "builtin.module: expected a mesh, got none");
}

TEST_F(PlanTarget, RefusesWhatHasNoPlace) {
  replace(" arenas([1024])", "");
  EXPECT_EQ(refuse(), "builtin.module: expected a plan.device with arenas: "
                      "frames have no places yet");
  replace("@tmp tmp events(1) offset(384) size(192)", "@tmp tmp events(1)");
  EXPECT_EQ(refuse(), "plan.frame: expected a place");
}

TEST_F(PlanTarget, RefusesStatesWithoutSourceOrPlace) {
  replace(", source = #dist.draw<normal, 0.02>", "");
  EXPECT_EQ(refuse(), "dist.state: expected initial values, a draw or a file");
  replace("plan.part of @w", "plan.part of @none");
  EXPECT_EQ(refuse(), "plan.part: expected state 'none'");
  replace("dist.hyper",
          "dist.state @v : tensor<4xf32> {role = parameter, source = "
          "#dist.draw<zeros>}\ndist.hyper");
  EXPECT_EQ(refuse(), "builtin.module: expected a place for state 'v'");
  replace("dist.hyper",
          "dist.state @v : tensor<4xi2> {role = constant, source = "
          "#dist.file<\"v\", 0, 4>}\ndist.hyper");
  EXPECT_EQ(refuse(),
            "dist.state: expected elements that the runtime stores, got 'i2'");
}

TEST_F(PlanTarget, RefusesAxesThatTheMeshLacks) {
  replace("slot(<mod(microbatch, 2)>)", "slot(<coordinate(\"pipe\")>)");
  EXPECT_EQ(refuse(), "plan.frame: expected axis 'pipe' in the mesh");
  replace("<@mesh, [{}, {}]>", "<@mesh, [{}, {\"pipe\"}]>");
  EXPECT_EQ(refuse(), "plan.part: expected whole axes of the mesh in a layout, "
                      "got 'pipe'");
  replace("\"data\"=1", "\"data\"=4");
  replace("<@mesh, [{}, {}]>", "<@mesh, [{}, {\"data\":(1)2}]>");
  EXPECT_EQ(refuse(), "plan.part: expected whole axes of the mesh in a layout, "
                      "got 'data'");
}

TEST_F(PlanTarget, NumbersOfTheHostsEnds) {
  replace("host input name(\"x\")", "host input name(\"y\")");
  std::string message =
      "plan.copy: expected 'y' in the same place in each entry that runs it";
  EXPECT_EQ(refuse(), message);
  replace("plan.table", R"mlir(plan.program @u update {
  plan.copy on @K to(<@tmp.y, [], f32>) host hyper name("lr")
}
plan.table)mlir");
  EXPECT_EQ(refuse(), "plan.copy: expected an entry that has 'lr'");
  // The second entry has the input in another place.
  std::string second = R"mlir(plan.entry @g forward microbatches(2) chunks(1)
  prologue([unit]) table(@f.table) epilogue([unit])
  inputs([#plan.input<"y", tensor<8x4xf32>>, #plan.input<"x", tensor<8x4xf32>>])
  hypers([]) metrics([]) fetches([#plan.fetch<"z", tensor<8x6xf32>>])
)mlir";
  edited += second;
  EXPECT_EQ(refuse(), "plan.copy: expected 'x' in the same place in each entry "
                      "that runs it");
  // In the same place it may stand in both.
  edited += second;
  replace("#plan.input<\"y\", tensor<8x4xf32>>, ", "");
  rt::Result<rtp::Plan> plan = build();
  ASSERT_TRUE(plan.ok()) << plan.message();
  EXPECT_EQ(plan->entries.size(), 2u);
}

TEST_F(PlanTarget, PlacesOfErrorsAreLeftOutWhereTheyAreNotKnown) {
  manifest.kernels.clear();
  module->walk([&](Operation *op) { op->setLoc(UnknownLoc::get(&context)); });
  rt::Result<rtp::Plan> plan = target::buildPlan(*module, manifest, options);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.message(),
            "plan.kernel: expected kernel 'square' in the manifest, got none");
  // A name and a place are written together.
  module->walk([&](plan::KernelOp op) {
    op->setLoc(NameLoc::get(StringAttr::get(&context, "square"),
                            FileLineColLoc::get(&context, "f.py", 3, 4)));
  });
  plan = target::buildPlan(*module, manifest, options);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.message(), "plan.kernel: expected kernel 'square' in the "
                            "manifest, got none at square (f.py:3:4)");
}

TEST_F(PlanTarget, SaysWhatTheLibraryRefuses) {
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &error) { message += error.str(); });
  auto ask = [](const rt::LibraryDescriptor &, int32_t) {
    rt::Error error;
    error.message = "no such contraction";
    return rt::Result<target::LibraryUse>(error);
  };
  EXPECT_TRUE(failed(target::reserveWorkspaces(*module, ask)));
  EXPECT_EQ(message, "'plan.library' op no such contraction");
}

// Each call gets what it asks for, and the scratch is as large as the largest;
// what the kernels have there stays.
TEST_F(PlanTarget, WorkspacesShareTheScratch) {
  for (int64_t kernels : {0, 48, 256}) {
    edited = planText;
    std::string contraction = "plan.library on @C #plan.contraction<[<m, 8";
    size_t at = edited.find("  " + contraction);
    std::string library = edited.substr(at, edited.find("  plan.kernel") - at);
    for (const char *rows : {"2", "7", "4"}) {
      std::string other = library;
      other.replace(other.find("<m, 8"), 5, std::string("<m, ") + rows);
      edited.insert(at, other);
    }
    if (kernels > 0)
      replace("plan.program @f",
              "plan.frame @f.scratch scratch\nplan.buffer @f.scratch.all in "
              "@f.scratch bytes(" +
                  std::to_string(kernels) + ")\nplan.program @f");
    module = mlir::parseSourceString<ModuleOp>(edited, &context);
    ASSERT_TRUE(module) << edited;
    // 64 bytes for 4 rows, 112 for 7, none for others.
    auto ask = [](const rt::LibraryDescriptor &descriptor,
                  int32_t) -> rt::Result<target::LibraryUse> {
      int64_t rows = std::get<rt::ContractionShape>(descriptor).indices[0].size;
      return target::LibraryUse{
          0, uint64_t(rows == 4 || rows == 7 ? 16 * rows : 0)};
    };
    ASSERT_TRUE(succeeded(target::reserveWorkspaces(*module, ask)));
    std::vector<int64_t> bytes, spans;
    module->walk([&](plan::LibraryOp op) {
      bytes.push_back(op.getWorkspaceBytes());
      spans.push_back(op.getWorkspace() ? *op.getWorkspace()->getSpan() : -1);
    });
    EXPECT_EQ(bytes, (std::vector<int64_t>{64, 112, 0, 0}));
    EXPECT_EQ(spans, (std::vector<int64_t>{64, 112, -1, -1}));
    auto scratch = module->lookupSymbol<plan::BufferOp>("f.scratch.all");
    ASSERT_TRUE(scratch);
    EXPECT_EQ(int64_t(scratch.getBytes()), std::max<int64_t>(kernels, 112));
    EXPECT_EQ(scratch.getFrame(), "f.scratch");
    auto frames = module->getOps<plan::FrameOp>();
    EXPECT_EQ(std::distance(frames.begin(), frames.end()), 5);
  }
}

TEST_F(PlanTarget, NoScratchWhereNoneIsAskedFor) {
  auto ask = [](const rt::LibraryDescriptor &, int32_t) {
    return rt::Result<target::LibraryUse>(target::LibraryUse());
  };
  ASSERT_TRUE(succeeded(target::reserveWorkspaces(*module, ask)));
  EXPECT_FALSE(module->lookupSymbol<plan::BufferOp>("f.scratch.all"));
  module->walk([&](plan::LibraryOp op) { EXPECT_FALSE(op.getWorkspace()); });
}

//===- PlanCaseTest.cpp - Random programs by the executor -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cases of MeshCaseTest, compiled to plans for their meshes and executed.
// LLMC_TEST_SEED chooses other cases, LLMC_TEST_CASES how many of each kind
// (nightly.sh asks for more); LLMC_TEST_ONE=<seed> runs the one that
// a failure names, LLMC_TEST_LIST gives a line for each failure, LLMC_TEST_SHOW
// how many ran; LLMC_TEST_FOLDER keeps their programs and plans.
//
//===----------------------------------------------------------------------===//

#include "MeshCase.h"
#include "RandomPrograms.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {
const char *const kMeshes[] = {
    R"(<"a"=2>)",
    R"(<"a"=2, "b"=2>)",
    R"(<"a"=3>)",
    R"(<"a"=2, "b"=3>)",
    R"(<"a"=4>)",
    R"(<"p"=2, "a"=2> pipeline "p")",
    R"(<"p"=2, "a"=2, "b"=2> pipeline "p")",
    R"(<"a"=2, "p"=3> pipeline "p")",
};

/// The first meshes have no pipeline.
constexpr size_t kNumFlat = 5;

/// Layouts that would pad a dimension to twice its size.
bool isRefusal(llvm::StringRef error) {
  return error.contains("expected axes that fit ");
}

class PlanCases : public ::testing::Test {
protected:
  void SetUp() override {
    if (const char *kept = std::getenv("LLMC_TEST_FOLDER"))
      folder = kept;
    else
      ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("llmc-plans", folder));
  }
  void TearDown() override {
    if (!std::getenv("LLMC_TEST_FOLDER"))
      (void)llvm::sys::fs::remove_directories(folder);
  }

  void runAll(CaseKind kind, bool hasRandomTable = false) {
    uint64_t one = readSetting("LLMC_TEST_ONE", 0);
    uint64_t base = readSetting("LLMC_TEST_SEED", 1) * 100000 + 50000;
    uint64_t count = readSetting("LLMC_TEST_CASES", 15);
    for (uint64_t i = 0; i < (one ? 1 : count); ++i)
      run(kind, hasRandomTable, one ? one : base + i);
    if (std::getenv("LLMC_TEST_SHOW"))
      llvm::outs() << numCases << " plans executed (" << numGradients
                   << " with gradients), " << numSkipped << " skipped, "
                   << numFailures << " failures\n";
    EXPECT_EQ(numFailures, 0) << "of " << numCases;
    if (!one)
      EXPECT_GE(numCases, 2 * numSkipped);
  }

private:
  static std::string name() {
    return ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  void run(CaseKind kind, bool hasRandomTable, uint64_t seed) {
    GraphContext context;
    const char *mesh =
        kMeshes[seed % (hasRandomTable ? kNumFlat : std::size(kMeshes))];
    MeshCase one(context, kind, mesh, seed);
    if (hasRandomTable)
      one.useRandomTable();
    std::string error =
        one.runPlan((folder + "/" + name() + "." + std::to_string(seed)).str());
    if (one.isSkipped() || isRefusal(error)) {
      ++numSkipped;
      return;
    }
    ++numCases;
    numGradients += kind != CaseKind::Graph && one.comparesGradients();
    if (error.empty())
      return;
    if (std::getenv("LLMC_TEST_LIST"))
      llvm::outs() << seed << " " << mesh << ": "
                   << llvm::StringRef(error).split("\n").first << "\n";
    if (++numFailures <= 3)
      ADD_FAILURE() << "LLMC_TEST_ONE=" << seed << " on " << mesh << ": "
                    << error << context.takeMessages();
  }

  llvm::SmallString<128> folder;
  int numCases = 0, numGradients = 0, numSkipped = 0, numFailures = 0;
};

TEST_F(PlanCases, GraphsAgreeWithTheWhole) { runAll(CaseKind::Graph); }

TEST_F(PlanCases, ExactStepsAgreeBitForBit) { runAll(CaseKind::Exact); }

TEST_F(PlanCases, SmoothStepsAgree) { runAll(CaseKind::Smooth); }

TEST_F(PlanCases, StepsAgreeUnderRandomTables) {
  runAll(CaseKind::Exact, /*hasRandomTable=*/true);
}
} // namespace

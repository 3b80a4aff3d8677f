//===- MeshCaseTest.cpp - Random programs in random layouts ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLMC_TEST_SEED chooses other cases, LLMC_TEST_CASES how many of each kind;
// LLMC_TEST_ONE=<seed> runs the one that a failure names, LLMC_TEST_LIST gives
// a line for each failure, LLMC_TEST_SHOW the local program; LLMC_TEST_MESH
// takes another mesh, as `<"a"=2>`.
//
//===----------------------------------------------------------------------===//

#include "MeshCase.h"
#include "RandomPrograms.h"
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

/// Layouts that would pad a dimension to twice its size, alone or together, are
/// refused.
bool isRefusal(llvm::StringRef messages) {
  return messages.contains("expected axes that fit ");
}

/// Runs cases of one kind; the first failures are reported.
struct Cases {
  Cases(CaseKind kind, bool hasRandomTable = false)
      : kind(kind), hasRandomTable(hasRandomTable) {}

  void runAll() {
    uint64_t one = readSetting("LLMC_TEST_ONE", 0);
    uint64_t base = readSetting("LLMC_TEST_SEED", 1) * 100000;
    // A step takes the time of several graphs.
    uint64_t count =
        readSetting("LLMC_TEST_CASES", kind == CaseKind::Graph ? 500 : 250);
    if (one)
      return run(one);
    for (uint64_t i = 0; i < count; ++i)
      run(base + i);
  }

  void run(uint64_t seed) {
    GraphContext context;
    const char *mesh = std::getenv("LLMC_TEST_MESH");
    if (!mesh)
      mesh = kMeshes[seed % (hasRandomTable ? kNumFlat : std::size(kMeshes))];
    MeshCase one(context, kind, mesh, seed);
    if (hasRandomTable)
      one.useRandomTable();
    std::string error = one.run(counts[mesh]);
    std::string messages = context.takeMessages();
    if (one.isSkipped() || isRefusal(messages)) {
      ++numSkipped;
      return;
    }
    ++numCases;
    auto [reason, program] = llvm::StringRef(error).split("\n");
    if (!error.empty() && std::getenv("LLMC_TEST_LIST"))
      llvm::outs() << seed << " " << mesh << ": " << reason << ": "
                   << llvm::StringRef(messages).split("\n").first << "\n";
    if (error.empty() || ++numFailures > 3)
      return;
    ADD_FAILURE() << "LLMC_TEST_ONE=" << seed << " on " << mesh << ": "
                  << reason.str() << "\n"
                  << messages << program.str();
  }

  CaseKind kind;
  bool hasRandomTable;
  /// By mesh.
  std::map<std::string, OpCounts> counts;
  int numCases = 0, numSkipped = 0, numFailures = 0;
};

void show(const Cases &cases) {
  if (!std::getenv("LLMC_TEST_SHOW"))
    return;
  llvm::outs() << cases.numCases << " cases, " << cases.numSkipped
               << " skipped, " << cases.numFailures << " failures\n";
  for (auto &[mesh, counts] : cases.counts)
    for (auto &[name, count] : counts)
      llvm::outs() << "  " << mesh << " " << name << ": " << count << "\n";
}

/// The cases of one kind agree; on these meshes they met these ops.
void expectAgreement(Cases cases, llvm::ArrayRef<const char *> meshes,
                     llvm::ArrayRef<const char *> ops) {
  cases.runAll();
  show(cases);
  EXPECT_EQ(cases.numFailures, 0) << "of " << cases.numCases;
  // Too few cases do not meet everything.
  for (const char *name :
       {"LLMC_TEST_ONE", "LLMC_TEST_MESH", "LLMC_TEST_CASES"})
    if (std::getenv(name))
      return;
  EXPECT_GE(cases.numCases, 4 * cases.numSkipped);
  for (const char *mesh : meshes)
    for (const char *op : ops)
      EXPECT_GE(cases.counts[mesh][std::string("dist.") + op], 5)
          << op << " on " << mesh;
}

const char *const kCollectives[] = {"all_reduce", "reduce_scatter",
                                    "all_gather", "all_to_all",
                                    "permute",    "coordinate"};
const char *const kBetweenStages[] = {"transfer", "join", "broadcast",
                                      "segment"};
const char *const kGrid[] = {R"(<"a"=2, "b"=3>)", R"(<"a"=2, "b"=2>)"};
const char *const kStaged[] = {R"(<"p"=2, "a"=2, "b"=2> pipeline "p")"};

TEST(MeshCases, GraphsAgreeUnderRandomTables) {
  expectAgreement({CaseKind::Graph, /*hasRandomTable=*/true}, kGrid,
                  kCollectives);
}

TEST(MeshCases, StepsAgreeUnderRandomTables) {
  expectAgreement({CaseKind::Exact, /*hasRandomTable=*/true}, kGrid,
                  kCollectives);
}

TEST(MeshCases, GraphsAgreeWithTheWhole) {
  expectAgreement({CaseKind::Graph}, kGrid, {"all_gather", "coordinate"});
}

TEST(MeshCases, ExactStepsAgreeBitForBit) {
  expectAgreement({CaseKind::Exact}, kGrid, kCollectives);
}

TEST(MeshCases, SmoothStepsAgree) {
  expectAgreement({CaseKind::Smooth}, kStaged, kBetweenStages);
}
} // namespace

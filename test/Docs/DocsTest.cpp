//===- DocsTest.cpp - Pages that state what the code states ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/configuration.md is the table of keys, word for word;
// LLMC_UPDATE_DOCS=1 writes it anew. docs/errors.md has one row for each exit
// code, docs/plan-format.md names the format that is written.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Config/Config.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc::rt;
using testing::HasSubstr;

namespace {
std::string pathOf(const std::string &page) { return LLMC_DOCS "/" + page; }

std::string readPage(const std::string &page) {
  std::ifstream file(pathOf(page));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

const char kConfigurationHead[] =
    "# Configuration keys\n\n"
    "Generated from the table in `lib/Runtime/Config/Keys.cpp` by\n"
    "`LLMC_UPDATE_DOCS=1 build/dev/test/Unit/tests/DocsTest`; do not edit.\n"
    "`*` stands for a name of your own, `[]` for each table of a list.\n"
    "`--set key=value` overrides the file. An unknown key is refused with its\n"
    "place and the nearest known one.\n\n";

const char kSources[] = R"([data.x]                 # feeds the input x
kind = "array"
file = "train.safetensors"
tensor = "images"        # by default the source's name

[data.y]
kind = "array"
file = "labels.npy"
)";

const char kConfigurationTail[] =
    "\n## Sources of data\n\n"
    "An input is fed by a source. `[data]` alone is one of them, with the\n"
    "inputs that it names: windows of a file of tokens, where `targets` lies\n"
    "one token after `tokens`.\n"
    "```toml\n[data]\nfile = \"corpus.bin\"\n"
    "inputs = {tokens = 0, targets = 1}\n```\n"
    "Others have names of their own; one that names no inputs feeds the input\n"
    "of its name. The first dimension of an array counts the samples.\n"
    "```toml\n";

const char kConfigurationEnd[] =
    "```\n"
    "All arrays have equally many samples, and row i of each is one sample.\n"
    "Shuffled (`shuffle = true`, the default of all), each epoch has each row\n"
    "once, in an order that seed and epoch decide; windows of tokens are "
    "drawn.\n"
    "In order, they come one after the other. The same samples meet in a step\n"
    "whatever the mesh and the number of microbatches.\n\n"
    "Elements convert to the input's type: floats and integers to floats,\n"
    "integers to integers that hold them, booleans to all. `llmc-run` and\n"
    "`llmc run` take the files by `--data x=train.safetensors --data\n"
    "y=labels.npy`, or one file for all sources by `--data`.\n";

// The example of arrays means what the page says.
TEST(Docs, ExampleOfSources) {
  Result<Config> config = parseConfig(kSources, "", {});
  ASSERT_TRUE(config.ok()) << config.message();
  Result<std::vector<DataSource>> sources = findSources(*config);
  ASSERT_TRUE(sources.ok()) << sources.message();
  ASSERT_EQ(sources->size(), 2u);
  EXPECT_EQ((*sources)[0].rule.tensor, "images");
  EXPECT_EQ((*sources)[0].inputs.count("x"), 1u);
  EXPECT_EQ((*sources)[1].file, "labels.npy");
}

TEST(Docs, ConfigurationIsTheTableOfKeys) {
  std::string expected = kConfigurationHead + documentKeys() +
                         kConfigurationTail + kSources + kConfigurationEnd;
  if (std::getenv("LLMC_UPDATE_DOCS"))
    std::ofstream(pathOf("configuration.md")) << expected;
  EXPECT_EQ(readPage("configuration.md"), expected)
      << "LLMC_UPDATE_DOCS=1 DocsTest writes the page anew";
}

TEST(Docs, EveryExitCodeHasARow) {
  std::string page = readPage("errors.md");
  for (ErrorKind kind :
       {ErrorKind::ok, ErrorKind::diagnosed, ErrorKind::usage,
        ErrorKind::malformed, ErrorKind::infeasible, ErrorKind::unsupported,
        ErrorKind::peerLost, ErrorKind::timeout, ErrorKind::outOfMemory,
        ErrorKind::numeric, ErrorKind::noCheckpoint, ErrorKind::mismatch,
        ErrorKind::rerunElsewhere, ErrorKind::internal})
    EXPECT_THAT(page, HasSubstr("| " + std::to_string(exitCode(kind)) + " | " +
                                std::string(kindName(kind)) + " |"));
}
} // namespace

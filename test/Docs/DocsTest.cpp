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
#include "llmc/Runtime/Base/Help.h"
#include "llmc/Runtime/Config/Sources.h"
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
    "place and the nearest known one, or those of its table.\n\n";

const char kSources[] = R"([data.x]                 # feeds the input x
kind = "array"
file = "train.safetensors"
tensor = "images"        # by default the source's name

[data.y]
kind = "array"
file = "labels.npy"
)";

const char kExtends[] = R"(extends = "shared/base.toml"
[optimizer]
lr = 1e-2                # all else of [optimizer] is that of the base
)";

const char kConfigurationExtends[] =
    "\n## A file that begins with another\n\n"
    "`extends` names a file, relative to the one that says it, whose keys\n"
    "count where this one has none. Tables are joined key by key; a value, a\n"
    "list and an array of tables, as `[[layout]]`, replace that of the base "
    "as\n"
    "a whole. The base may extend another file, but none that extends it.\n"
    "Files that a configuration names lie beside the file that names them, "
    "and\n"
    "an error has the file and the line in which its key stands, as the "
    "origins\n"
    "have that `llmc compile --print-config` lists.\n"
    "```toml\n";

const char kConfigurationTail[] =
    "```\n"
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
    "drawn,\n"
    "or with `windows = \"once\"` come once in an epoch. In order, samples "
    "come\n"
    "one after the other. The same ones meet in a step whatever the mesh and\n"
    "the number of microbatches. [data.md](data.md) has many files, weights,\n"
    "held-out data and what is refused.\n\n"
    "Elements convert to the input's type: floats and integers to floats,\n"
    "integers to integers that hold them, booleans to all. `llmc-run` and\n"
    "`llmc run` take the files by `--data x=train.safetensors --data\n"
    "y=labels.npy`, or those of all sources by `--data`. Given to a model, an\n"
    "`.npy` or `.safetensors` file under a name that no source has is an "
    "array\n"
    "for the input of that name, which `[data]` feeds no more.\n";

const char kResults[] = R"([training]
module = "step"

[training.results]
"0" = "params"           # result[0]['w'] replaces params['w'], ...
"1" = "velocity"
"2.mse" = "loss"
)";

const char kSteps[] =
    "\n## Modules that JAX has differentiated\n\n"
    "A text may have its derivative itself: that of\n"
    "`jax.value_and_grad(loss)`, whose gradients the optimizer of this page\n"
    "takes, or a whole step (params, opt_state, batch) -> (params, opt_state,\n"
    "loss), which has its own. `jax.jit(step, donate_argnums=(0, 1))` says "
    "that\n"
    "it is one: its results are computed from gradients, and its arguments "
    "are\n"
    "donated. `llmc train` prints what it takes each argument for, and why.\n\n"
    "| argument of a step | is |\n|---|---|\n"
    "| an input that `[data]` names | of each batch |\n"
    "| a float that a result replaces and that the loss depends on, or of "
    "`training.parameters` | a parameter |\n"
    "| another float of its shape whose name ends as the parameter's | a state "
    "of its optimizer, which lies as the row of the parameter says |\n"
    "| what else a result replaces: counters, keys, statistics | carried |\n"
    "| what is returned unchanged, or not, beside states | constant |\n"
    "| a scalar `lr`, `t` (the step from 1), `step` or `seed` | a hyper value |"
    "\n\n"
    "Results replace arguments of their type whose name they have: "
    "`result[1].mu['w']`\n"
    "and `opt_state.mu['w']`. Where several have it, the new value tells, "
    "which\n"
    "is computed from the old one element by element. What stays open is said\n"
    "in the configuration:\n"
    "```toml\n";

const char kStepsEnd[] =
    "```\n"
    "The loss is the float scalar that is called `loss`, or the first that\n"
    "replaces nothing; other scalars are metrics. Parameters and constants\n"
    "start as `[[init]]` or `--weights` says, all other states from zeros,\n"
    "unless one of the two names them (a pattern other than `*`).\n\n"
    "The batch of a step is that of all its microbatches: each computes its\n"
    "part of the gradients' sums over the batch, so that the step is the one "
    "of\n"
    "the text. A step that does something else with its batch, such as a "
    "batch\n"
    "norm, has one microbatch. Gradients beside a loss are those of one\n"
    "microbatch, as a loss is, and are averaged. Such modules have one "
    "pipeline\n"
    "stage, and what they recompute stands in the text.\n";

// The example of arrays means what the page says.
TEST(Docs, ExampleOfSources) {
  Result<Config> config = parseConfig(kSources, "", {});
  ASSERT_TRUE(config.ok()) << config.message();
  Result<std::vector<DataSource>> sources = findSources(*config);
  ASSERT_TRUE(sources.ok()) << sources.message();
  ASSERT_EQ(sources->size(), 2u);
  EXPECT_EQ((*sources)[0].rule.tensor, "images");
  EXPECT_EQ((*sources)[0].inputs.count("x"), 1u);
  EXPECT_EQ((*sources)[1].files, std::vector<std::string>{"labels.npy"});
}

TEST(Docs, ExampleOfResults) {
  Result<Config> config = parseConfig(kResults, "", {});
  ASSERT_TRUE(config.ok()) << config.message();
  EXPECT_EQ(config->training.module, "step");
  EXPECT_EQ(config->training.results.at("2.mse"), "loss");
}

TEST(Docs, ConfigurationIsTheTableOfKeys) {
  std::string expected = kConfigurationHead + documentKeys() +
                         kConfigurationExtends + kExtends + kConfigurationTail +
                         kSources + kConfigurationEnd + kSteps + kResults +
                         kStepsEnd;
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
                                std::string(kindName(kind)) + " | " +
                                meaningOf(kind)));
}
} // namespace

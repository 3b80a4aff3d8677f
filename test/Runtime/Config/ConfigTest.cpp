//===- ConfigTest.cpp - Configuration: values, places, suggestions --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Config/Config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc::rt;
using testing::HasSubstr;

static Result<Config> parse(std::string text, std::vector<Override> set = {}) {
  return parseConfig(text, "train.toml", set);
}

/// The error of `text`, which must have one, of kind usage.
static std::string errorOf(std::string text, std::vector<Override> set = {}) {
  Result<Config> config = parse(text, set);
  EXPECT_FALSE(config.ok());
  EXPECT_EQ(config.kind(), ErrorKind::usage);
  return config.ok() ? "" : config.message();
}

TEST(Config, DefaultsStandWithoutAFile) {
  Result<Config> config = parse("");
  ASSERT_TRUE(config.ok()) << config.message();
  EXPECT_EQ(config->training.microbatches, 1);
  EXPECT_EQ(config->optimizer.name, "adamw");
  EXPECT_EQ(config->mesh.axes, std::vector<std::string>{"data"});
}

TEST(Config, ReadsEverySection) {
  Result<Config> config = parse(R"(
[mesh]
axes = ["pipe", "data"]
pipeline = "pipe"
[data]
file = "c.bin"
dtype = "u8"
[data.inputs]
tokens = 0
targets = 1
[[init]]
match = "*.b"
draw = "zeros"
[[init]]
match = "*"
std = 1
[optimizer]
lr = 1e-3
beta1 = 0.8
[training]
max_norm = 1
)");
  ASSERT_TRUE(config.ok()) << config.message();
  EXPECT_EQ(config->data.inputs.at("targets"), 1);
  ASSERT_EQ(config->init.size(), 2u);
  EXPECT_EQ(config->init[0].draw, "zeros");
  EXPECT_EQ(config->init[1].draw, "normal");
  EXPECT_EQ(config->init[1].std, 1.0);
  EXPECT_EQ(config->optimizer.constants.at("beta1"), 0.8);
  EXPECT_EQ(config->training.maxNorm, 1.0);
}

TEST(Config, LayoutsAreListsOfLists) {
  Result<Config> config = parse(R"(
[[layout]]
match = "*.w"
rest = [[], ["data", "?"]]
[[layout]]
input = "x"
dims = []
)");
  ASSERT_TRUE(config.ok()) << config.message();
  ASSERT_EQ(config->layout.size(), 2u);
  EXPECT_EQ(config->layout[0].rest, (AxisLists{{}, {"data", "?"}}));
  EXPECT_FALSE(config->layout[0].use);
  EXPECT_EQ(config->layout[1].dims, AxisLists());
  EXPECT_EQ(config->originOf("layout[1]"), "train.toml:5:1");
  EXPECT_EQ(config->originOf("layout[0].rest"), "train.toml:4:8");
  EXPECT_EQ(config->originOf("layout[0].use"), "default");
  std::string text = printConfig(*config);
  EXPECT_THAT(text, HasSubstr("[[], [\"data\", \"?\"]]"));
  EXPECT_THAT(text, testing::Not(HasSubstr("layout[0].use")));
  EXPECT_THAT(errorOf("[[layout]]\nrest = [\"data\"]\n"),
              HasSubstr("expected 'layout[0].rest' to be list of lists of "
                        "texts, got array"));
  EXPECT_THAT(errorOf("[[layout]]\nrst = [[]]\n"),
              HasSubstr("did you mean 'layout[].rest'?"));
}

TEST(Config, ReadsTheMachine) {
  Result<Config> config = parse(R"(
[machine]
flops = 1e12
[[machine.link]]
name = "net"
bandwidth = 5e9
[machine.axes]
data = "net"
)");
  ASSERT_TRUE(config.ok()) << config.message();
  ASSERT_EQ(config->machine.links.size(), 1u);
  EXPECT_EQ(config->machine.links[0].bandwidth, 5e9);
  EXPECT_EQ(config->machine.links[0].latency, 0);
  EXPECT_EQ(config->machine.axes.at("data"), "net");
  EXPECT_EQ(config->machine.flops, 1e12);
  EXPECT_THAT(printConfig(*config), HasSubstr("machine.axes.data"));
}

TEST(Config, UnknownKeyHasPlaceAndSuggestion) {
  EXPECT_THAT(errorOf("[training]\nmicrobatchs = 2\n"),
              HasSubstr("train.toml:2:15: unknown key 'training.microbatchs', "
                        "did you mean 'training.microbatches'?"));
  EXPECT_THAT(errorOf("[[init]]\nmtach = \"*\"\n"), HasSubstr("init[0].mtach"));
  EXPECT_THAT(errorOf("[trainig]\nsteps = 1\n"), HasSubstr("trainig"));
}

TEST(Config, WrongTypesAndValuesAreRefused) {
  EXPECT_THAT(errorOf("[training]\nsteps = \"many\"\n"),
              HasSubstr("expected 'training.steps' to be integer, got string"));
  EXPECT_THAT(errorOf("[training]\nsteps = 0\n"),
              HasSubstr("expected 'training.steps' to be at least 1, got 0"));
  EXPECT_THAT(errorOf("[training]\nmax_norm = nan\n"), HasSubstr("finite"));
  EXPECT_THAT(errorOf("[optimizer]\nname = \"adamv\"\n"),
              HasSubstr("did you mean \"adamw\"?"));
  EXPECT_THAT(errorOf("[training\n"), HasSubstr("train.toml:1:"));
  EXPECT_THAT(errorOf("[training]\nsteps = 1\nsteps = 2\n"),
              HasSubstr("train.toml:3:"));
}

TEST(Config, OverridesWinAndShowTheirOrigin) {
  Result<Config> config =
      parse("[training]\nsteps = 7\n", {{"training.steps", "9"},
                                        {"optimizer.name", "sgd"},
                                        {"data.inputs.tokens", "3"}});
  ASSERT_TRUE(config.ok()) << config.message();
  EXPECT_EQ(config->training.steps, 9);
  EXPECT_EQ(config->optimizer.name, "sgd");
  EXPECT_EQ(config->data.inputs.at("tokens"), 3);
  std::string text = printConfig(*config);
  EXPECT_THAT(text, HasSubstr("# --set training.steps"));
  EXPECT_THAT(text, HasSubstr("# default"));
  EXPECT_THAT(errorOf("", {{"training.stps", "9"}}),
              HasSubstr("--set training.stps: unknown key"));
}

TEST(Config, GlobsMatchWholeNames) {
  EXPECT_TRUE(matchesGlob("*.scale", "blocks.0.ln1.scale"));
  EXPECT_FALSE(matchesGlob("*.scale", "blocks.0.scale.w"));
  EXPECT_TRUE(matchesGlob("blocks.?.*", "blocks.3.w"));
  EXPECT_TRUE(matchesGlob("*", ""));
  EXPECT_FALSE(matchesGlob("", "a"));
}

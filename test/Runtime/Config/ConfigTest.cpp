//===- ConfigTest.cpp - Configuration: values, places, suggestions --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Config/Config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

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
              HasSubstr("did you mean 'layout[0].rest'?"));
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
[machine.rates]
bf16 = 2e12
)");
  ASSERT_TRUE(config.ok()) << config.message();
  ASSERT_EQ(config->machine.links.size(), 1u);
  EXPECT_EQ(config->machine.links[0].bandwidth, 5e9);
  EXPECT_EQ(config->machine.links[0].latency, 0);
  EXPECT_EQ(config->machine.axes.at("data"), "net");
  EXPECT_EQ(config->machine.flops, 1e12);
  EXPECT_EQ(config->machine.rates.at("bf16"), 2e12);
  EXPECT_THAT(printConfig(*config), HasSubstr("machine.axes.data"));
}

TEST(Config, UnknownKeyHasPlaceAndSuggestion) {
  EXPECT_THAT(errorOf("[training]\nmicrobatchs = 2\n"),
              HasSubstr("train.toml:2:15: unknown key 'training.microbatchs', "
                        "did you mean 'training.microbatches'?"));
  EXPECT_EQ(errorOf("[[init]]\nmatch = \"*\"\n[[init]]\nmtach = \"*\"\n"),
            "train.toml:4:9: unknown key 'init[1].mtach', did you mean "
            "'init[1].match'?");
  EXPECT_EQ(errorOf("[trainig]\nsteps = 1\n"),
            "train.toml:1:1: unknown key 'trainig', did you mean 'training'?");
  EXPECT_EQ(errorOf("", {{"trainig.steps", "1"}}),
            "--set trainig.steps: unknown key 'trainig.steps', did you mean "
            "'training.steps'?");
}

// Where no key is near, those of the table are listed.
TEST(Config, UnknownKeyListsThoseOfItsTable) {
  EXPECT_EQ(errorOf("[[init]]\nmatch = \"*\"\ndeviation = 0.1\n"),
            "train.toml:3:13: unknown key 'init[0].deviation', expected one of "
            "match, draw, value, mean, std, low, high");
  EXPECT_EQ(errorOf("[mesh]\nqqqqqqqqqqqq = 1\n"),
            "train.toml:2:16: unknown key 'mesh.qqqqqqqqqqqq', expected one of "
            "axes, pipeline");
  EXPECT_EQ(errorOf("[data.x]\nqqqqqqqqqqqq = 1\n"),
            "train.toml:2:16: unknown key 'data.x.qqqqqqqqqqqq', expected one "
            "of kind, file, weights, dtype, tensor, shuffle, windows, "
            "held_out, evaluate_file, finite, in_range, inputs");
  EXPECT_EQ(errorOf("", {{"data.x.file.yyyyyyyyyyyy", "1"}}),
            "--set data.x.file.yyyyyyyyyyyy: unknown key "
            "'data.x.file.yyyyyyyyyyyy', expected one of kind, file, "
            "weights, dtype, tensor, shuffle, windows, held_out, "
            "evaluate_file, finite, in_range, inputs in 'data.x'");
}

// Names that begin as a key does, or go on after one.
TEST(Config, NamesOfOtherLengths) {
  auto set = [](const std::string &name) { return errorOf("", {{name, "1"}}); };
  EXPECT_THAT(set("qqqqqqqqqqqq"),
              HasSubstr("--set qqqqqqqqqqqq: unknown key 'qqqqqqqqqqqq', "
                        "expected one of mesh, "));
  EXPECT_THAT(set("data"), HasSubstr("--set data: expected 'data' to be a "
                                     "table, [data], got integer"));
  EXPECT_THAT(set("data.x"), HasSubstr("--set data.x: unknown key 'data.x'"));
  EXPECT_THAT(set("data.x.file.y"),
              HasSubstr("--set data.x.file.y: unknown key 'data.x.file.y'"));
  EXPECT_THAT(set("init"), HasSubstr("--set init: expected 'init' to be an "
                                     "array of tables, [[init]], got "
                                     "integer"));
  EXPECT_THAT(errorOf("[[data]]\nfile = \"x\"\n"),
              HasSubstr("expected 'data' to be a table, [data], got array"));
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

TEST(Config, NamesByGlobsGetOtherNames) {
  EXPECT_EQ(renameByGlob("blocks.*.w", "h.*.weight", "blocks.3.w"),
            "h.3.weight");
  EXPECT_EQ(renameByGlob("*.*", "*/*", "a.b.c"), "a/b.c");
  EXPECT_EQ(renameByGlob("b?.*x", "*", "b1.xx"), "x");
  EXPECT_EQ(renameByGlob("*", "one", "w"), "one");
  EXPECT_EQ(renameByGlob("w", "*v", "w"), "v");
  EXPECT_EQ(renameByGlob("blocks.*.w", "h.*", "blocks.3.v"), std::nullopt);
  EXPECT_EQ(renameByGlob("", "x", "w"), std::nullopt);
  EXPECT_EQ(renameByGlob("a.*.w", "b.*.v", "a.0.w.imag"), "b.0.v.imag");
  EXPECT_EQ(renameByGlob("a.*", "b.*", "a.w.imag"), "b.w.imag");
}

TEST(Config, GlobsOfComplexNamesMatchBothParts) {
  for (const char *name : {"w", "w.real", "w.imag"}) {
    EXPECT_TRUE(matchesGlob("w", name)) << name;
    EXPECT_EQ(matchesGlob("w.imag", name), name == std::string("w.imag"));
  }
  EXPECT_TRUE(matchesGlob("blocks.*.w", "blocks.0.w.real"));
  EXPECT_FALSE(matchesGlob("w", "w.real.m"));
  EXPECT_FALSE(matchesGlob("w", "w.realm"));
}

TEST(Config, GlobsMatchWholeNames) {
  EXPECT_TRUE(matchesGlob("*.scale", "blocks.0.ln1.scale"));
  EXPECT_FALSE(matchesGlob("*.scale", "blocks.0.scale.w"));
  EXPECT_TRUE(matchesGlob("blocks.?.*", "blocks.3.w"));
  EXPECT_TRUE(matchesGlob("*", ""));
  EXPECT_FALSE(matchesGlob("", "a"));
}

// Neither infinity nor not-a-number is a value of any key, at any sign; the
// least legal value is legal, what lies below it is not.
TEST(Config, NumbersAreFiniteAndAtLeastTheLeast) {
  for (const char *value : {"inf", "-inf", "nan", "+inf"}) {
    EXPECT_THAT(errorOf(std::string("[training]\nmax_norm = ") + value + "\n"),
                HasSubstr("expected 'training.max_norm' to be finite, got "))
        << value;
    EXPECT_THAT(errorOf(std::string("[[init]]\nstd = ") + value + "\n"),
                HasSubstr("expected 'init[0].std' to be finite, got "));
    EXPECT_THAT(errorOf("", {{"optimizer.lr", value}}), HasSubstr("finite"));
  }
  struct Row {
    const char *section, *key, *last, *first, *error;
  };
  for (const Row &row :
       {Row{"training", "steps", "1", "0", "at least 1, got 0"},
        {"training", "microbatches", "1", "0", "at least 1"},
        {"training", "seed", "0", "-1", "at least 0, got -1"},
        {"training", "max_norm", "0", "-0.5", "at least 0"},
        {"optimizer", "lr", "0.0", "-1e-9", "at least 0"},
        {"schedule", "warmup_steps", "0", "-1", "at least 0"},
        {"schedule", "decay_steps", "0", "-1", "at least 0"},
        {"schedule", "min_lr", "0", "-1", "at least 0"},
        {"machine", "flops", "0", "-1", "at least 0"},
        {"machine", "memory", "0", "-1", "at least 0"},
        {"data.inputs", "x", "0", "-1", "at least 0"}}) {
    auto text = [&](const char *value) {
      return std::string("[") + row.section + "]\n" + row.key + " = " + value;
    };
    EXPECT_TRUE(parse(text(row.last)).ok()) << row.key;
    EXPECT_THAT(errorOf(text(row.first)), HasSubstr(row.error));
  }
}

// A value of every wrong type for a key of every type.
TEST(Config, EveryTypeRefusesTheOthers) {
  struct Row {
    const char *section, *key;
    std::vector<std::string> good;
  };
  const std::string values[] = {"\"data\"", "3",         "2.5", "true",
                                "[\"a\"]",  "[[\"a\"]]", "[1]"};
  for (const Row &row : {Row{"[data]", "file", {"\"data\"", "[\"a\"]"}},
                         {"[data]", "weights", {"[1]"}},
                         {"[training]", "steps", {"3"}},
                         {"[optimizer]", "lr", {"3", "2.5"}},
                         {"[training]", "raise", {"true"}},
                         {"[mesh]", "axes", {"[\"a\"]"}},
                         {"[[layout]]", "use", {"[[\"a\"]]"}}}) {
    for (const std::string &value : values) {
      std::string text =
          std::string(row.section) + "\n" + row.key + " = " + value + "\n";
      bool isGood =
          std::find(row.good.begin(), row.good.end(), value) != row.good.end();
      EXPECT_EQ(parse(text).ok(), isGood) << text;
      if (!isGood) {
        EXPECT_THAT(errorOf(text), HasSubstr("to be ")) << text;
      }
    }
  }
}

TEST(Config, NearestIsWithinAThirdOfTheWord) {
  std::vector<std::string> words = {"sgd", "momentum", "adamw"};
  EXPECT_EQ(nearest("adam", words), "adamw");
  EXPECT_EQ(nearest("momentun", words), "momentum");
  EXPECT_EQ(nearest("mo_ent_m", words), "momentum");
  EXPECT_EQ(nearest("m__ent_m", words), "");
  EXPECT_EQ(nearest("", {"ab", "abc"}), "ab");
  EXPECT_EQ(nearest("", {"abc"}), "");
  EXPECT_EQ(nearest("abcdefghi", {"abcdef"}), "abcdef");
  EXPECT_EQ(nearest("abcdefghi", {"abcde"}), "");
  // The first of those equally near.
  EXPECT_EQ(nearest("ac", {"ab", "ad"}), "ab");
  EXPECT_EQ(nearest("x", {}), "");
  EXPECT_EQ(nearest("banana", {"ananab"}), "ananab");
}

TEST(Config, Globs) {
  struct Row {
    const char *pattern, *name;
    bool matches;
  };
  for (const Row &row : {Row{"a*b*c", "a-b-b-c", true},
                         {"a*b*c", "a-b-b", false},
                         {"**", "x", true},
                         {"*a", "ba", true},
                         {"*a", "ab", false},
                         {"a*", "a", true},
                         {"?", "", false},
                         {"??", "a", false},
                         {"a?", "ab", true},
                         {"a", "ab", false},
                         {"ab", "a", false},
                         {"*ab", "aab", true},
                         {"", "", true},
                         {"*?", "", false},
                         {"a*?", "ab", true}}) {
    EXPECT_EQ(matchesGlob(row.pattern, row.name), row.matches)
        << row.pattern << " " << row.name;
  }
}

// Files that a configuration names lie beside it; absolute names stay.
TEST(Config, NamesAreRelativeToTheFile) {
  std::string folder = testing::TempDir() + "llmc-config";
  std::filesystem::create_directories(folder);
  auto write = [&](const std::string &name, const std::string &text) {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  };
  auto config =
      loadConfig(write("a.toml", "[data]\nfile = \"x/../c.bin\"\n"
                                 "[optimizer]\npath = \"o.mlir\"\n"
                                 "[pipeline]\nschedule = \"s.csv\"\n"),
                 {});
  ASSERT_TRUE(config.ok()) << config.message();
  EXPECT_EQ(config->data.file.patterns[0], folder + "/c.bin");
  EXPECT_EQ(config->optimizer.path, folder + "/o.mlir");
  EXPECT_EQ(config->pipeline.schedule, folder + "/s.csv");
  config = loadConfig(write("b.toml", "[data]\nfile = \"/c.bin\"\n"
                                      "[pipeline]\nschedule = \"/s.csv\"\n"),
                      {});
  EXPECT_EQ(config->data.file.patterns[0], "/c.bin");
  EXPECT_EQ(config->optimizer.path, "");
  EXPECT_EQ(config->pipeline.schedule, "/s.csv");
  EXPECT_EQ(loadConfig("", {})->pipeline.schedule, "1f1b");
  EXPECT_FALSE(loadConfig(folder + "/none.toml", {}).ok());

  // A machine of its own replaces the one that is there, and says where from.
  Config machine = *parse("[machine]\nflops = 1\nmemory = 2\n");
  std::string file = write("m.toml", "[machine]\nflops = 3\n");
  ASSERT_TRUE(loadMachine(file, machine).ok());
  EXPECT_EQ(machine.machine.flops, 3);
  EXPECT_EQ(machine.machine.memory, 0);
  EXPECT_EQ(machine.originOf("machine.flops"), file + ":2:9");
  // What is set counts for it, too.
  ASSERT_TRUE(loadMachine(file, machine,
                          {{"machine.bucket", "0"}, {"training.steps", "3"}})
                  .ok());
  EXPECT_EQ(machine.machine.flops, 3);
  EXPECT_EQ(machine.machine.bucket, 0);
  Status other =
      loadMachine(write("n.toml", "[training]\nsteps = 3\n"), machine);
  EXPECT_EQ(other.kind(), ErrorKind::usage);
  EXPECT_THAT(other.message(),
              HasSubstr("expected keys of [machine] alone in a file for "
                        "--machine, got 'training.steps'"));
  EXPECT_FALSE(loadMachine(folder + "/none.toml", machine).ok());
}

TEST(Config, OverridesAreValuesOrBareWords) {
  auto config = parse("", {{"training.recompute", "2"},
                           {"training.max_norm", "1"},
                           {"optimizer.constants.nu", "0.5"},
                           {"machine.axes.data", "net"},
                           {"training.raise", "false"},
                           {"mesh.axes", "[\"a\", \"b\"]"},
                           {"data.file", "\"quoted\""}});
  ASSERT_TRUE(config.ok()) << config.message();
  EXPECT_EQ(config->training.recompute, "2");
  EXPECT_EQ(config->training.maxNorm, 1);
  EXPECT_EQ(config->optimizer.constants.at("nu"), 0.5);
  EXPECT_EQ(config->machine.axes.at("data"), "net");
  EXPECT_FALSE(config->training.raise);
  EXPECT_EQ(config->mesh.axes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config->data.file.patterns[0], "quoted");
  EXPECT_EQ(config->originOf("optimizer.constants.nu"),
            "--set optimizer.constants.nu");
  EXPECT_THAT(errorOf("", {{"steps", "3"}}), HasSubstr("unknown key 'steps'"));
}

// Found by libFuzzer: the TOML library aborts on the first three.
TEST(Config, AHeaderWithoutAKeyIsAnError) {
  for (const char *text : {"[^", "[^A]", "a = 1\n[.a]", "[[!]]", "[", "[]"}) {
    auto config = parseConfig(text, "a.toml", {});
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_EQ(config.kind(), ErrorKind::usage) << text;
    EXPECT_THAT(config.message(), HasSubstr("a.toml:")) << text;
  }
}

// Found by libFuzzer: the TOML library takes some letters outside ASCII at the
// start of a line for impossible. The letters here are one from each of the
// ranges in which it looks for white space.
TEST(Config, ALineThatStartsWithALetterOutsideAsciiIsAnError) {
  for (const char *letter :
       {"\u00e9", "\u1681", "\u2030", "\u3001", "\ufefb", "\u4e2d", "\ufeff"})
    for (const char *rest : {"", " = 1", "\n"}) {
      std::string text = std::string("steps = 1\n") + letter + rest;
      auto config = parseConfig(text, "a.toml", {});
      ASSERT_FALSE(config.ok()) << text;
      EXPECT_EQ(config.kind(), ErrorKind::usage) << text;
      EXPECT_THAT(config.message(), HasSubstr("a.toml:")) << text;
    }
}

// What is printed reads back as the same configuration.
TEST(Config, PrintsEveryKey) {
  auto config = parse("[[init]]\nmatch = \"b\"\n[[init]]\nstd = 0.5\n"
                      "[[machine.link]]\nname = \"net\"\nlatency = 1e-6\n"
                      "[data.inputs]\ntokens = 4\n");
  ASSERT_TRUE(config.ok()) << config.message();
  std::string text = printConfig(*config);
  for (const char *line :
       {"init[0].match                = \"b\"                      # "
        "train.toml:2:9\n",
        "init[1].std                  = 0.5                      # "
        "train.toml:4:7\n",
        "init[1].match                = \"*\"                      # default\n",
        "machine.link[0].latency      = 1e-06 ",
        "machine.link[0].bandwidth    = 1 ",
        "data.inputs.tokens           = 4 ",
        "training.raise               = true ",
        "mesh.axes                    = [\"data\"] "}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, testing::Not(HasSubstr("optimizer.beta1")));
  EXPECT_THAT(text, testing::Not(HasSubstr("init[2]")));
  EXPECT_EQ(config->originOf("init[1].mean"), "default");
  EXPECT_EQ(config->originOf("init[0]"), "train.toml:1:1");
}

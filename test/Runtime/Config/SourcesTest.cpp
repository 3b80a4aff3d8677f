//===- SourcesTest.cpp - Sources of data by name --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Config/Sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace llmc::rt;
using testing::HasSubstr;

using Inputs = std::map<std::string, int64_t>;
using Files = std::vector<std::string>;

static Config parseConfig(const std::string &text,
                          std::vector<Override> set = {}) {
  Result<Config> config = parseConfig(text, "train.toml", set);
  EXPECT_TRUE(config.ok()) << config.message();
  return config.ok() ? *config : Config();
}

static std::vector<DataSource> sourcesOf(const std::string &text) {
  Result<std::vector<DataSource>> sources = findSources(parseConfig(text));
  EXPECT_TRUE(sources.ok()) << sources.message();
  return sources.ok() ? *sources : std::vector<DataSource>();
}

static std::string sourceErrorOf(const std::string &text) {
  Result<std::vector<DataSource>> sources = findSources(parseConfig(text));
  EXPECT_EQ(sources.kind(), ErrorKind::usage);
  return sources.message();
}

TEST(Sources, NoneWithoutData) { EXPECT_TRUE(sourcesOf("").empty()); }

TEST(Sources, OneOfTokens) {
  auto sources = sourcesOf("[data]\nfile = \"c.bin\"\ndtype = \"u8\"\n"
                           "inputs = {tokens = 0, \"batch.y\" = 1}\n");
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sources[0].name, "data");
  EXPECT_EQ(sources[0].files, Files{"c.bin"});
  EXPECT_TRUE(sources[0].rule ==
              (DataRule{DataKind::tokens, DType::u8, true, ""}));
  EXPECT_EQ(sources[0].inputs, (Inputs{{"tokens", 0}, {"batch.y", 1}}));
}

// A file or an input make [data] a source; types come from callers too.
TEST(Sources, OfAFileAlone) {
  auto sources = sourcesOf("[data]\nfile = \"c.bin\"\n");
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sources[0].name, "data");
  EXPECT_EQ(sources[0].files, Files{"c.bin"});
  EXPECT_TRUE(sources[0].inputs.empty());
  EXPECT_TRUE(sourcesOf("[data]\nshuffle = false\n").empty());
  // Alone, [data.data] is a source as any other.
  sources = sourcesOf("[data.data]\n");
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sources[0].inputs, (Inputs{{"data", 0}}));
  Config config;
  config.data.file.patterns = {"c.bin"};
  config.data.dtype = "u7";
  EXPECT_EQ(findSources(config).message(),
            "expected a type of tokens, got 'u7'");
}

TEST(Sources, OfTheirOwnNames) {
  auto sources = sourcesOf(R"(
[data.x]
kind = "array"
file = "x.npy"
shuffle = false
[data.series]
kind = "array"
tensor = "rows"
shuffle = false
[data.series.inputs]
now = 0
next = 2
[data.corpus]
shuffle = false
)");
  ASSERT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources[0].name, "corpus");
  EXPECT_TRUE(sources[0].rule ==
              (DataRule{DataKind::tokens, DType::u16, false, ""}));
  EXPECT_EQ(sources[0].inputs, (Inputs{{"corpus", 0}}));
  EXPECT_TRUE(sources[1].rule ==
              (DataRule{DataKind::array, DType::u16, false, "rows"}));
  EXPECT_EQ(sources[1].inputs, (Inputs{{"next", 2}, {"now", 0}}));
  EXPECT_EQ(sources[2].files, Files{"x.npy"});
  EXPECT_TRUE(sources[2].rule ==
              (DataRule{DataKind::array, DType::u16, false, "x"}));
  EXPECT_EQ(sources[2].inputs, (Inputs{{"x", 0}}));
}

// Lists of files, their weights, what is held out, and how windows come.
TEST(Sources, SamplesOfManyFiles) {
  auto sources = sourcesOf(R"(
[data]
kind = "text"
file = ["web/*.txt", "books.txt"]
weights = [0.7, 0.3]
windows = "once"
held_out = 0.05
[data.x]
kind = "array"
file = "x*.npy"
evaluate_file = ["v.npy", "w.npy"]
finite = false
in_range = false
)");
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].files, (Files{"web/*.txt", "books.txt"}));
  DataRule text;
  text.kind = DataKind::text;
  text.once = true;
  text.heldOut = 0.05;
  text.weights = {7, 3};
  EXPECT_TRUE(sources[0].rule == text);
  EXPECT_TRUE(sources[0].inRange);
  EXPECT_EQ(sources[1].evaluationFiles, (Files{"v.npy", "w.npy"}));
  EXPECT_FALSE(sources[1].rule.finite);
  EXPECT_FALSE(sources[1].inRange);
}

// Proportions are the smallest whole numbers.
TEST(Sources, Weights) {
  auto weights = [](const std::string &list) {
    return sourcesOf("[data]\ninputs = {x = 0}\nweights = " + list)
        .at(0)
        .rule.weights;
  };
  EXPECT_EQ(weights("[]"), (std::vector<int64_t>{}));
  EXPECT_EQ(weights("[5]"), (std::vector<int64_t>{1}));
  EXPECT_EQ(weights("[2, 4, 6]"), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(weights("[0.125, 1]"), (std::vector<int64_t>{1, 8}));
  EXPECT_EQ(weights("[0.333333, 0.666667]"),
            (std::vector<int64_t>{333333, 666667}));
  for (const char *list : {"[0, 1]", "[-1]", "[0.1234567]", "[inf]", "[nan]"}) {
    EXPECT_THAT(sourceErrorOf(std::string("[data]\ninputs = {x = 0}\n"
                                          "weights = ") +
                              list),
                HasSubstr("expected 'data.weights' to be numbers above 0"));
  }
}

TEST(Sources, SamplesThatContradict) {
  const std::string data = "[data]\ninputs = {x = 0}\n";
  EXPECT_EQ(sourceErrorOf(data + "file = \"a\"\nweights = [1, 2]\n"),
            "train.toml:4:11: expected 'data.weights' to have a number for "
            "each of 1 files and globs, got 2");
  EXPECT_EQ(sourceErrorOf(data + "held_out = 0.1\nevaluate_file = \"b\"\n"),
            "expected 'data.held_out' or 'data.evaluate_file', got both");
  EXPECT_EQ(sourceErrorOf(data + "held_out = 1\n"),
            "data: expected a share in [0, 1) that is held out");
  EXPECT_EQ(sourceErrorOf(data + "finite = false\n"),
            "train.toml:3:10: expected 'data.finite' with kind = \"array\" "
            "alone, got kind = \"tokens\"");
  EXPECT_EQ(sourceErrorOf("[data.x]\nkind = \"array\"\nheld_out = 0.1\n"
                          "[data.y]\nkind = \"array\"\n"),
            "default: expected 'data.y.held_out' to be 0.1 as of 'x', since "
            "row i of all arrays is one sample, got 0");
}

TEST(Sources, Contradictions) {
  EXPECT_EQ(sourceErrorOf("[data]\ntensor = \"x\"\ninputs = {x = 0}\n"),
            "train.toml:2:10: expected 'data.tensor' with kind = \"array\" "
            "alone, got kind = \"tokens\"");
  EXPECT_EQ(sourceErrorOf("[data.x]\nkind = \"array\"\ndtype = \"u8\"\n"),
            "train.toml:3:9: expected 'data.x.dtype' with kind = \"tokens\" "
            "alone, got kind = \"array\"");
  EXPECT_EQ(sourceErrorOf("[data]\ninputs = {x = 0}\n[data.x]\n"),
            "expected one source of input 'x', got 'data' and 'x'");
  EXPECT_EQ(sourceErrorOf("[data]\ninputs = {x = 0}\n[data.data]\n"),
            "expected one source 'data', got [data] and [data.data]");
  EXPECT_EQ(sourceErrorOf("[data.x]\nkind = \"array\"\n"
                          "[data.y]\nkind = \"array\"\nshuffle = false\n"),
            "train.toml:5:11: expected 'data.y.shuffle' to be true as of 'x', "
            "since row i of all arrays is one sample, got false");
}

TEST(Sources, KeysAreChecked) {
  auto message = [](const std::string &text) {
    Result<Config> config = parseConfig(text, "train.toml", {});
    EXPECT_EQ(config.kind(), ErrorKind::usage);
    return config.message();
  };
  EXPECT_EQ(message("[data.x]\nkind = \"arrays\"\n"),
            "train.toml:2:8: expected 'data.x.kind' to be one of tokens, "
            "text, array, got \"arrays\", did you mean \"array\"?");
  EXPECT_THAT(message("[data.x]\nshufle = true\n"),
              HasSubstr("train.toml:2:10: unknown key 'data.x.shufle'"));
  EXPECT_THAT(message("[data]\nx = 1\n"), HasSubstr("unknown key 'data.x'"));
  EXPECT_THAT(message("[data.x.inputs]\ny = -1\n"),
              HasSubstr("expected 'data.x.inputs.y' to be at least 0, got -1"));
  EXPECT_THAT(message("[data.file]\ny = 1\n"),
              HasSubstr("expected 'data.file' to be text or list of texts, "
                        "got table"));
}

TEST(Sources, OverridesAndPrinting) {
  Config config =
      parseConfig("[data.x]\nkind = \"array\"\n", {{"data.x.file", "7.npy"},
                                                   {"data.x.inputs.a.b", "3"},
                                                   {"data.x.shuffle", "false"},
                                                   {"data.y.kind", "array"}});
  EXPECT_EQ(config.sources.at("x").file.patterns, Files{"7.npy"});
  EXPECT_EQ(config.sources.at("x").inputs, (Inputs{{"a.b", 3}}));
  EXPECT_FALSE(config.sources.at("x").shuffle);
  EXPECT_EQ(config.sources.at("y").kind, "array");
  std::string text = printConfig(config);
  for (const char *line :
       {"data.x.file                  = \"7.npy\"                  # --set",
        "data.x.inputs.a.b            = 3                        # --set",
        "data.x.kind                  = \"array\"                  # "
        "train.toml:2:8"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// What [data] says of the order of samples counts for named sources without
// an own word, and their origin is that of [data].
TEST(Sources, CommonKeys) {
  Config config = parseConfig(
      "[data]\nshuffle = false\nheld_out = 0.25\nfinite = false\n"
      "[data.x]\nkind = \"array\"\nfile = \"x.npy\"\n"
      "[data.y]\nkind = \"array\"\nfile = \"y.npy\"\nfinite = true\n",
      {{"data.in_range", "false"}});
  EXPECT_EQ(config.originOf("data.x.shuffle"), "train.toml:2:11");
  auto sources = *findSources(config);
  ASSERT_EQ(sources.size(), 2u);
  for (const DataSource &source : sources) {
    EXPECT_FALSE(source.rule.shuffle);
    EXPECT_FALSE(source.inRange);
    EXPECT_EQ(source.rule.heldOut, 0.25);
    EXPECT_EQ(source.rule.finite, source.name == "y");
  }
}

TEST(Sources, CommonKeysOfNoUse) {
  auto sources = sourcesOf("[data]\nheld_out = 0.5\nfinite = false\n"
                           "[data.x]\nfile = \"x.bin\"\n"
                           "evaluate_file = \"y.bin\"\n");
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sources[0].rule.heldOut, 0);
}

// Files lie where the configuration lies.
TEST(Sources, FilesAreRelative) {
  std::string folder = testing::TempDir() + "sources";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/a.toml") << "[data.x]\nfile = \"x.npy\"\n"
                                       "[data.y]\nfile = \"/y.npy\"\n";
  Result<Config> config = loadConfig(folder + "/a.toml", {});
  ASSERT_TRUE(config.ok()) << config.message();
  EXPECT_EQ(config->sources.at("x").file.patterns, Files{folder + "/x.npy"});
  EXPECT_EQ(config->sources.at("y").file.patterns, Files{"/y.npy"});
}

TEST(Sources, FilesOfAFlag) {
  EXPECT_EQ(splitPatterns("a*.bin"), Files{"a*.bin"});
  EXPECT_EQ(splitPatterns("a.bin,b/*.bin"), (Files{"a.bin", "b/*.bin"}));
  EXPECT_EQ(splitPatterns("a,,b"), (Files{"a", "", "b"}));
  // A name that is there is no list.
  std::string name = testing::TempDir() + "a,b.bin";
  std::ofstream(name) << "x";
  EXPECT_EQ(splitPatterns(name), Files{name});
}

TEST(Sources, FilesByName) {
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(*splitSource("x=a=b.npy", {"x"}), (Pair{"x", "a=b.npy"}));
  EXPECT_EQ(*splitSource("x", {"x"}), (Pair{"", "x"}));
  EXPECT_EQ(*splitSource("at/a=b.npy", {"x"}), (Pair{"", "at/a=b.npy"}));
}

TEST(Sources, ArraysOfAFlag) {
  Config config;
  config.data.inputs = {{"x", 0}, {"y", 1}};
  config.data.shuffle = false;
  config.sources["z"].kind = "tokens";
  // Files, a name that is there, and what holds no array change nothing.
  for (const char *text :
       {"x.npy", "at/x=a.npy", "z=a.npy", "x=a.bin", "=a.npy"}) {
    addNamedArray(text, config);
  }
  EXPECT_EQ(config.sources.size(), 1U);
  EXPECT_EQ(config.sources["z"].kind, "tokens");
  addNamedArray("x=a*.npy", config);
  addNamedArray("w=a.safetensors", config);
  EXPECT_EQ(config.data.inputs, (std::map<std::string, int64_t>{{"y", 1}}));
  ASSERT_EQ(config.sources.size(), 3U);
  for (const char *name : {"w", "x"}) {
    EXPECT_EQ(config.sources[name].kind, "array");
    EXPECT_FALSE(config.sources[name].shuffle);
    EXPECT_TRUE(config.sources[name].file.empty());
  }
}

TEST(Sources, NamesThatAreNotThere) {
  auto wrong = splitSource("a=b.npy", {"x", "y"});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
  EXPECT_NE(wrong.message().find("'a': expected one of x, y, or a file"),
            std::string::npos)
      << wrong.message();
  EXPECT_NE(splitSource("a=b.npy", {})
                .message()
                .find("expected a file alone, as [data] has no name"),
            std::string::npos);
  std::string file = testing::TempDir() + "sources-a=b.npy";
  std::ofstream(file) << "x";
  EXPECT_EQ(splitSource(file, {"x"})->second, file);
}

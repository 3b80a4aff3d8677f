//===- ExtendsTest.cpp - Configurations that begin with another -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Config/Config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace llmc::rt;
using testing::EndsWith;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {
class Extends : public testing::Test {
protected:
  Extends() { fs::create_directories(folder + "/shared"); }
  ~Extends() override { fs::remove_all(folder); }

  std::string write(const std::string &name, const std::string &text) {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  }
  std::string errorOf(const std::string &path,
                      const std::vector<Override> &set = {}) {
    Result<Config> config = loadConfig(path, set);
    EXPECT_EQ(config.kind(), ErrorKind::usage);
    return config.ok() ? "" : config.message();
  }

  std::string folder =
      testing::TempDir() + "llmc-extends-" + std::to_string(::getpid());
};
} // namespace

TEST_F(Extends, KeysOfTheFileWin) {
  write("base.toml", "[optimizer]\nlr = 1e-3\nbeta1 = 0.8\n"
                     "[training]\nsteps = 7\n"
                     "[data.inputs]\ntokens = 0\ntargets = 1\n");
  std::string file = write("train.toml", "extends = \"base.toml\"\n"
                                         "[optimizer]\nlr = 1e-2\n"
                                         "[data.inputs]\ntargets = 2\n");
  auto config = loadConfig(file, {{"training.steps", "9"}});
  ASSERT_TRUE(config.ok()) << config.message();
  EXPECT_EQ(config->optimizer.lr, 1e-2);
  EXPECT_EQ(config->optimizer.constants.at("beta1"), 0.8);
  EXPECT_EQ(config->training.steps, 9);
  EXPECT_EQ(config->data.inputs.at("tokens"), 0);
  EXPECT_EQ(config->data.inputs.at("targets"), 2);
  EXPECT_EQ(config->originOf("optimizer.lr"), file + ":3:6");
  EXPECT_EQ(config->originOf("optimizer.beta1"), folder + "/base.toml:3:9");
  EXPECT_EQ(config->extends, "base.toml");
}

// Rows of the base would else count before those of the file, or after them,
// and the file could not take one away.
TEST_F(Extends, ArraysOfTablesAreReplaced) {
  write("base.toml", "[[init]]\nstd = 1.0\n[[init]]\nstd = 2.0\n"
                     "[[layout]]\nmatch = \"a\"\nrest = []\n");
  auto config = loadConfig(
      write("train.toml", "extends = \"base.toml\"\n[[init]]\nstd = 3.0\n"),
      {});
  ASSERT_TRUE(config.ok()) << config.message();
  ASSERT_EQ(config->init.size(), 1u);
  EXPECT_EQ(config->init[0].std, 3);
  EXPECT_EQ(config->layout.size(), 1u);
}

// Several files, each with names relative to itself.
TEST_F(Extends, FilesLieBesideTheFileThatNamesThem) {
  write("shared/first.toml", "[data]\nfile = \"a.bin\"\n"
                             "[optimizer]\npath = \"o.mlir\"\n");
  write("shared/second.toml", "extends = \"first.toml\"\n[data]\n"
                              "evaluate_file = [\"b.bin\", \"/c.bin\"]\n");
  std::string file = write("train.toml", "extends = \"shared/second.toml\"\n"
                                         "[pipeline]\nschedule = \"s.csv\"\n");
  auto config = loadConfig(file, {});
  ASSERT_TRUE(config.ok()) << config.message();
  EXPECT_EQ(config->data.file.patterns[0], folder + "/shared/a.bin");
  EXPECT_EQ(config->data.evaluateFile.patterns[0], folder + "/shared/b.bin");
  EXPECT_EQ(config->data.evaluateFile.patterns[1], "/c.bin");
  EXPECT_EQ(config->optimizer.path, folder + "/shared/o.mlir");
  EXPECT_EQ(config->pipeline.schedule, folder + "/s.csv");
  config = loadConfig(file, {{"data.file", "mine.bin"}});
  EXPECT_EQ(config->data.file.patterns[0], folder + "/mine.bin");
}

TEST_F(Extends, ErrorsNameTheFileTheyStandIn) {
  std::string base = write("base.toml", "[training]\nsteps = \"many\"\n");
  std::string file = write("train.toml", "extends = \"base.toml\"\n");
  EXPECT_THAT(errorOf(file), HasSubstr(base + ":2:9: expected 'training.steps' "
                                              "to be integer"));
  write("base.toml", "[training]\nstps = 3\n");
  EXPECT_THAT(errorOf(file), HasSubstr(base + ":2:8: unknown key "
                                              "'training.stps'"));
  write("base.toml", "[training\n");
  EXPECT_THAT(errorOf(file), HasSubstr(base + ":1:"));
  fs::remove(base);
  EXPECT_THAT(errorOf(file), HasSubstr(file + ":1:11: 'extends' base.toml: "));
  EXPECT_THAT(errorOf(write("train.toml", "extends = 3\n")),
              HasSubstr(file + ":1:11: expected 'extends' to be text, got "
                               "integer"));
  EXPECT_THAT(errorOf("", {{"extends", "base.toml"}}),
              HasSubstr("--set extends: expected 'extends' in a configuration "
                        "alone"));
}

TEST_F(Extends, CyclesAreRefused) {
  std::string file = write("a.toml", "extends = \"shared/b.toml\"\n");
  std::string other = write("shared/b.toml", "extends = \"../a.toml\"\n");
  EXPECT_THAT(errorOf(file),
              testing::AllOf(HasSubstr(other + ":1:11: expected a file that "
                                               "does not extend this one, got "
                                               "'../a.toml'"),
                             EndsWith("a.toml")));
  EXPECT_THAT(errorOf(write("a.toml", "extends = \"a.toml\"\n")),
              HasSubstr(file + ":1:11: expected a file"));
}

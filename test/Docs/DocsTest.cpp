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

TEST(Docs, ConfigurationIsTheTableOfKeys) {
  std::string expected = kConfigurationHead + documentKeys();
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

//===- AnnotatedCaseTest.cpp - Random annotations in lockstep -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each text with annotations goes through the driver's import and phase 1, and
// through phases 2 to 4 to the programs of its devices. In lockstep these give
// what the plain text gives on one device. A text with a wrong annotation is
// refused in one line, with a code of its own.
//
// LLMC_TEST_SEED chooses other cases, LLMC_TEST_CASES how many (nightly.sh asks
// for more); LLMC_TEST_ONE=<seed> runs the one that a failure names,
// LLMC_TEST_LIST gives a line for each failure and refusal, LLMC_TEST_SHOW what
// ran; LLMC_TEST_FOLDER keeps texts and configurations.
//
//===----------------------------------------------------------------------===//

#include "AnnotatedProgram.h"
#include "RandomPrograms.h"
#include "llmc/Driver/Compile.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {
/// Layouts that would pad a dimension to twice its size.
bool isRefusal(llvm::StringRef error) {
  return error.contains("expected axes that fit ");
}

class AnnotatedCases : public ::testing::Test {
protected:
  void SetUp() override {
    if (const char *kept = std::getenv("LLMC_TEST_FOLDER"))
      folder = kept;
    else
      ASSERT_FALSE(
          llvm::sys::fs::createUniqueDirectory("llmc-annotated", folder));
  }
  void TearDown() override {
    if (!std::getenv("LLMC_TEST_FOLDER"))
      (void)llvm::sys::fs::remove_directories(folder);
  }

  void runOne(uint64_t seed) {
    bool isSkipped = false;
    std::string error = runCase(seed, isSkipped);
    numSkipped += isSkipped;
    numCases += !isSkipped;
    if (isSkipped && std::getenv("LLMC_TEST_LIST"))
      llvm::outs() << "skipped " << seed << ": "
                   << llvm::StringRef(error).split("\n").first << "\n";
    if (!error.empty() && !isSkipped)
      report(seed, error);
  }

  template <typename Run> void runAll(Run run) {
    uint64_t one = readSetting("LLMC_TEST_ONE", 0);
    uint64_t base = readSetting("LLMC_TEST_SEED", 1) * 100000;
    uint64_t count = readSetting("LLMC_TEST_CASES", 150);
    for (uint64_t i = 0; i < (one ? 1 : count); ++i)
      run(one ? one : base + i);
  }

  /// The program after a phase.
  rt::Result<mlir::OwningOpRef<ModuleOp>>
  compile(MLIRContext &context, const AnnotatedProgram &program,
          const std::string &text, bool isPlain, uint64_t seed,
          const char *phase) {
    std::string path = (folder + "/" + std::to_string(seed) +
                        (isPlain ? ".plain" : ".annotated"))
                           .str();
    driver::Options options;
    options.command = driver::Command::compile;
    options.input = path + ".mlir";
    std::string config = program.config;
    if (!isPlain) {
      config = program.meshConfig + config;
      options.mesh = program.mesh;
    }
    LLMC_TRY(rt::writeFileAtomically(options.input, text));
    LLMC_TRY(rt::writeFileAtomically(path + ".toml", config));
    LLMC_TRY_ASSIGN(rt::Config read, rt::loadConfig(path + ".toml", {}));
    return driver::compileToPhase(context, options, read, *findPhase(phase));
  }

  /// What is wrong with a case; `isSkipped` where it says nothing.
  std::string runCase(uint64_t seed, bool &isSkipped) {
    std::unique_ptr<MLIRContext> all = driver::makeContext();
    AnnotatedProgram program = makeAnnotatedProgram(all.get(), seed);
    auto plain = compile(*all, program, program.plain, /*isPlain=*/true, seed,
                         "training");
    if (!plain) {
      isSkipped = plain.kind() != rt::ErrorKind::internal;
      return "plain: " + rt::describe(plain.error());
    }
    auto whole = compile(*all, program, program.annotated, /*isPlain=*/false,
                         seed, "training");
    if (!whole)
      return "annotated: " + rt::describe(whole.error());
    GraphContext context(std::move(all));
    MeshCase one(context, program.kind, "", seed);
    one.useProgram(*std::move(whole), *std::move(plain));
    one.setTolerance(program.tolerance);
    OpCounts ops;
    std::string error = one.run(ops), messages = context.takeMessages();
    isSkipped = one.isSkipped();
    if (isRefusal(messages)) {
      ++numRefused;
      isSkipped = true;
    }
    if (error.empty())
      for (auto &[kind, count] : program.counts)
        counts[kind] += count > 0;
    llvm::StringRef rest(error);
    auto [reason, text] = rest.split("\n");
    return error.empty() ? "" : reason.str() + " " + messages + text.str();
  }

  void report(uint64_t seed, const std::string &error) {
    if (std::getenv("LLMC_TEST_LIST"))
      llvm::outs() << seed << ": " << llvm::StringRef(error).split("\n").first
                   << "\n";
    if (++numFailures <= 3)
      ADD_FAILURE() << "LLMC_TEST_ONE=" << seed << ": " << error;
  }

  llvm::SmallString<128> folder;
  std::map<std::string, int> counts;
  int numCases = 0, numSkipped = 0, numRefused = 0, numFailures = 0;
};

TEST_F(AnnotatedCases, DevicesAgreeWithThePlainText) {
  runAll([&](uint64_t seed) { runOne(seed); });
  if (std::getenv("LLMC_TEST_SHOW")) {
    llvm::outs() << numCases << " texts in lockstep, " << numSkipped
                 << " skipped (" << numRefused << " refused), " << numFailures
                 << " failures\n";
    for (auto &[kind, count] : counts)
      llvm::outs() << "  " << kind << ": " << count << "\n";
  }
  EXPECT_EQ(numFailures, 0) << "of " << numCases;
  if (!std::getenv("LLMC_TEST_ONE"))
    EXPECT_GE(numCases, 4 * numSkipped);
}

/// Of each fault that these texts have found, one that showed it: sums over
/// dims that are shorter than a state's parts, groups of parts, cotangents and
/// states that went down a pipeline too late, parts that are scattered to, a
/// maximum that is read over devices.
TEST_F(AnnotatedCases, WhatHasFailedAgrees) {
  for (uint64_t seed :
       {203553, 201145, 200680, 202007, 203128, 100791, 400774, 401925})
    runOne(seed);
  EXPECT_EQ(numSkipped, 0);
  EXPECT_EQ(numFailures, 0);
}

TEST_F(AnnotatedCases, WrongAnnotationsAreRefusedInOneLine) {
  std::map<std::string, int> slips;
  runAll([&](uint64_t seed) {
    std::unique_ptr<MLIRContext> all = driver::makeContext();
    AnnotatedProgram program = makeAnnotatedProgram(all.get(), seed);
    std::string what, text = spoil(program.annotated, seed, what);
    if (text.empty())
      return;
    ++numCases;
    auto made = compile(*all, program, text, /*isPlain=*/false, seed, "local");
    if (made)
      return report(seed, "accepted with " + what);
    std::string message = rt::describe(made.error());
    ++slips[what];
    if (made.kind() == rt::ErrorKind::internal ||
        message.find('\n') != std::string::npos || message.empty())
      report(seed, what + ": " + message);
  });
  if (std::getenv("LLMC_TEST_SHOW")) {
    llvm::outs() << numCases << " wrong texts, " << numFailures
                 << " failures\n";
    for (auto &[what, count] : slips)
      llvm::outs() << "  " << what << ": " << count << "\n";
  }
  EXPECT_EQ(numFailures, 0) << "of " << numCases;
}
} // namespace

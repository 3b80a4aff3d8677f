//===- StatusTest.cpp - Errors and exit codes -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Base/Log.h"

#include <gtest/gtest.h>

using namespace llmc::rt;

static Result<int> half(int x) {
  if (x % 2 != 0) {
    return makeError(ErrorKind::usage, "expected an even number");
  }
  return x / 2;
}

static Status quarter(int x, int &out) {
  LLMC_TRY_ASSIGN(int once, half(x));
  LLMC_TRY_ASSIGN(out, half(once));
  return Status::success();
}

TEST(Status, MacrosReturnTheFirstError) {
  int out = 0;
  EXPECT_TRUE(quarter(8, out).ok());
  EXPECT_EQ(out, 2);
  Status status = quarter(6, out);
  EXPECT_EQ(status.kind(), ErrorKind::usage);
  EXPECT_EQ(exitCode(status.kind()), 2);
  EXPECT_EQ(kindName(status.kind()), "usage");
}

TEST(Status, DescribesPlaceAndHint) {
  Status status = makeError(ErrorKind::malformed, "bad\nmagic")
                      .at("a.plan", 4)
                      .at("other")
                      .withHint("compile it again");
  EXPECT_EQ(describe(status.error()),
            "a.plan: bad\\nmagic at byte 4 (compile it again)");
  EXPECT_EQ(describeAsJson(status.error()),
            "{\"kind\": \"malformed\", \"code\": 3, \"message\": "
            "\"bad\\u000amagic\", \"file\": \"a.plan\", \"offset\": 4, "
            "\"hint\": \"compile it again\"}");
  EXPECT_TRUE(Status().at("x").ok());
  EXPECT_EQ(status.inContext("plan").message(), "plan: bad\nmagic");
}

TEST(Log, EscapesAndShortens) {
  EXPECT_EQ(escape("a\x1b[31m\n"), "a\\x1b[31m\\n");
  EXPECT_EQ(escape(std::string(300, 'x'), 10), "xxxxxxxxxx...");
}

// The codes that docs/errors.md promises.
TEST(Status, KindsAndCodes) {
  struct Row {
    ErrorKind kind;
    int code;
    const char *name;
  };
  for (const Row &row : {Row{ErrorKind::ok, 0, "ok"},
                         {ErrorKind::diagnosed, 1, "diagnosed"},
                         {ErrorKind::usage, 2, "usage"},
                         {ErrorKind::malformed, 3, "malformed"},
                         {ErrorKind::infeasible, 4, "infeasible"},
                         {ErrorKind::unsupported, 5, "unsupported"},
                         {ErrorKind::peerLost, 10, "peer-lost"},
                         {ErrorKind::timeout, 11, "timeout"},
                         {ErrorKind::outOfMemory, 12, "out-of-memory"},
                         {ErrorKind::numeric, 13, "numeric"},
                         {ErrorKind::noCheckpoint, 14, "no-checkpoint"},
                         {ErrorKind::mismatch, 15, "mismatch"},
                         {ErrorKind::rerunElsewhere, 16, "rerun-elsewhere"},
                         {ErrorKind::internal, 70, "internal"}}) {
    EXPECT_EQ(exitCode(row.kind), row.code);
    EXPECT_EQ(kindName(row.kind), row.name);
  }
}

TEST(Status, SuccessStaysSuccess) {
  Status success;
  EXPECT_TRUE(success.at("f", 3).ok());
  EXPECT_TRUE(success.withHint("h").ok());
  EXPECT_TRUE(success.inContext("c").ok());
  EXPECT_EQ(success.message(), "");
  EXPECT_EQ(success.kind(), ErrorKind::ok);
  EXPECT_TRUE(static_cast<bool>(success));
}

// The first place is kept, with or without an offset; bare errors stay bare.
TEST(Status, ThePlaceThatIsKnownIsKept) {
  Status bare = makeError(ErrorKind::usage, "m");
  EXPECT_EQ(describe(bare.error()), "m");
  EXPECT_EQ(describeAsJson(bare.error()),
            R"({"kind": "usage", "code": 2, "message": "m"})");
  EXPECT_EQ(describe(bare.at("a").at("b", 7).error()), "a: m");
  EXPECT_EQ(describe(bare.at("a", 7).at("b", 8).error()), "a: m at byte 7");
  EXPECT_EQ(describe(bare.withHint("x").error()), "m (x)");
  EXPECT_EQ(
      describeAsJson(makeError(ErrorKind::usage, "\"\\\x7f\x1f é").error()),
      "{\"kind\": \"usage\", \"code\": 2, \"message\": "
      "\"\\\"\\\\\\u007f\\u001f é\"}");
}

TEST(Log, LevelsAndEscapes) {
  EXPECT_EQ(escape("a\tb\n\x7f \x1f"), "a\\tb\\n\\x7f \\x1f");
  EXPECT_EQ(escape("abc", 3), "abc");
  EXPECT_EQ(escape("abcd", 3), "abc...");
  EXPECT_EQ(escape(""), "");
  EXPECT_TRUE(isLogged(LogLevel::warning));
  EXPECT_FALSE(isLogged(LogLevel::info));
  setLogLevel(LogLevel::info);
  EXPECT_TRUE(isLogged(LogLevel::info));
  EXPECT_FALSE(isLogged(LogLevel::debug));
  testing::internal::CaptureStderr();
  log(LogLevel::info, "one\ntwo");
  log(LogLevel::debug, "three");
  log(LogLevel::error, "four");
  setLogLevel(LogLevel::warning);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "llmc: info: one\\ntwo\nllmc: error: four\n");
}

TEST(Hash, Digits) {
  EXPECT_EQ(hexDigits(0), "0000000000000000");
  EXPECT_EQ(hexDigits(0xfedcba9876543210u), "fedcba9876543210");
  // XXH3's published answer for no bytes.
  EXPECT_EQ(hexDigits(hash64("")), "2d06800538d394c2");
  EXPECT_NE(hash64("a", 1), hash64("a", 2));
}

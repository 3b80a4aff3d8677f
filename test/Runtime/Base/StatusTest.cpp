//===- StatusTest.cpp - Errors and exit codes -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Status.h"
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

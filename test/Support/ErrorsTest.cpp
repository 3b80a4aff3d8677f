//===- ErrorsTest.cpp - Diagnostics, refusals, elements -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of MLIR's diagnostics, and which types are refused at the door.
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Support/FirstError.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Support/StoredElements.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using rt::ErrorKind;

namespace {
TEST(FirstError, IsTheFirst) {
  MLIRContext context;
  FirstError error(context);
  Location place = mlir::FileLineColLoc::get(&context, "m.mlir", 3, 7);
  mlir::emitWarning(place) << "a warning";
  EXPECT_EQ(error.message(), "");
  rt::Status none = error.status(ErrorKind::usage, "otherwise");
  EXPECT_EQ(none.kind(), ErrorKind::usage);
  EXPECT_EQ(none.message(), "otherwise");
  mlir::emitError(place) << "the first";
  emitRefusal(place, ErrorKind::unsupported) << "the second";
  EXPECT_EQ(error.message(), "m.mlir:3:7: the first");
  EXPECT_FALSE(error.isRefusal());
  rt::Status status = error.status(ErrorKind::usage, "otherwise");
  EXPECT_EQ(status.kind(), ErrorKind::usage);
  EXPECT_EQ(status.message(), "m.mlir:3:7: the first");
}

TEST(FirstError, ARefusalHasItsKind) {
  MLIRContext context;
  FirstError error(context);
  Location unknown = mlir::UnknownLoc::get(&context);
  emitRefusal(unknown, ErrorKind::infeasible) << "no room";
  mlir::emitError(unknown) << "the second";
  EXPECT_TRUE(error.isRefusal());
  rt::Status status = error.status(ErrorKind::usage, "otherwise");
  EXPECT_EQ(status.kind(), ErrorKind::infeasible);
  EXPECT_EQ(status.message(), "no room");
}

TEST(Refusal, IsFoundAmongOtherMarks) {
  MLIRContext context;
  std::optional<ErrorKind> kind;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        auto &marks = diagnostic.getMetadata();
        marks.insert(marks.begin(), mlir::DiagnosticArgument(5));
        marks.insert(marks.begin(),
                     mlir::DiagnosticArgument(StringRef("other")));
        kind = getRefusalKind(diagnostic);
        return success();
      });
  Location unknown = mlir::UnknownLoc::get(&context);
  emitRefusal(unknown, ErrorKind::malformed) << "a refusal";
  EXPECT_EQ(kind, ErrorKind::malformed);
  mlir::emitError(unknown) << "an error";
  EXPECT_EQ(kind, std::nullopt);
}

TEST(StoredElementsOfTypes, AreLookedAtWithin) {
  GraphContext context;
  auto verify = [&](const std::string &type) {
    mlir::OwningOpRef<ModuleOp> module =
        context.parse("\"test.op\"() : () -> " + type + "\n");
    EXPECT_TRUE(module) << context.takeMessages();
    bool isStored = succeeded(verifyStoredElements(*module));
    std::string message = context.takeMessages();
    EXPECT_EQ(message.empty(), isStored) << message;
    return isStored;
  };
  EXPECT_TRUE(verify("tuple<tensor<4xf32>, tensor<2xi1>>"));
  EXPECT_FALSE(verify("tuple<tensor<4xf32>, tensor<2xi2>>"));
  EXPECT_TRUE(verify("((tensor<4xf32>) -> tensor<4xf32>)"));
  EXPECT_FALSE(verify("((tensor<4xf32>) -> tensor<4xi2>)"));
  EXPECT_FALSE(verify("((tensor<4xi2>) -> tensor<4xf32>)"));
  EXPECT_TRUE(verify("tensor<4xindex>"));
  EXPECT_FALSE(verify("tensor<4xui1>"));
  EXPECT_TRUE(verify("none"));
}
} // namespace

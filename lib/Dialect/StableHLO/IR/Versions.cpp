//===- Versions.cpp - Since when StableHLO has an op ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Dialect/Graph/AnswersTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/Versions.h"
#include "llvm/ADT/StringSwitch.h"

llvm::StringRef llmc::stablehlo::getFirstVersion(llvm::StringRef op) {
  return llvm::StringSwitch<llvm::StringRef>(op)
      .Cases({"stablehlo.ragged_all_to_all", "stablehlo.lu",
              "stablehlo.lu_in_place"},
             "")
      .Case("stablehlo.collective_broadcast", "0.16.0")
      .Case("stablehlo.composite", "0.19.0")
      .Case("stablehlo.tan", "1.4.0")
      .Cases({"stablehlo.async_start", "stablehlo.async_done"}, "1.15.0")
      .Case("stablehlo.collective_reduce", "1.19.0")
      .Default(op.starts_with("stablehlo.") ? "0.9.0" : "");
}

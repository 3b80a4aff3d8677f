//===- ScanOps.h - Which ops a text has, without parsing it -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's parser stops at the first op that no dialect knows. Here a text is
// read token by token, so that all of its ops are found, also those whose
// assembly nobody knows. Strings, comments, locations and attributes may name
// ops, and do not count:
//
//   %0 = stablehlo.fft %x, type = FFT loc("stablehlo.sort"("a.py":1:2))
//   -> stablehlo.fft
//
// A custom call is as many ops as it has targets:
//
//   %1 = stablehlo.custom_call @lapack_sgetrf(%0) : ...
//   -> stablehlo.custom_call, target "lapack_sgetrf"
//
// Test: test/Import/Text/ScanOpsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_TEXT_SCANOPS_H
#define LLMC_IMPORT_TEXT_SCANOPS_H

#include "llmc/Support/LLVM.h"
#include <string>
#include <vector>

namespace llmc::import {

/// How often a text has an op, and where first.
struct OpCount {
  /// With its dialect where that may be left out: `func.return` for `return`.
  std::string name;
  /// Of a custom call whose target can be read, else "".
  std::string target;
  int64_t count = 0;
  /// From 1; columns count bytes.
  size_t line = 0, column = 0;
};

/// The ops of `text`, in the order of their first places, of both forms. The op
/// that a compact reduction applies is its body, as it is written, and counts
/// as no op. Custom calls of different targets are different ops. The dialects
/// of `context` say what names without a dialect mean. Time and memory are
/// linear in the text, whatever is in it.
std::vector<OpCount> scanOps(MLIRContext &context, StringRef text);

} // namespace llmc::import

#endif // LLMC_IMPORT_TEXT_SCANOPS_H

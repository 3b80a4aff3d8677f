//===- Strict.h - Remarks that are errors -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--strict=replicate,gather,pad,conflict`: a plan that costs what a word names
// is refused before it is written.
//
// Test: test/Tools/llmc/strict.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_STRICT_H
#define LLMC_TOOLS_LLMC_STRICT_H

#include "../Options/Options.h"
#include "Remarks.h"

namespace llmc::driver {

/// 1 (diagnosed) where a remark is of a kind that `options.strict` names; up to
/// ten places are listed on stderr.
rt::Status checkStrict(const Remarks &remarks, const Options &options);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_STRICT_H

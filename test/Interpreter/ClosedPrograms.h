//===- ClosedPrograms.h - Programs as phase 1 hands them on -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Harnesses that look at one op after the other, and those of later phases,
// take programs whose bodies use no value from outside, as phase 1 leaves them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_INTERPRETER_CLOSEDPROGRAMS_H
#define LLMC_TEST_INTERPRETER_CLOSEDPROGRAMS_H

#include "GraphContext.h"
#include <string>

namespace llmc::test {

/// Runs `llmc-close-regions`; false after an error.
bool closeRegions(ModuleOp module);
/// The same on text; the text itself when it is refused.
std::string closeRegions(const std::string &text);

} // namespace llmc::test

#endif // LLMC_TEST_INTERPRETER_CLOSEDPROGRAMS_H

//===- Help.h - What ends the help of a command -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Examples, exit codes and pages, alike for all tools:
//
//   EXAMPLES:
//     llmc-run plan/ --steps 50
//   EXIT CODES:
//     0    ok
//     2    usage          wrong flag, configuration or environment
//   READ ON: docs/checkpoints.md
//
// Tests: test/Docs/DocsTest.cpp, test/Docs/commands.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_HELP_H
#define LLMC_RUNTIME_BASE_HELP_H

#include "llmc/Runtime/Base/Status.h"

#include <string>
#include <vector>

namespace llmc::rt {

/// "wrong flag, configuration or environment": what docs/errors.md says of the
/// kind. "" for `ok`.
const char *meaningOf(ErrorKind kind);

struct HelpTail {
  std::vector<std::string> examples;
  /// Beside 0.
  std::vector<ErrorKind> kinds;
  /// Whether it may end with 128 + n after a signal, and when.
  const char *signals = nullptr;
  std::string pages;
  /// Whether it prints the lines of steps, whose words are explained then.
  bool hasSteps = false;
};
std::string printHelpTail(const HelpTail &tail);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_HELP_H

//===- Help.h - What ends the help of a command of llmc ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_HELP_H
#define LLMC_TOOLS_LLMC_HELP_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace llmc::driver {

/// Examples, exit codes and pages of a command; of llmc itself for any other
/// text.
std::string describeCommand(llvm::StringRef command);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_HELP_H

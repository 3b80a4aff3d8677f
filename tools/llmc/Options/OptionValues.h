//===- OptionValues.h - What values of flags say --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_OPTIONVALUES_H
#define LLMC_TOOLS_LLMC_OPTIONVALUES_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Support/LLVM.h"

#include <string>
#include <utility>
#include <vector>

namespace llmc::driver {

/// "data=2,tensor=2", added to `mesh`. Error (2) for anything else.
rt::Status parseMesh(StringRef text,
                     std::vector<std::pair<std::string, int64_t>> &mesh);

/// "batch=8", added to `dims`; the name may hold any other character, '=' too.
/// Error (2) for anything else.
rt::Status parseDim(StringRef text,
                    std::vector<std::pair<std::string, int64_t>> &dims);

/// What is compiled for a device: a target as --target has it, or what the
/// backend of its name says of this machine.
/// Errors: 2 (no such target), 15 (no such backend, or no device).
rt::Result<std::string> findCodeTarget(const std::string &device);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_OPTIONVALUES_H

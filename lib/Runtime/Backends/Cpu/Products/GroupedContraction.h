//===- GroupedContraction.h - Products of groups of rows --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many rows a group has is known in the step, and a primitive is made for
// fixed sizes at load: so each group's rows are taken in runs of powers of two,
// for each of which there is a contraction.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_GROUPEDCONTRACTION_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_GROUPEDCONTRACTION_H

#include "../LibraryOp.h"

namespace llmc::rt::cpu {

Result<std::unique_ptr<CpuLibraryOp>>
makeGroupedContraction(const GroupedContractionShape &shape,
                       const std::string &name, int threads);

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_GROUPEDCONTRACTION_H

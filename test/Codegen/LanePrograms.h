//===- LanePrograms.h - Programs on a processor and on lanes ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_CODEGEN_LANEPROGRAMS_H
#define LLMC_TEST_CODEGEN_LANEPROGRAMS_H

#include "KernelRunner.h"
#include "RandomPrograms.h"

namespace llmc::test {

/// Runs `text`, which `processor` has run, on lanes; each result is to have the
/// same bits, but where kernels of lanes compute a product in place of a
/// library.
void expectSameBits(KernelRunner &processor, const std::string &text,
                    uint64_t seed, const std::string &what);

/// Runs `text` on both; each result is to have the same bits. False where the
/// processor has no kernels of it.
bool runBoth(const std::string &text, uint64_t seed, const std::string &what);

/// The same, of `text` with R, C and T for rows, columns and type.
void expectSame(StringRef text, int64_t rows, int64_t columns,
                const std::string &type);

} // namespace llmc::test

#endif // LLMC_TEST_CODEGEN_LANEPROGRAMS_H

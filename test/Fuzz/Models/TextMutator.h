//===- TextMutator.h - Makes a model's text wrong in places -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutations that know what MLIR text is made of: tokens of one class are
// exchanged, numbers become extreme ones, shapes and element types others, ops
// and attributes take each other's names; lines are lost, doubled and moved;
// regions are put into themselves.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_FUZZ_MODELS_TEXTMUTATOR_H
#define LLMC_TEST_FUZZ_MODELS_TEXTMUTATOR_H

#include <cstdint>
#include <string>

namespace llmc::test {

/// `text` with up to three mutations, a pure function of it and `seed`.
std::string mutateText(const std::string &text, uint64_t seed);

} // namespace llmc::test

#endif // LLMC_TEST_FUZZ_MODELS_TEXTMUTATOR_H

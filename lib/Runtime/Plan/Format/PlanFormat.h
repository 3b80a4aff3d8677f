//===- PlanFormat.h - The header of a plan file -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What writer and reader share.
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_PLAN_PLANFORMAT_H
#define LLMC_LIB_RUNTIME_PLAN_PLANFORMAT_H

#include <cstdint>

namespace llmc::rt::plan {

inline constexpr char fileMagic[9] = "LLMCPLAN";

/// In place of an element type that is not given.
inline constexpr uint8_t noDType = 255;

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t zero;
  /// Of the payload after the header.
  uint64_t size;
  /// hash64 of the payload, seeded with the version.
  uint64_t checksum;
};
static_assert(sizeof(FileHeader) == 32);

} // namespace llmc::rt::plan

#endif // LLMC_LIB_RUNTIME_PLAN_PLANFORMAT_H

//===- Cell.h - What a stage runs in a row of the table ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form: `2.0` = program 2 for microbatch 0; `.` = nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_PLAN_IR_CELL_H
#define LLMC_DIALECT_PLAN_IR_CELL_H

#include "llvm/ADT/Hashing.h"
#include <cstdint>

namespace llmc::plan {

struct Cell {
  /// Position in the list of the table's programs; -1: nothing.
  int32_t program = -1;
  int32_t microbatch = 0;

  bool operator==(const Cell &other) const {
    return program == other.program && microbatch == other.microbatch;
  }
};

inline llvm::hash_code hash_value(const Cell &cell) {
  return llvm::hash_combine(cell.program, cell.microbatch);
}

} // namespace llmc::plan

#endif // LLMC_DIALECT_PLAN_IR_CELL_H

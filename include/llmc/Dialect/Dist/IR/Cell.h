//===- Cell.h - One cell of a schedule table --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cell says what a pipeline coordinate does in one slot of time. Text form:
// `F0.1` = forward, chunk 0, microbatch 1; `U` = the update; `.` = nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_CELL_H
#define LLMC_DIALECT_DIST_IR_CELL_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace llmc::dist {

struct Cell {
  enum class Kind : int32_t { Idle, Forward, Backward, BackwardWeight, Update };
  Kind kind = Kind::Idle;
  /// Chunk and microbatch; 0 where the kind has none (idle, update).
  int32_t chunk = 0;
  int32_t microbatch = 0;

  bool operator==(const Cell &other) const {
    return kind == other.kind && chunk == other.chunk &&
           microbatch == other.microbatch;
  }
  bool hasMicrobatch() const {
    return kind != Kind::Idle && kind != Kind::Update;
  }

  /// Reads one word; nothing when it is no cell.
  static std::optional<Cell> parse(llvm::StringRef word);
  std::string str() const;
};

inline llvm::hash_code hash_value(const Cell &cell) {
  return llvm::hash_combine(static_cast<int32_t>(cell.kind), cell.chunk,
                            cell.microbatch);
}

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_CELL_H

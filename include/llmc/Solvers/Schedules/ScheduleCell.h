//===- ScheduleCell.h - One cell of a schedule table ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cell says what a pipeline coordinate does in one slot of time. Text form:
// `F0.1` = forward, chunk 0, microbatch 1; `U` = the update; `.` = nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_SCHEDULES_SCHEDULECELL_H
#define LLMC_SOLVERS_SCHEDULES_SCHEDULECELL_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmc {

struct ScheduleCell {
  enum class Kind : int32_t { Idle, Forward, Backward, BackwardWeight, Update };
  Kind kind = Kind::Idle;
  /// Chunk and microbatch; 0 where the kind has none (idle, update).
  int32_t chunk = 0;
  int32_t microbatch = 0;

  bool operator==(const ScheduleCell &other) const {
    return kind == other.kind && chunk == other.chunk &&
           microbatch == other.microbatch;
  }
  bool hasMicrobatch() const {
    return kind != Kind::Idle && kind != Kind::Update;
  }

  /// Reads one word; nothing when it is no cell.
  static std::optional<ScheduleCell> parse(std::string_view word);
  std::string str() const;
};

} // namespace llmc

#endif // LLMC_SOLVERS_SCHEDULES_SCHEDULECELL_H

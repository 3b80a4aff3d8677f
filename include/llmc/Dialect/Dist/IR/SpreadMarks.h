//===- SpreadMarks.h - How axes spread at a constraint ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks of `dist.constraint`, from `sdy.sharding_group` and
// `sdy.propagation_barrier`: all constraints of a function with one
// `dist.group` have one layout, and axes pass one with `dist.direction` to its
// result
// ("FORWARD"), to its operand ("BACKWARD"), or not at all ("NONE").
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_SPREADMARKS_H
#define LLMC_DIALECT_DIST_IR_SPREADMARKS_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace llmc::dist {

inline constexpr llvm::StringLiteral kGroup = "dist.group";
inline constexpr llvm::StringLiteral kDirection = "dist.direction";

enum class Direction { None, Forward, Backward };
inline std::optional<Direction> parseDirection(llvm::StringRef text) {
  if (text == "NONE")
    return Direction::None;
  if (text == "FORWARD")
    return Direction::Forward;
  return text == "BACKWARD" ? std::optional(Direction::Backward) : std::nullopt;
}

/// The group of an op's result.
inline std::optional<int64_t> getGroup(mlir::Operation *op) {
  auto group = op->getAttrOfType<mlir::IntegerAttr>(kGroup);
  return group ? std::optional(group.getInt()) : std::nullopt;
}
/// Where axes pass an op; nothing where its rule says it.
inline std::optional<Direction> getDirection(mlir::Operation *op) {
  auto direction = op->getAttrOfType<mlir::StringAttr>(kDirection);
  return direction ? parseDirection(direction) : std::nullopt;
}
inline bool hasSpreadMarks(mlir::Operation *op) {
  return op->hasAttr(kGroup) || op->hasAttr(kDirection);
}

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_SPREADMARKS_H

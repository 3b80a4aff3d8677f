//===- PlanFrames.h - Frames and buffers of a plan --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes frames and buffers that have no place yet.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_PLANFRAMES_H
#define LLMC_LIB_TRANSFORMS_ORDERING_PLANFRAMES_H

#include "../PlanNames.h"
#include <optional>

namespace llmc::ordering {

struct FrameShape {
  std::string name;
  plan::FrameKind kind;
  /// Empty: all.
  SmallVector<int64_t> stages;
  /// Of several, a microbatch has that of its number modulo these.
  int64_t slots = 1;
  std::optional<int64_t> chunk;
};

mlir::FlatSymbolRefAttr makeFrame(OpBuilder &builder, PlanNames &names,
                                  Location loc, const FrameShape &shape);

mlir::FlatSymbolRefAttr makeBuffer(OpBuilder &builder, PlanNames &names,
                                   Location loc, StringRef name,
                                   mlir::FlatSymbolRefAttr frame,
                                   int64_t bytes);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_PLANFRAMES_H

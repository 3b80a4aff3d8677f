//===- WholeShape.h - What a local value is of the whole --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After localize a value has its local type. Where the host sees it and its
// layout pads it, the sizes without padding stand in a mark beside the layout:
//
//   %x: tensor<3x4xf32> {dist.layout = <@mesh, [{"data"}:9, {}]>,
//                        llmc.shape = array<i64: 7, 4>}
//
// A gradient that lies as the merged buffer of a state in parts has no layout
// of its own but the boxes of the parts:
//
//   %g: tensor<4x6xf32> {dist.gradient_of = @W, llmc.boxes =
//       [#dist.box<@W.0, #w, [0, 0]>, #dist.box<@W.1, #w, [0, 3]>]}
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_WHOLESHAPE_H
#define LLMC_DIALECT_DIST_IR_WHOLESHAPE_H

#include "llvm/ADT/StringRef.h"

namespace llmc::dist {

inline constexpr llvm::StringLiteral kWholeShape = "llmc.shape";
inline constexpr llvm::StringLiteral kBoxes = "llmc.boxes";

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_WHOLESHAPE_H

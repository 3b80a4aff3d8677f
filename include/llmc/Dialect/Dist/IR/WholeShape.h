//===- WholeShape.h - Sizes of what a layout pads ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After localize a value has its local type. Where the host sees it and its
// layout pads it, the sizes without padding stand in a mark beside the layout:
//
//   %x: tensor<3x4xf32> {dist.layout = <@mesh, [{"data"}:9, {}]>,
//                        llmc.shape = array<i64: 7, 4>}
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_WHOLESHAPE_H
#define LLMC_DIALECT_DIST_IR_WHOLESHAPE_H

#include "llvm/ADT/StringRef.h"

namespace llmc::dist {

inline constexpr llvm::StringLiteral kWholeShape = "llmc.shape";

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_WHOLESHAPE_H

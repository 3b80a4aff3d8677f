//===- AxisParts.h - Annotations by parts of mesh axes ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An annotation may name a part of an axis, as Shardy does: of an axis "t" of
// size 8, t:(1)2 are the two halves, t:(2)4 the quarters of each. The program's
// mesh has axes that no layout cuts, so that no later phase knows of parts:
//
//   "t"=8 with the parts t:(1)2 and t:(4)2  ->  "t:(1)2"=2, "t:(2)2"=2,
//                                               "t:(4)2"=2
//
// What names the whole axis, or a larger part, stands for all of these.
//
// Test: test/Import/StableHLO/axis-parts.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_PROGRAM_AXISPARTS_H
#define LLMC_IMPORT_PROGRAM_AXISPARTS_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Base/Status.h"

namespace llmc::import {

/// Axes of a mesh with their sizes, major first.
using MeshAxes = std::vector<std::pair<std::string, int64_t>>;

/// An axis, or its part of `size` that follows `preSize` (size 0: the whole).
struct AxisPart {
  std::string name;
  int64_t preSize = 1, size = 0;
};
/// "t:(1)2", or the axis alone.
std::string showPart(const AxisPart &part);
/// What such a text names.
AxisPart readPart(llvm::StringRef text);

/// Whether some devices' digits are in both.
bool overlap(const AxisPart &a, const AxisPart &b);

/// A part and where it is named.
struct NamedPart {
  AxisPart part;
  std::string place;
};
/// Cuts each axis of size above 1 where its parts begin and end. Error 2: a
/// part that does not divide the axis; 5: ends that are no chain of divisors.
rt::Status cutAxes(MeshAxes &axes, llvm::ArrayRef<NamedPart> parts);

/// The axes of the mesh, each by its name as a whole.
std::vector<std::string> getWholeAxes(dist::MeshAxesAttr mesh);
/// The axes of the mesh that a part is, major to minor, without those of size
/// 1. Its ends are those of axes, or the axis has size 1.
llvm::SmallVector<dist::AxisAttr> findAxes(dist::MeshAxesAttr mesh,
                                           const AxisPart &part);

} // namespace llmc::import

#endif // LLMC_IMPORT_PROGRAM_AXISPARTS_H

//===- UsesInPlace.h - Whether others gather a value too --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value is gathered once for all uses that want it whole along an axis, so
// what an op saves by taking it as it is split depends on the other uses:
//
//   %x = gather %table [{t}, {}], %tokens    can sum up rows that it masks
//   %y = dot %h, %table                      decided [.., {t}]: reads a part
//   in place                                 2 uses, none gathers %table
//
//   %y = dot %h, %table                      decided [{t}, ..]: gathers it
//
// And what is added to terms of a sum may be terms too: they are added up once
// for both.
//
//   %y = dot %h, %table       split rows: terms
//   %z = scatter %zero, ...   split updates: terms, or updates gathered
//   %s = add %y, %z           one sum over devices, whatever the scatter makes
//
// The decided layouts of other ops are those of their `dist.layouts`.
//
// Tests: test/Transforms/Sharding/uses-in-place.mlir, added-terms.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_USESINPLACE_H
#define LLMC_ANALYSIS_LAYOUTS_USESINPLACE_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include <optional>

namespace llmc {

/// What propagation decided for a value: its port's layout, or that among its
/// op's `dist.layouts`; null where neither is there.
dist::LayoutAttr getDecidedLayout(mlir::Value value);

/// The number of uses of `value`, of decided layout `layout`, that can have it
/// split by `axis` as it is; none where one of them but those of `user` gathers
/// it.
std::optional<int> countUsesInPlace(mlir::Value value, dist::LayoutAttr layout,
                                    mlir::Operation *user, dist::AxisAttr axis,
                                    dist::MeshAxesAttr mesh);

/// Whether nothing reads `value` but a sum, in the end, of which another
/// operand is terms over `axis`.
bool joinsTerms(mlir::Value value, dist::AxisAttr axis,
                dist::MeshAxesAttr mesh);

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_USESINPLACE_H

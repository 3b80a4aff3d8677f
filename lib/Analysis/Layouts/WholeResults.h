//===- WholeResults.h - Products that are made whole ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An axis spreads from what reads a value to the product that makes it, also
// where all factors of the product are whole, as a router's weights are:
//
//   %a = dot %x, %w     [{}, {}] x [{}, {}], decided [{}, {t}]
//   %m = max of rows    adds up terms over t, or gathers %a
//
// Each device then has a part of what it could have whole for nothing. Where
// light ops add up along the part, the product runs whole, and who wants a part
// cuts it, unless multiplying all of it takes longer than adding up:
//
//   whole    2 * 4096 * 64 flops a row and (n - 1) / n of them more than a part
//   parts    a maximum and a sum of each row over t: two collectives, or a
//            gather of %a, whichever is shorter
//
// Test: test/Transforms/Sharding/place-reductions-whole.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_ANALYSIS_WHOLERESULTS_H
#define LLMC_LIB_ANALYSIS_WHOLERESULTS_H

#include "LayoutTable.h"
#include "llmc/Solvers/Reshard/MachineModel.h"

namespace llmc {

/// Takes axes off the results of products of `table` that can run whole without
/// receiving anything, and are added up along these axes, where that takes no
/// longer on `machine`. A remark says which stay in parts.
void makeProductsWhole(LayoutTable &table, dist::MeshAxesAttr mesh,
                       const MachineModel &machine);

} // namespace llmc

#endif // LLMC_LIB_ANALYSIS_WHOLERESULTS_H

//===- FetchedSums.h - Sums as the user sees them ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over microbatches may be partial over axes; the update reduces them. A
// sum that is fetched is then taken from after the collectives:
//
//   func @train.u0(%g {<gradient @w, layout = partial{data}>}) {
//     %r = dist.all_reduce %g over ["data"] sum
//     return ..., %r {<gradient @w, reduced, layout = full>}
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_FETCHEDSUMS_H
#define LLMC_LIB_TRANSFORMS_ORDERING_FETCHEDSUMS_H

#include "../Timelines.h"
#include "llvm/ADT/StringSet.h"

namespace llmc::ordering {

/// Adds the reduced sums that are fetched as `names` to the results of an
/// update program.
LogicalResult addFetchedSums(mlir::func::FuncOp update,
                             mlir::SymbolTableCollection &tables,
                             const llvm::StringSet<> &names);

/// Marks the sums that are fetched as `names`: those that the update has
/// reduced, else the sums themselves, if a program makes them.
void markFetchedSums(TimelinePlaces &places,
                     mlir::SymbolTableCollection &tables, ModuleOp module,
                     const llvm::StringSet<> &names);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_FETCHEDSUMS_H

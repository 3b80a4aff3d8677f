//===- StateUse.h - What programs see of a state ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An argument that reads a state has the layout in which the state rests. Where
// the row says another `use`, ops of microbatches and entries see that one; the
// update works on what rests.
//
//   row = <rest = [{"data"}, {"t"}], use = [{}, {"t"}]>  (parameters at rest
//   split by data): ops see [{}, {"t"}], gathered from the argument
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_STATEUSE_H
#define LLMC_ANALYSIS_LAYOUTS_STATEUSE_H

#include "llmc/Analysis/Program/Program.h"
#include "mlir/IR/SymbolTable.h"

namespace llmc {

/// The layout that ops see of an argument whose layout is `rest`. `symbols`:
/// those of the module.
dist::LayoutAttr getUseLayout(const mlir::SymbolTable &symbols,
                              const ProgramFunction &program, unsigned argument,
                              dist::LayoutAttr rest, dist::MeshAxesAttr mesh);

/// The states that are whole in passing only: along these axes a state is split
/// at rest, and not in use, or they also split an input, so that whatever has
/// all of the state has gathered it (ZeRO-3, FSDP).
class PassingAxes {
public:
  /// Of the arguments of a microbatch, whose layouts `layoutOf` returns.
  PassingAxes(
      const mlir::SymbolTable &symbols, const ProgramFunction &program,
      llvm::function_ref<dist::LayoutAttr(mlir::BlockArgument)> layoutOf,
      dist::MeshAxesAttr mesh);

  ArrayRef<mlir::StringAttr> of(mlir::BlockArgument argument) const {
    auto found = axes.find(argument);
    return found == axes.end() ? ArrayRef<mlir::StringAttr>() : found->second;
  }

private:
  llvm::DenseMap<Value, SmallVector<mlir::StringAttr, 2>> axes;
};

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_STATEUSE_H

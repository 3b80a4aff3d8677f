//===- StateUse.cpp - What programs see of a state ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/StateUse.h"

#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Dialect/Dist/IR/Signature.h"

using namespace mlir;
using namespace llmc;
using dist::LayoutAttr;

LayoutAttr llmc::getUseLayout(const SymbolTable &symbols,
                              const ProgramFunction &program, unsigned argument,
                              LayoutAttr rest, dist::MeshAxesAttr mesh) {
  FlatSymbolRefAttr name =
      dist::getState(dist::getArgumentPort(program.function, argument));
  if (!name || program.kind == FunctionKind::Update)
    return rest;
  auto state = symbols.lookup<dist::StateOp>(name.getAttr());
  dist::RowAttr row = state ? state.getRowAttr() : dist::RowAttr();
  if (!row || !row.getUse())
    return rest;
  SmallVector<dist::DimAttr> dims;
  for (dist::DimAttr dim : row.getUse().getDims())
    dims.push_back(dist::DimAttr::get(dim.getContext(), dim.getAxes(),
                                      dim.getSizes(), dim.getExtents()));
  auto type = cast<RankedTensorType>(state.getTensorType());
  return canonicalLayout(rest.withDims(dims), type.getShape(), mesh);
}

static void addAxes(llvm::SmallDenseSet<StringAttr, 4> &axes,
                    LayoutAttr layout) {
  for (dist::DimAttr dim :
       layout ? layout.getDims() : ArrayRef<dist::DimAttr>())
    for (dist::AxisAttr axis : dim.getAxes())
      axes.insert(axis.getName());
}

PassingAxes::PassingAxes(const SymbolTable &symbols,
                         const ProgramFunction &program,
                         llvm::function_ref<LayoutAttr(BlockArgument)> layoutOf,
                         dist::MeshAxesAttr mesh) {
  func::FuncOp function = program.function;
  llvm::SmallDenseSet<StringAttr, 4> ofInputs;
  for (BlockArgument argument : function.getArguments())
    if (dist::getInput(
            dist::getArgumentPort(function, argument.getArgNumber())))
      addAxes(ofInputs, layoutOf(argument));
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    LayoutAttr rest = layoutOf(argument);
    if (!rest || !dist::getState(dist::getArgumentPort(function, i)))
      continue;
    llvm::SmallDenseSet<StringAttr, 4> resting, used;
    addAxes(resting, rest);
    addAxes(used, getUseLayout(symbols, program, i, rest, mesh));
    for (StringAttr axis : resting)
      if (!used.contains(axis) || ofInputs.contains(axis))
        axes[argument].push_back(axis);
  }
}

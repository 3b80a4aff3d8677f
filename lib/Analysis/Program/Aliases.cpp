//===- Aliases.cpp - Values that show another's bytes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Aliases.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/Aliases.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

using namespace mlir;
using namespace llmc;

bool llmc::isAlias(Operation *op) {
  auto kernel = dyn_cast_or_null<graph::KernelOpInterface>(op);
  return kernel && kernel.getKernelForm() == graph::KernelForm::Alias;
}

Value llmc::getAliasRoot(Value value) {
  while (isAlias(value.getDefiningOp())) {
    auto alias = value.getDefiningOp<graph::KernelOpInterface>();
    unsigned number = cast<OpResult>(value).getResultNumber();
    value = alias->getOperand(alias.getAliasedOperand(number));
  }
  return value;
}

//===- PlanNames.cpp - Symbols of a plan ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/order.mlir
//===----------------------------------------------------------------------===//

#include "PlanNames.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace llmc::ordering {

FailureOr<int64_t> getBytes(Location loc, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return emitError(loc) << "expected a tensor of static shape, got " << type;
  std::optional<rt::DType> dtype =
      dist::getRuntimeDType(tensor.getElementType());
  if (!dtype)
    return emitError(loc) << "expected elements that the runtime stores, got "
                          << tensor.getElementType();
  return tensor.getNumElements() * static_cast<int64_t>(rt::sizeOf(*dtype));
}

plan::OperandAttr getOperand(FlatSymbolRefAttr buffer, RankedTensorType type) {
  return plan::OperandAttr::get(buffer.getContext(), buffer, type.getShape(),
                                type.getElementType());
}

PlanNames::PlanNames(ModuleOp module, ArrayRef<Operation *> replaced) {
  llvm::DenseSet<Operation *> gone(replaced.begin(), replaced.end());
  for (Operation &op : *module.getBody())
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      if (symbol.getNameAttr() && !gone.contains(&op))
        taken.insert(symbol.getName());
}

std::string PlanNames::take(StringRef wanted) {
  std::string name = wanted.str();
  for (int64_t number = 1; !taken.insert(name).second; ++number)
    name = (wanted + "_" + Twine(number)).str();
  return name;
}

} // namespace llmc::ordering

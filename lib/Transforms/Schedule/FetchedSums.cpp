//===- FetchedSums.cpp - Sums as the user sees them -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Schedule/order-fetch.mlir
//===----------------------------------------------------------------------===//

#include "FetchedSums.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/WholeShape.h"

using namespace mlir;
using llmc::dist::DistDialect;
using llmc::dist::SlotAttr;
using llmc::dist::SlotKind;

namespace llmc::schedule {

SlotAttr getFetchedSlot(SlotAttr slot) {
  std::string name = "fetched." + slot.getName().str();
  return SlotAttr::get(slot.getContext(), SlotKind::Step, StringRef(name));
}

namespace {

/// A value with the layout that it has on all devices together.
struct Placed {
  Value value;
  dist::LayoutAttr layout;
};

} // namespace

static SmallVector<dist::AxisAttr> getAxes(dist::CollectiveInterface op) {
  SmallVector<dist::AxisAttr> axes;
  for (auto axis : op.getAxes().getAsRange<StringAttr>())
    axes.push_back(dist::AxisAttr::get(op.getContext(), axis.getValue()));
  return axes;
}

/// The first collective that reduces `from`, or a null value.
static Placed reduceOnce(const Placed &from) {
  for (OpOperand &use : from.value.getUses()) {
    auto collective = dyn_cast<dist::CollectiveInterface>(use.getOwner());
    if (!collective)
      continue;
    Operation *op = collective;
    SmallVector<dist::AxisAttr> axes = getAxes(collective);
    dist::LayoutAttr layout = from.layout.withoutPartialOver(axes);
    if (layout == from.layout)
      continue;
    if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op)) {
      auto at = static_cast<int64_t>(scatter.getDim());
      dist::DimAttr dim = layout.getDims()[at];
      SmallVector<dist::AxisAttr> list(dim.getAxes());
      llvm::append_range(list, axes);
      layout = layout.withDim(at, dist::DimAttr::get(op->getContext(), list,
                                                     dim.getSizes(),
                                                     dim.getExtents()));
    } else if (!isa<dist::AllReduceOp>(op)) {
      continue;
    }
    return {op->getResult(use.getOperandNumber()), layout};
  }
  return {};
}

/// The value behind the collectives that make it whole.
static FailureOr<Placed> reduce(func::FuncOp update, Placed sum,
                                StringRef name) {
  while (sum.layout.isPartial()) {
    Placed next = reduceOnce(sum);
    if (!next.value)
      return update.emitOpError()
             << "expected collectives that reduce '" << name
             << "', which is to be fetched, got it in layout " << sum.layout;
    sum = next;
  }
  return sum;
}

LogicalResult addFetchedSums(func::FuncOp update, ArrayRef<std::string> names) {
  Operation *end = update.front().getTerminator();
  SmallVector<Value> results(end->getOperands());
  SmallVector<Type> types(update.getResultTypes());
  SmallVector<DictionaryAttr> marks;
  for (unsigned i = 0; i < update.getNumResults(); ++i)
    marks.push_back(update.getResultAttrDict(i));
  Builder builder(update.getContext());
  for (BlockArgument argument : update.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto slot = update.getArgAttrOfType<SlotAttr>(i, DistDialect::kSlot);
    auto layout =
        update.getArgAttrOfType<dist::LayoutAttr>(i, DistDialect::kLayout);
    if (!slot || !layout || !layout.isPartial() ||
        slot.getKind() != SlotKind::Step ||
        !llvm::is_contained(names, slot.getName().str()))
      continue;
    FailureOr<Placed> whole =
        reduce(update, {argument, layout}, slot.getName().getValue());
    if (failed(whole))
      return failure();
    SmallVector<NamedAttribute> list = {
        builder.getNamedAttr(DistDialect::kSlot, getFetchedSlot(slot)),
        builder.getNamedAttr(DistDialect::kLayout, whole->layout)};
    if (Attribute shape = update.getArgAttr(i, dist::kWholeShape))
      list.push_back(builder.getNamedAttr(dist::kWholeShape, shape));
    results.push_back(whole->value);
    types.push_back(whole->value.getType());
    marks.push_back(builder.getDictionaryAttr(list));
  }
  if (results.size() == end->getNumOperands())
    return success();
  end->setOperands(results);
  update.setType(builder.getFunctionType(update.getArgumentTypes(), types));
  update.setAllResultAttrs(marks);
  return success();
}

} // namespace llmc::schedule

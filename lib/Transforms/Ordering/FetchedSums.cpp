//===- FetchedSums.cpp - Sums as the user sees them -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/order-fetch.mlir
//===----------------------------------------------------------------------===//

#include "FetchedSums.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/WholeShape.h"
#include "llmc/Support/Refusal.h"

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

/// A value with the layout that it has on all devices together, or those of its
/// boxes.
struct Placed {
  Value value;
  SmallVector<dist::LayoutAttr> layouts;

  bool isPartial() const {
    return llvm::any_of(
        layouts, [](dist::LayoutAttr layout) { return layout.isPartial(); });
  }
};

} // namespace

static SmallVector<dist::AxisAttr> getAxes(dist::CollectiveInterface op) {
  SmallVector<dist::AxisAttr> axes;
  for (auto axis : op.getAxes().getAsRange<StringAttr>())
    axes.push_back(dist::AxisAttr::get(op.getContext(), axis.getValue()));
  return axes;
}

static dist::LayoutAttr scatterDim(dist::LayoutAttr layout, int64_t at,
                                   ArrayRef<dist::AxisAttr> axes) {
  dist::DimAttr dim = layout.getDims()[at];
  SmallVector<dist::AxisAttr> list(dim.getAxes());
  llvm::append_range(list, axes);
  return layout.withDim(at,
                        dist::DimAttr::get(layout.getContext(), list,
                                           dim.getSizes(), dim.getExtents()));
}

/// The first collective that reduces `from`, or a null value.
static Placed reduceOnce(const Placed &from) {
  for (OpOperand &use : from.value.getUses()) {
    auto collective = dyn_cast<dist::CollectiveInterface>(use.getOwner());
    if (!collective)
      continue;
    Operation *op = collective;
    SmallVector<dist::AxisAttr> axes = getAxes(collective);
    SmallVector<dist::LayoutAttr> layouts;
    for (dist::LayoutAttr layout : from.layouts)
      layouts.push_back(layout.withoutPartialOver(axes));
    auto scatter = dyn_cast<dist::ReduceScatterOp>(op);
    if (layouts == from.layouts || !(scatter || isa<dist::AllReduceOp>(op)))
      continue;
    if (scatter)
      for (dist::LayoutAttr &layout : layouts)
        layout = scatterDim(layout, scatter.getDim(), axes);
    return {op->getResult(use.getOperandNumber()), layouts};
  }
  return {};
}

/// The value after the collectives that make it whole.
static FailureOr<Placed> reduce(func::FuncOp update, Placed sum,
                                StringRef name) {
  while (sum.isPartial()) {
    Placed next = reduceOnce(sum);
    if (!next.value)
      return emitRefusal(update, rt::ErrorKind::unsupported)
             << "expected collectives that reduce '" << name
             << "', which is to be fetched, got it in layout "
             << sum.layouts.front();
    sum = next;
  }
  return sum;
}

/// The layout of an argument, or those of its boxes.
static SmallVector<dist::LayoutAttr> getLayouts(func::FuncOp update,
                                                unsigned i) {
  SmallVector<dist::LayoutAttr> layouts;
  if (auto layout =
          update.getArgAttrOfType<dist::LayoutAttr>(i, DistDialect::kLayout))
    layouts.push_back(layout);
  else if (auto boxes = update.getArgAttrOfType<ArrayAttr>(i, dist::kBoxes))
    for (auto box : boxes.getAsRange<dist::BoxAttr>())
      layouts.push_back(box.getLayout());
  return layouts;
}

/// The marks of argument `i`, which lies in other layouts now.
static SmallVector<NamedAttribute>
getMarks(func::FuncOp update, unsigned i, ArrayRef<dist::LayoutAttr> layouts) {
  Builder builder(update.getContext());
  SmallVector<NamedAttribute> marks;
  if (auto boxes = update.getArgAttrOfType<ArrayAttr>(i, dist::kBoxes)) {
    SmallVector<Attribute> list;
    for (auto [box, layout] :
         llvm::zip_equal(boxes.getAsRange<dist::BoxAttr>(), layouts))
      list.push_back(dist::BoxAttr::get(builder.getContext(), box.getState(),
                                        layout, box.getOffsets()));
    marks.push_back(
        builder.getNamedAttr(dist::kBoxes, builder.getArrayAttr(list)));
  } else {
    marks.push_back(
        builder.getNamedAttr(DistDialect::kLayout, layouts.front()));
  }
  if (Attribute shape = update.getArgAttr(i, dist::kWholeShape))
    marks.push_back(builder.getNamedAttr(dist::kWholeShape, shape));
  return marks;
}

LogicalResult addFetchedSums(func::FuncOp update, SymbolTableCollection &tables,
                             const llvm::StringSet<> &names) {
  auto module = update->getParentOfType<ModuleOp>();
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
    Placed sum{argument, getLayouts(update, i)};
    if (!slot || !sum.isPartial() || slot.getKind() != SlotKind::Step ||
        !names.contains(getFetchName(tables, module, slot)))
      continue;
    FailureOr<Placed> whole = reduce(update, sum, slot.getName().getValue());
    if (failed(whole))
      return failure();
    SmallVector<NamedAttribute> list = getMarks(update, i, whole->layouts);
    list.push_back(
        builder.getNamedAttr(DistDialect::kSlot, getFetchedSlot(slot)));
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

//===- FetchedSums.cpp - Sums as the user sees them -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/order-fetch.mlir
//===----------------------------------------------------------------------===//

#include "FetchedSums.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

namespace llmc::ordering {

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

/// The layout of a port, or those of its boxes.
static SmallVector<dist::LayoutAttr> getLayouts(PortAttr port) {
  SmallVector<dist::LayoutAttr> layouts;
  if (dist::LayoutAttr layout = dist::getLayout(port))
    layouts.push_back(layout);
  else if (ArrayAttr boxes = port ? port.getBoxes() : ArrayAttr())
    for (auto box : boxes.getAsRange<dist::BoxAttr>())
      layouts.push_back(box.getLayout());
  return layouts;
}

/// The port of what the update has reduced, which lies in other layouts now.
static PortAttr getReducedPort(PortAttr port,
                               ArrayRef<dist::LayoutAttr> layouts) {
  PortAttr reduced = port.asReduced();
  if (!port.getBoxes())
    return reduced.withLayout(layouts.front());
  SmallVector<Attribute> list;
  for (auto [box, layout] :
       llvm::zip_equal(port.getBoxes().getAsRange<dist::BoxAttr>(), layouts))
    list.push_back(dist::BoxAttr::get(port.getContext(), box.getState(), layout,
                                      box.getOffsets()));
  return reduced.withBoxes(ArrayAttr::get(port.getContext(), list));
}

LogicalResult addFetchedSums(func::FuncOp update, SymbolTableCollection &tables,
                             const llvm::StringSet<> &names) {
  auto module = update->getParentOfType<ModuleOp>();
  Operation *end = update.front().getTerminator();
  SmallVector<Value> results(end->getOperands());
  SmallVector<Type> types(update.getResultTypes());
  dist::Signature signature(update);
  for (auto [argument, port] :
       llvm::zip_equal(update.getArguments(), signature.arguments)) {
    Placed sum{argument, getLayouts(port)};
    if (!dist::isSum(port) || !sum.isPartial() ||
        !names.contains(getFetchName(tables, module, port)))
      continue;
    FailureOr<Placed> whole = reduce(update, sum, getSlotName(port));
    if (failed(whole))
      return failure();
    results.push_back(whole->value);
    types.push_back(whole->value.getType());
    signature.results.push_back(getReducedPort(port, whole->layouts));
  }
  if (results.size() == end->getNumOperands())
    return success();
  end->setOperands(results);
  update.setType(
      FunctionType::get(update.getContext(), update.getArgumentTypes(), types));
  signature.write(update);
  return success();
}

void markFetchedSums(TimelinePlaces &places, SymbolTableCollection &tables,
                     ModuleOp module, const llvm::StringSet<> &names) {
  for (auto &[slot, placed] : places.slots) {
    if (!slot.isSum() || slot.getIsReduced() ||
        placed.uses.returnedBy.empty() ||
        !names.contains(getFetchName(tables, module, slot)))
      continue;
    auto reduced = places.slots.find(slot.asReduced());
    (reduced == places.slots.end() ? placed : reduced->second).isFetched = true;
  }
}

} // namespace llmc::ordering

//===- PlanStreams.cpp - The streams of a device --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/order-collectives.mlir
//===----------------------------------------------------------------------===//

#include "PlanStreams.h"

using namespace mlir;

namespace llmc::ordering {

PlanStreams::PlanStreams(OpBuilder &at, PlanNames &names, Location loc,
                         dist::MeshOp mesh)
    : builder(at), names(names), loc(loc), mesh(mesh) {
  compute = add("C", plan::StreamKind::Compute);
  copy = add("K", plan::StreamKind::Copy);
}

/// What others wait for runs first.
static int64_t getPriority(plan::StreamKind kind) {
  return kind == plan::StreamKind::Compute || kind == plan::StreamKind::Copy
             ? 0
             : 1;
}

FlatSymbolRefAttr PlanStreams::add(StringRef name, plan::StreamKind kind) {
  FlatSymbolRefAttr &stream = known[name.str()];
  if (stream)
    return stream;
  if (last)
    builder.setInsertionPointAfter(last);
  auto op = plan::StreamOp::create(
      builder, loc, builder.getStringAttr(names.take(name)),
      plan::StreamKindAttr::get(builder.getContext(), kind),
      builder.getI64IntegerAttr(getPriority(kind)));
  last = op;
  stream = FlatSymbolRefAttr::get(op.getSymNameAttr());
  return stream;
}

FlatSymbolRefAttr PlanStreams::getCollective(ArrayAttr axes) {
  std::string name = "X";
  dist::MeshOp op = mesh;
  for (auto axis : op.getAxes().getNames())
    if (llvm::any_of(axes.getAsRange<StringAttr>(), [&](StringAttr each) {
          return each.getValue() == axis.getValue();
        }))
      name += "." + axis.getValue().str();
  return add(name, plan::StreamKind::Collective);
}

FlatSymbolRefAttr PlanStreams::getMessage(bool sends, int64_t from, int64_t to,
                                          StringRef transfer) {
  int64_t distance = sends ? to - from : from - to;
  std::string name = sends ? "S" : "R";
  name += distance > 0 ? ".next" : ".prev";
  if (std::abs(distance) > 1)
    name += std::to_string(std::abs(distance));
  if (!transfer.empty())
    name += "." + transfer.str();
  return add(name, sends ? plan::StreamKind::Send : plan::StreamKind::Receive);
}

} // namespace llmc::ordering

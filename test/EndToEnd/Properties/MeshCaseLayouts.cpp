//===- MeshCaseLayouts.cpp - Random layouts of a program ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user may state (rows, layouts of inputs, constraints), and tables as
// phase 2 leaves them.
//
//===----------------------------------------------------------------------===//

#include "MeshCase.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/Signature.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::test;
using dist::DistDialect;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Each axis but the pipeline splits a random dim, or none.
dist::LayoutAttr MeshCase::drawLayout(RankedTensorType type) {
  dist::MeshOp meshOp = getMeshOp(*whole);
  MLIRContext *ctx = context.get();
  SmallVector<SmallVector<dist::AxisAttr>> axes(type.getRank());
  SmallVector<int64_t> parts(type.getRank(), 1);
  SmallVector<StringAttr> names(meshOp.getAxes().getNames());
  std::shuffle(names.begin(), names.end(), engine);
  for (StringAttr name : names) {
    int64_t size = meshOp.getAxes().getSize(name);
    if (name.getValue() == meshOp.getPipeline().value_or("") || size == 1 ||
        type.getRank() == 0 || engine() % 3 == 0)
      continue;
    int64_t d = static_cast<int64_t>(engine() % type.getRank());
    int64_t next = parts[d] * size, n = type.getDimSize(d);
    if ((n + next - 1) / next * next >= 2 * n)
      continue;
    // Padded inputs are drawn less often than even ones.
    if (n % next && engine() % 2)
      continue;
    axes[d].push_back(dist::AxisAttr::get(ctx, name.getValue()));
    parts[d] = next;
  }
  SmallVector<dist::DimAttr> dims;
  for (auto &list : axes)
    dims.push_back(dist::DimAttr::get(ctx, list));
  return dist::LayoutAttr::get(
      ctx, FlatSymbolRefAttr::get(meshOp.getSymNameAttr()), dims);
}

/// Rows that phase 1 has read stay; optimizer states may have one of their own.
void MeshCase::decorateStates() {
  for (auto state : whole->getOps<dist::StateOp>()) {
    bool isParameter = state.getRole() == dist::Role::Parameter;
    if (state.isPart() || (state.getRowAttr() && (isParameter || engine() % 2)))
      continue;
    auto type = state.getTensorType();
    dist::LayoutAttr rest, use, gradient;
    if (engine() % 4)
      rest = drawLayout(type);
    if (rest && isParameter) {
      if (engine() % 4 == 0)
        use = drawLayout(type);
      if (engine() % 5 == 0)
        gradient = drawLayout(type);
    }
    if (rest)
      state.setRowAttr(dist::RowAttr::get(context.get(), rest, use, gradient,
                                          Type(), Type(), Type(), Type(),
                                          dist::Memory::Device));
  }
}

void MeshCase::decorateInputs(func::FuncOp function) {
  dist::Signature signature(function);
  for (auto [i, port] : llvm::enumerate(signature.arguments)) {
    StringAttr name = dist::getInput(port);
    if (!name)
      continue;
    auto [known, isNew] = inputLayouts.try_emplace(name.str());
    if (isNew && engine() % 5)
      known->second =
          drawLayout(cast<RankedTensorType>(function.getArgument(i).getType()));
    if (known->second)
      port = port.withLayout(known->second);
  }
  signature.write(function);
}

/// States layouts of a few values.
void MeshCase::constrain(func::FuncOp function) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front().without_terminator())
    if (op.getNumResults() == 1 && !op.hasTrait<OpTrait::ConstantLike>() &&
        engine() % 8 == 0)
      ops.push_back(&op);
  for (Operation *op : ops) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Value value = op->getResult(0);
    auto constraint = dist::ConstraintOp::create(
        builder, op->getLoc(), value.getType(), value,
        drawLayout(cast<RankedTensorType>(value.getType())));
    for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
      if (Attribute attribute = op->getAttr(mark))
        constraint->setAttr(mark, attribute);
    value.replaceAllUsesExcept(constraint.getResult(), constraint);
  }
}

void MeshCase::decorate() {
  decorateStates();
  llvm::SmallPtrSet<Operation *, 8> done;
  for (ProgramFunction &program : getProgramFunctions(*whole)) {
    if (!done.insert(program.function).second)
      continue;
    decorateInputs(program.function);
    if (program.kind != FunctionKind::Update)
      constrain(program.function);
  }
}

//===----------------------------------------------------------------------===//
// A random table
//===----------------------------------------------------------------------===//

/// A layout that splits without padding.
dist::LayoutAttr MeshCase::drawEvenLayout(RankedTensorType type) {
  auto isEven = [&](dist::LayoutAttr layout) {
    dist::MeshAxesAttr axes = getMeshOp(*whole).getAxes();
    for (auto [dim, size] : llvm::zip_equal(layout.getDims(), type.getShape()))
      if (size % dim.getNumParts(axes))
        return false;
    return true;
  };
  for (int tries = 0; tries < 20; ++tries)
    if (dist::LayoutAttr layout = drawLayout(type); isEven(layout))
      return layout;
  return dist::LayoutAttr::getReplicated(
      FlatSymbolRefAttr::get(getMeshOp(*whole).getSymNameAttr()),
      type.getRank());
}

/// One layout for all that have this mark.
dist::LayoutAttr MeshCase::layoutOfMark(StringAttr mark,
                                        RankedTensorType type) {
  dist::LayoutAttr &layout = markLayouts[mark.str()];
  if (!layout)
    layout = drawEvenLayout(type);
  return layout;
}

/// The symbol or name that an argument or a result shares with others.
static StringAttr getSharedMark(dist::PortAttr port, MLIRContext *context) {
  if (FlatSymbolRefAttr symbol = dist::getState(port))
    return StringAttr::get(context, "state " + symbol.getValue());
  if (FlatSymbolRefAttr symbol = dist::getGradientOf(port))
    return StringAttr::get(context, "gradient " + symbol.getValue());
  if (StringAttr name = dist::getInput(port))
    return StringAttr::get(context, "input " + name.getValue());
  return {};
}

void MeshCase::drawTable(func::FuncOp function) {
  MLIRContext *ctx = context.get();
  auto whole = [&](RankedTensorType type) {
    return dist::LayoutAttr::getReplicated(FlatSymbolRefAttr::get(ctx, "mesh"),
                                           type.getRank());
  };
  auto layoutOf = [&](Type type, dist::PortAttr port) -> dist::LayoutAttr {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return {};
    if (StringAttr mark = getSharedMark(port, ctx))
      return layoutOfMark(mark, tensor);
    return dist::getMetric(port) ? whole(tensor) : drawEvenLayout(tensor);
  };
  dist::Signature signature(function);
  SmallVector<dist::LayoutAttr> arguments, results;
  for (auto [type, port] :
       llvm::zip_equal(function.getArgumentTypes(), signature.arguments))
    arguments.push_back(layoutOf(type, port));
  for (auto [type, port] :
       llvm::zip_equal(function.getResultTypes(), signature.results))
    results.push_back(layoutOf(type, port));
  signature.setLayouts(arguments, results);
  signature.write(function);
  for (Operation &op : function.getBody().front().without_terminator()) {
    SmallVector<Attribute> layouts;
    for (Type type : op.getResultTypes())
      layouts.push_back(drawEvenLayout(cast<RankedTensorType>(type)));
    op.setAttr(DistDialect::kLayouts, ArrayAttr::get(ctx, layouts));
  }
}

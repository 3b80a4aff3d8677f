//===- Materialize.cpp - Layouts become encodings of types ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result types are written from the decided layouts, never inferred.
//
// Test: test/Transforms/Sharding/materialize.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Transforms/Sharding/Passes.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

namespace llmc {
#define GEN_PASS_DEF_MATERIALIZEPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct MaterializePass : llmc::impl::MaterializePassBase<MaterializePass> {
  void runOnOperation() override;
};
} // namespace

static Type encode(Type type, Attribute layout) {
  return dist::withLayout(cast<RankedTensorType>(type),
                          cast<dist::LayoutAttr>(layout));
}

/// Gives the results of `op` their layouts. A constant's value has its
/// result's type.
static void encodeResults(Operation &op) {
  auto layouts = op.getAttrOfType<ArrayAttr>(DistDialect::kLayouts);
  if (!layouts)
    return;
  for (auto [result, layout] : llvm::zip(op.getResults(), layouts))
    result.setType(encode(result.getType(), layout));
  op.removeAttr(DistDialect::kLayouts);
  DenseElementsAttr value;
  if (op.hasTrait<OpTrait::ConstantLike>() &&
      matchPattern(&op, m_Constant(&value)))
    for (NamedAttribute attribute : op.getAttrs())
      if (attribute.getValue() == value)
        op.setAttr(attribute.getName(),
                   value.reshape(cast<ShapedType>(op.getResult(0).getType())));
}

static void encodeFunction(func::FuncOp function) {
  SmallVector<Type> arguments, results;
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (Attribute layout = function.getArgAttr(i, DistDialect::kLayout))
      argument.setType(encode(argument.getType(), layout));
    arguments.push_back(argument.getType());
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    Attribute layout = function.getResultAttr(i, DistDialect::kLayout);
    results.push_back(layout ? encode(type, layout) : type);
  }
  setArgumentMarks(function, DistDialect::kLayout,
                   SmallVector<Attribute>(arguments.size()));
  setResultMarks(function, DistDialect::kLayout,
                 SmallVector<Attribute>(results.size()));
  for (Operation &op : function.getBody().front())
    encodeResults(op);
  function.setType(
      FunctionType::get(function.getContext(), arguments, results));
}

void MaterializePass::runOnOperation() {
  llvm::SetVector<Operation *> functions;
  for (ProgramFunction &program : getProgramFunctions(getOperation()))
    functions.insert(program.function);
  for (Operation *function : functions)
    encodeFunction(cast<func::FuncOp>(function));
}

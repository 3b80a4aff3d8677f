//===- HloShardings.cpp - XLA's annotations become Shardy's ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func @main(%w {mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_...}"})
//   %y = custom_call @Sharding(%x) {backend_config = "unspecified_dims=[1]",
//                       mhlo.sharding = "{devices=[2,1,2]<=[4] last_...}"}
//   ->
//   func @main(%w {sdy.sharding = #sdy.sharding<mesh<...>, [{}, {"tensor"}]>})
//   %y = sdy.sharding_constraint %x <mesh<...>, [{"data"}, {?}]>
//
// All steps after this one know Shardy's annotations only.
//
// Tests: test/Import/StableHLO/hlo-shardings.mlir
//===----------------------------------------------------------------------===//

#include "HloMesh.h"
#include "llmc/Dialect/StableHLO/IR/CallTargets.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/FirstError.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

rt::Result<SmallVector<int64_t>> import::getOpenDims(Operation *call) {
  SmallVector<int64_t> dims;
  auto config = dyn_cast_or_null<StringAttr>(
      cast<stablehlo::CustomCallOp>(call).getBackendConfig().value_or(
          Attribute()));
  StringRef text = config ? config.getValue() : "";
  if (text.empty())
    return dims;
  bool isRead =
      text.consume_front("unspecified_dims=[") && text.consume_back("]");
  while (isRead && !text.empty()) {
    auto [number, rest] = text.split(',');
    isRead = !number.trim().getAsInteger(10, dims.emplace_back());
    text = rest;
  }
  if (isRead)
    return dims;
  return rt::makeError(ErrorKind::malformed,
                       describePlace(call->getLoc()) +
                           "expected 'unspecified_dims=[...]' or nothing as "
                           "backend_config of '@Sharding', got '" +
                           config.str() + "'");
}

namespace {
class HloTranslator {
public:
  HloTranslator(ModuleOp module, const HloMesh &mesh)
      : module(module), mesh(mesh) {}

  rt::Status run();

private:
  rt::Status translate(func::FuncOp function);
  rt::Status translate(Operation *op);
  rt::Status constrain(Value value, StringAttr text, unsigned element,
                       Location loc);
  rt::Status replace(stablehlo::CustomCallOp call, StringAttr text);

  ModuleOp module;
  const HloMesh &mesh;
};
} // namespace

static StringAttr takeText(Operation *op) {
  return cast<StringAttr>(op->removeDiscardableAttr(kHloSharding));
}

rt::Status HloTranslator::translate(func::FuncOp function) {
  StringAttr name = StringAttr::get(module.getContext(), kHloSharding);
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto text = cast_or_null<StringAttr>(function.removeArgAttr(i, name));
    if (!text)
      continue;
    LLMC_TRY_ASSIGN(sdy::TensorShardingAttr sharding,
                    mesh.convert(text, argument.getType(), argument.getLoc()));
    if (sharding)
      function.setArgAttr(i, kSharding, sharding);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto text = cast_or_null<StringAttr>(function.removeResultAttr(i, name));
    if (!text)
      continue;
    LLMC_TRY_ASSIGN(
        sdy::TensorShardingAttr sharding,
        mesh.convert(text, function.getResultTypes()[i], function.getLoc()));
    if (sharding)
      function.setResultAttr(i, kSharding, sharding);
  }
  return rt::Status::success();
}

/// `@Sharding` becomes a constraint, or its operand.
rt::Status HloTranslator::replace(stablehlo::CustomCallOp call,
                                  StringAttr text) {
  if (call->getNumOperands() != 1 ||
      call->getOperandTypes() != call->getResultTypes())
    return rt::makeError(ErrorKind::malformed,
                         describePlace(call.getLoc()) +
                             "expected one operand and a result of its type "
                             "of '@Sharding'");
  LLMC_TRY_ASSIGN(SmallVector<int64_t> open, getOpenDims(call));
  Value value = call->getOperand(0);
  LLMC_TRY_ASSIGN(sdy::TensorShardingAttr sharding,
                  mesh.convert(text, value.getType(), call.getLoc(), open,
                               /*element=*/0, /*mayBeInGroup=*/true));
  OpBuilder builder(call);
  if (sharding)
    value = sdy::ShardingConstraintOp::create(builder, call.getLoc(),
                                              value.getType(), value, sharding);
  if (std::optional<int64_t> group = mesh.getGroup(text))
    sdy::ShardingGroupOp::create(builder, call.getLoc(), value, *group);
  call->getResult(0).replaceAllUsesWith(value);
  call.erase();
  return rt::Status::success();
}

rt::Status HloTranslator::constrain(Value value, StringAttr text,
                                    unsigned element, Location loc) {
  LLMC_TRY_ASSIGN(sdy::TensorShardingAttr sharding,
                  mesh.convert(text, value.getType(), loc, {}, element));
  if (!sharding)
    return rt::Status::success();
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfterValue(value);
  auto constraint = sdy::ShardingConstraintOp::create(
      builder, loc, value.getType(), value, sharding);
  value.replaceAllUsesExcept(constraint, constraint);
  return rt::Status::success();
}

/// What any other op says is about its results.
rt::Status HloTranslator::translate(Operation *op) {
  StringAttr text = takeText(op);
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  if (call && call.getCallTargetName() == stablehlo::kShardingTarget)
    return replace(call, text);
  size_t count = mesh.getNumShardings(text);
  if (count != op->getNumResults() && count != 1)
    return rt::makeError(ErrorKind::malformed,
                         describePlace(op->getLoc()) +
                             "expected a sharding for each of " +
                             std::to_string(op->getNumResults()) +
                             " results, got " + std::to_string(count));
  for (auto [number, result] : llvm::enumerate(op->getResults()))
    LLMC_TRY(constrain(result, text, count == 1 ? 0 : number, op->getLoc()));
  return rt::Status::success();
}

rt::Status HloTranslator::run() {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (op->hasAttr(kHloSharding))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    LLMC_TRY(translate(op));
  for (auto function : module.getOps<func::FuncOp>())
    LLMC_TRY(translate(function));
  return rt::Status::success();
}

rt::Status import::translateHloShardings(ModuleOp module,
                                         const MeshAxes &given) {
  LLMC_TRY_ASSIGN(HloMesh mesh, HloMesh::read(module, given));
  if (mesh.isEmpty())
    return rt::Status::success();
  LLMC_TRY(translateHloRegions(module, mesh));
  LLMC_TRY(HloTranslator(module, mesh).run());
  FirstError error(*module.getContext());
  return succeeded(verify(module))
             ? rt::Status::success()
             : error.status(ErrorKind::malformed, "shardings do not fit");
}

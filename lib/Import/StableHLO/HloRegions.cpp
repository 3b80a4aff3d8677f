//===- HloRegions.cpp - Manual regions of older texts ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JAX prints jax.shard_map without Shardy as a call whose operands enter and
// whose results leave:
//
//   %a = custom_call @Sharding(%x) {"{devices=[2,1,2]<=[4] last_...}"}
//   %b = custom_call @SPMDFullToShardShape(%a) {"{manual}"} : 8x8 -> 4x8
//   %c = call @shmap_body(%b) : 4x8 -> 4x8
//   %d = custom_call @Sharding(%c) {"{manual}"}
//   %y = custom_call @SPMDShardToFullShape(%d) {"{devices=[2,1,2]<=[4] ...}"}
//   ->
//   %y = sdy.manual_computation(%x) in_shardings=[<mesh, [{"data"}, {}]>]
//            out_shardings=[...] manual_axes={"data", "tensor"} (%b: 4x8) {
//     %c = call @shmap_body(%b)
//     sdy.return %c
//   }
//
// Axes are manual that the entry's string has and its operand's lacks, so that
// a region may stand in another.
//
// Tests: test/Import/StableHLO/hlo-regions.mlir
//===----------------------------------------------------------------------===//

#include "HloMesh.h"
#include "Parts.h"
#include "llmc/Dialect/StableHLO/IR/CallTargets.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/FirstError.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;
using stablehlo::CustomCallOp;

static constexpr StringLiteral kEntry = stablehlo::kManualEntryTarget,
                               kExit = stablehlo::kManualExitTarget;

sdy::ManualComputationOp
import::putIntoRegion(func::CallOp call, ValueRange operands, TypeRange results,
                      ArrayRef<sdy::TensorShardingAttr> in,
                      ArrayRef<sdy::TensorShardingAttr> out,
                      sdy::ManualAxesAttr manual) {
  OpBuilder builder(call);
  Location loc = call.getLoc();
  MLIRContext *context = call.getContext();
  auto region = sdy::ManualComputationOp::create(
      builder, loc, results, operands,
      sdy::TensorShardingPerValueAttr::get(context, in),
      sdy::TensorShardingPerValueAttr::get(context, out), manual);
  SmallVector<Type> parts(call.getOperandTypes());
  SmallVector<Location> places(parts.size(), loc);
  Block *body = builder.createBlock(&region.getBody(), {}, parts, places);
  call->moveBefore(body, body->end());
  call->setOperands(body->getArguments());
  sdy::ReturnOp::create(builder, loc, call.getResults());
  return region;
}

namespace {
class RegionMaker {
public:
  RegionMaker(func::CallOp call, const HloMesh &mesh)
      : call(call), mesh(mesh) {}

  rt::Status run();

private:
  rt::Status readOperand(Value value);
  rt::Status readResult(OpResult value);
  rt::Status addManual(StringAttr inside, StringAttr outside);
  void build();
  rt::Status refuse() {
    return rt::makeError(
        ErrorKind::unsupported,
        describePlace(call.getLoc()) + "expected '@" + kEntry.str() +
            "' of each operand and '@" + kExit.str() +
            "' of each result around a call, as jax.shard_map prints them, "
            "got a call with some of them");
  }

  func::CallOp call;
  const HloMesh &mesh;
  SmallVector<Value> operands;
  SmallVector<sdy::TensorShardingAttr> in, out;
  std::optional<sdy::ManualAxesAttr> manual;
  /// The exits, of which one may be null, and what has become useless.
  SmallVector<Operation *> exits, useless;
};
} // namespace

/// A call of that name with one operand, one result and a string.
static CustomCallOp getCall(Operation *op, StringRef name) {
  auto call = dyn_cast_or_null<CustomCallOp>(op);
  return call && call.getCallTargetName() == name &&
                 call->getNumOperands() == 1 && call->getNumResults() == 1 &&
                 call->hasAttrOfType<StringAttr>(kHloSharding)
             ? call
             : CustomCallOp();
}

static StringAttr getText(Operation *op) {
  return op->getAttrOfType<StringAttr>(kHloSharding);
}

rt::Status RegionMaker::addManual(StringAttr inside, StringAttr outside) {
  SmallVector<StringAttr> axes = mesh.getManualAxes(inside);
  SmallVector<StringAttr> before = mesh.getManualAxes(outside);
  llvm::erase_if(
      axes, [&](StringAttr axis) { return llvm::is_contained(before, axis); });
  auto made = sdy::ManualAxesAttr::get(call.getContext(), axes);
  if (manual && *manual != made)
    return rt::makeError(ErrorKind::unsupported,
                         describePlace(call.getLoc()) +
                             "expected the same manual axes of all operands "
                             "and results of a region, got '" +
                             inside.str() + "' in '" + outside.str() +
                             "' and others");
  manual = made;
  return rt::Status::success();
}

rt::Status RegionMaker::readOperand(Value value) {
  CustomCallOp entry = getCall(value.getDefiningOp(), kEntry);
  CustomCallOp given = entry ? getCall(entry->getOperand(0).getDefiningOp(),
                                       stablehlo::kShardingTarget)
                             : CustomCallOp();
  if (!given)
    return refuse();
  LLMC_TRY(addManual(getText(entry), getText(given)));
  LLMC_TRY_ASSIGN(SmallVector<int64_t> open, getOpenDims(given));
  LLMC_TRY_ASSIGN(sdy::TensorShardingAttr sharding,
                  mesh.convert(getText(given), given->getResult(0).getType(),
                               call.getLoc(), open));
  if (!sharding)
    return refuse();
  in.push_back(sharding);
  operands.push_back(given->getOperand(0));
  useless.append({entry, given});
  return rt::Status::success();
}

rt::Status RegionMaker::readResult(OpResult value) {
  if (value.use_empty()) {
    exits.push_back(nullptr);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    out.push_back(mesh.getWhole(type ? type.getRank() : 0));
    return rt::Status::success();
  }
  Operation *user = value.hasOneUse() ? *value.user_begin() : nullptr;
  CustomCallOp given = getCall(user, stablehlo::kShardingTarget);
  bool isGiven = given && given->hasOneUse();
  CustomCallOp exit = getCall(isGiven ? *given->user_begin() : user, kExit);
  if (!exit)
    return refuse();
  if (isGiven) {
    LLMC_TRY(addManual(getText(given), getText(exit)));
    useless.push_back(given);
  }
  LLMC_TRY_ASSIGN(SmallVector<int64_t> open, getOpenDims(exit));
  LLMC_TRY_ASSIGN(sdy::TensorShardingAttr sharding,
                  mesh.convert(getText(exit), exit->getResult(0).getType(),
                               call.getLoc(), open));
  if (!sharding)
    return refuse();
  out.push_back(sharding);
  exits.push_back(exit);
  return rt::Status::success();
}

void RegionMaker::build() {
  SmallVector<Type> types;
  for (auto [exit, result] : llvm::zip_equal(exits, call.getResults()))
    types.push_back(exit ? exit->getResult(0).getType() : result.getType());
  auto region = putIntoRegion(call, operands, types, in, out, *manual);
  for (auto [exit, result] : llvm::zip_equal(exits, region.getResults()))
    if (exit) {
      exit->getResult(0).replaceAllUsesWith(result);
      exit->erase();
    }
}

rt::Status RegionMaker::run() {
  for (Value operand : call.getOperands())
    LLMC_TRY(readOperand(operand));
  for (OpResult result : call->getResults())
    LLMC_TRY(readResult(result));
  if (!manual)
    return refuse();
  build();
  for (Operation *op : useless)
    if (op->use_empty())
      op->erase();
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

static bool isBoundary(Operation *op) {
  return getCall(op, kEntry) || getCall(op, kExit);
}

/// Whether some operand enters, or some result leaves.
static bool isRegion(func::CallOp call) {
  auto leaves = [](Operation *user) {
    return isBoundary(user) || (getCall(user, stablehlo::kShardingTarget) &&
                                llvm::any_of(user->getUsers(), isBoundary));
  };
  return llvm::any_of(call.getOperands(),
                      [](Value operand) {
                        return isBoundary(operand.getDefiningOp());
                      }) ||
         llvm::any_of(call->getUsers(), leaves);
}

rt::Status import::translateHloRegions(ModuleOp module, const HloMesh &mesh) {
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    if (isRegion(call))
      calls.push_back(call);
  });
  for (func::CallOp call : calls)
    LLMC_TRY(RegionMaker(call, mesh).run());
  rt::Status status;
  module.walk([&](CustomCallOp op) {
    if (!isBoundary(op))
      return WalkResult::advance();
    status = rt::makeError(
        ErrorKind::unsupported,
        describePlace(op.getLoc()) + "expected '@" + kEntry.str() + "' and '@" +
            kExit.str() +
            "' around one call of a function, as jax.shard_map prints them, "
            "got '@" +
            op.getCallTargetName().str() + "' elsewhere");
    return WalkResult::interrupt();
  });
  return status;
}

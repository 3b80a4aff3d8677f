//===- ManualRegions.cpp - Programs of one device among all other ops -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of a manual region take its place, between ops that say where a value
// is that of one device. So loops and branches around regions, and in them, are
// expanded like all others; DeviceBatch.cpp makes the ops those of all devices.
//
//   %y = sdy.manual_computation(%x) ... (%a: tensor<4xf32>) { tanh %a }
//     ->
//   %a = sdy.to_local %x <@mesh, [{"data"}]> : 8 -> 4
//   %b = tanh %a
//   %y = sdy.to_global %b <@mesh, [{"data"}]> : 4 -> 8
//
// What a sharding says beside the manual axes becomes a constraint.
//
// Test: test/Import/StableHLO/manual-regions.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

/// Devices of the mesh of a manual region: their numbers are computed with.
static constexpr int64_t kMostDevices = 1 << 16;

static rt::Status refuse(Operation *op, const std::string &message) {
  return rt::makeError(ErrorKind::unsupported,
                       describePlace(op->getLoc()) + message);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Numbers of devices are places in the mesh, so that all regions have one.
static rt::Status checkMesh(sdy::ManualComputationOp region,
                            sdy::MeshAttr &mesh) {
  for (sdy::TensorShardingPerValueAttr list :
       {region.getInShardings(), region.getOutShardings()})
    for (sdy::TensorShardingAttr sharding : list.getShardings()) {
      sdy::MeshAttr other = sharding.getMesh(region);
      if (mesh && mesh.getAxes() != other.getAxes())
        return refuse(region, "expected one mesh in all manual regions, got "
                              "two with different axes");
      mesh = other;
    }
  if (mesh && !mesh.getDeviceIds().empty())
    return refuse(region, "expected devices in the order of the mesh in a "
                          "manual region, got device ids");
  int64_t devices = 1;
  if (mesh)
    for (sdy::MeshAxisAttr axis : mesh.getAxes())
      if (llvm::MulOverflow(devices, axis.getSize(), devices) ||
          devices > kMostDevices)
        return refuse(region, "expected a mesh of at most " +
                                  std::to_string(kMostDevices) +
                                  " devices in a manual region, got more");
  return rt::Status::success();
}

static rt::Status checkCollectives(func::FuncOp main) {
  rt::Status status;
  main.walk([&](Operation *op) {
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    bool isOfDevices = isa<graph::DeviceOpInterface>(op) ||
                       (call && call.getCallTargetName() ==
                                    stablehlo::RaggedAllToAllOp::kCallTarget);
    if (!isOfDevices || op->getParentOfType<sdy::ManualComputationOp>())
      return WalkResult::advance();
    status = refuse(op, "expected '" + op->getName().getStringRef().str() +
                            "' in a manual region (jax.shard_map), whose mesh "
                            "says what devices are, got it outside");
    return WalkResult::interrupt();
  });
  return status;
}

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

/// A scalar has no dimension to split; in bodies of reductions JAX prints
/// constraints on scalars.
static void dropScalarConstraints(func::FuncOp main) {
  main.walk([](sdy::ShardingConstraintOp op) {
    if (op.getSharding().getDimShardings().empty()) {
      op.replaceAllUsesWith(op.getInput());
      op->erase();
    }
  });
}

static bool hasManualAxes(sdy::TensorShardingAttr sharding,
                          sdy::ManualAxesAttr manual) {
  return llvm::any_of(
      sharding.getDimShardings(), [&](sdy::DimensionShardingAttr dim) {
        return llvm::any_of(dim.getAxes(), [&](sdy::AxisRefAttr axis) {
          return manual.contains(axis.getName());
        });
      });
}

/// Whether something follows from the sharding of a dimension.
static bool saysSomething(sdy::TensorShardingAttr sharding) {
  return llvm::any_of(sharding.getDimShardings(),
                      [](sdy::DimensionShardingAttr dim) {
                        return dim.getIsClosed() || !dim.getAxes().empty();
                      });
}

/// The value under the sharding. Constants are made where they are used.
static Value constrain(OpBuilder &builder, Location loc, Value value,
                       sdy::TensorShardingAttr sharding) {
  if (!saysSomething(sharding) || matchPattern(value, m_Constant()))
    return value;
  return sdy::PlaceOp::create(builder, loc, value.getType(), value, sharding);
}

static void inlineRegion(sdy::ManualComputationOp region) {
  OpBuilder builder(region);
  Location loc = region.getLoc();
  Block &body = region.getBody().front();
  sdy::ManualAxesAttr manual = region.getManualAxes();
  for (auto [operand, argument, sharding] :
       llvm::zip_equal(region.getOperands(), body.getArguments(),
                       region.getInShardings().getShardings())) {
    Value value = hasManualAxes(sharding, manual)
                      ? sdy::ToLocalOp::create(builder, loc, argument.getType(),
                                               operand, sharding, manual)
                            .getResult()
                      : constrain(builder, loc, operand, sharding);
    argument.replaceAllUsesWith(value);
  }
  Operation *end = body.getTerminator();
  region->getBlock()->getOperations().splice(Block::iterator(region),
                                             body.getOperations(), body.begin(),
                                             Block::iterator(end));
  for (auto [result, value, sharding] :
       llvm::zip_equal(region.getResults(), end->getOperands(),
                       region.getOutShardings().getShardings())) {
    Value whole = manual.getAxes().empty()
                      ? value
                      : sdy::ToGlobalOp::create(builder, loc, result.getType(),
                                                value, sharding, manual)
                            .getResult();
    result.replaceAllUsesWith(constrain(builder, loc, whole, sharding));
  }
  region.erase();
}

rt::Status import::inlineManualRegions(func::FuncOp main) {
  LLMC_TRY(checkCollectives(main));
  dropScalarConstraints(main);
  SmallVector<sdy::ManualComputationOp> regions;
  main.walk([&](sdy::ManualComputationOp op) { regions.push_back(op); });
  sdy::MeshAttr mesh;
  for (sdy::ManualComputationOp region : regions)
    LLMC_TRY(checkMesh(region, mesh));
  // Inner ones come first.
  for (sdy::ManualComputationOp region : regions)
    inlineRegion(region);
  return rt::Status::success();
}

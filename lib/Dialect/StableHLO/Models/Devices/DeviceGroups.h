//===- DeviceGroups.h - Which devices exchange ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of StableHLO name devices by number, in groups. Where the groups
// are those of axes of the mesh, they are these axes, in the order in which the
// numbers run:
//
//   mesh 2 x 4, groups [[0, 1, 2, 3], [4, 5, 6, 7]]   ->   {axis 1}
//   mesh 2 x 4, groups [[0, 4], [1, 5], [2, 6], [3, 7]]   ->   {axis 0}
//
// A text has one replica; its partitions are the devices.
//
// Test: test/Import/StableHLO/manual-collectives.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_DEVICEGROUPS_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_DEVICEGROUPS_H

#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

namespace llmc::stablehlo {

/// The axes along which the members of a group differ, major to minor by the
/// members' order; of size above 1.
using GroupAxes = SmallVector<unsigned, 2>;

/// The groups of `all_reduce`, `all_gather` and `reduce_scatter`. On failure an
/// error has been emitted at the op.
FailureOr<GroupAxes> readGroups(graph::BatchForm &form,
                                mlir::DenseIntElementsAttr groups,
                                ChannelHandleAttr channel,
                                bool useGlobalDeviceIds);
/// Those of `all_to_all` and `collective_broadcast`.
FailureOr<GroupAxes> readPartitionGroups(graph::BatchForm &form,
                                         mlir::DenseIntElementsAttr groups,
                                         ChannelHandleAttr channel);

/// From which device each gets the value.
struct DeviceSources {
  /// The axes along which some value moves, ascending.
  graph::DeviceAxes axes;
  /// For each place along these axes, that of the sender, or -1.
  SmallVector<int64_t> sources;
};
FailureOr<DeviceSources> readSources(graph::BatchForm &form,
                                     mlir::DenseIntElementsAttr pairs,
                                     ChannelHandleAttr channel);

/// Emits a refusal where the text has several replicas.
LogicalResult verifyOneReplica(Operation *op);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_DEVICEGROUPS_H

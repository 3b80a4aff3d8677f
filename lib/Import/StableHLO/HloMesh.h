//===- HloMesh.h - XLA's shardings on the axes of a mesh --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The strings of a text and the mesh on which they become shardings by axes:
// that which the text names, else that of the configuration. On one device it
// has the axes' names and the sizes that the strings need, so that manual
// regions mean what they do on several.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_STABLEHLO_HLOMESH_H
#define LLMC_LIB_IMPORT_STABLEHLO_HLOMESH_H

#include "HloSharding.h"
#include "llmc/Dialect/Sdy/IR/Sdy.h"
#include "llmc/Import/Program/Shardings.h"
#include "llvm/ADT/MapVector.h"

namespace llmc::import {

/// The attribute of arguments, results and ops.
inline constexpr llvm::StringLiteral kHloSharding = "mhlo.sharding";

class HloMesh {
public:
  /// Of a text whose configuration gives the axes `given`, without the
  /// pipeline's; or none. Error 2: a mesh that does not fit, or none where the
  /// text needs one; 3: malformed strings; 5: strings that follow no mesh.
  static rt::Result<HloMesh> read(mlir::ModuleOp module, const MeshAxes &given);

  /// Whether the text has no such strings.
  bool isEmpty() const { return texts.empty(); }
  size_t getNumShardings(mlir::StringAttr text) const {
    return texts.find(text)->second.size();
  }
  /// The sharding of a value of `type`, in which the dimensions `open` may be
  /// split further; null where the string asks for nothing. `element` is its
  /// number in a tuple.
  rt::Result<sdy::TensorShardingAttr>
  convert(mlir::StringAttr text, mlir::Type type, mlir::Location loc,
          llvm::ArrayRef<int64_t> open = {}, unsigned element = 0,
          bool mayBeInGroup = false) const;
  /// The group of a value that `@Sharding` annotates.
  std::optional<int64_t> getGroup(mlir::StringAttr text) const {
    return texts.find(text)->second.front().sharding.group;
  }
  /// The axes along which each device has a program of its own, by their
  /// place in the mesh.
  llvm::SmallVector<mlir::StringAttr>
  getManualAxes(mlir::StringAttr text) const;
  /// No axes on any dimension.
  sdy::TensorShardingAttr getWhole(int64_t rank,
                                   llvm::ArrayRef<int64_t> open = {}) const;

private:
  struct Known {
    HloSharding sharding;
    /// For each number of tiles.
    llvm::SmallVector<DeviceRuns> runs;
  };
  using AxisRefs = llvm::SmallVector<sdy::AxisRefAttr>;

  rt::Status collect(mlir::ModuleOp module);
  rt::Status add(mlir::Attribute text, mlir::Location loc);
  rt::Status choose(mlir::ModuleOp module, const MeshAxes &given);
  rt::Status fitSizes();
  rt::Status checkRuns(llvm::StringRef hint);
  AxisRefs getAxes(const Known &known, size_t tile) const;
  AxisRefs getAxes(const std::vector<AxisPart> &axes) const;
  sdy::TensorShardingAttr convertTiled(const Known &known,
                                       llvm::ArrayRef<int64_t> open) const;
  sdy::TensorShardingAttr convertNamed(const HloSharding &sharding,
                                       llvm::ArrayRef<int64_t> open) const;
  sdy::MeshAttr makeMesh(const MeshAxes &from,
                         llvm::ArrayRef<int64_t> ids) const;

  mlir::MLIRContext *context = nullptr;
  MeshAxes axes;
  sdy::MeshAttr mesh;
  int64_t numDevices = 1;
  /// A string that has as many devices.
  mlir::StringAttr example;
  llvm::MapVector<mlir::StringAttr, std::vector<Known>> texts;
};

/// Makes the strings of a module Shardy's annotations, and what lies between
/// an entry and an exit of older texts manual regions.
rt::Status translateHloShardings(mlir::ModuleOp module, const MeshAxes &given);
/// The regions alone.
rt::Status translateHloRegions(mlir::ModuleOp module, const HloMesh &mesh);
/// `unspecified_dims=[0,1]` of a custom call.
rt::Result<llvm::SmallVector<int64_t>> getOpenDims(mlir::Operation *call);

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_STABLEHLO_HLOMESH_H

//===- LayoutOnMesh.h - Layouts seen with their mesh ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout attribute names its mesh; what depends on the sizes of axes can only
// be asked with the mesh at hand. These functions find it, and check a layout
// against it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_LAYOUTONMESH_H
#define LLMC_DIALECT_DIST_IR_LAYOUTONMESH_H

#include "llmc/Dialect/Dist/IR/Dist.h"

namespace llmc::dist {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The layout that the type has as its encoding, or null.
LayoutAttr getLayout(mlir::Type type);
/// The same shape and element type with this layout (null: with none).
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  LayoutAttr layout);

/// The mesh named, as seen from `from`; without a name the only mesh of the
/// module. Reports an error where there is none.
llvm::FailureOr<MeshOp> findMesh(mlir::Operation *from,
                                 mlir::FlatSymbolRefAttr name,
                                 mlir::SymbolTableCollection &tables);

/// Checks that axes exist, that sub-axes divide them and that pins lie inside.
llvm::LogicalResult verifyAxesOnMesh(LayoutAttr layout, MeshAxesAttr mesh,
                                     EmitError emitError);

/// Also checks the rank, and that each (padded) dimension divides into its
/// parts: axes are poured into factors major to minor.
llvm::LogicalResult verifyLayoutOnMesh(LayoutAttr layout,
                                       llvm::ArrayRef<int64_t> shape,
                                       MeshAxesAttr mesh, EmitError emitError);

/// `verifyLayoutOnMesh` for the encoding of the type, if it has one: finds the
/// mesh and reports at `op`.
llvm::LogicalResult verifyEncodingOnMesh(mlir::Operation *op, mlir::Type type,
                                         mlir::SymbolTableCollection &tables);

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_LAYOUTONMESH_H

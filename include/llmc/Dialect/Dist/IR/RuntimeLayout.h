//===- RuntimeLayout.h - Layouts as the runtime has them --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which elements a device holds is computed by the runtime's layouts
// (Runtime/Layout), in the compiler and in a plan alike. Here the attributes of
// `dist` become the runtime's structs.
//
//   [{"tensor"}:[6:8, 64]] on <"pipe"=2, "tensor"=4>
//     -> DimLayout{axes = {1}, factors = {6:8, 64:64}}
//
// Test: test/Interpreter/LockstepTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_RUNTIMELAYOUT_H
#define LLMC_DIALECT_DIST_IR_RUNTIMELAYOUT_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Layout/Layout.h"

namespace llmc::dist {

rt::Mesh getRuntimeMesh(MeshOp mesh);

/// The places of the elements of a tensor of `shape`; what is partial or
/// pinned is no part of it. Nothing for sub-axes, for axes that the mesh lacks,
/// and for factors that do not multiply to the shape.
std::optional<rt::Layout> getRuntimeLayout(LayoutAttr layout,
                                           llvm::ArrayRef<int64_t> shape,
                                           const rt::Mesh &mesh);

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_RUNTIMELAYOUT_H

//===- PlanStreams.h - The streams of a device ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One stream computes, one copies from and to the host; collectives have one
// for each set of axes, messages one for each neighbour and direction. Streams
// are made when they are first asked for.
//
//   C compute · K copy · X.pipe.data collectives over {pipe, data}
//   S.next, R.prev: to stage + 1, from stage - 1
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_PLANSTREAMS_H
#define LLMC_LIB_TRANSFORMS_ORDERING_PLANSTREAMS_H

#include "../PlanNames.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include <map>

namespace llmc::ordering {

class PlanStreams {
public:
  /// Makes the compute and the copy stream at the builder's place; others
  /// follow them.
  PlanStreams(OpBuilder &builder, PlanNames &names, Location loc,
              dist::MeshOp mesh);

  mlir::FlatSymbolRefAttr getCompute() const { return compute; }
  mlir::FlatSymbolRefAttr getCopy() const { return copy; }
  /// In whatever order the axes come.
  mlir::FlatSymbolRefAttr getCollective(mlir::ArrayAttr axes);
  /// Of the stage `from` (sends) or `to`. With a name, of that transfer alone.
  mlir::FlatSymbolRefAttr getMessage(bool sends, int64_t from, int64_t to,
                                     StringRef transfer);

  dist::MeshOp getMesh() const { return mesh; }

private:
  mlir::FlatSymbolRefAttr add(StringRef name, plan::StreamKind kind);

  OpBuilder builder;
  PlanNames &names;
  Location loc;
  dist::MeshOp mesh;
  std::map<std::string, mlir::FlatSymbolRefAttr> known;
  Operation *last = nullptr;
  mlir::FlatSymbolRefAttr compute, copy;
};

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_PLANSTREAMS_H

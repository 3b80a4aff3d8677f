//===- HloSharding.h - Shardings as XLA writes them -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The strings of `mhlo.sharding`, which JAX prints without Shardy:
//
//   {replicated}  {manual}  {maximal device=0}  {unknown shard_as 1}
//   {devices=[2,1,2]<=[4] last_tile_dim_replicate}
//   {devices=[2,2]0,2,1,3}
//   {devices=[4,1,2]<=[2,4]T(1,0) last_tile_dims={manual}}
//   {mesh['data'=2,'tensor'=2], [{'data'}, {}], manual={'tensor'}}
//   {{replicated}, {devices=[2]<=[2]}}
//
// `devices=[tiles]` has a number for each dimension, and one for each subgroup
// behind them; then come the devices of the tiles in row-major order: as a
// list, or as `<=[sizes]T(order)`, which is 0, 1, 2, ... in the shape `sizes`,
// transposed by `order`.
//
// Tests: test/Import/StableHLO/hlo-shardings.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_STABLEHLO_HLOSHARDING_H
#define LLMC_LIB_IMPORT_STABLEHLO_HLOSHARDING_H

#include "llmc/Import/Program/DeviceRuns.h"

namespace llmc::import {

/// The axes of a dimension, to which others may be added where it is open.
struct HloDim {
  std::vector<AxisPart> axes;
  bool isOpen = false;
};

/// One string, or one of a tuple.
struct HloSharding {
  enum class Kind { Replicated, Manual, Maximal, Unknown, Tiled, Named };
  enum class Subgroup { Replicated, Manual, Unreduced };

  Kind kind = Kind::Replicated;
  /// Of tiles: the number for each dimension and each subgroup, what the
  /// subgroups are, and the device of each tile.
  llvm::SmallVector<int64_t> tiles;
  llvm::SmallVector<Subgroup> subgroups;
  llvm::SmallVector<int64_t> devices;
  /// With names.
  MeshAxes mesh;
  llvm::SmallVector<int64_t> deviceIds;
  std::vector<HloDim> dims;
  std::vector<AxisPart> replicated, unreduced, manual;
  /// The number of the group of values that lie alike.
  std::optional<int64_t> group;

  size_t getNumDims() const {
    return kind == Kind::Named ? dims.size() : tiles.size() - subgroups.size();
  }
};

/// What the text says: one sharding, or those of a tuple. Error 3: malformed.
rt::Result<std::vector<HloSharding>> parseHloShardings(llvm::StringRef text);

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_STABLEHLO_HLOSHARDING_H

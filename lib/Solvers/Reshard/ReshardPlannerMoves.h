//===- ReshardPlannerMoves.h - The edges of the layout graph ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One problem (tensor, source, target), its moves and their prices. Shared by
// the search and the greedy ladder, so that both count alike.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_ANALYSIS_RESHARDPLANNERMOVES_H
#define LLMC_LIB_ANALYSIS_RESHARDPLANNERMOVES_H

#include "llmc/Solvers/Reshard/ReshardPlanner.h"

namespace llmc {

class ReshardMoves {
public:
  ReshardMoves(const rt::Mesh &mesh, const ReshardLinks &links,
               const ReshardTensor &tensor, const ReshardLayout &source,
               const ReshardLayout &target);

  /// Common prefixes of the dims' lists, which no move touches.
  const std::vector<std::vector<int32_t>> &prefixes() const { return common; }
  /// Source and target without the prefixes, stages normalised.
  const ReshardLayout &source() const { return from; }
  const ReshardLayout &target() const { return to; }
  /// What a plan depends on, apart from mesh and links.
  std::string key() const;

  /// Every move from `layout`.
  std::vector<ReshardMove> movesFrom(const ReshardLayout &layout) const;

  // Single moves, priced; the caller has checked that they are legal.
  ReshardMove slice(const ReshardLayout &at, int32_t axis, int32_t dim) const;
  /// `axis` becomes partial; the minor-most axis of `dim`, or of no dim (-1).
  ReshardMove lift(const ReshardLayout &at, int32_t axis, int32_t dim) const;
  ReshardMove drop(const ReshardLayout &at, uint64_t stages) const;
  ReshardMove reduceScatter(const ReshardLayout &at,
                            const std::vector<int32_t> &axes,
                            int32_t dim) const;
  ReshardMove allReduce(const ReshardLayout &at,
                        const std::vector<int32_t> &axes) const;
  ReshardMove allToAll(const ReshardLayout &at, size_t count, int32_t source,
                       int32_t dim) const;
  ReshardMove permute(const ReshardLayout &at,
                      const std::vector<std::vector<int32_t>> &dims) const;
  ReshardMove transfer(const ReshardLayout &at, uint64_t stages) const;
  ReshardMove reduceTo(const ReshardLayout &at, uint64_t stage) const;
  ReshardMove allGather(const ReshardLayout &at, size_t count,
                        int32_t dim) const;

  /// Devices along `axes`; of the pipeline axis, the stages of `layout`.
  int64_t groupSize(const ReshardLayout &layout,
                    const std::vector<int32_t> &axes) const;
  int64_t split(const std::vector<int32_t> &axes) const;
  bool divides(const std::vector<int32_t> &axes, size_t dim) const;
  /// In no dim, not partial, not in a prefix, and not pinned.
  bool isFree(const ReshardLayout &layout, int32_t axis) const;
  bool isWanted(int32_t axis) const;
  int32_t numAxes() const { return int32_t(mesh.axes.size()); }
  int32_t pipeline() const { return mesh.pipelineAxis; }
  uint64_t normal(uint64_t stages) const;

private:
  using Moves = std::vector<ReshardMove>;

  void addLocal(const ReshardLayout &at, Moves &moves) const;
  void addLifts(const ReshardLayout &at, Moves &moves) const;
  void addReductions(const ReshardLayout &at, Moves &moves) const;
  void addScatters(const ReshardLayout &at, std::vector<int32_t> &axes,
                   Moves &moves) const;
  void addSuffixes(const ReshardLayout &at, Moves &moves) const;
  void addPermutes(const ReshardLayout &at, Moves &moves) const;
  void addTransfers(const ReshardLayout &at, Moves &moves) const;
  bool pour(const std::vector<int32_t> &axes, std::vector<int64_t> &left) const;
  int64_t localBytes(const ReshardLayout &layout) const;
  int64_t received(ReshardMove::Kind kind, const ReshardLayout &at,
                   int64_t count) const;
  ReshardMove priced(ReshardMove::Kind kind, std::vector<int32_t> axes,
                     int64_t bytes, ReshardLayout result) const;

  const rt::Mesh &mesh;
  const ReshardLinks &links;
  /// After the prefixes.
  std::vector<int64_t> extents;
  std::vector<std::vector<int64_t>> factors;
  int64_t elementBytes;
  /// Of the whole tensor, unpadded.
  int64_t tensorBytes = 1;
  std::vector<std::vector<int32_t>> common;
  uint64_t reserved = 0;
  ReshardLayout from, to;
  /// Stages, each a set of one, on which a sum over the pipeline may meet.
  std::vector<uint64_t> meetings;
};

/// The plan of the ladder, without the prefixes.
ReshardPlan greedyReshard(const ReshardMoves &moves);

} // namespace llmc

#endif // LLMC_LIB_ANALYSIS_RESHARDPLANNERMOVES_H

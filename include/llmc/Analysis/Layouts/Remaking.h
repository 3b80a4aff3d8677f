//===- Remaking.h - What is made again rather than moved --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value that is wanted in another layout than it has is moved, or made again
// in that layout by the same op, of operands that are moved instead; whichever
// sends less. What is made element by element is made again:
//
//   %a = broadcast %w : 32x2 -> 32x2x6,  [{t}, {}, {}], wanted whole:
//   %w is gathered, and broadcast whole
//
// and so is what any other op makes of one operand, or of none, if then nothing
// is sent at all. What others want in a layout of which this one is a part is
// there, and is cut from that. And where several values are made of one, this
// one may be moved for all of them:
//
//   %a = slice %w, %b = broadcast %w, both wanted whole: %w is gathered, once
//
// Test: test/Transforms/Sharding/materialize-remade.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_REMAKING_H
#define LLMC_ANALYSIS_LAYOUTS_REMAKING_H

#include "llmc/Analysis/Layouts/OpLayouts.h"
#include "llmc/Analysis/Layouts/ReshardOfLayouts.h"
#include <functional>

namespace llmc {

class Remaking {
public:
  /// What is known of a program.
  struct Program {
    std::function<dist::LayoutAttr(Value)> layoutOf;
    /// The operands that an op has as decided, or none where it may not be
    /// made again.
    std::function<std::optional<SmallVector<Value>>(Operation *)> operandsOf;
    /// In which layouts others want the value: so it is there for nothing.
    std::function<ArrayRef<Attribute>(Value)> wantsOf;
  };
  struct Move {
    Value value;
    dist::LayoutAttr to;
    /// As of LayoutReshards::price.
    int64_t cost;
  };
  struct Way {
    /// Made again, of operands that come to be by ways of their own.
    bool isRemade = false;
    /// A part of what is there in this layout, or null.
    dist::LayoutAttr source;
    /// All that is sent.
    SmallVector<Move, 1> moves;
    int64_t cost = 0;
  };

  /// With `isEager` a value that costs the same either way is made again: of
  /// what several values are made may be moved for all of them.
  Remaking(LayoutReshards &reshards, Program program, bool isEager = false)
      : reshards(reshards), program(std::move(program)), isEager(isEager) {}

  /// How the value comes to be in the layout; none where there is no way.
  std::optional<Way> find(Value value, dist::LayoutAttr want) {
    return find(value, want, 0);
  }
  /// How the op, with one result, runs to make the layout.
  OpLayouts getRuns(Operation *op, dist::LayoutAttr want) const;
  /// Forgets what was found: layouts have changed.
  void clear() { known.clear(); }

  /// A value that is read in a layout, in a chunk of the pipeline.
  struct Need {
    Value value;
    dist::LayoutAttr want;
    int64_t chunk = 0;
  };
  /// Moves of values of which several needs are made, each cheaper than all
  /// that it is in place of.
  SmallVector<Move> findShared(ArrayRef<Need> needs);

private:
  std::optional<Way> find(Value value, dist::LayoutAttr want, int depth);
  bool isBetter(const Way &again, const Way &moved, Operation *op) const;
  dist::LayoutAttr findSource(Value value, dist::LayoutAttr have,
                              dist::LayoutAttr want);
  std::optional<Way> remake(Operation *op, dist::LayoutAttr want, int depth);
  std::optional<OpLayouts> getRunsAgain(Operation *op, dist::LayoutAttr want);
  std::optional<Move> findOrigin(const Move &move);

  LayoutReshards &reshards;
  Program program;
  bool isEager;
  llvm::DenseMap<std::pair<Value, Attribute>, std::optional<Way>> known;
};

/// What the op computes is as cheap as what it reads: no arithmetic but that of
/// each element, or of each that it adds up.
bool isLight(Operation *op);

/// Of what a device stores of the value.
int64_t getLocalElements(RankedTensorType type, dist::LayoutAttr layout,
                         dist::MeshAxesAttr mesh);

/// What constraints constrain, which is there in their place in the end.
Value skipConstraints(Value value);

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_REMAKING_H

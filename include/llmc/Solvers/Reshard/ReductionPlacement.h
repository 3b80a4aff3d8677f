//===- ReductionPlacement.h - Where partial values are reduced --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value that is partial over a mesh axis may stay so as long as ops are
// linear in it; somewhere it is reduced. Late costs more where one value fans
// out into several, early where several are summed. For one axis and one kind
// of reduction the cheapest places are a minimum cut:
//
//   source -> P(v)           v is made partial                     infinite
//   P(v)   -> F(v, l)        v is reduced towards layout l         the price
//   F(v,l) -> P(r)           a use that wants l carries v into r   infinite
//   F(v,l) -> sink           a use that wants l is not linear      infinite
//   P(r)   -> M(m)           r is carried only if m is moved       infinite
//   M(m)   -> sink           what is moved for all that need it    the price
//
// P(v) on the source side: v is partial. P(v) there and F(v, l) not: v is
// reduced once towards l. An op that could do without making its result
// partial, with its operands moved, has an edge from the source of that price:
// where it is cut, the op runs whole. Of all cheapest cuts the one with the
// smallest source side is taken, which reduces earliest.
//
//   q, k, v partial; s = q + k + v (1 each); exp(s):  s is reduced, cost 1
//   x partial (1); a = -x, b = 2x (1 each); exp of both:  x is reduced, cost 1
//
// Maximum flow by Dinic (Soviet Math. Doklady 11, 1970) on each part that hangs
// together without source and sink: linear time in the number of equal blocks.
//
// Test: test/Solvers/Reshard/ReductionPlacementTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_RESHARD_REDUCTIONPLACEMENT_H
#define LLMC_SOLVERS_RESHARD_REDUCTIONPLACEMENT_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace llmc {

/// A program as one axis and kind see it: ops in order, values by number.
struct PlacementProblem {
  struct Value {
    /// For each layout that uses want: what reducing towards it costs, times
    /// how often that happens in a step. At least 0.
    std::vector<int64_t> prices;
  };
  struct Use {
    /// Defined by an earlier op; -1: never partial.
    int32_t value = -1;
    /// Index into its prices.
    int32_t layout = 0;
  };
  struct Op {
    std::vector<Use> uses;
    /// Uses in which the results are jointly linear where the rest is full.
    std::vector<std::vector<int32_t>> groups;
    /// In ascending order over all ops. All are partial or none.
    std::vector<int32_t> results;
    /// Makes its results partial.
    bool isSource = false;
    /// What it costs, times how often, to run a source whole instead; -1: it
    /// cannot.
    int64_t whole = -1;
    /// For each group what must be moved for it to be carried; into `moves`.
    std::vector<std::vector<int32_t>> moves;
  };

  std::vector<Value> values;
  std::vector<Op> ops;
  /// What each move costs, times how often.
  std::vector<int64_t> moves;
};

struct ReductionPlacement {
  /// For each value.
  std::vector<bool> isPartial;
  /// (value, layout): reduced here. Ascending.
  std::vector<std::pair<int32_t, int32_t>> cuts;
  /// For each op the group through which it carries its partial operands.
  std::vector<int32_t> groups;
  /// Sources that run whole. Ascending.
  std::vector<int32_t> wholes;
  int64_t cost = 0;
  /// Of the graph, without source and sink.
  int64_t numNodes = 0, numEdges = 0;
};

/// For each op the group through which it carries its partial operands, or -1;
/// and which values may be partial. If several groups hold such operands, the
/// one with the operand that is defined last: the other is made full before.
/// Placement takes the other where that costs less.
struct PlacementFlow {
  std::vector<int32_t> groups;
  std::vector<bool> mayBePartial;
};
PlacementFlow findPartialFlow(const PlacementProblem &problem);

/// Whether op `op` carries its use `use` into its results.
bool isCarried(const PlacementProblem &problem, const PlacementFlow &flow,
               std::size_t op, std::size_t use);

ReductionPlacement placeReductions(const PlacementProblem &problem);

} // namespace llmc

#endif // LLMC_SOLVERS_RESHARD_REDUCTIONPLACEMENT_H

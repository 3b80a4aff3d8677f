//===- LayoutPropagation.h - Axes spread from values to values --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables are tensors (values, rows of states) with a list of axes for each
// dim, relations are sharding rules between them. What is given spreads along
// factors until nothing changes:
//
//   %y = dot %x [b, k], %w [k, n];  x [{data}, {}], w [{}, {tensor}]
//   becomes  y [{data}, {tensor}]
//
// Order decides conflicts, hence: states' rows first, then constraints, then
// inputs; within each, ops that pass everything on (single-use operands before
// others), then all passing factors, then from small tensors into broadcast
// ones; reduced factors last, when all else stands. After that, once more so,
// the axes over which states are only stored. Of two lists the longer one
// holds if it starts with the other; else that of the larger tensor. A list is
// extended axis by axis; not where a dim is closed, where the axis already
// splits the tensor, or where storage cannot be had (DimStorage.h).
//
// A dim with a priority above 0 takes no part, closed and without its axes,
// until all of lower priority has come to rest; then all of this is done again.
//
// Phase 0 (microbatch and entries) is solved first; in phase 1 (updates) its
// variables stand, and optimizer states with rows of their own come first: the
// update follows them (ZeRO). Partial values are none of its business.
//
// After "Shardy: a propagation framework" (rounds by op kind) and GSPMD
// (priorities); the ranks by origin are ours.
//
// Test: test/Analysis/Layouts/LayoutPropagationTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_LAYOUTPROPAGATION_H
#define LLMC_ANALYSIS_LAYOUTS_LAYOUTPROPAGATION_H

#include "llmc/Analysis/Layouts/DimStorage.h"
#include "llmc/Dialect/Graph/IR/ShardingRule.h"
#include "llvm/ADT/DenseSet.h"
#include <deque>
#include <unordered_map>

namespace llmc {

/// What gave a variable its axes, in the order in which it spreads.
/// `Stored` are axes over which a state is only kept: they come after all else
/// has come to rest.
enum class Seed : uint8_t { State, Constraint, Input, Stored, None };

struct LayoutVariable {
  SmallVector<int64_t, 4> shape;
  /// Decides between sources.
  int64_t bytes = 0;
  Seed seed = Seed::None;
  /// Given, and in the end solved.
  SmallVector<AxisList, 2> dims;
  /// Dims that may not be extended (bits), and axes that may not be used.
  uint64_t closed = 0, blocked = 0;
  /// For each dim the round in which it takes part; none: all in round 0.
  SmallVector<int64_t, 2> priorities;
  /// Axes that split it.
  uint64_t axes = 0;
  /// Why each axis is there: a relation, or -1 where it was given.
  SmallVector<SmallVector<int, 1>, 2> origins;
  /// Numbers in the classes of dims.
  int firstDim = 0;
  /// Phases (bits) that use it.
  uint8_t phases = 0;
};

struct LayoutRelation {
  graph::ShardingRule rule;
  /// Variables, or -1.
  SmallVector<int, 4> operands, results;
  /// 0 or 1.
  uint8_t phase = 0;
  /// Axes pass from operands to results only.
  bool isOneWay = false;
  /// No axes pass, but extents are shared (rows of one state).
  bool onlyTies = false;
};

/// A list that could not hold, or an axis that was not taken.
struct LayoutConflict {
  int relation = 0;
  int factor = 0;
  /// The list that the op's first result has (a reduced factor: its largest
  /// operand), and the variable.
  int keptVariable = 0, otherVariable = 0;
  AxisList kept, other;
  /// Why each was there, as in `origins`.
  int keptOrigin = -1, otherOrigin = -1;
};
struct LayoutRefusal {
  int relation, variable, dim;
  int8_t axis;
  /// "pads 2 to 4"
  std::string reason;
};

class LayoutPropagation {
public:
  explicit LayoutPropagation(ArrayRef<int64_t> axisSizes)
      : storage(axisSizes) {}

  /// Adds a variable: `dims` has a list for each dim.
  int addVariable(LayoutVariable variable);
  /// These axes, as bits, never split the variable.
  void block(int variable, uint64_t axes) {
    variables[variable].blocked |= axes;
  }
  void addRelation(LayoutRelation relation);

  /// A variable, dim and reason: it cannot hold what it was given, or what the
  /// other tensors that share extents with it want.
  struct Fault {
    int variable = -1, dim = 0;
    std::string reason;
  };
  /// Spreads and decides storage.
  std::optional<Fault> solve();
  /// Why the variable's list of a dim cannot hold whatever others want; empty
  /// where it can. After `solve`.
  std::string refuse(int variable, int dim) const;

  const LayoutVariable &getVariable(int variable) const {
    return variables[variable];
  }
  /// The relation's rule; factors that are opaque in it are whole.
  graph::ShardingRule getRule(int relation) const;
  /// The canonical atoms of a solved dim.
  Atoms getStored(int variable, int dim) const;
  /// Relations that could not be tied to the others' boundaries, with factor.
  ArrayRef<std::pair<int, int>> getOpaque() const { return opaque; }
  ArrayRef<LayoutRefusal> getRefusals() const { return refusals; }
  /// Lists that differ where a factor should have one.
  std::vector<LayoutConflict> findConflicts() const;
  /// The variable that was given the axis which this one has: its own number,
  /// or that from which the axis spread to it.
  int findGiver(int variable, int8_t axis) const;
  /// A variable and the relation by which the axis came to it, -1 where it was
  /// given.
  struct WayStep {
    int variable = 0, relation = -1;
  };
  /// The way of the axis to the variable, from there back to where it was
  /// given.
  std::vector<WayStep> findWay(int variable, int8_t axis) const;
  /// How often a relation was looked at: what the time depends on.
  int64_t getNumVisits() const { return numVisits; }

private:
  /// Where a factor stands.
  struct Place {
    /// Which operand or result.
    int slot = 0;
    int16_t dim = 0;
    /// Index among the dim's factors, and whether it is the only one.
    int16_t index = 0;
    bool isOnly = true;
    bool isResult = false;
  };
  /// A rule made ready, of all relations that have it: they are many, and
  /// rules are large.
  struct Rule {
    const graph::ShardingRule *given = nullptr;
    /// For each factor.
    SmallVector<SmallVector<Place, 3>, 4> places;
    bool passesAll = true, isBroadcast = false;
  };
  struct Relation {
    const Rule *rule = nullptr;
    SmallVector<int, 4> operands, results;
    uint8_t phase = 0;
    bool isOneWay = false, onlyTies = false, isSingleUse = true;
    /// In `opaqueFactors` with some factor.
    bool isOpaque = false;

    int variableAt(const Place &place) const {
      return (place.isResult ? results : operands)[place.slot];
    }
  };
  /// What of a rule takes part.
  struct Round {
    Seed seed;
    bool onlyPassing, onlySingleUse, broadcastsForward, reduced;
  };

  const Rule *internRule(graph::ShardingRule rule);
  static void prepare(Rule &rule);
  void findSingleUses();
  bool isOpaqueAt(int relation, int factor) const {
    return relations[relation].isOpaque &&
           opaqueFactors.contains({relation, factor});
  }
  bool spreads(int relation, int factor, const Round &round) const;
  bool tieFactor(const Relation &relation, int factor, bool isSolved);
  void readAtoms();
  std::string storeLists();
  void storeAgain();
  void tieFactors();
  std::optional<Fault> checkGiven() const;
  Fault findRefused(const std::string &reason) const;
  void setAside();
  bool waitsForPhase(int variable, uint8_t phase) const;
  void admit(uint8_t phase, int64_t priority);
  void runPriorities(uint8_t phase);
  void runPhase(uint8_t phase);
  void runRound(const Round &round, uint8_t phase);
  void visit(int relation, const Round &round);
  void visitFactor(int relation, int factor, const Round &round);
  /// In phase 1 what stands comes after the rows of optimizer states.
  Seed rankOf(int variable) const {
    return isFrozen[variable] ? Seed::Constraint : variables[variable].seed;
  }
  bool isVisible(int variable, const Round &round) const {
    Seed rank = rankOf(variable);
    return rank == Seed::None || rank <= round.seed;
  }
  /// The axes of the factor at this place.
  AxisList listAt(const Relation &relation, const Place &place) const {
    return place.isOnly ? variables[relation.variableAt(place)].dims[place.dim]
                        : pourAt(relation, place);
  }
  AxisList pourAt(const Relation &relation, const Place &place) const;
  bool hasSeed(Seed seed, uint8_t phase) const;
  /// All factors of the dim at this place, and their sizes.
  ArrayRef<int> factorsAt(const Relation &relation, const Place &place) const;
  SmallVector<int64_t, 4> sizesAt(const Relation &relation,
                                  const Place &place) const;
  void refuse(const LayoutRefusal &refusal);
  void extend(int relation, const Place &place, ArrayRef<int8_t> target);
  bool setFactor(const Relation &relation, const Place &place,
                 ArrayRef<int8_t> list, AxisList &dim) const;
  void markDirty(int variable, int except);
  int pickKept(const Relation &relation, int factor) const;
  int originAt(const Relation &relation, const Place &place) const;
  int originOf(int variable, int8_t axis) const;
  SmallVector<int> findSources(int variable, int8_t axis, int relation) const;
  const ClassAtoms &atomsOf(int variable, int dim) const {
    return dimAtoms[variables[variable].firstDim + dim];
  }

  DimClasses classes;
  DimStorage storage;
  std::deque<LayoutVariable> variables;
  std::deque<Relation> relations;
  std::unordered_map<graph::ShardingRule, Rule, graph::ShardingRuleHash> rules;
  /// Relations of each variable, ascending.
  std::vector<SmallVector<int, 4>> users;
  std::vector<std::pair<int, int>> opaque;
  llvm::DenseSet<std::pair<int, int>> opaqueFactors;
  std::vector<LayoutRefusal> refusals;
  /// Variable, dim and axis of each refusal.
  llvm::DenseSet<std::tuple<int, int, int>> refused;
  std::vector<uint8_t> isFrozen, isDirty;
  /// Dims whose round has not come, with what is given of them.
  struct Waiting {
    int variable, dim;
    int64_t priority;
    AxisList list;
    bool isClosed;
  };
  std::vector<Waiting> waiting;
  std::vector<ClassAtoms> dimAtoms;
  int64_t numVisits = 0;
};

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_LAYOUTPROPAGATION_H

//===- CollectiveKind.h - What collectives do -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of collectives, of plans and communicators. Of n members, each
// with an input of L bytes, one receives in a ring:
//
//   kind            each member has, and gets                   bytes
//   allReduce       a term; all of them combined                2 L (n-1) / n
//   allGather       its part; all parts along a dim             L (n-1)
//   reduceScatter   a term; its part of all combined            L (n-1) / n
//   allToAll        a part for each; a part of each             L (n-1) / n
//   broadcast       a value; the root's                         L
//   reduce          a term; the root all of them combined       L
//   permute         a value; that of another, or zero           L
//   raggedAllToAll  rows, of which it sends slices; what of     as counted, at
//                   them it gets, zero between                  most as
//                   allToAll
//
// Buffers of a communicator, in elements, with n members:
//
//   kind            in                  out
//   allReduce       [outer, count]      [outer, count]
//   allGather       [outer, count]      [outer, n, count]
//   reduceScatter   [outer, n, count]   [outer, count]
//   allToAll        [outer, n, count]   [outerOut, n, outer count / outerOut]
//   broadcast       [outer, count]      [outer, count], that of `root`
//   reduce          [outer, count]      [outer, count], at `root` only
//   permute         [outer, count]      [outer, count], that of `sources[me]`,
//                                       zero where that is -1
//   raggedAllToAll  [outer, rows in,    [outer, rows out, count]
//                   count]
//
// Of a raggedAllToAll each member has counts, integers of 64 bits: [outer, 4,
// n slices]. Of slice i, which goes to member i / slices: the first row that is
// sent; how many are; the row of the receiver where the first one lies; and how
// many rows come in, for the slice that member i / slices sends to this one.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_COLLECTIVEKIND_H
#define LLMC_RUNTIME_BASE_COLLECTIVEKIND_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace llmc {

/// The numbers are those of plan files.
enum class CollectiveKind : uint8_t {
  allReduce = 0,
  allGather = 1,
  reduceScatter = 2,
  allToAll = 3,
  broadcast = 4,
  reduce = 5,
  permute = 6,
  raggedAllToAll = 7,
};
constexpr unsigned numCollectiveKinds = 8;

/// The member that a collective names.
enum class CollectivePeer : uint8_t {
  none,
  root,   ///< One for all: where the value comes from or goes to.
  source, ///< For each member whose value it gets.
};

struct CollectiveTraits {
  CollectiveKind kind;
  std::string_view name;
  /// Combines the members' values by a ReductionKind.
  bool reduces;
  /// The input has a part for each member along a dim.
  bool splitsInput;
  /// The output has a part of each member along a dim.
  bool joinsOutput;
  CollectivePeer peer;
  /// All members that get a value get the same bits.
  bool givesAllTheSame;
  /// How much is sent, the run says: rows along a dim.
  bool takesCounts = false;

  /// Otherwise the output has the input's shape.
  constexpr bool usesDim() const {
    return splitsInput || joinsOutput || takesCounts;
  }
  /// The output may be the input. An input may besides be the member's own part
  /// of an output that is joined, unless it is split too, and the other way
  /// round.
  constexpr bool worksInPlace() const {
    return !usesDim() && peer != CollectivePeer::source;
  }
};

/// By number.
inline constexpr std::array<CollectiveTraits, numCollectiveKinds>
    collectiveTraits = {{
        {CollectiveKind::allReduce, "all_reduce", /*reduces=*/true,
         /*splitsInput=*/false, /*joinsOutput=*/false, CollectivePeer::none,
         /*givesAllTheSame=*/true},
        {CollectiveKind::allGather, "all_gather", false, false, true,
         CollectivePeer::none, true},
        {CollectiveKind::reduceScatter, "reduce_scatter", true, true, false,
         CollectivePeer::none, false},
        {CollectiveKind::allToAll, "all_to_all", false, true, true,
         CollectivePeer::none, false},
        {CollectiveKind::broadcast, "broadcast", false, false, false,
         CollectivePeer::root, true},
        {CollectiveKind::reduce, "reduce", true, false, false,
         CollectivePeer::root, true},
        {CollectiveKind::permute, "permute", false, false, false,
         CollectivePeer::source, false},
        {CollectiveKind::raggedAllToAll, "ragged_all_to_all", false, false,
         false, CollectivePeer::none, false, /*takesCounts=*/true},
    }};

static_assert(
    [] {
      for (std::size_t i = 0; i < collectiveTraits.size(); ++i)
        if (static_cast<std::size_t>(collectiveTraits[i].kind) != i)
          return false;
      return true;
    }(),
    "expected one row for each kind, by number");

/// Assumes one of the kinds: readers of files check the number.
constexpr const CollectiveTraits &traitsOf(CollectiveKind kind) {
  return collectiveTraits[static_cast<std::size_t>(kind)];
}

/// "all_reduce" and so on; "unknown" for a number beyond.
constexpr std::string_view nameOf(CollectiveKind kind) {
  auto number = static_cast<std::size_t>(kind);
  return number < collectiveTraits.size() ? collectiveTraits[number].name
                                          : "unknown";
}
constexpr std::optional<CollectiveKind> collectiveNamed(std::string_view name) {
  for (const CollectiveTraits &traits : collectiveTraits)
    if (traits.name == name)
      return traits.kind;
  return std::nullopt;
}

/// What one of `members` receives in a ring when each has an input of `bytes`,
/// rounded up. Assumes that 2 x bytes x members does not overflow.
constexpr int64_t bytesReceived(CollectiveKind kind, int64_t bytes,
                                int64_t members) {
  if (members < 2)
    return 0;
  const CollectiveTraits &traits = traitsOf(kind);
  if (traits.peer != CollectivePeer::none)
    return bytes;
  if (traits.joinsOutput && !traits.splitsInput)
    return bytes * (members - 1);
  // Once around for each half of an all-reduce.
  int64_t rounds = traits.splitsInput || traits.takesCounts ? 1 : 2;
  return (rounds * bytes * (members - 1) + members - 1) / members;
}

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_COLLECTIVEKIND_H

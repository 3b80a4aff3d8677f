//===- CollectivePlan.cpp - Collectives as NCCL takes them ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/CollectivePlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "CollectivePlan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace llmc::rt::cuda {

using Memory = CollectivePlace::Memory;
using Function = CollectiveCall::Function;

/// What NCCL calls a type that it can add up.
static std::optional<NcclType> ncclTypeOf(DType type) {
  switch (type) {
  case DType::f64:
    return NcclType::f64;
  case DType::f32:
    return NcclType::f32;
  case DType::bf16:
    return NcclType::bf16;
  case DType::f16:
    return NcclType::f16;
  case DType::i8:
    return NcclType::i8;
  case DType::u8:
  case DType::i1:
    return NcclType::u8;
  case DType::i32:
    return NcclType::i32;
  case DType::u32:
    return NcclType::u32;
  case DType::i64:
    return NcclType::i64;
  case DType::u64:
    return NcclType::u64;
  default:
    return std::nullopt;
  }
}

/// Of booleans, which are 0 or 1, `and` is the least and `or` the greatest.
static std::optional<NcclReduction> ncclReductionOf(const Collective &c) {
  bool isFlag = c.type == DType::i1;
  switch (c.reduction) {
  case ReductionKind::sum:
    return isFlag ? std::nullopt : std::optional(NcclReduction::sum);
  case ReductionKind::product:
    return isFlag ? std::nullopt : std::optional(NcclReduction::product);
  case ReductionKind::max:
    return NcclReduction::max;
  case ReductionKind::min:
    return NcclReduction::min;
  case ReductionKind::bitAnd:
    return isFlag ? std::optional(NcclReduction::min) : std::nullopt;
  case ReductionKind::bitOr:
    return isFlag ? std::optional(NcclReduction::max) : std::nullopt;
  }
  return std::nullopt;
}

static Status refuseCollective(const Collective &collective,
                               const std::string &what) {
  return makeError(ErrorKind::mismatch, fmt::format("NCCL has no {} '{}': {}",
                                                    nameOf(collective.kind),
                                                    collective.symbol, what));
}

/// Sums and products of floats are made in the type of the elements. The
/// extremes, and integers modulo their width, are the same in any wider type.
static bool combinesAsAsked(const Collective &c) {
  bool isRounded = c.reduction == ReductionKind::sum ||
                   c.reduction == ReductionKind::product;
  return !isFloat(c.type) || !isRounded || c.accumulate == c.type;
}

namespace {
class Planner {
public:
  Planner(const Collective &collective, int rank, int size)
      : collective(collective), rank(rank), size(size),
        elementBytes(static_cast<uint64_t>(sizeOf(collective.type))) {}

  Result<CollectivePlan> plan() {
    if (traitsOf(collective.kind).takesCounts) {
      addGatheredCounts();
      return std::move(made);
    }
    if (size > 1 && traitsOf(collective.kind).reduces) {
      LLMC_TRY(checkReduction());
    }
    for (size_t i = 0; i < collective.buffers.size(); ++i) {
      buffer = i;
      shape = collective.buffers[i];
      if (shape.outer * shape.count == 0) {
        continue;
      }
      size == 1 ? addAlone() : addTogether();
    }
    return std::move(made);
  }

private:
  Status checkReduction() const {
    if (!ncclTypeOf(collective.type) || !ncclReductionOf(collective)) {
      return refuseCollective(
          collective,
          fmt::format("expected a sum, product or extreme of i8, "
                      "u8, i32, u32, i64, u64, f16, bf16, f32 or "
                      "f64, got {} of {}",
                      nameOf(collective.reduction), nameOf(collective.type)));
    }
    if (!combinesAsAsked(collective)) {
      return refuseCollective(
          collective,
          fmt::format("expected elements that are added up in "
                      "their own type {}, got sums in {}",
                      nameOf(collective.type), nameOf(collective.accumulate)));
    }
    return Status::success();
  }

  uint64_t bytes() const { return shape.outer * shape.count * elementBytes; }
  /// A place in staging that later parts do not use.
  uint64_t reserveStaging(uint64_t wanted) {
    uint64_t at = made.stagingBytes;
    made.stagingBytes += (wanted + 255) / 256 * 256;
    return at;
  }

  /// The counts stand behind the inputs.
  void addGatheredCounts() {
    made.countBytes = numRowCounts(collective) * sizeof(int64_t);
    buffer = collective.buffers.size();
    if (size > 1 && made.countBytes > 0) {
      uint64_t all = made.countBytes * static_cast<uint64_t>(size);
      addBytes(Function::allGather, {Memory::staging, reserveStaging(all)},
               {Memory::in, 0}, made.countBytes, 0);
    }
  }

  /// What a member alone gets is what it has.
  void addAlone() {
    if (collective.kind == CollectiveKind::permute &&
        collective.sources[0] != 0) {
      made.zeros.push_back({buffer, bytes()});
      return;
    }
    made.before.push_back(
        {buffer, {Memory::out, 0}, {Memory::in, 0}, CopyBox{bytes(), {}}});
  }

  void addTogether() {
    switch (collective.kind) {
    case CollectiveKind::allReduce:
      return addReducing(Function::allReduce, 0);
    case CollectiveKind::reduce:
      return addReducing(Function::reduce, collective.root);
    case CollectiveKind::broadcast:
      return addBytes(Function::broadcast, {Memory::out, 0}, {Memory::in, 0},
                      bytes(), collective.root);
    case CollectiveKind::allGather:
      return addAllGather();
    case CollectiveKind::reduceScatter:
      return addReduceScatter();
    case CollectiveKind::allToAll:
      return addAllToAll();
    case CollectiveKind::permute:
      return addPermute();
    case CollectiveKind::raggedAllToAll:
      return;
    }
  }

  void addReducing(Function function, int peer,
                   CollectivePlace from = {Memory::in, 0}) {
    made.calls.push_back({function,
                          buffer,
                          {Memory::out, 0},
                          from,
                          shape.outer * shape.count,
                          *ncclTypeOf(collective.type),
                          *ncclReductionOf(collective),
                          peer});
  }
  void addBytes(Function function, CollectivePlace to, CollectivePlace from,
                uint64_t count, int peer) {
    made.calls.push_back({function, buffer, to, from, count, NcclType::i8,
                          NcclReduction::sum, peer});
  }

  /// Between [outer, size, width] in `strided` and [size, outer, width] in
  /// `packed`, in bytes: a copy for each part.
  void addPacking(std::vector<CollectiveCopy> &copies, bool packs,
                  CollectivePlace strided, CollectivePlace packed,
                  uint64_t outer, uint64_t width) {
    auto members = static_cast<uint64_t>(size);
    auto row = static_cast<int64_t>(width);
    auto all = static_cast<int64_t>(width * members);
    for (uint64_t part = 0; part < members; ++part) {
      CollectivePlace there{strided.memory, strided.offset + part * width};
      CollectivePlace here{packed.memory, packed.offset + part * outer * width};
      CopyBox box{width, {{outer, packs ? row : all, packs ? all : row}}};
      copies.push_back(
          {buffer, packs ? here : there, packs ? there : here, std::move(box)});
    }
  }

  void addAllGather() {
    CollectivePlace to{Memory::out, 0};
    if (shape.outer > 1) {
      to = {Memory::staging, reserveStaging(bytes() * size)};
      addPacking(made.after, false, {Memory::out, 0}, to, shape.outer,
                 shape.count * elementBytes);
    }
    addBytes(Function::allGather, to, {Memory::in, 0}, bytes(), 0);
  }
  void addReduceScatter() {
    CollectivePlace from{Memory::in, 0};
    if (shape.outer > 1) {
      from = {Memory::staging, reserveStaging(bytes() * size)};
      addPacking(made.before, true, {Memory::in, 0}, from, shape.outer,
                 shape.count * elementBytes);
    }
    addReducing(Function::reduceScatter, 0, from);
  }
  void addAllToAll() {
    CollectivePlace from{Memory::in, 0}, to{Memory::out, 0};
    if (shape.outer > 1) {
      from = {Memory::staging, reserveStaging(bytes() * size)};
      addPacking(made.before, true, {Memory::in, 0}, from, shape.outer,
                 shape.count * elementBytes);
    }
    if (shape.outerOut > 1) {
      to = {Memory::staging, reserveStaging(bytes() * size)};
      addPacking(made.after, false, {Memory::out, 0}, to, shape.outerOut,
                 bytes() / shape.outerOut);
    }
    for (int peer = 0; peer < size; ++peer) {
      uint64_t offset = static_cast<uint64_t>(peer) * bytes();
      addBytes(Function::send, {}, {from.memory, from.offset + offset}, bytes(),
               peer);
      addBytes(Function::receive, {to.memory, to.offset + offset}, {}, bytes(),
               peer);
    }
  }
  void addPermute() {
    for (int peer = 0; peer < size; ++peer) {
      if (collective.sources[static_cast<size_t>(peer)] == rank) {
        addBytes(Function::send, {}, {Memory::in, 0}, bytes(), peer);
      }
    }
    int source = collective.sources[static_cast<size_t>(rank)];
    if (source < 0) {
      made.zeros.push_back({buffer, bytes()});
    } else {
      addBytes(Function::receive, {Memory::out, 0}, {}, bytes(), source);
    }
  }

  const Collective &collective;
  int rank, size;
  uint64_t elementBytes;
  size_t buffer = 0;
  CollectiveBuffer shape;
  CollectivePlan made;
};
} // namespace

Result<CollectivePlan> planCollective(const Collective &collective, int rank,
                                      int size) {
  return Planner(collective, rank, size).plan();
}

namespace {
/// The rows of one member. Slices of all members are numbered alike by all, and
/// a group of calls has those of one range of numbers: so no group of one
/// member waits for a later one of another.
class RowPlanner {
public:
  RowPlanner(const Collective &collective, int rank)
      : rows(collective.rows), rank(rank),
        rowBytes(collective.rows.elements *
                 static_cast<uint64_t>(sizeOf(collective.type))) {
    uint64_t bytes = collective.buffers[0].outer * rows.out * rowBytes;
    plans.emplace_back();
    if (bytes > 0) {
      plans.back().zeros.push_back({0, bytes});
    }
  }

  void add(uint64_t outer, const RowSlice &slice) {
    if (number++ % mostSlices == 0 && !plans.back().calls.empty()) {
      plans.emplace_back();
    }
    uint64_t bytes = static_cast<uint64_t>(slice.count) * rowBytes;
    CollectivePlace from{Memory::in,
                         (outer * rows.in + slice.first) * rowBytes};
    CollectivePlace to{Memory::out,
                       (outer * rows.out + slice.target) * rowBytes};
    if (bytes == 0) {
      return;
    }
    if (slice.from == rank && slice.to == rank) {
      plans.back().before.push_back({0, to, from, CopyBox{bytes, {}}});
    } else if (slice.from == rank) {
      addCall(Function::send, {}, from, bytes, slice.to);
    } else if (slice.to == rank) {
      addCall(Function::receive, to, {}, bytes, slice.from);
    }
  }

  std::vector<CollectivePlan> plans;

private:
  /// NCCL groups at most 2048 calls.
  static constexpr uint64_t mostSlices = 1024;

  void addCall(Function function, CollectivePlace to, CollectivePlace from,
               uint64_t count, int peer) {
    plans.back().calls.push_back(
        {function, 0, to, from, count, NcclType::i8, NcclReduction::sum, peer});
  }

  const CollectiveRows &rows;
  int rank;
  uint64_t rowBytes;
  uint64_t number = 0;
};
} // namespace

std::vector<CollectivePlan> planRows(const Collective &collective, int rank,
                                     int size, const RowLists &lists) {
  RowPlanner planner(collective, rank);
  for (uint64_t outer = 0; outer < collective.buffers[0].outer; ++outer) {
    forRowSlices(collective, size, static_cast<int64_t>(outer), lists,
                 [&](const RowSlice &slice) { planner.add(outer, slice); });
  }
  return std::move(planner.plans);
}

uint64_t payloadBytes(const Collective &collective, int members) {
  uint64_t bytes = 0;
  for (const CollectiveBuffer &buffer : collective.buffers) {
    bytes += buffer.outer * buffer.count *
             static_cast<uint64_t>(sizeOf(collective.type));
  }
  return traitsOf(collective.kind).splitsInput
             ? bytes * static_cast<uint64_t>(members)
             : bytes;
}

bool isScalar(const Collective &collective, int members) {
  return !traitsOf(collective.kind).takesCounts &&
         payloadBytes(collective, members) ==
             collective.buffers.size() *
                 static_cast<uint64_t>(sizeOf(collective.type));
}

} // namespace llmc::rt::cuda

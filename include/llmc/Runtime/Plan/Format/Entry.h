//===- Entry.h - What can be run, and what it exchanges ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry of a plan: its table of programs, and what passes between host and
// devices in a step.
//
//   in    inputs (from sources of data, or the caller), hyper values
//   out   metrics, fetched values
//
// Test: test/Runtime/Plan/
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_FORMAT_ENTRY_H
#define LLMC_RUNTIME_PLAN_FORMAT_ENTRY_H

#include "llmc/Runtime/Base/DataRule.h"
#include "llmc/Runtime/Base/HyperRule.h"
#include "llmc/Runtime/Layout/Layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::rt::plan {

/// 8 bytes: what a stage runs in a row of the table.
struct Cell {
  /// Index into Plan::programs, or -1: idle.
  int32_t program = -1;
  int32_t microbatch = 0;
};

/// Data of a microbatch. Each device with a box of it gets its box.
struct Input {
  std::string name;
  DType dtype = DType::i32;
  /// Of one microbatch over all data ranks; dim 0 counts samples.
  Layout layout;
  /// The stages that read it, in increasing order; empty: all.
  std::vector<int32_t> stages;
  /// Index into Plan::sources, or -1 when the caller supplies it.
  int32_t source = -1;
  /// Tokens or rows by which it lies after the first of its sample.
  int64_t dataOffset = 0;
  /// Integers of the data are below it; 0: any.
  int64_t limit = 0;
};

/// A source of data; its files are given when the plan runs.
struct DataSource {
  std::string name;
  DataRule rule;
};

struct Hyper {
  std::string name;
  DType dtype = DType::f32;
  HyperRule rule;
};

/// A scalar that `Copy` returns once in a step.
struct Metric {
  std::string name;
  DType dtype = DType::f32;
};

/// A tensor that `Copy` returns for the user (`--fetch`), or a box of one.
struct Fetch {
  std::string name;
  DType dtype = DType::f32;
  Layout layout;
  std::vector<int32_t> stages;
  /// Once for each microbatch, else once in a step.
  bool eachMicrobatch = false;
  /// The tensor of which this is a box; empty: it is whole, without the next.
  std::string of;
  std::vector<int64_t> origin, shape;
  const std::string &tensorName() const { return of.empty() ? name : of; }
};

enum class EntryKind : uint8_t { train = 0, evaluate = 1, forward = 2 };

struct Entry {
  std::string name;
  EntryKind kind = EntryKind::train;
  /// The entry before whose steps this one runs, once for each microbatch; the
  /// sums of its metrics are external values of that entry. Empty: none.
  std::string counts;
  int32_t numMicrobatches = 1;
  int32_t numChunks = 1;
  /// The backward of a chunk may leave the order of microbatches.
  bool reorder = false;
  /// Of a step of the whole model: flops of products that are added up, without
  /// what is computed twice (PaLM, 2204.02311, appendix B). 0: unknown.
  double modelFlops = 0;
  /// A program for each stage, or -1.
  std::vector<int32_t> prologue;
  std::vector<int32_t> epilogue;
  /// Rows of numStages cells.
  std::vector<Cell> table;
  std::vector<Input> inputs;
  std::vector<Hyper> hypers;
  std::vector<Metric> metrics;
  std::vector<Fetch> fetches;
};

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_FORMAT_ENTRY_H

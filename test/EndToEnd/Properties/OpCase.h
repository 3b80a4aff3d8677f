//===- OpCase.h - One op in random layouts ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op of a random program with the values of its operands is put alone into a
// function, in the form that phase 3 leaves: layouts in all types. The layouts
// are drawn from the op's sharding rule, so they are legal:
//
//   dot [m, k] x [k, n] -> [m, n] on a=2, b=3
//     k {a}, n {b}, padded:  [{}, {a}] x [{a}, {b}:6] -> [{}, {b}:6] P{a}
//
// Localized and run on all devices in lockstep, it must give its global result.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_PROPERTIES_OPCASE_H
#define LLMC_TEST_ENDTOEND_PROPERTIES_OPCASE_H

#include "LockstepHarness.h"
#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Analysis/Layouts/LayoutCheck.h"
#include <map>

namespace llmc::test {

/// How often a kind of factor of an op was split, or a partial operand carried.
using SplitCounts = std::map<std::string, int>;

class OpCase {
public:
  /// `mesh`: its axes as in `"a"=2, "b"=3`.
  OpCase(Operation *op, ArrayRef<HostTensor> operands, const std::string &mesh,
         uint64_t seed);

  /// Draws layouts; false when nothing of the op is split or partial.
  bool draw();
  /// What differs or fails, with the program; nothing when all is well.
  std::string check(SplitCounts &counts);

private:
  void drawSplits();
  void drawPartial();
  bool makeLayouts();
  bool evaluate();
  void count(SplitCounts &counts) const;
  void buildModule();
  void fillFunction(mlir::func::FuncOp function);
  std::string printed();
  std::string compare(ArrayRef<DeviceTensors> results, const rt::Mesh &devices);
  dist::MeshOp getMeshOp();
  bool isSplatConstant(unsigned operand) const;

  MLIRContext *context;
  Operation *op;
  SmallVector<HostTensor> operands, expected;
  std::mt19937_64 engine;
  graph::ShardingRule rule;
  dist::MeshAxesAttr axes;
  FactorSplits splits;
  /// Axes over which an operand (a result) is partial, with the kind.
  SmallVector<std::map<std::string, ReductionKind>> partialOperands;
  std::map<std::string, ReductionKind> partialResults;
  SmallVector<dist::LayoutAttr> operandLayouts, resultLayouts;
  mlir::OwningOpRef<ModuleOp> module;
};

} // namespace llmc::test

#endif // LLMC_TEST_ENDTOEND_PROPERTIES_OPCASE_H

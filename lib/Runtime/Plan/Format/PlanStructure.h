//===- PlanStructure.h - Indices, enumerators and sizes ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What checkStructure shares between the tables of a plan (PlanStructure.cpp)
// and its instructions (ActionStructure.cpp).
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_PLAN_PLANSTRUCTURE_H
#define LLMC_LIB_RUNTIME_PLAN_PLANSTRUCTURE_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include <string_view>

namespace llmc::rt::plan {

class StructureCheck {
public:
  explicit StructureCheck(const Plan &plan) : plan_(plan) {}

  Status run();

private:
  // Tables.
  Status checkExpressions();
  Status checkFrames();
  Status checkKernels();
  Status checkProgram(size_t index);
  Status checkMachine() const;
  Status checkEntry(const Entry &entry);
  Status checkCounting(const Entry &counting);
  Status checkState(const State &state);

  // Instructions of program `program_`.
  Status check(const KernelLaunch &launch) const;
  Status check(const Library &library) const;
  Status check(const Collective &collective) const;
  Status check(const Send &send) const;
  Status check(const Receive &receive) const;
  Status check(const Exchange &exchange) const;
  Status check(const Copy &copy) const;
  Status check(const Fill &fill) const;
  Status check(const Signal &signal) const;
  Status check(const Wait &wait) const;
  Status check(const Call &call) const;
  Status check(const Loop &loop) const;
  Status check(const Branch &branch) const;
  Status check(const While &loop) const;
  Status checkMessage(const Message &message) const;

  /// An index into a table of `size`; -1 only when `optional`.
  static Status index(std::string_view what, int64_t value, size_t size,
                      bool optional = false);
  static Status range(std::string_view what, int64_t value, int64_t low,
                      int64_t high);
  Status stages(const std::vector<int32_t> &stages) const;
  /// An expression that uses at most `parameters` parameters.
  Status expression(std::string_view what, ExprId id, int32_t parameters,
                    bool optional = true) const;
  /// Of a call or loop, from what `program_` sees.
  Status arguments(std::string_view what, const std::vector<ExprId> &list,
                   int32_t expected) const;
  Status operand(std::string_view what, const Operand &operand,
                 bool optional = false) const;
  Status operands(std::string_view what,
                  const std::vector<Operand> &list) const;
  /// An access, known, for each operand.
  static Status accesses(const std::vector<Operand> &operands,
                         const std::vector<Access> &access);
  static Status dtype(DType dtype);
  static Status checkIndices(const std::vector<ContractionIndex> &indices);
  static Status checkIndex(const AttentionIndex &index);
  static Status checkWindow(const ConvolutionWindow &window);
  static Status checkDescriptor(const ContractionShape &shape);
  static Status checkDescriptor(const ConvolutionShape &shape);
  static Status checkDescriptor(const AttentionShape &shape);
  static Status checkDescriptor(const ArgsortShape &shape);
  static Status checkDescriptor(const GroupedContractionShape &shape);
  Status programs(const std::vector<int32_t> &list) const;

  const Plan &plan_;
  /// For each expression: 1 + the greatest parameter in it.
  std::vector<int32_t> parametersOf_;
  size_t program_ = 0;
};

} // namespace llmc::rt::plan

#endif // LLMC_LIB_RUNTIME_PLAN_PLANSTRUCTURE_H

//===- PlanExport.h - The module's symbols as indices -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of the export share: tables from symbol to index, expressions
// and operands. Each part stands in a file of its own, in the order of calls.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TARGET_PLAN_PLANEXPORT_H
#define LLMC_LIB_TARGET_PLAN_PLANEXPORT_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Target/Plan/Plan.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace llmc::target {

/// `internal` with the location of `op`.
rt::Error errorAt(Operation *op, const llvm::Twine &message);

/// "layernorm.py:12:3", or the name of the location; "" when unknown.
std::string describeLocation(Location loc);

rt::Result<rt::DType> getDType(Operation *op, Type element);

class PlanExport {
public:
  PlanExport(ModuleOp module, const rt::plan::Manifest &manifest,
             const PlanOptions &options)
      : module(module), manifest(manifest), options(options) {}

  rt::Result<rt::plan::Plan> run();

  // PlanTables.cpp
  rt::Status exportMesh();
  void exportMachine();
  rt::Status exportDevice();
  rt::Status exportFrames();
  rt::Status exportKernels();
  int32_t locationOf(Location loc);
  rt::Result<rt::plan::ExprId> exprOf(Operation *op, plan::ExprAttr expr);
  rt::Result<rt::Layout> layoutOf(Operation *op, Attribute layout,
                                  ArrayRef<int64_t> shape);
  rt::Result<rt::plan::Operand> operandOf(Operation *op,
                                          plan::OperandAttr operand);

  // PlanStates.cpp
  rt::Status exportStates();
  rt::Status exportState(dist::StateOp state);
  rt::Status exportPart(plan::PartOp part);
  rt::Status exportSource(dist::StateOp state, rt::plan::Source &source);

  // PlanInstructions.cpp
  rt::Status exportPrograms();
  rt::Result<rt::plan::Action> actionOf(Operation *op);
  rt::Result<rt::plan::Action> kernelOf(plan::KernelOp op);
  rt::Result<rt::plan::Action> libraryOf(plan::LibraryOp op);
  rt::Result<rt::plan::Action> collectiveOf(plan::CollectiveOp op);
  rt::Result<rt::plan::Action> copyOf(plan::CopyOp op);
  rt::Result<rt::plan::Message> messageOf(Operation *op,
                                          plan::MessageAttr message);

  // PlanEntries.cpp
  rt::Status exportEntries();
  rt::Status exportEntry(plan::EntryOp op);
  rt::Status bindInput(plan::EntryOp op, plan::InputAttr attr,
                       rt::plan::Input &input);

  int32_t indexOf(const llvm::StringMap<int32_t> &table, StringRef name) const {
    auto found = table.find(name);
    return found == table.end() ? -1 : found->second;
  }
  /// Adds a name to a list of the plan, once.
  static int32_t intern(std::vector<std::string> &list,
                        llvm::StringMap<int32_t> &table, StringRef name);
  /// The number of `name` among an entry's host ends; entries that run the
  /// program must agree.
  rt::Result<int32_t> hostIndexOf(plan::CopyOp op);

  ModuleOp module;
  const rt::plan::Manifest &manifest;
  const PlanOptions &options;
  rt::plan::Plan plan;
  dist::MeshOp mesh;
  llvm::StringMap<int32_t> streams, frames, buffers, programs, kernels, symbols,
      transfers, files, states, locations;
  std::map<std::tuple<int, int32_t, int32_t, int64_t>, int32_t> expressions;
  /// Entries that run each program.
  llvm::StringMap<SmallVector<plan::EntryOp>> entriesOf;
  void addCalledPrograms();
};

} // namespace llmc::target

#endif // LLMC_LIB_TARGET_PLAN_PLANEXPORT_H

//===- ProgramBuilder.h - One program of a timeline -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program is a function whose arguments and results are slots or transfers,
// as their ports say.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_MEMORY_PROGRAMBUILDER_H
#define LLMC_LIB_TRANSFORMS_MEMORY_PROGRAMBUILDER_H

#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Dist/IR/StateBuffers.h"
#include "mlir/IR/Builders.h"

namespace llmc {

/// What all programs of a timeline share.
struct TimelineContext {
  ModuleOp module;
  const dist::StateBuffers &buffers;
  std::string name;
  int64_t microbatches = 1;
};

class ProgramBuilder {
public:
  /// Starts a program made of `source`, a function of the step or entry.
  ProgramBuilder(TimelineContext &context, mlir::func::FuncOp source,
                 mlir::Location loc, StringRef name);

  OpBuilder &getBuilder() { return builder; }

  /// A further argument. Types and ports are set for all of them at the end,
  /// since each change copies all.
  Value addArgument(Type type, dist::PortAttr port, mlir::Location loc);
  /// An argument that holds what the source's argument does.
  FailureOr<Value> addSlotOf(mlir::BlockArgument argument);
  /// An argument that holds the row of the running trips, of so many rows of
  /// the source's argument for each loop; see PortAttr.
  FailureOr<Value> addRowOf(mlir::BlockArgument argument,
                            ArrayRef<int64_t> rows);
  void addResult(Value value, dist::PortAttr port);
  /// A result that goes where result `index` of the source does; a sum is
  /// added to what earlier microbatches left. With `rows` it is a row.
  llvm::LogicalResult addReturn(Value value, unsigned index,
                                ArrayRef<int64_t> rows = {});

  dist::ProgramAttr finish(int64_t chunk, dist::Phase phase,
                           ArrayRef<int64_t> at, dist::LoopAttr loop = {});

private:
  /// The port of the program for that of the source's argument or result.
  FailureOr<dist::PortAttr> portOfArgument(unsigned index);
  FailureOr<dist::PortAttr> portOfReturn(unsigned index);
  FailureOr<dist::PortAttr> portOfState(dist::PortAttr port);
  Value accumulate(Value value, dist::PortAttr slot);

  TimelineContext &context;
  mlir::func::FuncOp source;
  OpBuilder builder;
  mlir::func::FuncOp program;
  dist::Signature signature;
  SmallVector<Value> results;
};

/// True where the source only hands an argument on: a state that it leaves as
/// it is needs nothing.
bool isPassedThrough(mlir::func::FuncOp source, mlir::OpOperand &returned);

/// Adds a program for each segment of a microbatch or entry, and the routes of
/// its transfers.
llvm::LogicalResult outlineSegments(TimelineContext &context,
                                    mlir::func::FuncOp source, StageMap &stages,
                                    SmallVectorImpl<Attribute> &programs,
                                    SmallVectorImpl<Attribute> &routes);

/// Adds a program for each stage, with the segments that it is part of.
llvm::LogicalResult outlineUpdate(TimelineContext &context,
                                  mlir::func::FuncOp source, StageMap &stages,
                                  SmallVectorImpl<Attribute> &programs);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_MEMORY_PROGRAMBUILDER_H

//===- Timelines.h - A timeline with its programs and slots -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes of phase 7b read of a `dist.timeline`: its programs, what
// each stage runs of them in which order, and the slots that they take and
// return. Once frames are made, `plan.slot` says where each slot lies.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_TIMELINES_H
#define LLMC_LIB_TRANSFORMS_ORDERING_TIMELINES_H

#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace llmc::ordering {

/// A program of a timeline with its function.
struct TimelineProgram {
  dist::ProgramAttr attr;
  mlir::func::FuncOp function;

  ArrayRef<int64_t> getStages() const { return attr.getAt().asArrayRef(); }
};

/// What a stage runs for a microbatch: a program by position in the list.
struct StageCall {
  int32_t program;
  int64_t microbatch;
};

struct Timeline {
  /// A handle, whose getters are not const.
  mutable dist::TimelineOp op;
  SmallVector<TimelineProgram> programs;
  /// Of each stage what it prepares, and the cells in order, updates and idle
  /// cells left out.
  std::vector<std::vector<StageCall>> walks;
  /// Of each stage the update's program, or -1.
  SmallVector<int32_t> updates;

  size_t getNumStages() const { return walks.size(); }
  bool isUpdate(int32_t program) const {
    return llvm::is_contained(updates, program);
  }
};

Timeline readTimeline(dist::TimelineOp op, mlir::SymbolTableCollection &tables);

/// The programs of a group are the parts of one chunk and phase, in the order
/// in which they run. The number of the last one of the group of `program`.
int32_t getLastPart(const Timeline &timeline, int32_t program);

/// The program of a cell, the first of its group, or -1.
int32_t findProgram(const Timeline &timeline, const dist::Cell &cell,
                    int64_t stage);

/// The timelines of a module and the functions of their programs: what the plan
/// takes the place of.
SmallVector<Operation *> getReplaced(ModuleOp module,
                                     mlir::SymbolTableCollection &tables);

/// A slot of a timeline's programs.
struct SlotUses {
  RankedTensorType type;
  /// Programs that take or return it, by position in the list.
  SmallVector<int32_t> takenBy, returnedBy;
};

/// In the order in which programs have them.
using TimelineSlots = llvm::MapVector<dist::PortAttr, SlotUses>;

/// An error where two programs see a slot with different types.
FailureOr<TimelineSlots> readSlots(const Timeline &timeline);

/// The stages whose programs use the slot, or nothing where all do.
SmallVector<int64_t> getStages(const Timeline &timeline, const SlotUses &uses);

/// The port of the slot's first argument or result, one with a layout first.
dist::PortAttr findPort(const Timeline &timeline, dist::PortAttr slot,
                        const SlotUses &uses);

/// A slot with the place that a `plan.slot` gives it.
struct PlacedSlot {
  SlotUses uses;
  plan::OperandAttr place;
  bool isFetched = false;
};

struct TimelinePlaces {
  llvm::MapVector<dist::PortAttr, PlacedSlot> slots;
  /// The kernels' own memory; null without.
  plan::OperandAttr scratch;
};

/// An error where a slot has no place, two, or one of another type.
FailureOr<TimelinePlaces> readPlaces(const Timeline &timeline);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_TIMELINES_H

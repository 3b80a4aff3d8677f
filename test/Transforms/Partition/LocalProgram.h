//===- LocalProgram.h - One op in random layouts ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws layouts for an op, localizes it, runs it on all devices in lockstep and
// compares with what the op computes of whole values.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_TRANSFORMS_PARTITION_LOCALPROGRAM_H
#define LLMC_TEST_TRANSFORMS_PARTITION_LOCALPROGRAM_H

#include "LockstepHarness.h"

namespace llmc::test {

class LayoutDraw;

/// A function of one op besides constants and the element-wise ops put before
/// it, as the entry of a program.
class LocalProgram {
public:
  LocalProgram(const char *mesh, const char *text, uint64_t seed);

  /// Empty when all is well; `ran` tells whether layouts were found.
  std::string check(bool &ran);

private:
  void addUnaries(const LayoutDraw &draw);
  void drawArguments();
  void setTypes(const LayoutDraw &draw);
  void addStates();
  std::string compare(ArrayRef<HostTensor> expected);
  std::string checkPadding(const DeviceTensors &parts, dist::LayoutAttr layout,
                           RankedTensorType type, const rt::Mesh &devices);
  std::string print();

  std::mt19937_64 engine;
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module;
  mlir::func::FuncOp function;
  dist::MeshOp meshOp;
  Operation *target = nullptr;
  SmallVector<HostTensor> arguments;
  SmallVector<dist::LayoutAttr> argumentLayouts, resultLayouts;
  SmallVector<RankedTensorType> resultTypes;
  std::vector<bool> isState, isWritten;
};

} // namespace llmc::test

#endif // LLMC_TEST_TRANSFORMS_PARTITION_LOCALPROGRAM_H

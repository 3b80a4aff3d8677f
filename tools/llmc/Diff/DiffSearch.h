//===- DiffSearch.h - The first op whose value differs ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of the program after phase 1 get numbers, which their locations carry
// through phases 2 to 4. Then each value that a device program computes in
// lockstep is gathered by the layout that it has after phase 3, and compared
// with the value of the op of its number in the whole program.
//
// Test: test/EndToEnd/diff.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_DIFFSEARCH_H
#define LLMC_TOOLS_LLMC_DIFFSEARCH_H

#include "../Interpret/InterpretMesh.h"
#include "../Options/Options.h"
#include "llmc/Interpreter/LockstepStepInterpreter.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>

namespace llmc::driver {

/// Gives each op of a function's own block a number, in the program's order.
void numberOps(ModuleOp module);
/// The op's number; nothing of what a pass has added.
std::optional<int64_t> getNumber(Operation *op);

/// A value that is not as it should be.
struct Finding {
  /// How many ops had run before.
  int64_t order = 0;
  /// Of the op, and how often it had run before.
  int64_t run = 0;
  std::string place, op;
  /// What is wrong with it, in words.
  std::string what;

  /// "model.py:31:7: 'stablehlo.exp' in microbatch 0: ...".
  std::string describe() const;
};

/// The first value of the whole program that is not finite though all that it
/// is computed from is.
class FiniteSearch {
public:
  void see(Operation *op, ArrayRef<HostTensor> results);
  std::optional<Finding> found;

private:
  llvm::DenseSet<Value> infinite;
  llvm::DenseMap<Operation *, int64_t> runs;
  int64_t numSeen = 0;
};

/// The numbered program on all devices of its mesh.
class DeviceProgram {
public:
  /// Runs phases 2 to 4 on a copy of `whole`, whose ops have numbers.
  static rt::Result<DeviceProgram> make(ModuleOp whole, const Options &options);

  mlir::OwningOpRef<ModuleOp> takeModule() { return std::move(local); }

private:
  friend class DifferenceSearch;
  mlir::OwningOpRef<ModuleOp> local;
  /// By number: the layout of the op's results after phase 3, and the op that
  /// computes them after phase 4.
  std::map<int64_t, SmallVector<dist::LayoutAttr>> layouts;
  llvm::DenseMap<Operation *, int64_t> counterparts;
};

/// Keeps values of the whole program, and compares those of devices with them.
class DifferenceSearch {
public:
  DifferenceSearch(const DeviceProgram &program, const rt::Mesh &mesh,
                   double tolerance)
      : program(program), mesh(mesh), tolerance(tolerance) {}

  void keep(Operation *op, ArrayRef<HostTensor> results);
  void compare(Operation *op, ArrayRef<DeviceTensors> results);

  /// The first in the program's order.
  std::optional<Finding> found;
  int64_t numCompared = 0;

private:
  std::string describeDifference(const HostTensor &want,
                                 const DeviceTensors &got,
                                 dist::LayoutAttr layout);

  const DeviceProgram &program;
  const rt::Mesh &mesh;
  double tolerance;
  struct Kept {
    int64_t order = 0;
    SmallVector<HostTensor> results;
  };
  /// By number and run of an op.
  std::map<std::pair<int64_t, int64_t>, Kept> values;
  llvm::DenseMap<Operation *, int64_t> runs;
};

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_DIFFSEARCH_H

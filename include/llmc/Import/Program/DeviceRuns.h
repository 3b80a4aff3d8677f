//===- DeviceRuns.h - Numbers of devices as axes of a mesh ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that knows devices by their numbers says for each device which part of
// a dimension it has. On a mesh, whose last axis counts fastest, the numbers of
// the parts are digits of the device's number, in some order. Consecutive
// digits are a run:
//
//   8 devices have the parts 0 1 2 3 0 1 2 3: the run of stride 1 and count 4
//   a mesh <"data"=2, "x"=2, "y"=2>: the axes x and y
//
// Test: test/Import/Program/DeviceRunsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_PROGRAM_DEVICERUNS_H
#define LLMC_IMPORT_PROGRAM_DEVICERUNS_H

#include "llmc/Import/Program/MakeProgram.h"

namespace llmc::import {

/// Digits of a device's number: number / stride % count.
struct DeviceRun {
  int64_t stride = 1, count = 1;
};
using DeviceRuns = llvm::SmallVector<DeviceRun, 2>;

/// The runs, major to minor and as few as can be, whose digits are `parts`: of
/// each device the number of its part, of which there are `count`. Nothing
/// where the numbers of parts are no digits.
std::optional<DeviceRuns> findRuns(llvm::ArrayRef<int64_t> parts,
                                   int64_t count);

/// "2, 4" and "\"data\"=2, \"x\"=4" for messages.
std::string showSizes(llvm::ArrayRef<int64_t> sizes);
std::string showMesh(const MeshAxes &axes);
/// The product of the sizes.
int64_t countDevices(const MeshAxes &axes);

/// Sizes of the fewest axes, major to minor, of which each run is some whole
/// ones; nothing where the ends of the runs are no chain of divisors.
std::optional<llvm::SmallVector<int64_t>>
cutDevices(int64_t devices, llvm::ArrayRef<DeviceRun> runs);

/// The axes of size above 1, and parts of such, major to minor, that together
/// are the run; nothing where it ends within an axis at no divisor.
std::optional<std::vector<AxisPart>> findParts(const MeshAxes &mesh,
                                               DeviceRun run);

} // namespace llmc::import

#endif // LLMC_IMPORT_PROGRAM_DEVICERUNS_H

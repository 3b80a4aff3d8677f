//===- DeviceTensors.h - A value on every device of a mesh ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value in lockstep is one tensor for each device, in the order of device
// numbers; it is empty where the value does not live. These functions go
// between such values and whole tensors, by the layout:
//
//   [1, 2, 3] under [{"x"}:4], x=2
//     split   ->  [1, 2] and [3, p]      p = 0, or poison
//     gather  ->  [1, 2, 3]              replicas agree, or an error
//
// Test: test/Interpreter/LockstepTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_INTERPRETER_DEVICETENSORS_H
#define LLMC_INTERPRETER_DEVICETENSORS_H

#include "llmc/Dialect/Dist/IR/RuntimeLayout.h"
#include "llmc/Support/HostTensor.h"
#include <string>
#include <vector>

namespace llmc {

using DeviceTensors = std::vector<HostTensor>;

/// Devices as messages name them: `"pipe"=1, "data"=0`.
std::string describeDevice(const rt::Mesh &mesh, int64_t device);

/// Whether a value of this layout lives on the device.
bool livesOn(dist::LayoutAttr layout, const rt::Mesh &mesh, int64_t device);

/// What reading by mistake must not leave unnoticed: NaN, or an integer far
/// above every index.
void fillWithPoison(HostTensor &tensor);

/// The terms combined in order, element by element, as a communicator does:
/// each step in the element's type, floats below f32 in f32.
HostTensor combineTensors(ArrayRef<HostTensor> terms, ReductionKind kind);

/// Copies a box between two tensors of one element type.
void copyBox(const HostTensor &from, ArrayRef<int64_t> fromOffsets,
             HostTensor &to, ArrayRef<int64_t> toOffsets,
             ArrayRef<int64_t> sizes);

/// The parts of `whole`; padding is zero, or poison. Of a value that is partial
/// over an axis, the first coordinate holds all and the others the neutral
/// element. Empty when layout, shape and mesh do not fit.
DeviceTensors splitTensor(const HostTensor &whole, dist::LayoutAttr layout,
                          const rt::Mesh &mesh, bool poison = false);

/// Writes the whole tensor (of the type of `whole`) that the devices hold, and
/// returns nothing; or returns what is wrong: a part that is missing or of
/// another type, replicas that differ in a bit.
std::string gatherTensor(const DeviceTensors &parts, dist::LayoutAttr layout,
                         const rt::Mesh &mesh, HostTensor &whole);

/// The first element that differs by more than `tolerance` times the larger
/// magnitude (at least 1), in words; nothing when there is none. With tolerance
/// 0 values must be equal (NaN equals NaN).
std::string compareTensors(const HostTensor &expected, const HostTensor &got,
                           double tolerance);

} // namespace llmc

#endif // LLMC_INTERPRETER_DEVICETENSORS_H

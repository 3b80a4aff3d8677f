//===- LockstepCollectives.h - What devices exchange ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The collectives on plain tensors. A group is the devices that differ in the
// op's axes alone; its members are ordered by these axes, major to minor.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_INTERPRETER_LOCKSTEPCOLLECTIVES_H
#define LLMC_LIB_INTERPRETER_LOCKSTEPCOLLECTIVES_H

#include "llmc/Interpreter/DeviceTensors.h"

namespace llmc {

/// The groups of the mesh along `axes`: lists of devices in member order.
std::vector<std::vector<int64_t>> listGroups(const rt::Mesh &mesh,
                                             ArrayRef<int32_t> axes);

/// One buffer in one group. `inputs` has a tensor for each member, empty for
/// those that take no part; `outputs` likewise, empty where nothing is
/// received, and `counts` the members' counts, if it takes any. Returns what is
/// wrong, or nothing.
std::string exchange(Operation *collective, const rt::Mesh &mesh,
                     ArrayRef<int32_t> axes, ArrayRef<int64_t> group,
                     ArrayRef<HostTensor> inputs, ArrayRef<HostTensor> counts,
                     llvm::MutableArrayRef<HostTensor> outputs);

/// Whether the member's value is read: of a broadcast only the sender's is.
bool isRead(Operation *collective, const rt::Mesh &mesh, ArrayRef<int32_t> axes,
            int64_t device);

} // namespace llmc

#endif // LLMC_LIB_INTERPRETER_LOCKSTEPCOLLECTIVES_H

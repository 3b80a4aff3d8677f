//===- Audit.h - Memory of devices, and what lies beside buffers ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_AUDIT_H
#define LLMC_LIB_RUNTIME_EXECUTOR_AUDIT_H

#include "Binding/Bound.h"
#include "Peers.h"
#include "llmc/Runtime/Executor/Session.h"

namespace llmc::rt::exec {

/// Of the devices of all processes, by number.
Result<std::vector<DeviceMemory>>
gatherMemory(const plan::Plan &plan, const std::vector<LocalDevice> &devices,
             const Peers &peers);

/// Counts the bytes of all arenas that lie in buffers and beside them, and
/// those beside them that are no longer `poison`.
Result<MemoryAudit> auditMemory(const plan::Plan &plan,
                                std::vector<LocalDevice> &devices,
                                uint8_t poison);

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_AUDIT_H

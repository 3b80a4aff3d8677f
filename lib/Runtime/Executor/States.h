//===- States.h - Initial values, and states as whole tensors -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States are filled on the host, box by box: drawn by the element's index in
// the whole tensor, or copied from a mapped file. So parts, shards, replicas
// and both copies of a tied weight agree; padding is zero.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_STATES_H
#define LLMC_LIB_RUNTIME_EXECUTOR_STATES_H

#include "Bound.h"
#include "llmc/Runtime/Executor/HostTensor.h"

#include <functional>
#include <string>

namespace llmc::rt::exec {

class States {
public:
  States(const plan::Plan &plan, std::vector<LocalDevice> &devices)
      : plan(plan), devices(devices) {}

  /// Fills every state. Files are relative to `folder`; others than those
  /// within it need `trust`.
  Status initialise(const std::string &folder, bool trust, uint64_t seed);

  const plan::State *find(const std::string &name) const;
  Result<HostTensor> read(const plan::State &state);
  Status write(const plan::State &state, const HostTensor &value);
  Result<bool> copiesAgree(const plan::State &state);

private:
  /// Calls `visit(buffer, run)` for each run of each device.
  using Visitor = std::function<void(std::byte *, int64_t, int64_t, int64_t)>;
  Status visit(const plan::State &state, const Visitor &visitor);
  Status draw(const plan::State &state, uint64_t seed);
  Status load(const plan::State &state, const std::string &path);
  void clear(const plan::State &state);
  std::byte *placeOf(const plan::StatePart &part, const LocalDevice &device);

  const plan::Plan &plan;
  std::vector<LocalDevice> &devices;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_STATES_H

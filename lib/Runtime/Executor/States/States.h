//===- States.h - Initial values, and states as whole tensors -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States are filled box by box: drawn by the element's index in the whole
// tensor, or copied from a mapped file. So parts, shards, replicas and both
// copies of a tied weight agree; padding is zero. Values travel through the
// devices' staging buffers. What a checkpoint has is in StateBoxes.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_STATES_H
#define LLMC_LIB_RUNTIME_EXECUTOR_STATES_H

#include "../Binding/Bound.h"
#include "../Peers.h"
#include "llmc/Runtime/Checkpoint/BoxFile.h"
#include "llmc/Runtime/Checkpoint/StoredTensors.h"
#include "llmc/Runtime/Executor/HostTensor.h"

#include <functional>
#include <string>

namespace llmc::rt::exec {

class States {
public:
  States(const plan::Plan &plan, std::vector<LocalDevice> &devices,
         const Peers &peers)
      : plan(plan), devices(devices), peers(peers) {}

  /// Where values come from. Files are relative to `folder`; others than those
  /// within it need `trust`.
  struct Origin {
    std::string folder;
    bool trust = false;
    uint64_t seed = 0;
  };
  /// Fills every state; without `isFilled` with zeros, as padding always is.
  Status initialise(const Origin &origin, bool isFilled);

  const plan::State *find(const std::string &name) const;
  Result<HostTensor> read(const plan::State &state);
  Status write(const plan::State &state, const HostTensor &value);
  Result<bool> copiesAgree(const plan::State &state);

  /// A box that a device of this process has, and none of a lower number.
  struct OwnedBox {
    const plan::State *state;
    const plan::StatePart *part;
    LocalDevice *device;
    Box box;

    TensorBox inTensor() const;
  };
  Result<std::vector<OwnedBox>> ownedBoxes();
  /// The elements of a box in row-major order, piece by piece, through a
  /// staging buffer of its device.
  using Sink = std::function<Status(const std::byte *values, size_t bytes)>;
  Status readBox(const OwnedBox &owned, Staging &staging, const Sink &sink);
  /// All states from a checkpoint. Error (15): states that it lacks, or has
  /// besides, or in another shape, all of them at once.
  Status restore(const StoredTensors &stored);

private:
  /// Takes `length` elements, those from `global` on of the whole tensor, as a
  /// device has them.
  using Visitor =
      std::function<Status(std::byte *values, int64_t global, int64_t length)>;
  Status visit(const plan::State &state, WindowUse use, const Visitor &visitor);
  /// With `only` one box of the part.
  Status visitPart(const plan::State &state, const plan::StatePart &part,
                   LocalDevice &device, Staging &staging, WindowUse use,
                   const Visitor &visitor, const Box *only = nullptr);
  Status fill(const plan::State &state);
  Status draw(const plan::State &state, uint64_t seed);
  Status load(const plan::State &state, const std::string &path);
  Status clear(const plan::State &state);
  std::byte *placeOf(const plan::StatePart &part, const LocalDevice &device);

  const plan::Plan &plan;
  std::vector<LocalDevice> &devices;
  const Peers &peers;
  Origin origin;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_STATES_H

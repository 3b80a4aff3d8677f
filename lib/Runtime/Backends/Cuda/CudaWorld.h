//===- CudaWorld.h - The GPUs that this process drives --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDAWORLD_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDAWORLD_H

#include "CudaCommunicator.h"
#include "CudaDevice.h"
#include "llmc/Runtime/Comm/Backend.h"

#include <deque>
#include <set>

namespace llmc::rt::cuda {

class CudaWorld final : public World {
public:
  /// `capturesSteps`: the first step of a key is captured, later ones are
  /// launched as graphs.
  CudaWorld(const Driver &driver, const WorldOptions &options,
            bool capturesSteps);
  ~CudaWorld() override;

  /// Opens the GPUs from `firstOrdinal` on.
  Status open(int firstOrdinal);

  int size() const override { return numDevices; }
  const std::vector<int> &local() const override { return numbers; }
  Transport *transport() const override { return messages.get(); }
  Device &device(int number) override { return own(number); }
  Result<std::vector<Communicator *>>
  split(const std::vector<std::vector<int>> &groups) override;
  void exchange(Stream &, const TransferPart *parts, uint32_t numParts,
                const Origin &) override;
  bool beginStep(uint64_t key) override;
  Status submit() override;
  Status wait(std::chrono::milliseconds deadline) override;
  Status drain(std::chrono::milliseconds deadline) override;
  std::optional<double> exposedSeconds() const override;
  std::vector<TraceSpan> takeTrace() override;
  std::string note() const override;

private:
  using Counts = std::shared_ptr<const std::vector<CommunicatorCounts>>;

  CudaDevice &own(int number) {
    return *devices[static_cast<size_t>(number - numbers[0])];
  }
  bool isLocal(int number) const {
    return number >= numbers.front() && number <= numbers.back();
  }
  Status checkGroup(const std::vector<int> &members,
                    std::vector<bool> &taken) const;
  std::vector<Communicator *>
  makeHandles(const std::vector<std::vector<int>> &groups,
              std::vector<CudaCommunicator *> &made);
  Status makeRoot();
  Result<NcclId> shareId();
  /// A communicator for each local device: those of one number are together.
  Result<std::vector<NcclComm>> splitRoot(const std::vector<int> &colors,
                                          const std::vector<int> &keys);

  /// Ends the unit that is filled and gives it to the devices.
  void post(UnitMode mode, uint64_t key);
  bool hasWork() const;
  /// Whether what is filled cannot be a graph.
  bool asksHost() const;
  /// Waits until the unit has ended on all devices of this process.
  Status await(uint64_t unit, std::chrono::milliseconds deadline);
  Result<bool> poll(uint64_t unit);
  Status checkComms(uint64_t unit);
  Status overdue(uint64_t unit, std::chrono::milliseconds deadline);
  /// Units up to this one have ended.
  Status settle(uint64_t unit);
  void abortComms();
  /// Of all devices; they go before communicators do.
  void dropGraphs();

  const Driver &driver;
  const Nccl *nccl = nullptr;
  KernelObjects objects;
  Fault fault;
  int numDevices;
  bool captures, traces;
  bool hasIssuedAnew = false; ///< A step that would have been captured.
  std::shared_ptr<Transport> messages;
  std::vector<int> numbers;
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<std::unique_ptr<CudaCommunicator>> communicators;
  std::vector<NcclComm> roots; ///< Of all devices; by local device.
  std::vector<NcclComm> comms; ///< All, roots first.
  bool areAborted = false;
  std::mutex aborting;

  // Units.
  uint64_t unit = 0; ///< That is filled.
  uint64_t settled = 0;
  std::deque<uint64_t> steps;      ///< Submitted, not waited for.
  std::set<uint64_t> captured;     ///< Keys.
  UnitMode mode = UnitMode::eager; ///< Of the step that began.
  uint64_t key = 0;
  std::array<Counts, numEnds> counts;
  std::map<uint64_t, Counts> countsOfKey;

  /// Go first: their threads use what stands above.
  std::vector<std::unique_ptr<CudaDevice>> devices;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDAWORLD_H

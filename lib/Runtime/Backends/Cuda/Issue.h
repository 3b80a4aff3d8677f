//===- Issue.h - A tape is handed to the driver ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_ISSUE_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_ISSUE_H

#include "CollectivePlan.h"
#include "CopyPlan.h"
#include "CudaDevice.h"

namespace llmc::rt::cuda {

/// One walk over the tape of a unit, by the device's thread with its context.
/// Equal whether a capture is under way or not.
class Issue {
public:
  Issue(CudaDevice &device, const Unit &unit);

  /// Takes staging and streams beside others, which no capture may.
  Status prepare();
  /// Forks the streams that have entries from the chain, enqueues what the
  /// piece has, joins.
  Status run(const Piece &piece);
  /// Those of all pieces, once all is prepared.
  std::shared_ptr<const Meetings> foreseen() const { return meetings; }

private:
  Status add(const Command &command, const LaunchCommand &work);
  Status add(const Command &command, const CallCommand &work);
  Status add(const Command &command, const CopyCommand &work);
  Status add(const Command &command, const FillCommand &work);
  Status add(const Command &command, const RecordCommand &work);
  Status add(const Command &command, const WaitCommand &work);
  Status add(const Command &command, const CollectiveCommand &work);
  Status add(const Command &command, const ExchangeCommand &work);
  /// A gate stands between pieces.
  Status add(const Command &, const GateCommand &) { return {}; }
  /// The body with it, which ends where its trips do; by the host's flag.
  Status add(const Command &command, const RepeatCommand &work);
  Status add(const Command &, const RepeatEndCommand &) { return {}; }

  Status forkStreams();
  Status joinStreams();
  /// With the entry's name and place where it fails.
  Status addOne(const Command &command);
  Status fillRows(CUdeviceptr to, const RowFill &part, CUstream stream);
  Status copyRows(CUdeviceptr to, CUdeviceptr from, const RowCopy &part,
                  CUstream stream);
  Status copyBox(CUdeviceptr to, CUdeviceptr from, const CopyBox &box,
                 const Command &command);
  Status copyAll(const std::vector<CollectiveCopy> &copies,
                 const Command &command, const uint64_t *ins,
                 const uint64_t *outs);
  Status copyToCounts(const Command &command, const CollectivePlan &plan);
  Status takeCounts(const Command &command, const CollectiveCommand &work);
  /// Reads the counts of all members, checks them, and moves the rows.
  Status addCounted(const Command &command, const CollectiveCommand &work);
  /// Copies, zeros, calls, copies. `outs` follow `ins`, and counts if there are
  /// any.
  Status addPlan(const Command &command, const CollectiveCommand &work,
                 const CollectivePlan &plan);
  Status takeStaging(const Command &command, const CollectiveCommand &work);
  Status takeSides(const Command &command, const ExchangeCommand &work);
  std::string peersOf(const Command &command,
                      const ExchangeCommand &work) const;
  std::vector<NcclComm> commsOf(const Command &command,
                                const ExchangeCommand &work) const;
  /// What the command meets others in becomes one of its stream's meetings.
  void foresee(const Command &command, std::string peers);
  /// The stream is about to come to an entry at which it meets others.
  Status mark(const Command &command);
  size_t numberOf(const Command &command) const {
    return static_cast<size_t>(&command - tape.commands.data());
  }
  /// Waits until what the event was recorded after has run. Error: what ended
  /// the world meanwhile, or what failed on the device.
  Status await(CUevent event);
  Result<bool> readFlag(const RepeatCommand &work);
  /// All commands of the body, or only what orders others.
  Status addTrip(size_t begin, size_t end, bool runs);
  Status checkTrip(size_t begin, size_t end, uint64_t trips, bool runs);
  Status check(CUresult result, const char *what) const {
    return driver.check(result, what);
  }

  CudaDevice &device;
  const Driver &driver;
  const Tape &tape;
  uint64_t number;              ///< Of the unit.
  std::vector<bool> isUsed;     ///< By number of the stream.
  std::vector<uint32_t> markOf; ///< By command; 0 where it meets nobody.
  std::shared_ptr<Meetings> meetings;
};

/// "'reduce' (m.py:88)"
std::string placeOf(const Origin &origin);

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_ISSUE_H

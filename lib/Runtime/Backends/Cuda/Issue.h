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
  std::shared_ptr<const Meetings> takeMeetings();

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
  Status takeStaging(const Command &command, const CollectiveCommand &work);
  Status takeSides(const Command &command, const ExchangeCommand &work);
  std::vector<NcclComm> commsOf(const Command &command,
                                const ExchangeCommand &work) const;
  /// The stream is about to come to an entry at which it meets others.
  Status mark(const Command &command, std::string peers);
  Status check(CUresult result, const char *what) const {
    return driver.check(result, what);
  }

  CudaDevice &device;
  const Driver &driver;
  const Tape &tape;
  std::vector<bool> isUsed; ///< By number of the stream.
  std::shared_ptr<Meetings> meetings;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_ISSUE_H

//===- CudaCommunicator.h - A member of a group of GPUs -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A communicator of NCCL for each group. A group of two has a second one: its
// transfers from rank 1 to rank 0 are on that, since NCCL orders all that is on
// one communicator, and the two directions need no order between them.
//
// Where this is weaker than `Communicator` asks for: reductions are added up in
// an order of NCCL's own, so that all members get the same bits, but not those
// of rank order.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDACOMMUNICATOR_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDACOMMUNICATOR_H

#include "CollectivePlan.h"
#include "Fault.h"
#include "Nccl.h"
#include "Tape.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace llmc::rt::cuda {

class CudaDevice;

/// What the members of a group that this process drives bring to the unit that
/// is filled, compared before a device sees any of it: a collective at which
/// one of them is missing would never end.
class Group {
public:
  Group(std::vector<int> members, std::vector<int> local);

  Status meet(const Collective &collective, int rank, const CudaStream &stream,
              const Origin &origin);
  /// Collectives of the member in the unit that is filled.
  uint64_t numMet(int rank) const { return issued[static_cast<size_t>(rank)]; }
  void transfer(bool isSend, int rank, uint64_t bytes, const CudaStream &stream,
                const Origin &origin);
  /// Ends the unit. Error (15) names who did not come, and who waits where.
  Status settle();

  /// Trips that a member has begun of what it repeats, and whether it has
  /// ended.
  struct Trips {
    uint64_t count = 0;
    bool hasEnded = false;
  };
  /// Member `rank` is there with the repeat in which collective `at`, given by
  /// unit and sequence, is. Of any device's thread. Error (15) where a member
  /// of this process has ended with fewer trips, or begun more.
  Status repeat(std::pair<uint64_t, uint64_t> at, int rank, Trips trips,
                const Origin &origin);

  const std::vector<int> members; ///< World numbers, by rank.
  const std::vector<int> local;   ///< Ranks.

private:
  struct Met {
    const Collective *collective;
    int rank;
    const CudaStream *stream;
    const Origin *origin;
  };
  struct Moved {
    uint64_t bytes;
    const CudaStream *stream;
    const Origin *origin;
  };
  bool isLocal(int rank) const;
  Status compareTransfers(int sender);
  std::string describe(int rank, const CudaStream &stream,
                       const Origin &origin) const;

  std::vector<Met> met;         ///< Whoever came first, by sequence.
  std::vector<uint64_t> issued; ///< By rank.
  std::array<std::vector<Moved>, 2> sends, receives; ///< By sender.

  std::mutex repeating;
  /// By the repeat, then by rank.
  std::map<std::pair<uint64_t, uint64_t>, std::vector<Trips>> repeats;
};

class CudaCommunicator final : public Communicator {
public:
  CudaCommunicator(CudaDevice &device, Fault &fault, Group &group, int rank)
      : device(device), fault(fault), group(group), myRank(rank) {}

  int rank() const override { return myRank; }
  int size() const override { return static_cast<int>(group.members.size()); }
  void collective(Stream &, const Collective &, const void *const *ins,
                  void *const *outs, const Origin &) override;
  void abort(const Status &reason) override;
  CommunicatorCounts counts() const override { return total; }

  // For the world.
  CudaDevice &owner() { return device; }
  Group &members() { return group; }
  int otherMember() const { return group.members[1 - myRank]; }
  /// Of the unit that is filled, which ends.
  CommunicatorCounts takeCounts();
  void addCounts(const CommunicatorCounts &counts);
  void countTransfer(uint64_t bytes);
  /// What `countIssued` has counted in the unit, which has ended.
  CommunicatorCounts takeIssued(uint64_t unit);
  /// Called by `abort`, before it returns.
  std::function<void()> endAll;

  // For the device's thread.
  /// "devices 1, 0 in all_gather": all other members.
  std::string peersOf(const Collective &collective) const;
  /// A collective of the unit that counts when it is issued.
  void countIssued(uint64_t unit, const Collective &collective, uint64_t bytes);
  Status call(const CollectivePlan &plan, const uint64_t *ins,
              const uint64_t *outs, CUdeviceptr staging, CUstream stream);
  /// That a part moves on: of its direction.
  NcclComm commOf(const ExchangePart &part) const {
    return comms[part.isSend ? myRank : 1 - myRank];
  }
  /// Part i on stream i, all at once.
  static Status exchange(const std::vector<ExchangePart> &parts,
                         const std::vector<CUstream> &streams);

  /// Of a group of more than one; the second one of a group of two.
  std::array<NcclComm, 2> comms{};
  const Nccl *nccl = nullptr;

private:
  struct Planned {
    Collective collective;
    std::shared_ptr<const CollectivePlan> plan;
  };
  Result<std::shared_ptr<const CollectivePlan>>
  planOf(const Collective &collective);
  void count(CommunicatorCounts &counts, const Collective &collective,
             uint64_t bytes) const;
  NcclResult callOne(const CollectiveCall &call, const void *from, void *to,
                     CUstream stream) const;

  CudaDevice &device;
  Fault &fault;
  Group &group;
  int myRank;
  CommunicatorCounts ofUnit, total;
  std::mutex counting;
  std::map<uint64_t, CommunicatorCounts> issued; ///< By unit.
  std::map<const Collective *, Planned> plans;
};

/// Waits until calls of communicators that return at once have been carried
/// out. Errors are those of the library; 11 after `patience` where there is
/// one, and what ended the world.
Status settleComms(const Nccl &nccl, const std::vector<NcclComm> &comms,
                   Fault &fault, std::string_view what);

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDACOMMUNICATOR_H

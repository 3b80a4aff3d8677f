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
  void transfer(bool isSend, int rank, uint64_t bytes, const CudaStream &stream,
                const Origin &origin);
  /// Ends the unit. Error (15) names who did not come, and who waits where.
  Status settle();

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
  /// Called by `abort`, before it returns.
  std::function<void()> endAll;

  // For the device's thread.
  /// "devices 1, 0 in all_gather": all other members.
  std::string peersOf(const Collective &collective) const;
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
  NcclResult callOne(const CollectiveCall &call, const void *from, void *to,
                     CUstream stream) const;

  CudaDevice &device;
  Fault &fault;
  Group &group;
  int myRank;
  CommunicatorCounts ofUnit, total;
  std::map<const Collective *, Planned> plans;
};

/// Waits until calls of communicators that return at once have been carried
/// out. Errors are those of the library; 11 after `patience` where there is
/// one, and what ended the world.
Status settleComms(const Nccl &nccl, const std::vector<NcclComm> &comms,
                   Fault &fault, std::string_view what);

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDACOMMUNICATOR_H

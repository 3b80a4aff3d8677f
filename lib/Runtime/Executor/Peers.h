//===- Peers.h - What processes tell each other ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where several processes run one plan, none of them sees all devices. What a
// session says of the whole is put together here: metrics, fetched values,
// states, counts. Every process asks for the same things in the same order, and
// gets the same answer.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_PEERS_H
#define LLMC_LIB_RUNTIME_EXECUTOR_PEERS_H

#include "llmc/Runtime/Comm/World.h"
#include "llmc/Runtime/Executor/HostTensor.h"

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace llmc::rt::exec {

/// The elements of a whole tensor that devices of this process have.
class Pieces {
public:
  explicit Pieces(int64_t elementBytes) : elementBytes(elementBytes) {}
  void add(int64_t global, const std::byte *values, int64_t length);

private:
  friend class Peers;
  int64_t elementBytes;
  std::string text;
};

class Peers {
public:
  /// Those of `world`, which lives longer.
  void use(World &world) { transport = world.transport(); }

  /// This is the only process.
  bool areNone() const { return !transport; }
  int size() const { return transport ? transport->size() : 1; }
  int own() const { return transport ? transport->process() : 0; }

  /// The values of each process, by process; each may have another number.
  template <typename Value>
  Result<std::vector<std::vector<Value>>>
  gather(const std::vector<Value> &values) const {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (!transport) {
      return std::vector<std::vector<Value>>{values};
    }
    std::string bytes(reinterpret_cast<const char *>(values.data()),
                      values.size() * sizeof(Value));
    LLMC_TRY_ASSIGN(std::vector<std::string> all,
                    gatherBytes(*transport, bytes));
    std::vector<std::vector<Value>> result;
    for (const std::string &each : all) {
      result.emplace_back(each.size() / sizeof(Value));
      if (!result.back().empty()) {
        std::memcpy(result.back().data(), each.data(),
                    result.back().size() * sizeof(Value));
      }
    }
    return result;
  }

  /// Writes into `whole` what other processes have of it. Of elements that
  /// several have, the value of the first process counts.
  Status complete(HostTensor &whole, const Pieces &own) const;

private:
  Transport *transport = nullptr;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_PEERS_H

//===- LoopbackTransport.cpp - Processes that are threads -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopbackTransport.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>

namespace llmc::rt::test {

namespace {

/// What is on its way.
struct Hub {
  using Key = std::tuple<uint32_t, int, int>; ///< Lane, from, to.
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<Key, std::deque<std::vector<char>>> messages;
};

class LoopbackTransport final : public Transport {
public:
  LoopbackTransport(std::shared_ptr<Hub> hub, int number, int processes)
      : hub(std::move(hub)), number(number), processes(processes) {}

  int process() const override { return number; }
  int size() const override { return processes; }

  Status exchange(uint32_t lane, const std::vector<PeerMessage> &sends,
                  const std::vector<PeerMessage> &receives) override {
    std::unique_lock<std::mutex> lock(hub->mutex);
    for (const PeerMessage &message : sends) {
      auto *data = static_cast<const char *>(message.data);
      hub->messages[{lane, number, message.process}].emplace_back(
          data, data + message.bytes);
    }
    hub->arrived.notify_all();
    for (const PeerMessage &message : receives) {
      auto &queue = hub->messages[{lane, message.process, number}];
      hub->arrived.wait(lock, [&] { return !queue.empty() || !reason.ok(); });
      LLMC_TRY(reason);
      if (queue.front().size() != message.bytes) {
        return makeError(ErrorKind::mismatch, "expected another size");
      }
      if (message.bytes) {
        std::memcpy(message.data, queue.front().data(), message.bytes);
      }
      queue.pop_front();
    }
    return reason;
  }

  void abort(const Status &why) override {
    std::lock_guard<std::mutex> lock(hub->mutex);
    reason = reason.ok() ? why : reason;
    hub->arrived.notify_all();
  }

private:
  std::shared_ptr<Hub> hub;
  int number, processes;
  Status reason;
};

} // namespace

std::vector<std::shared_ptr<Transport>> makeLoopback(int processes) {
  auto hub = std::make_shared<Hub>();
  std::vector<std::shared_ptr<Transport>> ends;
  for (int number = 0; number < processes; ++number) {
    ends.push_back(std::make_shared<LoopbackTransport>(hub, number, processes));
  }
  return ends;
}

} // namespace llmc::rt::test

//===- GlooTransport.cpp - Messages by Gloo -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gloo's unbound buffers over TCP. Gloo throws; nothing leaves this file.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Job/Job.h"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <csignal>
#include <memory>
#include <mutex>
#include <set>

namespace llmc::rt {

namespace {

/// Gloo's name for our store.
class GlooStore final : public gloo::rendezvous::Store {
public:
  explicit GlooStore(llmc::rt::Store &store) : store(store) {}

  void set(const std::string &key, const std::vector<char> &data) override {
    check(store.set("gloo." + key, std::string(data.begin(), data.end())));
  }
  std::vector<char> get(const std::string &key) override {
    Result<std::string> value = store.get("gloo." + key);
    check(value.status());
    return {value->begin(), value->end()};
  }
  void wait(const std::vector<std::string> &keys) override {
    for (const std::string &key : keys) {
      get(key);
    }
  }
  void wait(const std::vector<std::string> &keys,
            const std::chrono::milliseconds &) override {
    wait(keys);
  }

private:
  static void check(const Status &status) {
    if (!status.ok()) {
      throw gloo::IoException(status.message());
    }
  }

  llmc::rt::Store &store;
};

/// How long Gloo waits by itself: the watch over the job ends what hangs.
constexpr std::chrono::hours never(24 * 365);

using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;

class GlooTransport final : public Transport {
public:
  GlooTransport(llmc::rt::Store &store, const Place &place)
      : context(place.process, place.size) {
    gloo::transport::tcp::attr address;
    address.hostname = place.address;
    auto device = gloo::transport::tcp::CreateDevice(address);
    GlooStore adapter(store);
    context.setTimeout(std::chrono::minutes(5));
    context.connectFullMesh(adapter, device);
    context.setTimeout(never);
  }

  int process() const override { return context.rank; }
  int size() const override { return context.size; }

  Status exchange(uint32_t lane, const std::vector<PeerMessage> &sends,
                  const std::vector<PeerMessage> &receives) override {
    try {
      return tryExchange(lane, sends, receives);
    } catch (const std::exception &error) {
      std::lock_guard<std::mutex> lock(mutex);
      return reason.ok() ? makeError(ErrorKind::peerLost, error.what())
                         : reason;
    }
  }

  void abort(const Status &why) override {
    std::lock_guard<std::mutex> lock(mutex);
    reason = reason.ok() ? why : reason;
    for (gloo::transport::UnboundBuffer *buffer : waited) {
      buffer->abortWaitSend();
      buffer->abortWaitRecv();
    }
  }

private:
  Status tryExchange(uint32_t lane, const std::vector<PeerMessage> &sends,
                     const std::vector<PeerMessage> &receives) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      LLMC_TRY(reason);
    }
    std::vector<Buffer> out, in;
    for (const PeerMessage &message : receives) {
      in.push_back(context.createUnboundBuffer(message.data, message.bytes));
      if (message.bytes) {
        in.back()->recv(message.process, lane);
      }
    }
    for (const PeerMessage &message : sends) {
      out.push_back(context.createUnboundBuffer(message.data, message.bytes));
      if (message.bytes) {
        out.back()->send(message.process, lane);
      }
    }
    for (const Buffer &buffer : in) {
      LLMC_TRY(wait(*buffer, /*receives=*/true));
    }
    for (const Buffer &buffer : out) {
      LLMC_TRY(wait(*buffer, /*receives=*/false));
    }
    return Status::success();
  }

  Status wait(gloo::transport::UnboundBuffer &buffer, bool receives) {
    if (buffer.size == 0) {
      return Status::success();
    }
    {
      std::lock_guard<std::mutex> lock(mutex);
      LLMC_TRY(reason);
      waited.insert(&buffer);
    }
    bool done = false;
    std::exception_ptr thrown;
    try {
      done = receives ? buffer.waitRecv(nullptr, never)
                      : buffer.waitSend(nullptr, never);
    } catch (...) {
      thrown = std::current_exception();
    }
    std::lock_guard<std::mutex> lock(mutex);
    waited.erase(&buffer);
    LLMC_TRY(reason);
    if (thrown) {
      std::rethrow_exception(thrown);
    }
    return done ? Status::success()
                : makeError(ErrorKind::peerLost, "a message was given up");
  }

  gloo::rendezvous::Context context;
  std::mutex mutex;
  std::set<gloo::transport::UnboundBuffer *> waited;
  Status reason;
};

} // namespace

} // namespace llmc::rt

/// Gloo writes to sockets without MSG_NOSIGNAL: who has lost the other end must
/// not be killed for it. A handler of the program's own is kept.
static void survivePipes() {
  struct sigaction now{};
  if (::sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
    std::signal(SIGPIPE, SIG_IGN);
  }
}

extern "C" __attribute__((visibility("default"))) llmc::rt::Transport *
llmcMakeTransport(llmc::rt::Store &store, const llmc::rt::Place &place,
                  llmc::rt::Status &error) {
  using namespace llmc::rt;
  survivePipes();
  try {
    return new GlooTransport(store, place);
  } catch (const std::exception &thrown) {
    error = makeError(ErrorKind::peerLost,
                      std::string("Gloo cannot connect: ") + thrown.what());
    return nullptr;
  }
}

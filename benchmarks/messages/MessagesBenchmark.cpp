//===- MessagesBenchmark.cpp - All-reduce between processes ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llmc's all-reduce, which adds in rank order, beside the library's own of the
// same floats over the same kind of connections, in turns:
//
//   llmc-launch -n 4 -- messages-benchmark gloo 67108864 9
//
// Process 0 prints a line of JSON: seconds of each turn of both.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"
#include "llmc/Runtime/Job/Job.h"

#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

using namespace llmc::rt;
using Clock = std::chrono::steady_clock;

namespace {

/// Gloo's rendezvous by the store of the job.
class PeerStore final : public gloo::rendezvous::Store {
public:
  explicit PeerStore(llmc::rt::Store &store) : store(store) {}
  void set(const std::string &key, const std::vector<char> &data) override {
    (void)store.set("peer." + key, std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string &key) override {
    Result<std::string> value = store.get("peer." + key);
    return value.ok() ? std::vector<char>(value->begin(), value->end())
                      : std::vector<char>();
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
  llmc::rt::Store &store;
};

/// The library's own all-reduce.
class Peer {
public:
  Peer(Store &store, const JobPlace &place)
      : context(std::make_shared<gloo::rendezvous::Context>(place.process,
                                                            place.size)) {
    gloo::transport::tcp::attr address;
    address.hostname = "127.0.0.1";
    PeerStore adapter(store);
    auto device = gloo::transport::tcp::CreateDevice(address);
    context->connectFullMesh(adapter, device);
  }
  void meet() {
    gloo::BarrierOptions options(context);
    gloo::barrier(options);
  }
  void reduce(std::vector<float> &values) {
    gloo::AllreduceOptions options(context);
    options.setInput(values.data(), values.size());
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(
        [](void *out, const void *a, const void *b, size_t n) {
          auto *to = static_cast<float *>(out);
          auto *left = static_cast<const float *>(a);
          auto *right = static_cast<const float *>(b);
          for (size_t i = 0; i < n; ++i) {
            to[i] = left[i] + right[i];
          }
        });
    gloo::allreduce(options);
  }

private:
  std::shared_ptr<gloo::rendezvous::Context> context;
};

/// llmc's, on one device of each process.
class Own {
public:
  static Result<std::unique_ptr<Own>> make(std::shared_ptr<Transport> transport,
                                           uint64_t count) {
    auto own = std::make_unique<Own>();
    WorldOptions options;
    options.devices = transport->size();
    options.threads = 1;
    options.transport = std::move(transport);
    own->world = makeCpuWorld(options);
    std::vector<int> all(static_cast<size_t>(options.devices));
    std::iota(all.begin(), all.end(), 0);
    LLMC_TRY_ASSIGN(auto handles, own->world->split({all}));
    own->group = handles[0];
    Device &device = own->world->device(own->world->local()[0]);
    LLMC_TRY_ASSIGN(own->stream, device.stream({"benchmark", 0, 8, 64}));
    own->collective.buffers = {{1, count, 1}};
    own->collective.symbol = "c";
    return own;
  }
  Status reduce(std::vector<float> &values) {
    const void *in = values.data();
    void *out = values.data();
    group->collective(*stream, collective, &in, &out, origin);
    return world->drain(std::chrono::minutes(1));
  }

private:
  std::unique_ptr<World> world;
  Communicator *group = nullptr;
  Stream *stream = nullptr;
  Collective collective;
  Origin origin{"all-reduce", ""};
};

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Status run(const std::string &library, uint64_t bytes, int turns) {
  LLMC_TRY_ASSIGN(auto place, findJob(processEnvironment()));
  if (!place) {
    return makeError(ErrorKind::usage, "start this by llmc-launch");
  }
  LLMC_TRY_ASSIGN(auto job, Job::join(*place, {}));
  Peer peer(job->store(), *place);
  LLMC_TRY_ASSIGN(auto transport, job->connect(library));
  LLMC_TRY_ASSIGN(auto own, Own::make(transport, bytes / sizeof(float)));
  std::vector<float> values(bytes / sizeof(float), 1.0F);
  std::string ours, theirs;
  for (int turn = -2; turn < turns; ++turn) {
    peer.meet();
    Clock::time_point begin = Clock::now();
    LLMC_TRY(own->reduce(values));
    double first = secondsSince(begin);
    peer.meet();
    begin = Clock::now();
    peer.reduce(values);
    double second = secondsSince(begin);
    std::fill(values.begin(), values.end(), 1.0F);
    if (turn >= 0) {
      ours += fmt::format("{}{:.6f}", ours.empty() ? "" : ", ", first);
      theirs += fmt::format("{}{:.6f}", theirs.empty() ? "" : ", ", second);
    }
  }
  if (place->process == 0) {
    fmt::print("{{\"bytes\": {}, \"llmc\": [{}], \"peer\": [{}]}}\n", bytes,
               ours, theirs);
  }
  return job->leave(Status::success());
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: messages-benchmark gloo|mpi BYTES TURNS\n");
    return 2;
  }
  Status status =
      run(argv[1], std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]));
  if (!status.ok()) {
    fmt::print(stderr, "messages-benchmark: {}\n", describe(status.error()));
    return exitCode(status.kind());
  }
  return 0;
}

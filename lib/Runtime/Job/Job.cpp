//===- Job.cpp - A process among those that run one plan ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Job/JobTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Job/Job.h"

#include "StoreServer.h"
#include "Watch.h"

#include <fmt/format.h>

#include <unistd.h>

namespace llmc::rt {

using namespace job;

namespace {

/// Asks the meeting place, and says meanwhile that it waits.
class StoreClient final : public Store {
public:
  StoreClient(Socket socket, const JobOptions &options)
      : socket(std::move(socket)), options(options) {}

  Status set(const std::string &key, const std::string &value) override {
    std::lock_guard<std::mutex> lock(mutex);
    return send({FrameKind::set, joinTexts(key, value)});
  }
  Result<std::string> get(const std::string &key) override {
    std::lock_guard<std::mutex> lock(mutex);
    LLMC_TRY(send({FrameKind::get, key}));
    Result<std::string> value = waitForValue();
    return value.ok()
               ? value
               : value.status().inContext(fmt::format("waiting for '{}'", key));
  }

  /// From now on whoever is lost ends the wait for a value.
  void watchOver(const Watch &given) { watch = &given; }
  /// The other end has closed the connection.
  bool isClosed() const { return closed; }

private:
  Status send(const Frame &frame) {
    Status said = sendFrame(socket, frame);
    closed = closed || !said.ok();
    return said;
  }
  Result<std::string> waitForValue();

  bool closed = false;
  const Watch *watch = nullptr;
  std::mutex mutex;
  Socket socket;
  JobOptions options;
};

/// A meeting place that answers no beat is stopped or cut off.
Result<std::string> StoreClient::waitForValue() {
  const Clock::time_point end = Clock::now() + options.joining;
  Clock::time_point heard = Clock::now();
  for (;;) {
    Result<Frame> frame =
        receiveFrame(socket, std::min(end, Clock::now() + beatInterval));
    if (frame.ok()) {
      heard = Clock::now();
      if (frame->kind == FrameKind::value) {
        return std::move(frame->text);
      }
      continue;
    }
    closed = frame.kind() == ErrorKind::peerLost;
    if (frame.kind() != ErrorKind::timeout || Clock::now() > end) {
      return frame.status();
    }
    if (watch) {
      LLMC_TRY(watch->lost());
    }
    if (Clock::now() - heard > options.silence) {
      return makeError(ErrorKind::peerLost,
                       fmt::format("process 0 says nothing for {} ms, as one "
                                   "that is stopped or cut off does",
                                   options.silence.count()));
    }
    (void)sendFrame(socket, {FrameKind::beat, ""});
  }
}

std::string hostName() {
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

class TcpJob final : public Job {
public:
  TcpJob(const JobPlace &place, const JobOptions &options)
      : place(place), options(options) {}
  ~TcpJob() override { watch.reset(); }

  Status join();
  Store &store() override { return *client; }
  Status compare(const std::string &what, const std::string &value) override;
  Result<std::shared_ptr<Transport>>
  connect(const std::string &library) override;
  void guard(std::shared_ptr<Transport> transport) override {
    watch->guard(std::move(transport));
  }
  Status leave(const Status &status) override;

private:
  Result<Socket> greet(const std::string &watched);
  Result<std::string> nameOf(int process) {
    return client->get(fmt::format("name.{}", process));
  }

  JobPlace place;
  JobOptions options;
  Clock::time_point deadline;
  std::string address, name;
  std::unique_ptr<StoreServer> server; ///< Of process 0.
  std::unique_ptr<StoreClient> client;
  std::unique_ptr<Watch> watch;
};

/// A connection that has said who this is.
Result<Socket> TcpJob::greet(const std::string &watched) {
  LLMC_TRY_ASSIGN(Socket socket, connectTo(place.host, place.port, deadline));
  address = socket.localAddress();
  LLMC_TRY(
      sendFrame(socket, {FrameKind::hello,
                         joinTexts(place.token, joinTexts(watched, name))}));
  return socket;
}

Status TcpJob::join() {
  deadline = Clock::now() + options.joining;
  name = fmt::format("process {} (host {}, pid {})", place.process, hostName(),
                     ::getpid());
  if (place.process == 0) {
    LLMC_TRY_ASSIGN(Socket listener, listenAt(place.host, place.port));
    server = std::make_unique<StoreServer>(std::move(listener), place.token,
                                           place.size, options.silence);
  }
  LLMC_TRY_ASSIGN(Socket questions, greet(""));
  client = std::make_unique<StoreClient>(std::move(questions), options);
  Status said = client->set(fmt::format("name.{}", place.process), name);
  Result<std::string> first = said.ok() ? nameOf(0) : said;
  if (!first.ok()) {
    return client->isClosed()
               ? makeError(ErrorKind::mismatch,
                           fmt::format("expected process 0 at {} to know "
                                       "this job's token, got a closed "
                                       "connection",
                                       endpoint(place.host, place.port)))
                     .withHint("give all processes the same LLMC_TOKEN")
               : first.status();
  }
  LLMC_TRY_ASSIGN(Socket watching, greet(std::to_string(place.process)));
  watch = std::make_unique<Watch>(std::move(watching), *first, options);
  client->watchOver(*watch);
  for (int other = 0; other < place.size; ++other) {
    Status came = nameOf(other).status();
    if (!came.ok()) {
      LLMC_TRY(watch->lost());
      return came.kind() != ErrorKind::timeout
                 ? came
                 : came.inContext(fmt::format("process {} of {} did not come",
                                              other, place.size))
                       .withHint("start all of them, or run alone with "
                                 "--messages none");
    }
  }
  return Status::success();
}

Status TcpJob::compare(const std::string &what, const std::string &value) {
  LLMC_TRY(client->set(fmt::format("{}.{}", what, place.process), value));
  for (int other = 0; other < place.size; ++other) {
    LLMC_TRY_ASSIGN(std::string theirs,
                    client->get(fmt::format("{}.{}", what, other)));
    if (theirs != value) {
      LLMC_TRY_ASSIGN(std::string who, nameOf(other));
      return makeError(ErrorKind::mismatch,
                       fmt::format("expected the same {} everywhere, got '{}' "
                                   "in {} and '{}' in {}",
                                   what, value, name, theirs, who));
    }
  }
  return Status::success();
}

Result<std::shared_ptr<Transport>> TcpJob::connect(const std::string &library) {
  LLMC_TRY_ASSIGN(
      std::shared_ptr<Transport> transport,
      loadTransport(library, *client, {place.process, place.size, address}));
  guard(transport);
  return transport;
}

Status TcpJob::leave(const Status &status) {
  Status cause = status;
  // Who loses a connection hears a little later whose it was.
  for (int turn = 0;
       status.kind() == ErrorKind::peerLost && turn < 50 && watch->lost().ok();
       ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  bool isOurs = status.ok() || status.kind() != ErrorKind::peerLost;
  if (!isOurs && !watch->lost().ok()) {
    // The name of the lost one, and where this one waited for it.
    cause = watch->lost();
    cause = status.error().hint.empty() ? cause
                                        : cause.withHint(status.error().hint);
  }
  // Nobody waits for messages of a process that has failed, nor it for theirs.
  if (!cause.ok()) {
    watch->abort(cause);
  }
  watch->sayBye(cause.ok() ? "" : describe(cause.error()));
  if (server) {
    server->waitForAll(cause.ok() ? options.silence : options.silence / 10);
  }
  return cause;
}

} // namespace

Result<std::unique_ptr<Job>> Job::join(const JobPlace &place,
                                       const JobOptions &options) {
  auto job = std::make_unique<TcpJob>(place, options);
  LLMC_TRY(job->join());
  return std::unique_ptr<Job>(std::move(job));
}

} // namespace llmc::rt

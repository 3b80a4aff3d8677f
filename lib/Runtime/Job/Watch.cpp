//===- Watch.cpp - Says that this process lives, hears who does not -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Job/JobTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Watch.h"

#include "StoreServer.h"

#include <fmt/format.h>

namespace llmc::rt::job {

Watch::Watch(Socket given, std::string first, const JobOptions &options)
    : socket(std::move(given)), first(std::move(first)), options(options),
      heard(Clock::now()), thread([this] { run(); }) {}

Watch::~Watch() {
  leaving = true;
  socket.shutdown();
  thread.join();
}

void Watch::guard(std::shared_ptr<Transport> transport) {
  std::lock_guard<std::mutex> lock(mutex);
  guarded = std::move(transport);
  if (!reason.ok()) {
    guarded->abort(reason);
  }
}

Status Watch::lost() const {
  std::lock_guard<std::mutex> lock(mutex);
  return reason;
}

void Watch::abort(const Status &why) {
  std::lock_guard<std::mutex> lock(mutex);
  if (guarded) {
    guarded->abort(why);
  }
}

void Watch::sayBye(const std::string &error) {
  leaving = true;
  (void)sendFrame(socket, {FrameKind::bye, error});
}

void Watch::fail(const Status &status) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!reason.ok()) {
    return;
  }
  reason = status;
  if (guarded) {
    guarded->abort(reason);
  }
}

/// One turn: says that it lives, and hears what is said until the next.
Status Watch::listen() {
  (void)sendFrame(socket, {FrameKind::beat, ""});
  const Clock::time_point end = Clock::now() + beatInterval;
  while (!leaving) {
    Result<Frame> frame = receiveFrame(socket, end);
    if (frame.kind() == ErrorKind::timeout) {
      break;
    }
    if (!frame.ok()) {
      return makeError(ErrorKind::peerLost,
                       fmt::format("{} ended without a word, as one that is "
                                   "killed does",
                                   first));
    }
    heard = Clock::now();
    if (frame->kind == FrameKind::lost) {
      return makeError(ErrorKind::peerLost, frame->text);
    }
  }
  if (Clock::now() - heard > options.silence) {
    return makeError(ErrorKind::peerLost,
                     fmt::format("{} says nothing for {} ms, as one that is "
                                 "stopped or cut off does",
                                 first, options.silence.count()));
  }
  return Status::success();
}

/// All waits of ours have been ended. A library may still wait for itself, as
/// one that connects to a process that is stopped.
void Watch::waitForEnd(const Status &status) const {
  const Clock::time_point end = Clock::now() + options.ending;
  while (!leaving && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (!leaving && options.stuck) {
    options.stuck(status);
  }
}

void Watch::run() {
  while (!leaving) {
    Status status = listen();
    if (!status.ok()) {
      if (!leaving) {
        fail(status);
        waitForEnd(status);
      }
      return;
    }
  }
}

} // namespace llmc::rt::job

//===- MpiTransport.cpp - Messages by MPI ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Point-to-point messages of MPI 3: a lane is a tag. Completion is asked for
// rather than waited for, since a wait in MPI cannot be ended from another
// thread when the watch over the job finds a process lost.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Job/Job.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

namespace llmc::rt {

namespace {

/// A message of more bytes goes in pieces: MPI 3 counts elements by int.
constexpr uint64_t mostPieceBytes = uint64_t(1) << 30;

/// How often completion is asked for at once, and then after a pause.
constexpr int eagerTurns = 2000;
constexpr std::chrono::microseconds pause(50);

std::string describeMpi(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return std::string(text, static_cast<size_t>(length));
}

Status checkMpi(int code) {
  return code == MPI_SUCCESS
             ? Status::success()
             : makeError(ErrorKind::peerLost, "MPI: " + describeMpi(code));
}

class MpiTransport final : public Transport {
public:
  static Result<std::unique_ptr<MpiTransport>> make(const Place &place);
  ~MpiTransport() override;

  int process() const override { return number; }
  int size() const override { return processes; }
  Status exchange(uint32_t lane, const std::vector<PeerMessage> &sends,
                  const std::vector<PeerMessage> &receives) override;
  void abort(const Status &why) override {
    std::lock_guard<std::mutex> lock(mutex);
    reason = reason.ok() ? why : reason;
    aborted = true;
  }

private:
  Status begin(uint32_t lane, const std::vector<PeerMessage> &messages,
               bool receives, std::vector<MPI_Request> &requests) const;
  Status finish(std::vector<MPI_Request> &requests);
  Status readReason() {
    std::lock_guard<std::mutex> lock(mutex);
    return reason;
  }

  MPI_Comm communicator = MPI_COMM_NULL;
  int number = 0, processes = 1;
  uint32_t mostLane = 0;
  std::mutex mutex;
  std::atomic<bool> aborted{false};
  Status reason;
};

Result<std::unique_ptr<MpiTransport>> MpiTransport::make(const Place &place) {
  int level = MPI_THREAD_SINGLE;
  LLMC_TRY(
      checkMpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level)));
  auto made = std::make_unique<MpiTransport>();
  MPI_Comm_dup(MPI_COMM_WORLD, &made->communicator);
  MPI_Comm_set_errhandler(made->communicator, MPI_ERRORS_RETURN);
  MPI_Comm_rank(made->communicator, &made->number);
  MPI_Comm_size(made->communicator, &made->processes);
  if (level != MPI_THREAD_MULTIPLE) {
    return makeError(ErrorKind::mismatch,
                     "expected an MPI that several threads may call at once "
                     "(MPI_THREAD_MULTIPLE), got another");
  }
  if (made->number != place.process || made->processes != place.size) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected process {} of {} by MPI, got {} of "
                                 "{}",
                                 place.process, place.size, made->number,
                                 made->processes))
        .withHint("start the processes by mpirun, or use --messages gloo");
  }
  int *most = nullptr, isSet = 0;
  MPI_Comm_get_attr(made->communicator, MPI_TAG_UB, &most, &isSet);
  made->mostLane = isSet ? static_cast<uint32_t>(*most) : 32767;
  return made;
}

/// After an abort others may be gone, for whom MPI_Finalize would wait.
MpiTransport::~MpiTransport() {
  if (!aborted) {
    MPI_Comm_free(&communicator);
    MPI_Finalize();
  }
}

Status MpiTransport::begin(uint32_t lane,
                           const std::vector<PeerMessage> &messages,
                           bool receives,
                           std::vector<MPI_Request> &requests) const {
  for (const PeerMessage &message : messages) {
    for (uint64_t at = 0; at < message.bytes; at += mostPieceBytes) {
      char *data = static_cast<char *>(message.data) + at;
      auto size =
          static_cast<int>(std::min(mostPieceBytes, message.bytes - at));
      auto tag = static_cast<int>(lane);
      requests.push_back(MPI_REQUEST_NULL);
      LLMC_TRY(checkMpi(receives
                            ? MPI_Irecv(data, size, MPI_BYTE, message.process,
                                        tag, communicator, &requests.back())
                            : MPI_Isend(data, size, MPI_BYTE, message.process,
                                        tag, communicator, &requests.back())));
    }
  }
  return Status::success();
}

Status MpiTransport::finish(std::vector<MPI_Request> &requests) {
  for (int turn = 0;; ++turn) {
    int done = 0;
    LLMC_TRY(
        checkMpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(),
                             &done, MPI_STATUSES_IGNORE)));
    if (done) {
      return Status::success();
    }
    if (aborted) {
      return readReason();
    }
    turn < eagerTurns ? std::this_thread::yield()
                      : std::this_thread::sleep_for(pause);
  }
}

Status MpiTransport::exchange(uint32_t lane,
                              const std::vector<PeerMessage> &sends,
                              const std::vector<PeerMessage> &receives) {
  if (aborted) {
    return readReason();
  }
  if (lane > mostLane) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected at most {} lanes by this MPI, got "
                                 "{}",
                                 mostLane, lane))
        .withHint("use --messages gloo");
  }
  std::vector<MPI_Request> requests;
  LLMC_TRY(begin(lane, receives, /*receives=*/true, requests));
  LLMC_TRY(begin(lane, sends, /*receives=*/false, requests));
  Status status = finish(requests);
  return status.ok() || !aborted ? status : readReason();
}

} // namespace

} // namespace llmc::rt

extern "C" __attribute__((visibility("default"))) llmc::rt::Transport *
llmcMakeTransport(llmc::rt::Store & /*store*/, const llmc::rt::Place &place,
                  llmc::rt::Status &error) {
  auto made = llmc::rt::MpiTransport::make(place);
  if (!made.ok()) {
    error = made.status();
    return nullptr;
  }
  return made->release();
}

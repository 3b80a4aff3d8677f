//===- BoxReads.cpp - The states of a step's edge are read ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BoxReads.h"

#include "WriteOrder.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace llmc::rt::exec {

class BoxReader final : public BoxReading {
public:
  /// Reads the boxes from `first` on. `states` and `owned` outlive the thread.
  BoxReader(States &states, const std::vector<States::OwnedBox> &owned,
            size_t first, BoxSink sink);
  ~BoxReader() override { stop(); }

  bool isDone() const override { return done; }
  Status wait() override;
  void stop() override;
  double stoodSeconds() const override;

private:
  void run(size_t first);
  Status read(size_t first);

  States &states;
  const std::vector<States::OwnedBox> &owned;
  BoxSink sink;
  std::vector<Gate *> gates;       ///< Of the devices that have boxes.
  std::vector<double> stoodBefore; ///< By gate.
  std::atomic<bool> done{false}, stops{false};
  Status status; ///< The thread's until it has ended.
  std::thread thread;
};

BoxReader::BoxReader(States &states, const std::vector<States::OwnedBox> &owned,
                     size_t first, BoxSink sink)
    : states(states), owned(owned), sink(std::move(sink)) {
  for (const States::OwnedBox &box : owned) {
    Gate *gate = box.device->gate;
    if (std::find(gates.begin(), gates.end(), gate) == gates.end()) {
      gates.push_back(gate);
    }
  }
  for (Gate *gate : gates) {
    stoodBefore.push_back(gate->stoodSeconds());
    gate->open(first);
  }
  thread = std::thread([this, first] { run(first); });
}

Status BoxReader::read(size_t first) {
  for (size_t i = first; i < owned.size(); ++i) {
    if (stops) {
      return makeError(ErrorKind::internal,
                       "expected all states of a step, got some of them");
    }
    LLMC_TRY(states.readBox(owned[i], *owned[i].device->aside, sink.append));
    owned[i].device->gate->open(i + 1);
  }
  return Status::success();
}

/// Steps go on in any case, before the last of the sink is closed.
void BoxReader::run(size_t first) {
  status = read(first);
  for (Gate *gate : gates) {
    gate->open(UINT64_MAX);
  }
  if (status.ok()) {
    status = sink.close();
  }
  done = true;
}

Status BoxReader::wait() {
  if (thread.joinable()) {
    thread.join();
  }
  return status;
}

void BoxReader::stop() {
  stops = true;
  (void)wait();
}

double BoxReader::stoodSeconds() const {
  double seconds = 0;
  for (size_t i = 0; i < gates.size(); ++i) {
    seconds = std::max(seconds, gates[i]->stoodSeconds() - stoodBefore[i]);
  }
  return seconds;
}

BoxReads::~BoxReads() { stop(); }

Status BoxReads::find() {
  LLMC_TRY_ASSIGN(owned, states.ownedBoxes());
  numAtEdge = orderByWrites(plan, devices, owned);
  return Status::success();
}

std::vector<TensorBox> BoxReads::boxes() const {
  std::vector<TensorBox> boxes;
  for (const States::OwnedBox &each : owned) {
    boxes.push_back(each.inTensor());
  }
  return boxes;
}

Status BoxReads::readAll(const States::Sink &sink) {
  for (const States::OwnedBox &each : owned) {
    LLMC_TRY(states.readBox(each, *each.device->staging, sink));
  }
  return Status::success();
}

Status BoxReads::guard() {
  for (LocalDevice &device : devices) {
    LLMC_TRY_ASSIGN(device.gate, device.device->gate());
    LLMC_TRY_ASSIGN(device.aside, Staging::makeAside(*device.device));
  }
  isGuarded = true;
  return Status::success();
}

Result<std::shared_ptr<BoxReading>> BoxReads::begin(BoxSink sink) {
  if (!isGuarded) {
    return makeError(ErrorKind::usage,
                     "expected states that are guarded before the first step");
  }
  wait();
  for (size_t i = 0; i < numAtEdge; ++i) {
    LLMC_TRY(states.readBox(owned[i], *owned[i].device->aside, sink.append));
  }
  reading =
      std::make_shared<BoxReader>(states, owned, numAtEdge, std::move(sink));
  return std::shared_ptr<BoxReading>(reading);
}

void BoxReads::wait() {
  if (reading) {
    (void)reading->wait();
    reading.reset();
  }
}

void BoxReads::stop() {
  if (reading) {
    reading->stop();
    reading.reset();
  }
}

} // namespace llmc::rt::exec

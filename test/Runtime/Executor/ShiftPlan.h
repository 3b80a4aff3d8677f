//===- ShiftPlan.h - A plan that moves states on ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each step computes c <- b <- a <- 7, in this order, in its update; nothing
// writes d. So each edge has other values, and they are known.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_SHIFTPLAN_H
#define LLMC_TEST_RUNTIME_EXECUTOR_SHIFTPLAN_H

#include "llmc/Runtime/Executor/Session.h"
#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

#include <gtest/gtest.h>

namespace llmc::rt::test {

/// Elements of each state, unless a test says otherwise: 2 MiB.
constexpr int64_t shiftLength = int64_t(1) << 19;

inline plan::Plan makeShiftPlan(const char *target, int64_t length) {
  plan::PlanBuilder b({{}, -1});
  int32_t compute = b.addStream("C", plan::StreamKind::compute);
  int32_t frame = b.addFrame("state", plan::FrameKind::state);
  int32_t update = b.addProgram("update", plan::Phase::update, 0);
  std::vector<plan::Operand> views;
  for (const char *name : {"d", "a", "b", "c"}) {
    int32_t buffer = b.addBuffer(frame, name, DType::f32, {length});
    views.push_back(b.view(buffer));
    plan::State state;
    state.name = name;
    state.shape = {length};
    state.parts = {{{0}, Layout::whole({length}), {}, views.back()}};
    b.plan().states.push_back(state);
  }
  b.emit(update, compute, plan::Copy{views[3], views[2]});
  b.emit(update, compute, plan::Copy{views[2], views[1]});
  b.emit(update, compute, plan::Fill{views[1], 7});
  plan::Entry entry;
  entry.name = "train";
  entry.prologue = {-1};
  entry.epilogue = {update};
  b.plan().entries = {entry};
  b.plan().target = target;
  b.place();
  return b.take();
}

/// States of different values.
inline std::unique_ptr<Session> openShift(const char *target = "cpu",
                                          int64_t length = shiftLength) {
  SessionOptions options;
  options.bypassLoader = true;
  options.deadline = std::chrono::seconds(30);
  auto session = Session::open(makeShiftPlan(target, length), options);
  EXPECT_TRUE(session.ok()) << session.message();
  HostTensor value = HostTensor::zeros(DType::f32, {length});
  for (const char *name : {"d", "a", "b", "c"}) {
    for (int64_t i = 0; i < length; ++i) {
      storeElement(DType::f32, value.bytes.data(), i,
                   static_cast<double>(i % 1000 + name[0]));
    }
    EXPECT_TRUE((*session)->writeState(name, value).ok());
  }
  return *std::move(session);
}

/// What the session has, in the order of its boxes.
inline std::string readNow(Session &session) {
  std::string bits;
  Status status = session.readBoxes([&](const std::byte *values, size_t bytes) {
    bits.append(reinterpret_cast<const char *>(values), bytes);
    return Status::success();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  return bits;
}

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_EXECUTOR_SHIFTPLAN_H

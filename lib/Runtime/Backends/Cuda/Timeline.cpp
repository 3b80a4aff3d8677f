//===- Timeline.cpp - When what ran on a GPU ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/CudaWorldTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Timeline.h"

namespace llmc::rt::cuda {

void Timeline::clear() {
  for (CUevent event : events) {
    driver.cuEventDestroy(event);
  }
  events.clear();
  spare.clear();
  units.clear();
}

Result<CUevent> Timeline::takeEvent() {
  if (!spare.empty()) {
    CUevent event = spare.back();
    spare.pop_back();
    return event;
  }
  CUevent event = nullptr;
  LLMC_TRY(driver.check(driver.cuEventCreate(&event, CU_EVENT_DEFAULT),
                        "cuEventCreate"));
  events.push_back(event);
  return event;
}

Status Timeline::beginUnit(uint64_t unit, CUstream chain) {
  if (!isOn) {
    return Status::success();
  }
  std::lock_guard<std::mutex> lock(mutex);
  current = unit;
  units[unit].issued = std::chrono::steady_clock::now();
  LLMC_TRY_ASSIGN(units[unit].begin, takeEvent());
  return driver.check(driver.cuEventRecord(units[unit].begin, chain),
                      "cuEventRecord");
}

Status Timeline::begin(const CudaStream &stream, const Origin &origin,
                       bool isStall) {
  std::lock_guard<std::mutex> lock(mutex);
  Span span{&stream, &origin, nullptr, nullptr, isStall};
  LLMC_TRY_ASSIGN(span.begin, takeEvent());
  LLMC_TRY_ASSIGN(span.end, takeEvent());
  units[current].spans.push_back(span);
  return driver.check(driver.cuEventRecord(span.begin, stream.handle),
                      "cuEventRecord");
}

Status Timeline::end(const CudaStream &stream) {
  std::lock_guard<std::mutex> lock(mutex);
  return driver.check(
      driver.cuEventRecord(units[current].spans.back().end, stream.handle),
      "cuEventRecord");
}

Result<double> Timeline::secondsBetween(CUevent from, CUevent to) const {
  float milliseconds = 0;
  LLMC_TRY(driver.check(driver.cuEventElapsedTime(&milliseconds, from, to),
                        "cuEventElapsedTime"));
  return static_cast<double>(milliseconds) / 1e3;
}

Status Timeline::settle(uint64_t unit) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = units.find(unit);
  if (found == units.end()) {
    return Status::success();
  }
  using Clock = std::chrono::steady_clock;
  auto after = [](Clock::time_point time, double seconds) {
    return time + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(seconds));
  };
  UnitSpans &own = found->second;
  LLMC_TRY_ASSIGN(double since,
                  base ? secondsBetween(base, own.begin) : Result<double>(0.0));
  // The first unit begins when it is issued.
  baseTime = base ? after(baseTime, since) : own.issued;
  stalls = 0;
  for (const Span &span : own.spans) {
    LLMC_TRY_ASSIGN(double from, secondsBetween(own.begin, span.begin));
    LLMC_TRY_ASSIGN(double to, secondsBetween(own.begin, span.end));
    if (span.isStall) {
      stalls += to - from;
    } else {
      ended.push_back({device, span.stream->name, span.origin,
                       after(baseTime, from), after(baseTime, to)});
    }
    spare.push_back(span.begin);
    spare.push_back(span.end);
  }
  if (base) {
    spare.push_back(base);
  }
  base = own.begin;
  units.erase(found);
  return Status::success();
}

std::vector<TraceSpan> Timeline::take() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(ended, {});
}

} // namespace llmc::rt::cuda

//===- Timeline.h - When what ran on a GPU --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With a trace each entry lies between two events with timing, and steps are
// not captured. The device's clock counts from the beginning of each unit,
// which is placed on the host's by that of the unit before.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_TIMELINE_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_TIMELINE_H

#include "Driver.h"
#include "Tape.h"
#include "llmc/Runtime/Comm/Trace.h"

#include <map>
#include <mutex>
#include <vector>

namespace llmc::rt::cuda {

class Timeline {
public:
  Timeline(const Driver &driver, int device, bool isOn)
      : driver(driver), device(device), isOn(isOn) {}
  Timeline(const Timeline &) = delete;
  /// Gives the events back, in the device's context.
  void clear();

  bool on() const { return isOn; }

  // By the device's thread, while it issues a unit.
  Status beginUnit(uint64_t unit, CUstream chain);
  /// Events around what is enqueued on `stream` between the two.
  Status begin(const CudaStream &stream, const Origin &origin, bool isStall);
  Status end(const CudaStream &stream);

  /// By the host, when the unit has ended: its spans are kept for `take`, and
  /// its stalls are added up.
  Status settle(uint64_t unit);
  double stallSeconds() const { return stalls; }
  std::vector<TraceSpan> take();

private:
  struct Span {
    const CudaStream *stream;
    const Origin *origin;
    CUevent begin, end;
    bool isStall;
  };
  struct UnitSpans {
    CUevent begin = nullptr;
    std::chrono::steady_clock::time_point issued;
    std::vector<Span> spans;
  };
  Result<CUevent> takeEvent();
  Result<double> secondsBetween(CUevent from, CUevent to) const;

  const Driver &driver;
  int device;
  bool isOn;
  std::mutex mutex;
  std::map<uint64_t, UnitSpans> units;
  uint64_t current = 0;
  std::vector<CUevent> events, spare;
  CUevent base = nullptr; ///< Of the unit that ended last.
  std::chrono::steady_clock::time_point baseTime;
  double stalls = 0;
  std::vector<TraceSpan> ended;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_TIMELINE_H

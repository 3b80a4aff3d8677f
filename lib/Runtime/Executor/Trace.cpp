//===- Trace.cpp - What ran, as a file ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/EndToEnd/trace.test
//===----------------------------------------------------------------------===//

#include "Trace.h"

#include "llmc/Runtime/Base/Json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace llmc::rt::exec {

static double microseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

/// "device 3 (data=1, tensor=1)"
static std::string describeDevice(const Mesh &mesh, int device) {
  std::string text;
  std::vector<int64_t> coordinates = mesh.coordinatesOf(device);
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (mesh.axes[axis].size > 1) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ",
                          mesh.axes[axis].name, coordinates[axis]);
    }
  }
  return text.empty() ? fmt::format("device {}", device)
                      : fmt::format("device {} ({})", device, text);
}

namespace {
/// Lanes are numbered as the plan lists its streams; others, of the host's
/// copies, follow.
class Lanes {
public:
  explicit Lanes(const plan::Plan &plan) {
    for (const plan::Stream &stream : plan.streams) {
      numberOf(stream.name);
    }
  }
  size_t numberOf(std::string_view stream) {
    return numbers.try_emplace(std::string(stream), numbers.size())
        .first->second;
  }

private:
  std::map<std::string, size_t> numbers;
};
} // namespace

static std::string name(const char *what, int device, size_t lane,
                        std::string_view text) {
  return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},)"
                     R"("args":{{"name":{}}}}})",
                     what, device, lane, quoteAsJson(text));
}

static std::string describe(const TraceSpan &span, size_t lane,
                            std::chrono::steady_clock::time_point first) {
  return fmt::format(R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{:.3f},)"
                     R"("dur":{:.3f},"args":{{"source":{},"bytes":{}}}}})",
                     quoteAsJson(span.origin->name), span.device, lane,
                     microseconds(span.begin - first),
                     microseconds(span.end - span.begin),
                     quoteAsJson(span.origin->location), span.origin->bytes);
}

std::string printTrace(const plan::Plan &plan, const std::vector<int> &devices,
                       const std::vector<TraceSpan> &spans) {
  auto first = std::chrono::steady_clock::time_point::max();
  for (const TraceSpan &span : spans) {
    first = std::min(first, span.begin);
  }
  Lanes lanes(plan);
  std::vector<std::string> events;
  for (int device : devices) {
    events.push_back(
        name("process_name", device, 0, describeDevice(plan.mesh, device)));
    for (const plan::Stream &stream : plan.streams) {
      events.push_back(name("thread_name", device, lanes.numberOf(stream.name),
                            stream.name));
    }
  }
  for (const TraceSpan &span : spans) {
    events.push_back(describe(span, lanes.numberOf(span.stream), first));
  }
  return fmt::format(
      "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n",
      fmt::join(events, ",\n"));
}

} // namespace llmc::rt::exec

//===- ReportTest.cpp - The figures of a report ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of the sample plan. Compiled plans, and what the page shows of them:
// test/EndToEnd/report.test.
//===----------------------------------------------------------------------===//

#include "Page.h"
#include "ReportData.h"
#include "SamplePlan.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Print/PlanPrint.h"
#include "llmc/Runtime/Plan/Print/PlanTraffic.h"

#include <cmath>
#include <gmock/gmock.h>

namespace llmc::rt::report {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Report : testing::Test {
  plan::Plan plan = plan::makeSamplePlan();
  ReportFiles files;

  void save() {
    files.plan = testing::TempDir() + "llmc-report.llmc";
    ASSERT_TRUE(plan::writePlan(plan, files.plan).ok());
  }
  ReportData gather() {
    save();
    Result<ReportData> data = gatherData(files);
    EXPECT_TRUE(data.ok()) << data.message();
    return *std::move(data);
  }
  /// What a trace of `steps` steps has of the plan: span i takes i + 1 seconds
  /// in the first step, twice that in the next, ...; device `d` is a stage's.
  std::vector<TraceEvent> traceOf(const ReportData &data, int steps) {
    std::vector<TraceEvent> events;
    double now = 0;
    for (int step = 1; step <= steps; ++step) {
      for (size_t i = 0; i < data.planned.spans.size(); ++i) {
        const plan::PlannedSpan &span = data.planned.spans[i];
        double seconds = static_cast<double>(step * (i + 1));
        events.push_back(
            {span.stage * plan.mesh.numDevices() / plan.mesh.numStages(),
             plan.streams[span.stream].name,
             plan.programs[span.program].name + ": " +
                 nameOfAction(plan, instructionOf(plan, span).action),
             "", now, now + seconds});
        now += seconds;
      }
    }
    return events;
  }
};

TEST_F(Report, WhatIsCommunicatedIsThePlansTraffic) {
  ReportData data = gather();
  std::vector<plan::Traffic> traffic;
  for (int64_t stage : {0, 1}) {
    for (const plan::Traffic &row : plan::trafficOf(plan, *data.entry, stage)) {
      traffic.push_back(row);
    }
  }
  ASSERT_EQ(data.communication.size(), traffic.size());
  double seconds = 0;
  for (size_t i = 0; i < traffic.size(); ++i) {
    EXPECT_EQ(data.communication[i].count, traffic[i].count);
    EXPECT_GT(data.communication[i].predicted, 0);
    EXPECT_FALSE(data.communication[i].measured);
    seconds += data.communication[i].predicted;
  }
  double spans = 0;
  for (const plan::PlannedSpan &span : data.planned.spans) {
    spans += plan::isCommunication(instructionOf(plan, span).action)
                 ? span.end - span.begin
                 : 0;
  }
  EXPECT_NEAR(seconds, spans, 1e-12 + 1e-9 * spans);
}

// As much as is reserved for what always lives, never more of anything.
TEST_F(Report, WhatIsLiveIsReserved) {
  ReportData data = gather();
  ASSERT_EQ(data.memory.size(), 2u);
  for (const StageMemory &memory : data.memory) {
    EXPECT_LE(memory.peak, memory.reserved.total);
    ASSERT_FALSE(memory.points.empty());
    EXPECT_EQ(memory.points.front().seconds, 0);
    for (const MemoryPoint &point : memory.points) {
      auto state = static_cast<size_t>(plan::FrameKind::state);
      EXPECT_EQ(point.bytes[state], memory.reserved.bytes[state]);
      for (int kind = 0; kind < plan::numFrameKinds; ++kind) {
        EXPECT_GE(point.bytes[kind], 0);
        EXPECT_LE(point.bytes[kind], memory.reserved.bytes[kind]);
      }
    }
    auto act = static_cast<size_t>(plan::FrameKind::act);
    EXPECT_EQ(memory.points.back().bytes[act], 0) << "all is read";
  }
}

// In each trip one value follows the other in one place.
TEST_F(Report, ValuesOfATripLiveInIt) {
  plan::PlanBuilder builder({{{"data", 1}}, -1});
  int32_t stream = builder.addStream("C", plan::StreamKind::compute);
  int32_t frame = builder.addFrame("tmp", plan::FrameKind::tmp);
  int32_t first = builder.addBufferAt(frame, 0, "a", DType::f32, {16}),
          second = builder.addBufferAt(frame, 0, "b", DType::f32, {16});
  int32_t trip = builder.addProgram("trip", plan::Phase::other);
  for (int32_t buffer : {first, first, second, second}) {
    builder.emit(trip, stream, plan::Fill{builder.view(buffer), 0});
  }
  builder.plan().programs[trip].numParameters = 1;
  int32_t step = builder.addProgram("step", plan::Phase::forward, 0);
  builder.emit(step, stream, plan::Loop{3, trip, {}});
  plan::Entry entry;
  entry.name = "train";
  entry.numChunks = 1;
  entry.prologue = entry.epilogue = {-1};
  entry.table = {{step, 0}};
  builder.plan().entries = {entry};
  builder.place();
  plan = builder.take();
  ReportData data = gather();
  EXPECT_EQ(data.planned.spans.size(), 12u);
  EXPECT_EQ(data.memory.at(0).peak, 64);
  EXPECT_EQ(data.kernels.at(0).count, 12);
}

TEST_F(Report, TracesAreMatchedSpanBySpan) {
  ReportData data = gather();
  Result<MeasuredStep> measured = matchTrace(data, traceOf(data, 3));
  ASSERT_TRUE(measured.ok()) << measured.message();
  EXPECT_EQ(measured->steps, 3);
  for (size_t i = 0; i < data.planned.spans.size(); ++i) {
    double own = static_cast<double>(i + 1);
    EXPECT_DOUBLE_EQ(measured->seconds[i], 2 * own);
    EXPECT_DOUBLE_EQ(measured->last[i].end - measured->last[i].begin, 3 * own);
    EXPECT_EQ(measured->last[i].instruction, data.planned.spans[i].instruction);
  }
  auto count = static_cast<double>(data.planned.spans.size());
  EXPECT_DOUBLE_EQ(measured->length, 3 * count * (count + 1) / 2);
}

TEST_F(Report, OtherTraces) {
  ReportData data = gather();
  std::vector<TraceEvent> events = traceOf(data, 2);
  auto refuse = [&](const std::vector<TraceEvent> &other) {
    Status status = matchTrace(data, other).status();
    EXPECT_EQ(status.kind(), ErrorKind::mismatch);
    return status.message();
  };
  EXPECT_THAT(refuse({}), HasSubstr("got 0"));
  std::vector<TraceEvent> one(events.begin() + 1, events.end());
  EXPECT_THAT(refuse(one), HasSubstr("events for each step on stream"));
  std::vector<TraceEvent> renamed = events;
  renamed[0].name = "x\033";
  EXPECT_THAT(refuse(renamed), HasSubstr("got 'x\\x1b'"));
  // Those of other devices and of the host's copies do not count, nor does
  // what another entry runs.
  plan::Program another;
  another.name = "another";
  another.instructions = {{0, -1, plan::Fill()}};
  data.plan.programs.push_back(another);
  events.push_back({0, "C", "another: fill", "", 0, 1});
  events.push_back({1, "C", "other", "", 0, 1});
  events.push_back({0, "staging", "other", "", 0, 1});
  EXPECT_TRUE(matchTrace(data, events).ok());
}

// How often a loop runs that only the run ends, no plan says.
TEST_F(Report, OpenLoops) {
  ReportData data = gather();
  std::vector<TraceEvent> events = traceOf(data, 1);
  plan::PlannedSpan span = data.planned.spans[0];
  data.plan.programs[span.program].instructions[span.instruction].action =
      plan::While();
  EXPECT_EQ(matchTrace(data, events).kind(), ErrorKind::unsupported);
}

TEST_F(Report, Refusals) {
  save();
  files.entry = "forward";
  EXPECT_EQ(makeReport(files).message(),
            "--entry: expected one of train, got 'forward'");
  files.entry = "train";
  files.run = testing::TempDir() + "llmc-report-run";
  ASSERT_TRUE(
      writeFileAtomically(files.run, "{\"event\": \"run\", \"plan\": \"12\"}\n")
          .ok());
  Status other = makeReport(files).status();
  EXPECT_EQ(other.kind(), ErrorKind::mismatch);
  EXPECT_THAT(other.message(), HasSubstr("got one of 12"));
  files.plan = "/none";
  EXPECT_EQ(makeReport(files).kind(), ErrorKind::malformed);
}

// Whatever names hold, the page has no element of theirs.
TEST_F(Report, HostileNames) {
  std::string bad = "</script><img src=x onerror=\"a()\">\033[31m\n'&";
  plan.name = bad + std::string(1 << 20, 'x');
  plan.mesh.axes[1].name = bad;
  plan.streams[0].name = bad;
  for (plan::Program &program : plan.programs) {
    program.name += bad;
  }
  for (plan::State &state : plan.states) {
    state.name += bad;
  }
  plan.locations.assign(std::max<size_t>(plan.locations.size(), 1), bad);
  for (plan::Kernel &kernel : plan.kernels) {
    kernel.name += bad;
  }
  save();
  files.run = testing::TempDir() + "llmc-report-names";
  ASSERT_TRUE(writeFileAtomically(files.run,
                                  "{\"step\": 0, \"loss\": 1, \"</script>\": "
                                  "2, \"metrics\": {\"<b>\\u001b\": 3}}\n"
                                  "{\"event\": \"warning\", \"text\": "
                                  "\"<img>\"}\n")
                  .ok());
  Result<std::string> page = makeReport(files);
  ASSERT_TRUE(page.ok()) << page.message();
  EXPECT_THAT(*page, Not(HasSubstr("<img")));
  EXPECT_THAT(*page, Not(HasSubstr("\033")));
  EXPECT_THAT(*page, HasSubstr("&lt;/script&gt;&lt;img src=x onerror=&quot;"));
  EXPECT_LT(page->size(), size_t(1) << 20);
  size_t scripts = 0;
  for (size_t at = 0; (at = page->find("</script>", at)) != std::string::npos;
       ++at) {
    ++scripts;
  }
  EXPECT_EQ(scripts, 2u);
}

TEST_F(Report, DataHasNoTags) {
  ReportData data = gather();
  data.run = RunRecord();
  data.run->steps = {{0, {{"</script>\xff", 1}, {"loss", INFINITY}}}};
  std::string json = printData(data);
  EXPECT_THAT(json, Not(HasSubstr("<")));
  EXPECT_THAT(json, HasSubstr("\\u003c/script\\u003e"));
  EXPECT_THAT(json, HasSubstr("\"loss\":null"));
}

} // namespace
} // namespace llmc::rt::report

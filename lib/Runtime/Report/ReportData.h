//===- ReportData.h - The figures of a report -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All that a page shows is worked out here, as plain data: the pictures and the
// tables draw it, and the page has it as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_REPORT_REPORTDATA_H
#define LLMC_LIB_RUNTIME_REPORT_REPORTDATA_H

#include "RunRecord.h"
#include "llmc/Runtime/Plan/Format/Plan.h"
#include "llmc/Runtime/Plan/Verify/PlanTimes.h"
#include "llmc/Runtime/Report/Report.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace llmc::rt::report {

/// A step of a trace: the spans of the plan with the times that they took, on
/// the first device of each stage. Seconds from the first span on.
struct MeasuredStep {
  int64_t steps = 0; ///< In the trace.
  std::vector<plan::PlannedSpan> last;
  /// Of each span of the plan, the mean over all steps.
  std::vector<double> seconds;
  /// Until the last span of the last step has ended.
  double length = 0;
};

/// What one stage's device communicates in a step, in one way.
struct CommunicationRow {
  int32_t stage = 0;
  std::string kind, axes;
  bool isScalar = false;
  int64_t count = 0;
  uint64_t bytes = 0;   ///< The greater of what goes in and what comes out.
  double predicted = 0; ///< Seconds.
  std::optional<double> measured;
};

/// What computes or copies, by name and place in the model's text; of the first
/// device of each stage together.
struct KernelRow {
  std::string name, source;
  int64_t count = 0; ///< In a step.
  double operations = 0, bytes = 0, predicted = 0;
  std::optional<double> measured;
};

/// Live bytes of each kind on one stage, from `seconds` on.
struct MemoryPoint {
  double seconds = 0;
  std::array<int64_t, plan::numFrameKinds> bytes = {};
};
struct StageMemory {
  plan::MemoryReport reserved;
  std::vector<MemoryPoint> points;
  int64_t peak = 0;
};

struct ReportData {
  plan::Plan plan;
  const plan::Entry *entry = nullptr;
  std::string planHash;
  plan::PlannedStep planned;
  std::optional<MeasuredStep> measured;
  std::optional<RunRecord> run;
  std::vector<StageMemory> memory; ///< By stage.
  std::vector<CommunicationRow> communication;
  std::vector<KernelRow> kernels; ///< All, the dearest first.
};

Result<ReportData> gatherData(const ReportFiles &files);

// Its parts, each from what stands before it.
Result<MeasuredStep> matchTrace(const ReportData &data,
                                const std::vector<TraceEvent> &events);
std::vector<StageMemory> traceMemory(const ReportData &data);
std::vector<CommunicationRow> listCommunication(const ReportData &data);
std::vector<KernelRow> listKernels(const ReportData &data);

/// The share of a step in which a stage's compute stream runs nothing.
double idleShare(const ReportData &data,
                 const std::vector<plan::PlannedSpan> &spans, double length,
                 int32_t stage);

inline const plan::Instruction &instructionOf(const plan::Plan &plan,
                                              const plan::PlannedSpan &span) {
  return plan.programs[span.program].instructions[span.instruction];
}

} // namespace llmc::rt::report

#endif // LLMC_LIB_RUNTIME_REPORT_REPORTDATA_H

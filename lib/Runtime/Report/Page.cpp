//===- Page.cpp - A plan and a run of it as one page ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Page.h"

#include "Html.h"
#include "Pictures.h"
#include "llmc/Runtime/Base/Version.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::report {

std::string printFigure(const std::string &label, double width, double height,
                        const std::string &shapes) {
  return fmt::format("<figure tabindex=\"0\"><figcaption>{}</figcaption><svg "
                     "role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {:.0f} "
                     "{:.0f}\">\n{}</svg><p class=\"detail\" "
                     "aria-live=\"polite\"></p></figure>\n",
                     label, label, width, height, shapes);
}

std::string drawTimeAxis(double left, double right, double top, double bottom,
                         double length) {
  std::string shapes;
  double step = tickStep(length, 8);
  for (int64_t tick = 0; static_cast<double>(tick) * step <= length * 1.0001;
       ++tick) {
    double seconds = static_cast<double>(tick) * step;
    double x = left + (right - left) * seconds / length;
    shapes +=
        fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>"
                    "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}"
                    "</text>\n",
                    x, top, bottom, x, bottom + 14, printSeconds(seconds));
  }
  return shapes;
}

static std::string tile(const std::string &value, const std::string &label) {
  return fmt::format("<li><b>{}</b><span>{}</span></li>\n", value, label);
}

/// Of the middle step of the run.
static std::optional<double> medianSeconds(const RunRecord &run) {
  std::vector<double> seconds;
  for (const StepRecord &step : run.steps) {
    auto found = step.values.find("seconds");
    if (found != step.values.end()) {
      seconds.push_back(found->second);
    }
  }
  if (seconds.empty()) {
    return std::nullopt;
  }
  auto middle =
      seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

static std::string printTiles(const ReportData &data) {
  const plan::Plan &plan = data.plan;
  int64_t most = 0;
  for (int64_t bytes : plan.arenas) {
    most = std::max(most, bytes);
  }
  std::string html = "<ul class=\"tiles\">\n";
  html += tile(std::to_string(plan.mesh.numDevices()),
               plan.mesh.numDevices() == 1 ? "device" : "devices");
  html += tile(printSize(static_cast<double>(most)), "on the fullest device");
  html +=
      tile(printSeconds(data.planned.seconds),
           plan::isMachineKnown(plan) ? "a step, predicted by the machine"
                                      : "a step, by usual numbers of a core");
  html += tile(printPercent(data.planned.seconds > 0
                                ? data.planned.exposed / data.planned.seconds
                                : 0),
               "of it exposed communication, predicted");
  if (data.entry->modelFlops > 0) {
    html += tile(printCount(data.entry->modelFlops),
                 "flops of the model in a step");
  }
  if (data.measured) {
    html +=
        tile(printSeconds(data.measured->length),
             fmt::format("the last of {} traced steps", data.measured->steps));
  }
  if (auto seconds = data.run ? medianSeconds(*data.run) : std::nullopt) {
    html +=
        tile(printSeconds(*seconds),
             fmt::format("median of {} logged steps", data.run->steps.size()));
  }
  return html + "</ul>\n";
}

static std::string describeIdle(const ReportData &data,
                                const std::vector<plan::PlannedSpan> &spans,
                                double length) {
  std::string text;
  for (int64_t stage = 0; stage < data.plan.mesh.numStages(); ++stage) {
    text += fmt::format("{}stage {}: {}", text.empty() ? "" : ", ", stage,
                        printPercent(idleShare(data, spans, length,
                                               static_cast<int32_t>(stage))));
  }
  return text;
}

static std::string printSchedule(const ReportData &data) {
  std::string html =
      "<p>One device of each stage. Each row is a stream: a block on the "
      "compute stream is a cell of the schedule with its microbatch, pale "
      "where it waits within; hatched is idle, a bubble.</p>\n";
  html += printLegend({{"forward", "forward"},
                       {"backward", "backward"},
                       {"weight", "gradients of weights"},
                       {"update", "update"},
                       {"other", "before all microbatches"},
                       {"collective", "collective"},
                       {"message", "message between stages"},
                       {"copy", "copy"}});
  html += drawSchedule(
      data, data.planned.spans, data.planned.seconds,
      fmt::format(
          "Predicted: {} a step; the compute stream is idle for {}",
          printSeconds(data.planned.seconds),
          describeIdle(data, data.planned.spans, data.planned.seconds)));
  if (data.measured) {
    html += drawSchedule(
        data, data.measured->last, data.measured->length,
        fmt::format(
            "Measured, the last of {} steps: {}; the compute stream "
            "is idle for {}",
            data.measured->steps, printSeconds(data.measured->length),
            describeIdle(data, data.measured->last, data.measured->length)));
  }
  return html;
}

static std::string section(const std::string &id, const std::string &title,
                           const std::string &html) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id,
                     title, html);
}

static std::string printRun(const ReportData &data) {
  std::string html = drawCurves(*data.run);
  if (html.empty()) {
    return "<p>The run has logged no step.</p>\n";
  }
  if (!data.run->checkpoints.empty()) {
    html += fmt::format("<p>Checkpoints after {} steps.</p>\n",
                        fmt::join(data.run->checkpoints, ", "));
  }
  for (const std::string &warning : data.run->warnings) {
    html += "<p>Warning: " + escapeHtml(warning, 300) + "</p>\n";
  }
  return html;
}

static std::string printSections(const ReportData &data) {
  std::string html = section("schedule", "Schedule", printSchedule(data));
  if (data.run) {
    html += section("run", "Run", printRun(data));
  }
  html += section(
      "memory", "Memory",
      "<p>Bytes that are live on a device of each stage over a predicted step, "
      "by what they hold; the dashed line is what the plan reserves. Places "
      "are shared by values that are never live together.</p>\n" +
          drawMemory(data));
  html +=
      section("communication", "Communication", listCommunicationRows(data));
  html += section(
      "layouts", "Layouts of parameters",
      "<p>Which part of a parameter lies on which devices. Parameters of one "
      "shape and layout share a picture; of more than two dimensions, those "
      "that are split are drawn.</p>\n" +
          drawLayouts(data));
  return html + section("kernels", "Kernels", listKernelRows(data));
}

static std::string printHeader(const ReportData &data) {
  std::string mesh;
  for (const MeshAxis &axis : data.plan.mesh.axes) {
    mesh += fmt::format("{}{}={}", mesh.empty() ? "" : " × ",
                        escapeHtml(axis.name, 40), axis.size);
  }
  std::string html = fmt::format(
      "<header><h1>{}</h1><p class=\"soft\">entry {} on {}, {} {}; plan "
      "<code>{}</code></p>\n{}</header>\n<nav aria-label=\"sections\">",
      escapeHtml(data.plan.name, 80), escapeHtml(data.entry->name, 80), mesh,
      data.entry->numMicrobatches,
      data.entry->numMicrobatches == 1 ? "microbatch" : "microbatches",
      data.planHash, printTiles(data));
  for (const auto &[id, title] :
       {std::pair("schedule", "Schedule"), std::pair("run", "Run"),
        std::pair("memory", "Memory"),
        std::pair("communication", "Communication"),
        std::pair("layouts", "Layouts"), std::pair("kernels", "Kernels")}) {
    if (std::string_view(id) != "run" || data.run) {
      html += fmt::format("<a href=\"#{}\">{}</a> ", id, title);
    }
  }
  return html + "</nav>\n";
}

std::string printPage(const ReportData &data) {
  // The policy allows what is in the page and nothing from anywhere else.
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src "
      "'unsafe-inline'\">\n<title>{}: llmc report</title>\n<style>{}</style>"
      "</head>\n<body>\n<svg width=\"0\" height=\"0\" aria-hidden=\"true\" "
      "style=\"position:absolute\"><defs><pattern id=\"hatch\" width=\"6\" "
      "height=\"6\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" "
      "class=\"track\"/><path class=\"grid\" d=\"M1 0V6\"/></pattern></defs>"
      "</svg>\n{}<main>\n{}</main>\n<footer>llmc {}, plan format {}. What each "
      "figure means says docs/seeing.md.</footer>\n<script "
      "type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n"
      "</body></html>\n",
      escapeHtml(data.plan.name, 80), pageStyle, printHeader(data),
      printSections(data), version, plan::formatVersion, printData(data),
      pageScript);
}

} // namespace llmc::rt::report

namespace llmc::rt {

Result<std::string> makeReport(const ReportFiles &files) {
  LLMC_TRY_ASSIGN(report::ReportData data, report::gatherData(files));
  return report::printPage(data);
}

} // namespace llmc::rt

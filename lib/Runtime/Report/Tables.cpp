//===- Tables.cpp - Communication and kernels as rows ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Html.h"
#include "Pictures.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::report {

static std::string cell(const std::string &text) {
  return "<td class=\"n\">" + text + "</td>";
}

/// Of the longest, as a bar under the number.
static std::string barCell(double value, double most) {
  double share = most > 0 ? 100 * value / most : 0;
  return fmt::format("<td class=\"n bar\" style=\"--share:{:.1f}%\">{}</td>",
                     share, printSeconds(value));
}

static std::string timeCells(double predicted,
                             const std::optional<double> &measured,
                             double most) {
  return measured ? cell(printSeconds(predicted)) + barCell(*measured, most)
                  : barCell(predicted, most);
}

static std::string openTable(const std::string &caption, bool isMeasured,
                             const std::vector<std::string> &heads) {
  std::string html = "<div class=\"scroll\" tabindex=\"0\"><table><caption>" +
                     caption + "</caption><thead><tr>";
  for (const std::string &head : heads) {
    bool isNumber = head == "times" || head == "operations" || head == "bytes";
    html += fmt::format("<th scope=\"col\"{}>{}</th>",
                        isNumber ? " class=\"n\"" : "", head);
  }
  html += "<th scope=\"col\" class=\"n\">predicted</th>";
  html += isMeasured ? "<th scope=\"col\" class=\"n\">measured</th>" : "";
  return html + "</tr></thead><tbody>\n";
}

std::string listCommunicationRows(const ReportData &data) {
  if (data.communication.empty()) {
    return "<p>Devices of this plan communicate nothing.</p>\n";
  }
  double most = 0;
  for (const CommunicationRow &row : data.communication) {
    most = std::max(most, row.measured.value_or(row.predicted));
  }
  std::string html = openTable(
      "What one device of each stage communicates in a step",
      data.measured.has_value(), {"stage", "kind", "over", "times", "bytes"});
  for (const CommunicationRow &row : data.communication) {
    html += fmt::format("<tr><td>{}</td><td>{}{}</td><td>{}</td>{}{}{}</tr>\n",
                        row.stage, escapeHtml(row.kind),
                        row.isScalar ? " of single numbers" : "",
                        escapeHtml(row.axes), cell(std::to_string(row.count)),
                        cell(printSize(static_cast<double>(row.bytes))),
                        timeCells(row.predicted, row.measured, most));
  }
  return html + "</tbody></table></div>\n";
}

std::string listKernelRows(const ReportData &data) {
  constexpr size_t mostRows = 100;
  double most = 0;
  for (const KernelRow &row : data.kernels) {
    most = std::max(most, row.measured.value_or(row.predicted));
  }
  size_t shown = std::min(data.kernels.size(), mostRows);
  std::string html = openTable(
      fmt::format("The {} dearest of {}, by {} time of a step, of the first "
                  "device of each stage together",
                  shown, data.kernels.size(),
                  data.measured ? "measured" : "predicted"),
      data.measured.has_value(),
      {"", "what", "where in the model", "times", "operations", "bytes"});
  for (size_t i = 0; i < shown; ++i) {
    const KernelRow &row = data.kernels[i];
    html += fmt::format(
        "<tr><td class=\"n\">{}</td><td><code>{}</code></td>"
        "<td class=\"where\">{}</td>{}{}{}{}</tr>\n",
        i + 1, escapeHtml(row.name, 40), escapeHtml(row.source, 160),
        cell(std::to_string(row.count)),
        cell(row.operations > 0 ? printCount(row.operations) : "–"),
        cell(printSize(row.bytes)),
        timeCells(row.predicted, row.measured, most));
  }
  return html + "</tbody></table></div>\n";
}

} // namespace llmc::rt::report

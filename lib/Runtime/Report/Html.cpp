//===- Html.cpp - Text in pages -------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Html.h"

#include "llmc/Runtime/Base/Utf8.h"

#include <fmt/format.h>

#include <cmath>

namespace llmc::rt::report {

static std::string escapeByte(char c) {
  switch (c) {
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '&':
    return "&amp;";
  case '"':
    return "&quot;";
  case '\'':
    return "&#39;";
  default:
    break;
  }
  auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte)
                                     : std::string(1, c);
}

std::string escapeHtml(std::string_view text, size_t limit) {
  std::string html;
  for (size_t at = 0; at < text.size();) {
    size_t length = lengthOfCharacter(text.substr(at));
    if (at + length > limit) {
      return html + "...";
    }
    html += length == 0   ? "\xef\xbf\xbd"
            : length == 1 ? escapeByte(text[at])
                          : std::string(text.substr(at, length));
    at += length == 0 ? 1 : length;
  }
  return html;
}

/// Three digits, in the greatest unit of which there is at least one.
static std::string
printIn(double value,
        std::initializer_list<std::pair<double, const char *>> units) {
  const std::pair<double, const char *> *unit = units.begin();
  while (unit + 1 != units.end() && std::abs(value) < unit->first) {
    ++unit;
  }
  double scaled = value / unit->first;
  int digits = std::abs(scaled) >= 100 ? 0 : std::abs(scaled) >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", scaled, digits, unit->second);
}

std::string printSeconds(double seconds) {
  return seconds == 0
             ? "0 s"
             : printIn(seconds,
                       {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}});
}

std::string printSize(double bytes) {
  constexpr double kibi = 1024;
  if (bytes < kibi) {
    return fmt::format("{:.0f} B", bytes);
  }
  return printIn(
      bytes,
      {{kibi * kibi * kibi, "GiB"}, {kibi * kibi, "MiB"}, {kibi, "KiB"}});
}

std::string printCount(double count) {
  return count < 1000 ? fmt::format("{:.0f}", count)
                      : printIn(count, {{1e18, "E"},
                                        {1e15, "P"},
                                        {1e12, "T"},
                                        {1e9, "G"},
                                        {1e6, "M"},
                                        {1e3, "k"}});
}

std::string printNumber(double number) { return fmt::format("{:.4g}", number); }

std::string printPercent(double share) {
  return fmt::format("{:.1f}%", 100 * share);
}

double tickStep(double most, int count) {
  if (!(most > 0)) {
    return 1;
  }
  double rough = most / count;
  double power = std::pow(10, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) {
      return factor * power;
    }
  }
  return 10 * power;
}

std::string printPoint(double x, double y) {
  return fmt::format("{:.2f},{:.2f}", x, y);
}

std::string printLegend(
    const std::vector<std::pair<std::string, std::string>> &classesAndNames) {
  std::string html = "<p class=\"legend\">";
  for (const auto &[name, label] : classesAndNames) {
    html += fmt::format("<span><svg width=\"12\" height=\"12\" "
                        "aria-hidden=\"true\"><rect class=\"{}\" width=\"12\" "
                        "height=\"12\" rx=\"2\"/></svg> {}</span> ",
                        name, escapeHtml(label));
  }
  return html + "</p>\n";
}

} // namespace llmc::rt::report

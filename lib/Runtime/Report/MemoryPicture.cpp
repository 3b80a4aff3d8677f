//===- MemoryPicture.cpp - What is live when, by kind ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Html.h"
#include "Pictures.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::report {

namespace {
constexpr double memoryTop = 10, memoryLow = 170;
constexpr size_t mostColumns = 440;
} // namespace

static int64_t totalOf(const MemoryPoint &point) {
  int64_t all = 0;
  for (int64_t bytes : point.bytes) {
    all += bytes;
  }
  return all;
}

/// One point for each column of the picture: that of the most bytes.
static std::vector<MemoryPoint> thinOut(const std::vector<MemoryPoint> &points,
                                        double length) {
  if (points.size() <= mostColumns) {
    return points;
  }
  std::vector<MemoryPoint> kept(mostColumns);
  std::vector<bool> isThere(mostColumns);
  for (const MemoryPoint &point : points) {
    auto column =
        std::min(mostColumns - 1,
                 static_cast<size_t>(point.seconds / length * mostColumns));
    if (!isThere[column] || totalOf(point) > totalOf(kept[column])) {
      kept[column] = point;
      isThere[column] = true;
    }
  }
  std::vector<MemoryPoint> list;
  for (size_t column = 0; column < mostColumns; ++column) {
    if (isThere[column]) {
      list.push_back(kept[column]);
    }
  }
  return list;
}

/// What lies between two heights at all times, as steps.
static std::string drawArea(const std::vector<MemoryPoint> &points, int kind,
                            double length, double most) {
  auto x = [&](double seconds) {
    return left + (right - left) * seconds / length;
  };
  auto y = [&](int64_t bytes) {
    return memoryLow -
           (memoryLow - memoryTop) * static_cast<double>(bytes) / most;
  };
  std::string upper, lower;
  for (size_t i = 0; i < points.size(); ++i) {
    int64_t below = 0;
    for (int each = 0; each < kind; ++each) {
      below += points[i].bytes[each];
    }
    double from = x(points[i].seconds);
    double to = i + 1 < points.size() ? x(points[i + 1].seconds) : right;
    int64_t above = below + points[i].bytes[kind];
    upper += printPoint(from, y(above)) + " " + printPoint(to, y(above)) + " ";
    lower.insert(0, printPoint(to, y(below)) + " " +
                        printPoint(from, y(below)) + " ");
  }
  return upper + lower;
}

static std::string drawSizeAxis(double most) {
  std::string shapes;
  // Ticks at round numbers of the unit in which the most is said.
  double unit = 1;
  while (most / unit >= 1024) {
    unit *= 1024;
  }
  double step = tickStep(most / unit, 4) * unit;
  for (double bytes = 0; bytes <= most; bytes += step) {
    double y = memoryLow - (memoryLow - memoryTop) * bytes / most;
    shapes += fmt::format("<path class=\"grid\" d=\"M{:.0f} {:.1f}H{:.0f}\"/>"
                          "<text class=\"lane\" x=\"{:.0f}\" y=\"{:.1f}\">{}"
                          "</text>\n",
                          left, y, right, left - 6, y + 3.5, printSize(bytes));
  }
  return shapes;
}

static std::string drawStage(const ReportData &data, size_t stage) {
  const StageMemory &memory = data.memory[stage];
  double length = std::max(data.planned.seconds, 1e-12);
  auto total = static_cast<double>(memory.reserved.total);
  double most = std::max(1.05 * total, 1.0);
  std::string shapes = drawSizeAxis(most) +
                       drawTimeAxis(left, right, memoryTop, memoryLow, length);
  std::vector<MemoryPoint> points = thinOut(memory.points, length);
  for (int kind = 0; kind < plan::numFrameKinds; ++kind) {
    int64_t greatest = 0;
    for (const MemoryPoint &point : memory.points) {
      greatest = std::max(greatest, point.bytes[kind]);
    }
    // What nobody would see is left to the numbers.
    constexpr double least = 0.05;
    if ((memoryLow - memoryTop) * static_cast<double>(greatest) / most >
        least) {
      std::string name(nameOf(static_cast<plan::FrameKind>(kind)));
      shapes += fmt::format(
          "<polygon class=\"b m-{}\" points=\"{}\"><title>{}: at most {} "
          "live, {} reserved</title></polygon>\n",
          name, drawArea(points, kind, length, most), name,
          printSize(static_cast<double>(greatest)),
          printSize(static_cast<double>(memory.reserved.bytes[kind])));
    }
  }
  double y = memoryLow - (memoryLow - memoryTop) * total / most;
  shapes += fmt::format("<path class=\"limit\" d=\"M{:.0f} {:.1f}H{:.0f}\"/>\n",
                        left, y, right);
  std::string label = fmt::format(
      "Stage {}: {} reserved, at most {} live at once", stage, printSize(total),
      printSize(static_cast<double>(memory.peak)));
  return printFigure(label, width, memoryLow + 18, shapes);
}

std::string drawMemory(const ReportData &data) {
  std::vector<std::pair<std::string, std::string>> legend;
  for (int kind = 0; kind < plan::numFrameKinds; ++kind) {
    std::string name(nameOf(static_cast<plan::FrameKind>(kind)));
    legend.emplace_back("m-" + name, name);
  }
  std::string html = printLegend(legend);
  for (size_t stage = 0; stage < data.memory.size(); ++stage) {
    html += drawStage(data, stage);
  }
  return html;
}

} // namespace llmc::rt::report

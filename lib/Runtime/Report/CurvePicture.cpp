//===- CurvePicture.cpp - Numbers over the steps of a run -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Html.h"
#include "Pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmc::rt::report {

namespace {
constexpr double curveTop = 10;

/// One number over the steps; those that are not finite are left out.
struct Curve {
  std::vector<std::pair<int64_t, double>> points;
  double low = std::numeric_limits<double>::max(), high = -low;

  Curve(const std::vector<StepRecord> &steps, const std::string &name) {
    for (const StepRecord &step : steps) {
      auto found = step.values.find(name);
      if (found != step.values.end() && std::isfinite(found->second)) {
        points.emplace_back(step.step, found->second);
        low = std::min(low, found->second);
        high = std::max(high, found->second);
      }
    }
  }
};
} // namespace

/// The least and the greatest of each piece, so that no spike is lost.
static std::vector<std::pair<int64_t, double>>
thinOut(const std::vector<std::pair<int64_t, double>> &points) {
  constexpr size_t pieces = 500;
  if (points.size() <= 2 * pieces) {
    return points;
  }
  auto byValue = [](const auto &a, const auto &b) {
    return a.second < b.second;
  };
  std::vector<std::pair<int64_t, double>> kept;
  for (size_t piece = 0; piece < pieces; ++piece) {
    auto begin = points.begin() +
                 static_cast<std::ptrdiff_t>(piece * points.size() / pieces);
    auto end = points.begin() + static_cast<std::ptrdiff_t>(
                                    (piece + 1) * points.size() / pieces);
    auto [least, most] = std::minmax_element(begin, end, byValue);
    kept.push_back(std::min(*least, *most));
    kept.push_back(std::max(*least, *most));
  }
  return kept;
}

static std::string drawSteps(double first, double last, double low) {
  std::string shapes;
  double step = std::max(1.0, tickStep(std::max(last - first, 1.0), 8));
  for (double at = std::ceil(first / step) * step; at <= last; at += step) {
    double x =
        left + (right - left) * (at - first) / std::max(last - first, 1.0);
    shapes += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.0f}V{:.0f}\"/>"
                          "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.0f}\">"
                          "{:.0f}</text>\n",
                          x, curveTop, low, x, low + 14, at);
  }
  return shapes;
}

namespace {
/// Where numbers lie in a picture from `curveTop` to `low`.
struct Scale {
  double first, last, bottom, high, low;

  double y(double value) const {
    return low - (low - curveTop) * (value - bottom) / (high - bottom);
  }
  std::pair<double, double> at(const std::pair<int64_t, double> &point) const {
    double share = (static_cast<double>(point.first) - first) /
                   std::max(last - first, 1.0);
    return {left + (right - left) * share, y(point.second)};
  }
};
} // namespace

/// With lines at the least and at the greatest number.
static std::string drawScale(const Scale &scale, double least, double most) {
  std::string shapes = drawSteps(scale.first, scale.last, scale.low);
  for (double value : {least, most}) {
    shapes += fmt::format("<path class=\"grid\" d=\"M{:.0f} {:.1f}H{:.0f}\"/>"
                          "<text class=\"lane\" x=\"{:.0f}\" y=\"{:.1f}\">{}"
                          "</text>\n",
                          left, scale.y(value), right, left - 6,
                          scale.y(value) + 3.5, printNumber(value));
  }
  return shapes;
}

/// The line, and dots that say their numbers.
static std::string drawPoints(const Curve &curve, const Scale &scale,
                              const std::string &name) {
  std::string line, dots;
  for (const auto &point : thinOut(curve.points)) {
    auto [x, y] = scale.at(point);
    line += printPoint(x, y) + " ";
  }
  constexpr size_t most = 400;
  size_t each = curve.points.size() / most + 1;
  for (size_t i = 0; i < curve.points.size(); i += each) {
    auto [x, y] = scale.at(curve.points[i]);
    dots += fmt::format("<circle class=\"b dot\" cx=\"{:.2f}\" cy=\"{:.2f}\" "
                        "r=\"3\"><title>step {}: {} {}</title></circle>\n",
                        x, y, curve.points[i].first, escapeHtml(name),
                        printNumber(curve.points[i].second));
  }
  return "<polyline class=\"curve\" points=\"" + line + "\"/>\n" + dots;
}

static std::string drawEvaluations(const Curve &curve, const Scale &scale,
                                   const std::string &name) {
  std::string shapes;
  for (const auto &point : curve.points) {
    auto [x, y] = scale.at(point);
    shapes += fmt::format("<rect class=\"b evaluation\" x=\"{:.2f}\" "
                          "y=\"{:.2f}\" width=\"7\" height=\"7\"><title>after "
                          "{} steps: evaluated {} {}</title></rect>\n",
                          x - 3.5, y - 3.5, point.first, escapeHtml(name),
                          printNumber(point.second));
  }
  return shapes;
}

static std::string drawCurve(const RunRecord &run, const std::string &name,
                             const std::string &label, double low) {
  Curve curve(run.steps, name), others(run.evaluations, name);
  if (curve.points.empty()) {
    return "";
  }
  double least = std::min(curve.low, others.low),
         most = std::max(curve.high, others.high);
  double room = most > least ? 0.06 * (most - least)
                             : std::max(std::abs(most), 1e-12) * 0.1;
  Scale scale{static_cast<double>(curve.points.front().first),
              static_cast<double>(curve.points.back().first), least - room,
              most + room, low};
  return printFigure(label, width, low + 20,
                     drawScale(scale, least, most) +
                         drawPoints(curve, scale, name) +
                         drawEvaluations(others, scale, name));
}

std::string drawCurves(const RunRecord &run) {
  return drawCurve(run, "loss", "Loss", 220) +
         drawCurve(run, "grad_norm", "Norm of the gradients", 110) +
         drawCurve(run, "lr", "Learning rate", 90) +
         drawCurve(run, "seconds", "Seconds of each step", 110);
}

} // namespace llmc::rt::report

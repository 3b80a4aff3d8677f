//===- Pictures.h - Figures of a report as SVG and tables -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each returns HTML that stands in a section of the page. Colours are classes,
// which the page's style gives for light and for dark; `<title>` says what a
// shape is, and the page's script shows it below the picture.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_REPORT_PICTURES_H
#define LLMC_LIB_RUNTIME_REPORT_PICTURES_H

#include "ReportData.h"

#include <string>
#include <vector>

namespace llmc::rt::report {

/// Of pictures over time or steps, in units of the picture: names stand left
/// of `left`.
constexpr double width = 1000, left = 112, right = 988;

/// Lanes of the streams of each stage, from 0 to `length` seconds.
std::string drawSchedule(const ReportData &data,
                         const std::vector<plan::PlannedSpan> &spans,
                         double length, const std::string &label);
/// Live bytes by kind over the time of a step, on each stage.
std::string drawMemory(const ReportData &data);
/// A card for each shape and layout that parameters have.
std::string drawLayouts(const ReportData &data);
/// Loss, norm, rate and time over the steps.
std::string drawCurves(const RunRecord &run);

std::string listCommunicationRows(const ReportData &data);
std::string listKernelRows(const ReportData &data);

/// A picture with its own caption, that scrolls where the window is narrow, can
/// be focused, and whose shapes of class `b` the arrow keys visit.
std::string printFigure(const std::string &label, double width, double height,
                        const std::string &shapes);

/// Vertical lines with labels of time below a picture.
std::string drawTimeAxis(double left, double right, double top, double bottom,
                         double length);

} // namespace llmc::rt::report

#endif // LLMC_LIB_RUNTIME_REPORT_PICTURES_H

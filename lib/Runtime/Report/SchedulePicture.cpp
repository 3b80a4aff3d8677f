//===- SchedulePicture.cpp - Which stream runs what when ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   stage 0  C       | F0 | F1 |////| B0 | B1 |///| U |
//            X.data                            |====|
//
// A cell of the table is one block on the compute stream, pale where it waits
// within; hatched is a bubble. What lies closer together than half a unit of
// the picture is one shape, so a page of a million instructions stays small.
//
//===----------------------------------------------------------------------===//

#include "Html.h"
#include "Pictures.h"

#include "llmc/Runtime/Plan/Print/PlanPrint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace llmc::rt::report {

namespace {
constexpr double scheduleTop = 8;
constexpr double computeHeight = 24, otherHeight = 9, gap = 3, stageGap = 12;

struct Block {
  double begin = 0, end = 0;
  int32_t root = 0, microbatch = -1;
  int64_t count = 0;
  const plan::PlannedSpan *first = nullptr;
};

class Drawing {
public:
  Drawing(const ReportData &data, const std::vector<plan::PlannedSpan> &spans,
          double length)
      : data(data), length(std::max(length, 1e-12)) {
    for (const plan::PlannedSpan &span : spans) {
      lanes[{span.stage, span.stream}].push_back(&span);
    }
  }

  std::string draw();
  double height() const { return y; }

private:
  using Spans = std::vector<const plan::PlannedSpan *>;

  double at(double seconds) const {
    return left + (right - left) * seconds / length;
  }
  void drawLane(int32_t stage, int32_t stream, const Spans &spans);
  void drawCells(const Spans &spans);
  void drawMoves(const Spans &spans, plan::StreamKind kind);
  std::vector<Block> merge(const Spans &spans, bool byCell) const;
  void rect(const Block &block, double lane, const std::string &style,
            const std::string &title);

  const ReportData &data;
  double length;
  std::map<std::pair<int32_t, int32_t>, Spans> lanes;
  std::string shapes;
  double y = scheduleTop;
};
} // namespace

static const char *classOf(plan::Phase phase) {
  switch (phase) {
  case plan::Phase::forward:
    return "forward";
  case plan::Phase::backward:
  case plan::Phase::backwardInput:
    return "backward";
  case plan::Phase::backwardWeight:
    return "weight";
  case plan::Phase::update:
    return "update";
  case plan::Phase::other:
    break;
  }
  return "other";
}

static const char *classOf(plan::StreamKind kind) {
  switch (kind) {
  case plan::StreamKind::collective:
    return "collective";
  case plan::StreamKind::send:
  case plan::StreamKind::receive:
    return "message";
  case plan::StreamKind::compute:
  case plan::StreamKind::copy:
    break;
  }
  return "copy";
}

/// Spans that follow each other: of one cell, or with no room between them.
std::vector<Block> Drawing::merge(const Spans &spans, bool byCell) const {
  constexpr double near = 0.5;
  std::vector<Block> blocks;
  for (const plan::PlannedSpan *span : spans) {
    bool isSame = !blocks.empty() && blocks.back().root == span->root &&
                  blocks.back().microbatch == span->microbatch;
    bool isNear =
        !blocks.empty() && at(span->begin) - at(blocks.back().end) < near;
    if (isSame && (byCell || isNear)) {
      blocks.back().end = std::max(blocks.back().end, span->end);
      ++blocks.back().count;
    } else {
      blocks.push_back(
          {span->begin, span->end, span->root, span->microbatch, 1, span});
    }
  }
  return blocks;
}

void Drawing::rect(const Block &block, double lane, const std::string &style,
                   const std::string &title) {
  double from = at(block.begin), to = std::max(at(block.end), from + 0.3);
  shapes += fmt::format("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" "
                        "width=\"{:.2f}\" height=\"{:.1f}\">",
                        style, from, y, to - from, lane);
  shapes += title.empty() ? "" : "<title>" + title + "</title>";
  shapes += "</rect>\n";
}

/// "F1.3": the forward of chunk 1 and microbatch 3.
static std::string nameCell(const plan::Plan &plan, const Block &block) {
  const plan::Program &program = plan.programs[block.root];
  std::string name = escapeHtml(program.name, 40);
  return block.microbatch >= 0
             ? fmt::format("{}, microbatch {}", name, block.microbatch)
             : name;
}

void Drawing::drawCells(const Spans &spans) {
  constexpr double letterWidth = 7;
  int64_t next = 0; // The cell's first span.
  for (const Block &cell : merge(spans, /*byCell=*/true)) {
    const plan::Program &program = data.plan.programs[cell.root];
    std::string style = classOf(program.phase);
    rect(cell, computeHeight, "b pale " + style,
         fmt::format("{}: {} from {} on", nameCell(data.plan, cell),
                     printSeconds(cell.end - cell.begin),
                     printSeconds(cell.begin)));
    Spans own(spans.begin() + next, spans.begin() + next + cell.count);
    next += cell.count;
    for (const Block &busy : merge(own, /*byCell=*/false)) {
      rect(busy, computeHeight, "quiet " + style, "");
    }
    std::string label =
        cell.microbatch >= 0 ? std::to_string(cell.microbatch) : "";
    double room = at(cell.end) - at(cell.begin);
    if (!label.empty() &&
        room > letterWidth * static_cast<double>(label.size()) + 3) {
      shapes += fmt::format("<text class=\"in\" x=\"{:.2f}\" y=\"{:.1f}\">{}"
                            "</text>\n",
                            at(cell.begin) + room / 2, y + 16, label);
    }
  }
}

void Drawing::drawMoves(const Spans &spans, plan::StreamKind kind) {
  for (const Block &block : merge(spans, /*byCell=*/false)) {
    const plan::Instruction &first = instructionOf(data.plan, *block.first);
    std::string name =
        escapeHtml(nameOfAction(data.plan, first.action), 60) +
        (block.count > 1 ? fmt::format(" and {} more", block.count - 1) : "");
    rect(block, otherHeight, std::string("b ") + classOf(kind),
         fmt::format("{} ({}): {} from {} on", name, nameCell(data.plan, block),
                     printSeconds(block.end - block.begin),
                     printSeconds(block.begin)));
  }
}

void Drawing::drawLane(int32_t stage, int32_t stream, const Spans &spans) {
  const plan::Stream &source = data.plan.streams[stream];
  bool computes = source.kind == plan::StreamKind::compute;
  double lane = computes ? computeHeight : otherHeight;
  shapes += fmt::format("<text class=\"lane\" x=\"{:.0f}\" y=\"{:.1f}\">{}"
                        "</text>\n",
                        left - 6, y + lane / 2 + 3.5,
                        (computes ? fmt::format("stage {} · ", stage) : "") +
                            escapeHtml(source.name, 14));
  shapes +=
      fmt::format("<rect class=\"{}\" x=\"{:.0f}\" y=\"{:.1f}\" "
                  "width=\"{:.0f}\" height=\"{:.1f}\"/>\n",
                  computes ? "bubble" : "track", left, y, right - left, lane);
  if (computes) {
    drawCells(spans);
  } else {
    drawMoves(spans, source.kind);
  }
  y += lane + gap;
}

std::string Drawing::draw() {
  int32_t stage = -1;
  for (const auto &[key, spans] : lanes) {
    y += stage >= 0 && key.first != stage ? stageGap : 0;
    stage = key.first;
    drawLane(key.first, key.second, spans);
  }
  shapes = drawTimeAxis(left, right, scheduleTop - 4, y, length) + shapes;
  y += 18;
  return std::move(shapes);
}

std::string drawSchedule(const ReportData &data,
                         const std::vector<plan::PlannedSpan> &spans,
                         double length, const std::string &label) {
  Drawing drawing(data, spans, length);
  std::string shapes = drawing.draw();
  return printFigure(label, width, drawing.height(), shapes);
}

} // namespace llmc::rt::report

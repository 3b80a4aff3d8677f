//===- LayoutPicture.cpp - Which part of a parameter lies where -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters of equal shape and layout are one card: a grid of two dimensions,
// those that are split before others. A box says which devices have it.
//
//===----------------------------------------------------------------------===//

#include "Html.h"
#include "Pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace llmc::rt::report {

namespace {
/// Where a box lies in the picture: first and last row, first and last column.
using Place = std::array<int64_t, 4>;

struct Card {
  std::vector<std::string> names;
  const plan::State *state = nullptr;
  std::map<Place, std::set<int64_t>> boxes; ///< With their devices.
  size_t rowDim = 0, columnDim = 0;
};
constexpr int64_t mostDevices = 4096;
constexpr size_t mostBoxes = 4096;
} // namespace

/// The two dimensions that are drawn; a vector has columns alone.
static void chooseDims(const plan::State &state, Card &card) {
  size_t rank = state.shape.size();
  std::vector<size_t> chosen;
  for (const plan::StatePart &part : state.parts) {
    for (size_t dim = 0; dim < rank; ++dim) {
      bool isSplit = !part.layout.dims[dim].axes.empty() ||
                     part.layout.dims[dim].size() != state.shape[dim];
      if (isSplit && std::count(chosen.begin(), chosen.end(), dim) == 0) {
        chosen.push_back(dim);
      }
    }
  }
  for (size_t dim = rank; dim-- > 0 && chosen.size() < 2;) {
    if (std::count(chosen.begin(), chosen.end(), dim) == 0) {
      chosen.push_back(dim);
    }
  }
  chosen.resize(std::min<size_t>(chosen.size(), 2));
  std::sort(chosen.begin(), chosen.end());
  card.columnDim = chosen.empty() ? 0 : chosen.back();
  card.rowDim = chosen.size() < 2 ? rank : chosen.front();
}

static void addPart(const plan::Plan &plan, const plan::StatePart &part,
                    Card &card) {
  size_t rank = part.origin.size();
  auto range = [&](const Box &box, size_t dim) {
    int64_t first = dim < rank ? part.origin[dim] + box.global[dim] : 0;
    return std::pair(first, first + (dim < rank ? box.size[dim] : 1));
  };
  int64_t devices = std::min(plan.mesh.numDevices(), mostDevices);
  for (int64_t device = 0; device < devices; ++device) {
    if (!plan::hasStage(part.stages, plan.mesh.stageOf(device))) {
      continue;
    }
    auto boxes = part.layout.boxes(plan.mesh, plan.mesh.coordinatesOf(device));
    for (size_t i = 0; boxes.ok() && i < boxes->size(); ++i) {
      if (card.boxes.size() > mostBoxes) {
        return;
      }
      auto rows = range((*boxes)[i], card.rowDim);
      auto columns = rank ? range((*boxes)[i], card.columnDim)
                          : std::pair<int64_t, int64_t>(0, 1);
      card.boxes[{rows.first, rows.second, columns.first, columns.second}]
          .insert(device);
    }
  }
}

/// "0–3, 8": runs of numbers, shortened.
static std::string listNumbers(const std::set<int64_t> &numbers, size_t most) {
  std::string text;
  size_t runs = 0;
  for (auto at = numbers.begin(); at != numbers.end();) {
    int64_t first = *at, last = *at;
    while (++at != numbers.end() && *at == last + 1) {
      last = *at;
    }
    if (++runs > most) {
      return text + ", ...";
    }
    text += (text.empty() ? "" : ", ") +
            (first == last ? std::to_string(first)
                           : fmt::format("{}–{}", first, last));
  }
  return text;
}

static std::string drawGrid(const Card &card, double width, double height) {
  const std::vector<int64_t> &shape = card.state->shape;
  auto size = [&](size_t dim) {
    return dim < shape.size()
               ? static_cast<double>(std::max<int64_t>(shape[dim], 1))
               : 1.0;
  };
  double perRow = height / size(card.rowDim),
         perColumn = width / size(card.columnDim);
  std::set<std::set<int64_t>> groups;
  for (const auto &[place, devices] : card.boxes) {
    groups.insert(devices);
  }
  constexpr int64_t numColours = 8;
  std::string shapes;
  for (const auto &[place, devices] : card.boxes) {
    auto colour =
        std::distance(groups.begin(), groups.find(devices)) % numColours;
    double x = static_cast<double>(place[2]) * perColumn,
           y = static_cast<double>(place[0]) * perRow,
           w = static_cast<double>(place[3] - place[2]) * perColumn,
           h = static_cast<double>(place[1] - place[0]) * perRow;
    std::string label = listNumbers(devices, 3);
    shapes += fmt::format(
        "<rect class=\"b box d{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
        "height=\"{:.2f}\"><title>rows {} to {}, columns {} to {}: devices {}"
        "</title></rect>\n",
        colour, x, y, w, h, place[0], place[1] - 1, place[2], place[3] - 1,
        listNumbers(devices, 16));
    constexpr double letter = 6.2, line = 12;
    if (w > letter * static_cast<double>(label.size()) + 4 && h > line) {
      shapes += fmt::format("<text class=\"in\" x=\"{:.2f}\" y=\"{:.2f}\">{}"
                            "</text>\n",
                            x + w / 2, y + h / 2 + 4, label);
    }
  }
  return shapes;
}

static std::string describeCard(const plan::Plan &plan, const Card &card) {
  constexpr size_t most = 6;
  std::string names;
  for (size_t i = 0; i < std::min(card.names.size(), most); ++i) {
    names += (i ? ", " : "") + escapeHtml(card.names[i], 48);
  }
  if (card.names.size() > most) {
    names += fmt::format(" and {} more", card.names.size() - most);
  }
  std::string layouts;
  for (const plan::StatePart &part : card.state->parts) {
    std::string text = part.layout.describe(plan.mesh);
    if (layouts.find(escapeHtml(text)) == std::string::npos) {
      layouts += (layouts.empty() ? "" : ", ") + escapeHtml(text);
    }
  }
  return fmt::format("<figcaption><b>{}</b><br>{}[{}] <code>{}</code>"
                     "</figcaption>",
                     names, nameOf(card.state->dtype),
                     fmt::join(card.state->shape, ", "), layouts);
}

std::string drawLayouts(const ReportData &data) {
  std::vector<Card> cards;
  std::map<std::string, size_t> numbers;
  for (const plan::State &state : data.plan.states) {
    if (state.role != plan::StateRole::parameter) {
      continue;
    }
    std::string key = fmt::format("{} ", fmt::join(state.shape, ","));
    for (const plan::StatePart &part : state.parts) {
      key +=
          fmt::format("{} {} {};", part.layout.describe(data.plan.mesh),
                      fmt::join(part.origin, ","), fmt::join(part.stages, ","));
    }
    auto [number, isNew] = numbers.try_emplace(key, cards.size());
    if (isNew) {
      cards.emplace_back();
    }
    Card &card = cards[number->second];
    if (isNew) {
      card.state = &state;
      chooseDims(state, card);
      for (const plan::StatePart &part : state.parts) {
        addPart(data.plan, part, card);
      }
    }
    card.names.push_back(state.name);
  }
  std::string html = "<div class=\"cards\">\n";
  for (const Card &card : cards) {
    bool isVector = card.rowDim >= card.state->shape.size();
    double height = isVector ? 30 : 110;
    html +=
        fmt::format("<figure class=\"card\" tabindex=\"0\"><svg role="
                    "\"img\" aria-label=\"layout of {}\" viewBox=\"0 0 200 "
                    "{:.0f}\">\n{}</svg>{}</figure>\n",
                    escapeHtml(card.names[0], 48), height,
                    drawGrid(card, 200, height), describeCard(data.plan, card));
  }
  return html + "</div>\n<p class=\"detail\" aria-live=\"polite\"></p>\n";
}

} // namespace llmc::rt::report

//===- Progress.cpp - A line that is drawn anew ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "RunReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace llmc::rt::exec {

namespace {
/// A part of the line. Those of a greater rank are left out first.
struct Part {
  int rank = 0;
  std::string label, value;
  const char *colour = "";
};

constexpr const char *dim = "\033[2m", *bold = "\033[1m", *green = "\033[32m",
                     *cyan = "\033[36m", *plain = "\033[0m";

size_t widthOf(const Part &part) {
  return part.label.size() + 1 + part.value.size();
}
} // namespace

static void addMetrics(std::vector<Part> &parts, const Session &session) {
  for (auto [name, label, rank] :
       {std::tuple("loss", "loss", 1), std::tuple("grad_norm", "norm", 4),
        std::tuple("lr", "lr", 7)}) {
    if (auto value = session.metric(name)) {
      parts.push_back(
          {rank, label, printMetric({name, *value}), rank == 1 ? bold : ""});
    }
  }
}

static std::vector<Part> listParts(const Session &session, const StepWork &work,
                                   const StepFacts &facts) {
  int64_t last = facts.step + facts.steps - facts.ran;
  std::vector<Part> parts = {
      {0, "step", fmt::format("{}/{}", facts.step, last), bold}};
  addMetrics(parts, session);
  if (work.size.count > 0) {
    parts.push_back({3, work.size.isTokens ? "tps" : "sps",
                     printCount(static_cast<uint64_t>(work.rate(facts.late))),
                     cyan});
  }
  if (auto mfu = work.utilisation(facts.late)) {
    parts.push_back({5, "mfu", fmt::format("{:.1f}%", 100 * *mfu), cyan});
  }
  if (auto share = exposedShare(facts.late)) {
    parts.push_back({6, "comm", fmt::format("{:.1f}%", 100 * *share), cyan});
  }
  parts.push_back({8, "mem", memoryText(session)});
  parts.push_back({2, "left", printDuration(facts.eta)});
  return parts;
}

static std::string printBar(double share, size_t columns,
                            const TerminalStyle &style) {
  auto done = static_cast<size_t>(share * static_cast<double>(columns));
  std::string text = style.hasColour ? green : "";
  for (size_t i = 0; i < columns; ++i) {
    if (i == done && style.hasColour) {
      text += std::string(plain) + dim;
    }
    bool isDone = i < done;
    text += style.hasLines ? (isDone ? "━" : "─") : (isDone ? "=" : "-");
  }
  return text + (style.hasColour ? plain : "");
}

ProgressText printProgress(const Session &session, const StepWork &work,
                           const StepFacts &facts, const TerminalStyle &style) {
  constexpr size_t gap = 2, shortestBar = 8, longestBar = 24;
  std::vector<Part> parts = listParts(session, work, facts);
  auto width = [&] {
    size_t sum = 0;
    for (const Part &part : parts) {
      sum += widthOf(part) + (sum ? gap : 0);
    }
    return sum;
  };
  while (parts.size() > 1 && width() > style.columns) {
    parts.erase(std::max_element(
        parts.begin(), parts.end(),
        [](const Part &a, const Part &b) { return a.rank < b.rank; }));
  }
  ProgressText result;
  result.columns = width();
  if (result.columns > style.columns) {
    std::string word = parts[0].label + " " + parts[0].value;
    return {word.substr(0, style.columns), style.columns};
  }
  size_t room = style.columns - result.columns;
  if (room >= shortestBar + gap) {
    size_t bar = std::min(longestBar, room - gap);
    double share = static_cast<double>(facts.ran) /
                   static_cast<double>(std::max<int64_t>(facts.steps, 1));
    result.text = printBar(share, bar, style);
    result.columns += bar + gap;
  }
  for (const Part &part : parts) {
    result.text += result.text.empty() ? "" : std::string(gap, ' ');
    result.text += style.hasColour
                       ? fmt::format("{}{}{} {}{}{}", dim, part.label, plain,
                                     part.colour, part.value, plain)
                       : fmt::format("{} {}", part.label, part.value);
  }
  return result;
}

static std::string_view environment(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

/// Its characters are UTF-8, by the first of the variables that says anything.
static bool isUtf8() {
  for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string_view value = environment(name);
    if (!value.empty()) {
      return value.find("UTF-8") != std::string_view::npos ||
             value.find("utf8") != std::string_view::npos;
    }
  }
  return false;
}

Progress::Progress(std::FILE *out) : out(out) {
  shown = ::isatty(::fileno(out)) && !environment("TERM").empty() &&
          environment("TERM") != "dumb";
  style.hasColour = environment("NO_COLOR").empty();
  style.hasLines = isUtf8();
}

/// The window may have another width than the last line was drawn for.
static size_t columnsOf(std::FILE *out) {
  constexpr size_t usual = 80;
  winsize size{};
  return ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0
             ? size.ws_col
             : usual;
}

/// A line that was wider than the window is now has rows above the cursor.
std::string Progress::eraser() const {
  size_t rows = drawn ? (drawn - 1) / columnsOf(out) : 0;
  return (rows ? fmt::format("\r\033[{}A\033[J", rows) : "\r\033[J");
}

void Progress::draw(const Session &session, const StepWork &work,
                    const StepFacts &facts) {
  constexpr auto pause = std::chrono::milliseconds(100);
  auto now = std::chrono::steady_clock::now();
  // A cursor in the last column would break the line.
  style.columns = columnsOf(out) - 1;
  ProgressText line = printProgress(session, work, facts, style);
  last = line.text;
  if (drawn && now - when < pause && facts.ran < facts.steps) {
    return;
  }
  when = now;
  std::string text = eraser() + line.text;
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
  drawn = line.columns;
}

void Progress::clear() {
  if (drawn) {
    std::string text = eraser();
    std::fwrite(text.data(), 1, text.size(), out);
    std::fflush(out);
    drawn = 0;
  }
}

void Progress::finish() {
  if (!last.empty()) {
    std::string text = (drawn ? eraser() : "") + last + "\n";
    std::fwrite(text.data(), 1, text.size(), out);
    std::fflush(out);
    drawn = 0;
    last.clear();
  }
}

} // namespace llmc::rt::exec

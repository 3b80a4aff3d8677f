//===- PlanJson.cpp - Plans as JSON ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every field under its own name (PlanFields.h). Enumerators print as words,
// expressions as the nodes that they are.
//
// Test: test/Runtime/Plan/Print/PlanPrintTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/PlanFields.h"
#include "llmc/Runtime/Plan/Print/PlanPrint.h"

#include <fmt/format.h>

namespace llmc::rt::plan {

static std::string_view nameOf(SourceKind kind) {
  return kind == SourceKind::draw ? "draw" : "file";
}

static std::string_view nameOf(ExprOp op) {
  static constexpr std::string_view names[] = {
      "constant", "coordinate", "microbatch", "parameter", "add",
      "sub",      "mul",        "floordiv",   "mod",       "min",
      "max",      "equal",      "less",       "less_equal"};
  return names[static_cast<int>(op)];
}

namespace {
class JsonWriter {
public:
  template <typename T> void operator()(const char *name, const T &value) {
    separate();
    text_ += fmt::format("\"{}\": ", name);
    write(value);
  }

  template <typename T> void write(const T &value) {
    using llmc::rt::nameOf;
    using llmc::rt::plan::nameOf;
    if constexpr (std::is_same_v<T, std::string>) {
      quote(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      text_ += value ? "true" : "false";
    } else if constexpr (std::is_same_v<T, double>) {
      text_ += finite(value);
    } else if constexpr (std::is_integral_v<T>) {
      text_ += fmt::format("{}", value);
    } else if constexpr (std::is_enum_v<T>) {
      text_ += fmt::format("\"{}\"", nameOf(value));
    } else {
      object(value);
    }
  }

  template <typename T> void write(const std::vector<T> &list) {
    // A line for each element of what is an object.
    constexpr bool isFlat = std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                            std::is_same_v<T, std::string>;
    text_ += '[';
    ++depth_;
    for (size_t i = 0; i < list.size(); ++i) {
      text_ += i ? "," : "";
      if (isFlat) {
        text_ += i ? " " : "";
      } else {
        newLine();
      }
      write(list[i]);
    }
    --depth_;
    if (!isFlat && !list.empty()) {
      newLine();
    }
    text_ += ']';
  }

  void write(const Action &action) { alternative(action); }
  void write(const LibraryDescriptor &descriptor) { alternative(descriptor); }

  std::string take() { return std::move(text_) + "\n"; }

private:
  template <typename T> void object(const T &value) {
    text_ += '{';
    first_ = true;
    fields(*this, value);
    text_ += '}';
    first_ = false;
  }
  /// The fields of what a variant holds, after its name.
  template <typename Variant> void alternative(const Variant &variant) {
    using llmc::rt::nameOf;
    using llmc::rt::plan::nameOf;
    text_ += fmt::format("{{\"kind\": \"{}\"", nameOf(variant));
    first_ = false;
    std::visit([&](const auto &each) { fields(*this, each); }, variant);
    text_ += '}';
    first_ = false;
  }
  void separate() {
    text_ += first_ ? "" : ", ";
    first_ = false;
  }
  void newLine() { text_ += "\n" + std::string(2 * depth_, ' '); }
  /// JSON has no NaN and no infinities.
  static std::string finite(double value) {
    bool isFinite = value - value == 0;
    return isFinite ? fmt::format("{:.17g}", value)
                    : fmt::format("\"{}\"", value);
  }
  void quote(std::string_view text) {
    text_ += '"';
    for (unsigned char c : text) {
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += static_cast<char>(c);
      } else if (c < 0x20 || c == 0x7f || c == '<') {
        text_ += fmt::format("\\u{:04x}", c);
      } else {
        text_ += static_cast<char>(c);
      }
    }
    text_ += '"';
  }

  std::string text_;
  size_t depth_ = 0;
  bool first_ = true;
};
} // namespace

std::string printPlanAsJson(const Plan &plan) {
  JsonWriter writer;
  writer.write(plan);
  return writer.take();
}

} // namespace llmc::rt::plan

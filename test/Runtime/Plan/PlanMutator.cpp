//===- PlanMutator.cpp - Makes a plan wrong in one field ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PlanMutator.h"

#include "llmc/Runtime/Base/Random.h"
#include "llmc/Runtime/Plan/Format/PlanFields.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace llmc::rt::plan {

namespace {
class Dice {
public:
  explicit Dice(uint64_t seed) : stream_(seed, "mutations") {}
  uint64_t bits() { return stream_.bits(next_++); }
  uint64_t below(uint64_t n) { return n == 0 ? 0 : bits() % n; }

private:
  RandomStream stream_;
  uint64_t next_ = 0;
};

/// Counts the fields of a plan, and changes the one at `target`.
class FieldVisitor {
public:
  FieldVisitor(Dice &dice, int64_t target) : dice_(dice), target_(target) {}

  template <typename T> void operator()(const char *name, T &value) {
    name_ = name;
    visit(value);
  }
  int64_t count() const { return count_; }
  const std::string &changed() const { return changed_; }

private:
  template <typename T> void visit(T &value) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (isTarget()) {
        value += "x";
      }
    } else if constexpr (std::is_same_v<T, bool>) {
      if (isTarget()) {
        value = !value;
      }
    } else if constexpr (std::is_floating_point_v<T>) {
      if (isTarget()) {
        constexpr T values[] = {0,
                                1,
                                -1,
                                std::numeric_limits<T>::infinity(),
                                std::numeric_limits<T>::quiet_NaN(),
                                1e300};
        value = values[dice_.below(6)];
      }
    } else if constexpr (std::is_enum_v<T>) {
      if (isTarget()) {
        value = static_cast<T>(dice_.below(dice_.below(4) ? 14 : 256));
      }
    } else if constexpr (std::is_integral_v<T>) {
      if (isTarget()) {
        value = changeInteger(value);
      }
    } else {
      fields(*this, value);
    }
  }
  template <typename T> void visit(std::vector<T> &list) {
    if (isTarget()) {
      changeLength(list);
      return;
    }
    for (T &each : list) {
      visit(each);
    }
  }
  void visit(Action &action) {
    std::visit([&](auto &each) { fields(*this, each); }, action);
  }
  void visit(LibraryDescriptor &descriptor) {
    std::visit([&](auto &each) { fields(*this, each); }, descriptor);
  }

  bool isTarget() {
    bool found = count_++ == target_;
    if (found) {
      changed_ = name_;
    }
    return found;
  }
  template <typename T> T changeInteger(T value) {
    using Limits = std::numeric_limits<T>;
    using U = std::make_unsigned_t<T>;
    auto u = static_cast<U>(value);
    switch (dice_.below(9)) {
    case 0:
      return static_cast<T>(u + 1);
    case 1:
      return static_cast<T>(u - 1);
    case 2:
      return static_cast<T>(u * 2);
    case 3:
      return 0;
    case 4:
      return static_cast<T>(-1);
    case 5:
      return Limits::max();
    case 6:
      return Limits::min();
    case 7:
      return static_cast<T>(u ^ (U(1) << dice_.below(8 * sizeof(T))));
    default:
      return static_cast<T>(u + 64);
    }
  }
  template <typename T> void changeLength(std::vector<T> &list) {
    if (list.empty()) {
      list.emplace_back();
    } else if (dice_.below(2)) {
      list.erase(list.begin() + dice_.below(list.size()));
    } else {
      T copy = list[dice_.below(list.size())];
      list.insert(list.begin() + dice_.below(list.size() + 1), copy);
    }
  }

  Dice &dice_;
  int64_t target_;
  int64_t count_ = 0;
  std::string name_;
  std::string changed_;
};
} // namespace

static std::string changeBytes(std::string bytes, Dice &dice) {
  constexpr size_t header = 32;
  size_t changes = 1 + dice.below(3);
  for (size_t i = 0; i < changes; ++i) {
    size_t at = header + dice.below(bytes.size() - header);
    auto &byte = bytes[at];
    switch (dice.below(3)) {
    case 0:
      byte = static_cast<char>(byte ^ (1 << dice.below(8)));
      break;
    case 1:
      byte = static_cast<char>(dice.bits());
      break;
    default:
      byte = static_cast<char>(dice.below(2) ? 0xff : 0);
    }
  }
  if (dice.below(50) == 0) {
    bytes.resize(header + dice.below(bytes.size() - header));
  }
  resealPlan(bytes);
  return bytes;
}

static std::string changeField(const Plan &plan, int64_t numFields, Dice &dice,
                               std::string &name) {
  Plan copy = plan;
  FieldVisitor visitor(dice, static_cast<int64_t>(dice.below(numFields)));
  fields(visitor, copy);
  name = visitor.changed();
  return serializeUnchecked(copy);
}

static int64_t countFields(const Plan &plan) {
  Dice dice(0);
  Plan copy = plan;
  FieldVisitor counter(dice, -1);
  fields(counter, copy);
  return counter.count();
}

std::string makeMutant(const Plan &plan, uint64_t seed, uint64_t index) {
  Dice dice((seed << 32) + index);
  std::string name;
  return index % 2 ? changeField(plan, countFields(plan), dice, name)
                   : changeBytes(serializeUnchecked(plan), dice);
}

MutationCounts mutatePlan(const Plan &plan, int64_t count, uint64_t seed,
                          const Environment &environment, const RunPlan &run) {
  MutationCounts counts;
  Dice dice(seed);
  std::string original = serializeUnchecked(plan);
  int64_t numFields = countFields(plan);
  for (int64_t i = 0; i < count; ++i) {
    std::string name, bytes = i % 2 ? changeField(plan, numFields, dice, name)
                                    : changeBytes(original, dice);
    auto parsed = parsePlan(bytes);
    Status status =
        parsed.ok() ? verifyPlan(*parsed, environment) : parsed.status();
    ++counts.byCode[exitCode(status.kind())];
    if (status.ok()) {
      if (!name.empty()) {
        ++counts.acceptedFields[name];
      }
      if (run) {
        run(*parsed);
      }
    }
  }
  return counts;
}

bool isTooLargeToRun(const Plan &plan) {
  constexpr double limit = 1 << 30; // Bytes of all devices.
  double devices = static_cast<double>(plan.mesh.numDevices());
  int64_t largest = 0;
  for (int64_t arena : plan.arenas) {
    largest = std::max(largest, arena);
  }
  return devices * static_cast<double>(largest) > limit;
}

std::string MutationCounts::describe() const {
  int64_t total = 0;
  std::string text;
  for (auto [code, number] : byCode) {
    total += number;
    std::string what =
        code == 0 ? "accepted"
                  : std::string(kindName(static_cast<ErrorKind>(code)));
    text += ", " + std::to_string(number) + " " + what;
  }
  return std::to_string(total) + " mutations" + text;
}

} // namespace llmc::rt::plan

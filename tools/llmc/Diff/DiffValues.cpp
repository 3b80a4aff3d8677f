//===- DiffValues.cpp - What a step computed, by name ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiffValues.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Runtime/Base/Names.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;

/// Below this, what differs is rounding.
static constexpr double kLeastScale = 0.01;
/// Of the largest gradient of a tensor: smaller ones are rounding in part.
static constexpr double kLeastGradient = 1e-3;

std::vector<double> driver::toNumbers(const HostTensor &tensor) {
  std::vector<double> numbers(tensor.getNumElements());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    numbers[i] = tensor.isFloat() ? tensor.getFloat(i)
                                  : static_cast<double>(tensor.getInt(i));
  return numbers;
}

StepValues driver::readValues(ModuleOp module,
                              const StepInterpreter &interpreter,
                              const StepInterpreter::StepResult &result) {
  StepValues values;
  for (auto &[name, value] : result.metrics)
    values.push_back(
        {rt::unescapeName(name.str()), "", false, toNumbers(value)});
  for (auto &[name, value] : result.gradients)
    values.push_back(
        {getGradientName(name), name.str(), true, toNumbers(value)});
  for (auto state : module.getOps<dist::StateOp>())
    if (!state.isPart()) {
      auto of = state.getOfAttr();
      values.push_back({rt::unescapeName(state.getSymName().str()),
                        of ? of.getValue().str() : state.getSymName().str(),
                        false,
                        toNumbers(interpreter.getState(state.getSymName()))});
    }
  return values;
}

rt::Result<StepValues> driver::readValues(rt::Session &session,
                                          const StepValues &like) {
  StepValues values;
  for (const StepValue &want : like) {
    StepValue got = want;
    if (want.state.empty()) {
      got.elements = {session.metric(want.name).value_or(NAN)};
    } else {
      LLMC_TRY_ASSIGN(rt::HostTensor tensor,
                      want.isGradient ? session.fetch(want.name)
                                      : session.readState(want.name));
      got.elements.resize(tensor.elements());
      for (int64_t i = 0; i < tensor.elements(); ++i)
        got.elements[i] = tensor.at(i);
    }
    values.push_back(std::move(got));
  }
  return values;
}

double driver::getDistance(ArrayRef<double> want, ArrayRef<double> got) {
  if (want.size() != got.size())
    return INFINITY;
  double largest = kLeastScale, distance = 0;
  for (auto [x, y] : llvm::zip(want, got)) {
    if (std::isfinite(x))
      largest = std::max(largest, std::fabs(x));
    bool isSame = x == y || (std::isnan(x) && std::isnan(y));
    double apart = isSame ? 0 : std::fabs(x - y);
    distance = std::max(distance, std::isnan(apart) ? INFINITY : apart);
  }
  return distance / largest;
}

static double getLargest(ArrayRef<double> numbers) {
  double largest = 0;
  for (double x : numbers)
    largest = std::max(largest, std::fabs(x));
  return largest;
}

std::vector<double> driver::getDistances(const StepValues &want,
                                         const StepValues &got) {
  std::map<std::string, const StepValue *> gradients;
  for (const StepValue &value : want)
    if (value.isGradient)
      gradients[value.state] = &value;
  std::vector<double> distances;
  for (auto [x, y] : llvm::zip(want, got)) {
    auto gradient = gradients.find(x.state);
    bool isMoved = !x.isGradient && gradient != gradients.end() &&
                   gradient->second->elements.size() == x.elements.size() &&
                   x.elements.size() == y.elements.size();
    if (!isMoved) {
      distances.push_back(getDistance(x.elements, y.elements));
      continue;
    }
    const std::vector<double> &slopes = gradient->second->elements;
    double least = kLeastGradient * getLargest(slopes);
    std::vector<double> kept = y.elements;
    for (size_t i = 0; i < kept.size(); ++i)
      if (std::fabs(slopes[i]) <= least && std::isfinite(kept[i]))
        kept[i] = x.elements[i];
    distances.push_back(getDistance(x.elements, kept));
  }
  return distances;
}

bool driver::isFinite(const StepValue &value) {
  return llvm::all_of(value.elements,
                      [](double x) { return std::isfinite(x); });
}

//===- StepCut.cpp - Where a whole step is cut in two ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Training/split-step.mlir
//===----------------------------------------------------------------------===//

#include "StepCut.h"
#include "../TrainingMarks.h"
#include "llmc/Analysis/Program/ElementPaths.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Solvers/Cuts/VertexCut.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <tuple>

using namespace mlir;
using namespace llmc;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;
using llmc::training::Crossing;

namespace {
/// A result of the step that is to be computed past the cut.
struct Sink {
  Value value;
  PortAttr port;
  /// Null for a metric and the loss.
  dist::StateOp state;

  bool isLoss() const { return dist::isPort(port, PortKind::Loss); }
};

class StepCutter {
public:
  StepCutter(func::FuncOp step, StringRef prefix, SymbolTable &symbols)
      : step(step), prefix(prefix), symbols(symbols) {}

  FailureOr<SmallVector<Crossing>> run();

private:
  void numberData();
  void collectSinks();
  void collectCandidates();
  VertexCutProblem buildProblem();
  void nameGradients(ArrayRef<Value> cut, SmallVectorImpl<PortAttr> &ports);
  void nameByParameters(SmallVectorImpl<PortAttr> &ports);
  PortAttr findMetric(Value value);
  std::optional<unsigned> findLossSum(ArrayRef<Value> cut);
  FailureOr<SmallVector<Value>> findCut();

  func::FuncOp step;
  StringRef prefix;
  SymbolTable &symbols;
  /// What depends on the batch, in program order.
  llvm::SetVector<Value> data;
  SmallVector<Sink> sinks;
  /// From a sink to a value that may cross: where in `sinks`, the value, and
  /// how far apart they are.
  struct Candidate {
    unsigned sink;
    Value value;
    unsigned distance;
  };
  SmallVector<Candidate> candidates;
};
} // namespace

static bool isFloatScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0 && isa<FloatType>(type.getElementType());
}

void StepCutter::numberData() {
  for (BlockArgument argument : step.getArguments())
    if (training::isInput(step, argument.getArgNumber()))
      data.insert(argument);
  addDependents(step.front(), data);
}

void StepCutter::collectSinks() {
  Operation *terminator = step.front().getTerminator();
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    PortAttr port = dist::getResultPort(step, i);
    Value value = terminator->getOperand(i);
    FlatSymbolRefAttr state = dist::getState(port);
    bool isWanted =
        state || dist::getMetric(port) || dist::isPort(port, PortKind::Loss);
    if (!isWanted || !data.contains(value))
      continue;
    sinks.push_back({value, port,
                     state ? symbols.lookup<dist::StateOp>(state.getAttr())
                           : dist::StateOp()});
  }
}

void StepCutter::collectCandidates() {
  // Nothing crosses in the middle of a loop.
  dist::LoopRuns loops(step.front());
  for (auto [number, sink] : llvm::enumerate(sinks))
    for (auto [value, distance] : findElementSources(sink.value)) {
      bool isOfState =
          sink.state && value.getType() == sink.state.getTensorType();
      if (data.contains(value) && loops.getRunOf(value) < 0 &&
          (isOfState || isFloatScalar(value)))
        candidates.push_back({static_cast<unsigned>(number), value, distance});
    }
}

VertexCutProblem StepCutter::buildProblem() {
  llvm::DenseMap<Value, int32_t> numbers;
  for (Value value : data)
    numbers[value] = static_cast<int32_t>(numbers.size());
  VertexCutProblem problem;
  problem.costs.resize(data.size());
  for (const Candidate &candidate : candidates)
    problem.costs[numbers.lookup(candidate.value)] = getBytes(candidate.value);
  for (auto [number, value] : llvm::enumerate(data)) {
    auto to = static_cast<int32_t>(number);
    auto result = dyn_cast<OpResult>(value);
    if (!result) {
      problem.sources.push_back(to);
      continue;
    }
    for (Value source : getSources(result))
      if (auto from = numbers.find(source); from != numbers.end())
        problem.edges.push_back({from->second, to});
  }
  for (const Sink &sink : sinks)
    problem.sinks.push_back(numbers.lookup(sink.value));
  return problem;
}

/// Each value gets a state whose gradient it is called: a parameter before
/// others, the nearest before those farther away, each state once.
void StepCutter::nameGradients(ArrayRef<Value> cut,
                               SmallVectorImpl<PortAttr> &ports) {
  llvm::DenseMap<Value, unsigned> places;
  for (auto [place, value] : llvm::enumerate(cut))
    places[value] = place;
  std::vector<std::tuple<bool, unsigned, unsigned, unsigned>> pairs;
  for (const Candidate &candidate : candidates) {
    auto place = places.find(candidate.value);
    dist::StateOp state = sinks[candidate.sink].state;
    if (place != places.end() && state &&
        candidate.value.getType() == state.getTensorType())
      pairs.push_back({state.getRole() != dist::Role::Parameter,
                       candidate.distance, place->second, candidate.sink});
  }
  llvm::sort(pairs);
  llvm::DenseSet<unsigned> taken;
  for (auto [isOther, distance, place, sink] : pairs)
    if (!ports[place] && taken.insert(sink).second)
      ports[place] = PortAttr::get(step.getContext(), PortKind::Gradient,
                                   FlatSymbolRefAttr::get(sinks[sink].state));
}

/// What only an optimizer state is computed from element by element, as the
/// momentum of an update that mixes elements, is the gradient of its parameter
/// where that has none.
void StepCutter::nameByParameters(SmallVectorImpl<PortAttr> &ports) {
  llvm::DenseSet<Attribute> named;
  for (PortAttr port : ports)
    if (FlatSymbolRefAttr state = dist::getGradientOf(port))
      named.insert(state.getAttr());
  for (PortAttr &port : ports) {
    FlatSymbolRefAttr symbol = dist::getGradientOf(port);
    auto state = symbol ? symbols.lookup<dist::StateOp>(symbol.getAttr())
                        : dist::StateOp();
    auto owner = state && state.getOf()
                     ? symbols.lookup<dist::StateOp>(*state.getOf())
                     : dist::StateOp();
    if (owner && owner.getTensorType() == state.getTensorType() &&
        named.insert(owner.getSymNameAttr()).second)
      port = PortAttr::get(step.getContext(), PortKind::Gradient,
                           FlatSymbolRefAttr::get(owner));
  }
}

/// Where in the cut the value stands that the loss is computed from by the
/// fewest ops.
std::optional<unsigned> StepCutter::findLossSum(ArrayRef<Value> cut) {
  const Candidate *nearest = nullptr;
  for (const Candidate &candidate : candidates)
    if (sinks[candidate.sink].isLoss() && isFloatScalar(candidate.value) &&
        llvm::is_contained(cut, candidate.value) &&
        (!nearest || candidate.distance < nearest->distance))
      nearest = &candidate;
  if (!nearest)
    return std::nullopt;
  return static_cast<unsigned>(llvm::find(cut, nearest->value) - cut.begin());
}

/// The metric that the value is, or null.
PortAttr StepCutter::findMetric(Value value) {
  for (const Sink &sink : sinks)
    if (sink.value == value && !sink.state && !sink.isLoss())
      return PortAttr::get(step.getContext(), PortKind::MetricSum,
                           dist::getMetric(sink.port).getValue());
  return {};
}

FailureOr<SmallVector<Value>> StepCutter::findCut() {
  VertexCutProblem problem = buildProblem();
  std::string fault = problem.check();
  if (!fault.empty())
    return step.emitOpError() << "has no valid cut: " << fault;
  std::optional<std::vector<int32_t>> found = findVertexCut(problem);
  if (!found)
    return emitRefusal(step.getLoc())
           << "expected states and metrics that are computed from the batch by "
              "ops, got one that is not";
  fault = problem.verify(*found);
  if (!fault.empty())
    return step.emitOpError() << "has no valid cut: " << fault;
  SmallVector<Value> cut;
  for (int32_t number : *found)
    cut.push_back(data[number]);
  return cut;
}

FailureOr<SmallVector<Crossing>> StepCutter::run() {
  numberData();
  collectSinks();
  collectCandidates();
  FailureOr<SmallVector<Value>> cut = findCut();
  if (failed(cut))
    return failure();
  auto lossSum = PortAttr::get(step.getContext(), PortKind::LossSum);
  SmallVector<PortAttr> ports;
  for (Value value : *cut)
    ports.push_back(findMetric(value));
  if (std::optional<unsigned> place = findLossSum(*cut))
    ports[*place] = lossSum;
  nameGradients(*cut, ports);
  nameByParameters(ports);
  SmallVector<Crossing> crossings;
  // A loss of gradients, or of no data, has no sum of its own on the way.
  if (!llvm::is_contained(ports, lossSum))
    crossings.push_back(
        {step.front().getTerminator()->getOperand(training::findLoss(step)),
         lossSum});
  for (auto [value, port] : llvm::zip_equal(*cut, ports)) {
    if (!port && isFloatScalar(value))
      port = PortAttr::get(
          step.getContext(), PortKind::MetricSum,
          (prefix + ".sum" + std::to_string(crossings.size())).str());
    if (!port)
      return emitRefusal(value.getLoc())
             << "expected a state of its own for each value that an update "
                "takes from the batch, got none left for one of "
             << value.getType();
    crossings.push_back({value, port});
  }
  return crossings;
}

FailureOr<SmallVector<Crossing>> training::findStepCut(func::FuncOp step,
                                                       StringRef prefix,
                                                       SymbolTable &symbols) {
  return StepCutter(step, prefix, symbols).run();
}

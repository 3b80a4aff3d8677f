//===- Objective.cpp - A loss that the configuration adds -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model may return what it predicts, and no loss:
//
//   func @main(%x) -> %logits          [loss] kind = "classification"
//   ->
//   func @main(%x, %labels) -> (%loss, %logits)
//
// Test: test/Import/Onnx/objective.test
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;
namespace hlo = llmc::stablehlo;

namespace {
class ObjectiveBuilder {
public:
  ObjectiveBuilder(Graph &graph, const rt::LossConfig &config)
      : graph(graph), main(graph.main), config(config),
        b(main.front().getTerminator()), loc(main.getLoc()) {}

  rt::Status run();

private:
  rt::Result<unsigned> findOutput();
  rt::Result<Value> findTokens();
  rt::Result<Value> addTargets(RankedTensorType type);
  rt::Result<Value> build(Value prediction);
  rt::Result<Value> nextToken(Value logits);
  rt::Result<Value> classification(Value logits);
  rt::Result<Value> squares(Value prediction);
  Value mean(Value terms);
  rt::Status refuse(const std::string &message) const {
    return rt::makeError(ErrorKind::usage, message);
  }

  Graph &graph;
  func::FuncOp main;
  const rt::LossConfig &config;
  OpBuilder b;
  Location loc;
};
} // namespace

static RankedTensorType tensorTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The result of that name, or else the only one of floats that is no scalar.
rt::Result<unsigned> ObjectiveBuilder::findOutput() {
  std::vector<std::string> names, open;
  std::optional<unsigned> only;
  for (unsigned i = 0; i < graph.results.size(); ++i) {
    const std::string &name = graph.results[i].output;
    if (!config.output.empty() && name == config.output)
      return i;
    names.push_back(name);
    auto type = cast<RankedTensorType>(main.getResultTypes()[i]);
    if (!isa<FloatType>(type.getElementType()) || type.getRank() == 0 ||
        !graph.results[i].isForForward)
      continue;
    only = i;
    open.push_back(name);
  }
  if (config.output.empty() && open.size() == 1)
    return *only;
  if (config.output.empty())
    return refuse("expected 'loss.output' to name a result of the model, got "
                  "none; there are " +
                  rt::listGlobbed(names, 8));
  std::string near = rt::nearest(config.output, names);
  return refuse("expected 'loss.output' to name a result of the model, got '" +
                config.output + "'" +
                (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

/// The tokens that the model reads: the input of that name, or the only one of
/// integers.
rt::Result<Value> ObjectiveBuilder::findTokens() {
  SmallVector<Value> open;
  for (auto [i, name] : llvm::enumerate(graph.arguments)) {
    Value argument = main.getArgument(i);
    if (!config.targets.empty() && name.fullName() == config.targets)
      return argument;
    auto type = tensorTypeOf(argument);
    bool isState = i < graph.given.size() && graph.given[i] &&
                   graph.given[i]->kind != GivenState::Kind::Input;
    if (!isState && type.getElementType().isSignlessInteger() &&
        !type.getElementType().isInteger(1) && type.getRank() > 0)
      open.push_back(argument);
  }
  if (config.targets.empty() && open.size() == 1)
    return open.front();
  return refuse("expected 'loss.targets' to name the input with the tokens, "
                "got " +
                (config.targets.empty()
                     ? std::to_string(open.size()) + " inputs of integers"
                     : "'" + config.targets + "'"));
}

/// A new input.
rt::Result<Value> ObjectiveBuilder::addTargets(RankedTensorType type) {
  std::string name = config.targets.empty() ? "labels" : config.targets;
  for (const ValueName &known : graph.arguments)
    if (known.fullName() == name)
      return refuse("expected 'loss.targets' to be a new input, got '" + name +
                    "', which the model has");
  Location place = NameLoc::get(StringAttr::get(main.getContext(), name));
  unsigned number = main.getNumArguments();
  if (failed(main.insertArgument(number, type, {}, place)))
    return rt::makeError(ErrorKind::internal,
                         "expected a function that takes input '" + name + "'");
  Value argument = main.getArgument(number);
  graph.arguments.push_back({name, ""});
  graph.donations.push_back({});
  graph.given.resize(graph.arguments.size());
  graph.given.back() = GivenState();
  return argument;
}

Value ObjectiveBuilder::mean(Value terms) {
  auto type = tensorTypeOf(terms);
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < type.getRank(); ++i)
    dims.push_back(i);
  Value sum = hlo::reduceAdd(b, loc, terms, dims);
  auto count = static_cast<double>(type.getNumElements());
  return hlo::div(b, loc, sum, hlo::constantLike(b, loc, sum, count));
}

/// Position t predicts token t + 1; the last one predicts nothing.
rt::Result<Value> ObjectiveBuilder::nextToken(Value logits) {
  LLMC_TRY_ASSIGN(Value tokens, findTokens());
  ArrayRef<int64_t> scores = tensorTypeOf(logits).getShape();
  ArrayRef<int64_t> read = tensorTypeOf(tokens).getShape();
  if (scores.size() < 2 || scores.drop_back() != read || read.back() < 2)
    return refuse("expected scores of each of two and more tokens, got " +
                  show(logits.getType()) + " of " + show(tokens.getType()));
  size_t time = read.size() - 1;
  SmallVector<int64_t> zeros(scores.size(), 0), limits(scores);
  --limits[time];
  Value used = hlo::slice(b, loc, logits, zeros, limits);
  SmallVector<int64_t> starts(read.size(), 0);
  starts[time] = 1;
  Value next = hlo::slice(b, loc, tokens, starts, read);
  return mean(nn::SoftmaxCrossEntropyOp::create(b, loc, used, next).getLoss());
}

/// The last dimension has the scores of the classes.
rt::Result<Value> ObjectiveBuilder::classification(Value logits) {
  auto type = tensorTypeOf(logits);
  if (type.getRank() < 2)
    return refuse("expected scores of a batch, got " + show(type));
  LLMC_TRY_ASSIGN(Value targets,
                  addTargets(RankedTensorType::get(type.getShape().drop_back(),
                                                   b.getI32Type())));
  return mean(
      nn::SoftmaxCrossEntropyOp::create(b, loc, logits, targets).getLoss());
}

rt::Result<Value> ObjectiveBuilder::squares(Value prediction) {
  LLMC_TRY_ASSIGN(Value targets, addTargets(tensorTypeOf(prediction)));
  Value distance = hlo::sub(b, loc, prediction, targets);
  return mean(hlo::mul(b, loc, distance, distance));
}

rt::Result<Value> ObjectiveBuilder::build(Value prediction) {
  auto type = tensorTypeOf(prediction);
  if (!isa<FloatType>(type.getElementType()) || type.getRank() == 0)
    return refuse("expected a prediction of floats, got " + show(type));
  if (config.kind == "next-token")
    return nextToken(prediction);
  if (config.kind == "classification")
    return classification(prediction);
  return squares(prediction);
}

rt::Status ObjectiveBuilder::run() {
  LLMC_TRY_ASSIGN(unsigned output, findOutput());
  Operation *end = main.front().getTerminator();
  if (config.kind == "none") {
    moveToFront(graph, output);
    return rt::Status::success();
  }
  LLMC_TRY_ASSIGN(Value loss, build(end->getOperand(output)));
  end->insertOperands(end->getNumOperands(), loss);
  ResultName name;
  name.shown = name.path = name.metric = name.output = "loss";
  graph.results.push_back(name);
  moveToFront(graph, graph.results.size() - 1);
  return rt::Status::success();
}

void import::moveToFront(Graph &graph, unsigned result) {
  func::FuncOp main = graph.main;
  Operation *end = main.front().getTerminator();
  SmallVector<Value> values(end->getOperands());
  SmallVector<DictionaryAttr> attributes;
  main.getAllResultAttrs(attributes);
  attributes.resize(values.size());
  auto move = [&](auto &list) {
    std::rotate(list.begin(), list.begin() + result, list.begin() + result + 1);
  };
  move(values);
  move(attributes);
  move(graph.results);
  end->setOperands(values);
  main.setType(FunctionType::get(main.getContext(),
                                 main.front().getArgumentTypes(),
                                 end->getOperandTypes()));
  main.setAllResultAttrs(attributes);
  auto follow = [&](std::optional<unsigned> &place) {
    if (place && *place <= result)
      place = *place == result ? 0 : *place + 1;
  };
  for (std::optional<GivenState> &given : graph.given)
    if (given)
      follow(given->result);
  for (Donation &donation : graph.donations)
    follow(donation.result);
}

rt::Status import::addObjective(Graph &graph, const rt::Config &config) {
  if (config.loss.kind == "none" && config.loss.output.empty()) {
    if (config.loss.targets.empty())
      return rt::Status::success();
    return rt::makeError(ErrorKind::usage,
                         "expected 'loss.targets' with a 'loss.kind', got '" +
                             config.loss.targets + "' alone");
  }
  return ObjectiveBuilder(graph, config.loss).run();
}

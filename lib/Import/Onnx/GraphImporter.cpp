//===- GraphImporter.cpp - The nodes of a graph become ops ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Import/Onnx, test/EndToEnd/onnx-backend.test
//===----------------------------------------------------------------------===//

#include "GraphImporter.h"
#include "TripProbe.h"
#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Sdy/IR/Sdy.h"
#include "llmc/Support/FirstError.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
using rt::ErrorKind;

/// Elements of tensors that are known beside the ops that compute them.
static constexpr int64_t kMostKnown = 4096;
/// Elements that are computed for one question.
static constexpr int64_t kMostComputed = int64_t(1) << 22;
/// Ops of a function, those of unrolled loops included, and how deep functions
/// and graphs lie in each other.
static constexpr int64_t kMostNodes = int64_t(1) << 17;
static constexpr int kMostNested = 100;

void onnx::addAllOps(OpTable &table) {
  for (auto add : {addElementwiseOps, addActivationOps,  addShapeOps,
                   addMovementOps,    addConstantOps,    addReductionOps,
                   addSearchOps,      addContractionOps, addEinsumOps,
                   addConvolutionOps, addPoolOps,        addPositionOps,
                   addResizeOps,      addNormOps,        addIndexingOps,
                   addControlOps,     addSequenceOps,    addLossOps,
                   addOptimizerOps,   addAttentionOps,   addRandomOps,
                   addRecurrentOps,   addScanOps,        addLinearAttentionOps,
                   addQuantizationOps})
    add(table);
}

GraphImporter::GraphImporter(const Model &model, std::string file,
                             OpBuilder builder)
    : model(model), file(std::move(file)), builder(builder),
      versions(&model.versions) {
  addAllOps(table);
  for (const Node &node : model.graph.nodes)
    for (const NodeConfiguration &part : node.configurations)
      for (const ShardingSpec &spec : part.specs)
        placed.insert(spec.tensor);
}

rt::Status GraphImporter::refuse(const std::string &message,
                                 ErrorKind kind) const {
  return rt::makeError(kind, message).at(file);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

const Binding *GraphImporter::Scope::find(std::string_view name) const {
  for (const Scope *scope = this; scope; scope = scope->around)
    if (auto found = scope->names.find(name); found != scope->names.end())
      return &found->second;
  return nullptr;
}

rt::Status GraphImporter::define(Scope &scope, std::string_view name,
                                 Binding binding) {
  if (name.empty())
    return rt::Status::success();
  if (!scope.names.try_emplace(name, std::move(binding)).second)
    return refuse("expected each name once in a graph, got '" +
                      std::string(name) + "' again",
                  ErrorKind::malformed);
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

std::optional<HostTensor> GraphImporter::getKnown(Value value) const {
  std::optional<HostTensor> elements = findKnown(value);
  if (elements && probe)
    probe->note(value);
  return elements;
}

std::optional<HostTensor> GraphImporter::compute(Value value) const {
  std::optional<HostTensor> elements = computeKnown(value);
  if (elements && probe)
    probe->note(value);
  return elements;
}

std::optional<HostTensor> GraphImporter::findKnown(Value value) const {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getNumElements() > kMostKnown)
    return std::nullopt;
  return graph::getConstant(value);
}

/// The ops on which `value` depends, each after its operands; nothing where one
/// of them is no op of the graph, or where they make too many elements.
static std::optional<SmallVector<Operation *>> findOps(Value value) {
  SmallVector<std::pair<Operation *, unsigned>> open;
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> ops;
  int64_t count = 0;
  auto visit = [&](Value each) {
    Operation *op = each.getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(each.getType());
    if (!op || !type || op->getNumResults() != 1 || op->getNumRegions())
      return false;
    if (seen.insert(op).second) {
      open.push_back({op, 0});
      count += type.getNumElements();
    }
    return count <= kMostComputed;
  };
  if (!visit(value))
    return std::nullopt;
  while (!open.empty()) {
    auto &[op, next] = open.back();
    if (next == op->getNumOperands()) {
      ops.push_back(op);
      open.pop_back();
      continue;
    }
    if (!visit(op->getOperand(next++)))
      return std::nullopt;
  }
  return ops;
}

std::optional<HostTensor> GraphImporter::computeKnown(Value value) const {
  if (std::optional<HostTensor> known = findKnown(value))
    return known;
  std::optional<SmallVector<Operation *>> ops = findOps(value);
  if (!ops)
    return std::nullopt;
  ScopedDiagnosticHandler quiet(builder.getContext(),
                                [](Diagnostic &) { return success(); });
  llvm::DenseMap<Value, HostTensor> found;
  for (Operation *op : *ops) {
    SmallVector<HostTensor> operands, results;
    for (Value operand : op->getOperands())
      operands.push_back(found.at(operand));
    if (std::optional<HostTensor> constant =
            graph::getConstant(op->getResult(0)))
      results.push_back(std::move(*constant));
    else if (!graph::computePure(op, operands, results) || results.size() != 1)
      return std::nullopt;
    found.try_emplace(op->getResult(0), std::move(results.front()));
  }
  return found.at(value);
}

std::vector<std::string> GraphImporter::findSources(Value value) const {
  llvm::SetVector<Value> open;
  std::vector<std::string> names;
  open.insert(value);
  for (size_t i = 0; i < open.size(); ++i) {
    if (auto name = argumentNames.find(open[i]); name != argumentNames.end())
      names.push_back(name->second);
    if (Operation *op = open[i].getDefiningOp())
      for (Value operand : op->getOperands())
        open.insert(operand);
  }
  return names;
}

/// Elements of the results, or nothing where there are too many to keep.
static bool isKept(Operation *op) {
  int64_t count = 0;
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return false;
    count += tensor.getNumElements();
  }
  return count <= kMostKnown;
}

void GraphImporter::learn(Operation *op) {
  // Nobody knows how long a loop would run.
  if (!isKept(op) || !isa<graph::EvaluationOpInterface>(op) ||
      isa<stablehlo::WhileOp>(op) || op->getNumResults() == 0 ||
      known.count(op->getResult(0)))
    return;
  SmallVector<HostTensor> operands, results;
  for (Value operand : op->getOperands()) {
    std::optional<HostTensor> value = findKnown(operand);
    if (!value)
      return;
    operands.push_back(std::move(*value));
  }
  // What cannot be computed is not known, and no error.
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  bool isDone = op->getNumRegions()
                    ? succeeded(interpreter.evaluateOp(op, operands, results))
                    : graph::computePure(op, operands, results);
  if (!isDone || results.size() != op->getNumResults())
    return;
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
    known[result] = std::move(value);
}

rt::Result<Value> GraphImporter::getCounter(Location loc) {
  if (!counter)
    counter = makeCounter();
  return counter;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

std::string onnx::nameOfOp(const Node &node) {
  bool isStandard = node.domain.empty() || node.domain == "ai.onnx";
  return (isStandard ? "" : std::string(node.domain) + ".") +
         std::string(node.opType);
}

static std::string describeNode(const Node &node) {
  std::string name(node.name);
  if (name.empty())
    for (std::string_view output : node.outputs)
      if (name.empty())
        name = output;
  return "node '" + name + "' (" + nameOfOp(node) + "): ";
}

rt::Status NodeImport::refuse(const std::string &message,
                              ErrorKind kind) const {
  return importer.refuse(describeNode(node) + message, kind);
}

const NodeAttribute *NodeImport::attribute(StringRef name) const {
  std::string_view key(name.data(), name.size());
  const NodeAttribute *found = nullptr;
  for (const NodeAttribute &each : node.attributes)
    if (each.name == key)
      found = &each;
  if (!found || found->reference.empty())
    return found;
  // Of a function's body: the attribute of the call, or its default.
  if (!frameCall)
    return nullptr;
  StringRef reference(found->reference.data(), found->reference.size());
  if (const NodeAttribute *given = frameCall->attribute(reference))
    return given;
  for (const NodeAttribute &each : frameFunction->defaults)
    if (each.name == found->reference)
      return &each;
  return nullptr;
}

int64_t GraphImporter::versionOf(std::string_view domain) const {
  if (domain == "ai.onnx")
    domain = "";
  // Very old files name no operator sets.
  auto found = versions->find(domain);
  return found == versions->end() ? 1 : found->second;
}

const Function *onnx::findFunctionOf(const Model &model, const Node &node) {
  for (const Function &each : model.functions)
    if (each.name == node.opType && each.domain == node.domain &&
        each.overload == node.overload)
      return &each;
  return nullptr;
}

Operation *GraphImporter::lastOp() {
  Block *block = builder.getInsertionBlock();
  return block->empty() ? nullptr : &block->back();
}

/// Verifies what a handler built, and keeps what follows from constants.
rt::Status GraphImporter::checkNew(Operation *before,
                                   const NodeImport &import) {
  Block *block = builder.getInsertionBlock();
  Operation *op = before ? before->getNextNode()
                         : (block->empty() ? nullptr : &block->front());
  for (; op; op = op->getNextNode()) {
    std::string message;
    ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &each) {
      if (message.empty())
        message = each.str();
      return success();
    });
    if (failed(verify(op)))
      return import.refuse("expected operands that fit, got " + message);
    learn(op);
  }
  return rt::Status::success();
}

rt::Status GraphImporter::runHandler(const OpEntry &entry, NodeImport &import) {
  if (import.version > entry.newest)
    return import.unsupported(
        "expected version " + std::to_string(entry.newest) +
        " of the operator set at most, got " + std::to_string(import.version));
  unsigned there = import.numInputs();
  if (there < entry.fewest || there > entry.most)
    return import.refuse("expected " + std::to_string(entry.fewest) +
                             (entry.most == kAny ? " or more"
                              : entry.most == entry.fewest
                                  ? ""
                                  : " to " + std::to_string(entry.most)) +
                             " operands, got " + std::to_string(there),
                         ErrorKind::malformed);
  bool needsAll = entry.most == kAny && entry.fewest > 0;
  unsigned needed = needsAll ? there : entry.fewest;
  for (unsigned i = 0; i < needed; ++i)
    if (!import.has(i) && !import.inputs[i].isList)
      return import.refuse("expected operand " + std::to_string(i) +
                               ", got none",
                           ErrorKind::malformed);
  return entry.handle(import);
}

rt::Status GraphImporter::callFunction(const Node &node, const Function &callee,
                                       NodeImport &call, Scope &scope) {
  Scope inner;
  for (auto [i, name] : llvm::enumerate(callee.inputs))
    LLMC_TRY(define(inner, name,
                    i < call.inputs.size() ? call.inputs[i] : Binding()));
  auto oldVersions = versions;
  auto oldCall = this->call;
  auto oldFunction = function;
  versions = callee.versions.empty() ? versions : &callee.versions;
  this->call = &call;
  function = &callee;
  rt::Status status = importNodes(callee.nodes, inner);
  versions = oldVersions;
  this->call = oldCall;
  function = oldFunction;
  LLMC_TRY(status);
  for (std::string_view name : callee.outputs) {
    const Binding *value = inner.find(name);
    if (!value)
      return call.refuse("expected the function to compute '" +
                             std::string(name) + "', got nothing of that name",
                         ErrorKind::malformed);
    call.outputs.push_back(*value);
  }
  return rt::Status::success();
}

rt::Status GraphImporter::countNode() {
  if (++numNodes <= kMostNodes)
    return rt::Status::success();
  return refuse("expected at most " + std::to_string(kMostNodes) +
                    " nodes once loops are unrolled, got more",
                ErrorKind::unsupported);
}

/// What to do about an op that nobody knows here.
static rt::Status refuseUnknown(const NodeImport &import,
                                const std::string &name) {
  static constexpr const char *kShape = "its shape depends on what it reads";
  static constexpr const char *kWhole =
      "it computes with integers, which have no derivative; import the model "
      "from before it was quantized for inference";
  static constexpr std::pair<const char *, const char *> kReasons[] = {
      {"NonZero", kShape},       {"Compress", kShape},
      {"Unique", kShape},        {"NonMaxSuppression", kShape},
      {"QLinearMatMul", kWhole}, {"QLinearConv", kWhole},
      {"MatMulInteger", kWhole}, {"ConvInteger", kWhole}};
  std::string message = "expected an op that llmc knows, got '" + name + "'";
  for (auto [op, reason] : kReasons)
    if (name == op)
      message += std::string(": ") + reason;
  rt::Status status = import.unsupported(message);
  StringRef text = name;
  if (text.starts_with("com.microsoft.") || text.starts_with("ai.onnx.contrib"))
    return status.withHint("export the model without fused ops, or before an "
                           "optimizer of ONNX Runtime has changed it");
  return status;
}

/// An output whose sharding the file gives is a value of its own, also where
/// the node hands on what it reads: so a tensor changes its sharding between
/// the two sides of an Identity. A constraint of no mesh says nothing.
Binding GraphImporter::keepApart(std::string_view name, Binding output,
                                 const NodeImport &import) {
  bool isRead = llvm::any_of(import.inputs, [&](const Binding &input) {
    return !output.isList &&
           llvm::is_contained(input.values, output.values.front());
  });
  // Names in graphs inside nodes and in functions have no shardings.
  if (depth != 1 || !isRead || !placed.count(name) ||
      findKnown(output.values.front()))
    return output;
  MLIRContext *context = getContext();
  Value &value = output.values.front();
  SmallVector<sdy::DimensionShardingAttr> open(
      cast<RankedTensorType>(value.getType()).getRank(),
      sdy::DimensionShardingAttr::get(context, {}, /*isClosed=*/false, {}));
  auto nothing = sdy::TensorShardingAttr::get(
      context, sdy::MeshAttr::get(context, {}, {}), open, {}, {});
  value = sdy::ShardingConstraintOp::create(builder, import.loc,
                                            value.getType(), value, nothing);
  return output;
}

rt::Status GraphImporter::importNode(const Node &node, Scope &scope) {
  LLMC_TRY(countNode());
  std::string name(node.name.empty() ? node.opType : node.name);
  Location loc = NameLoc::get(builder.getStringAttr(name));
  NodeImport import(*this, node, builder, loc, versionOf(node.domain));
  import.frameCall = call;
  import.frameFunction = function;
  for (std::string_view input : node.inputs) {
    const Binding *value = input.empty() ? nullptr : scope.find(input);
    if (!input.empty() && !value)
      return import.refuse("expected '" + std::string(input) +
                               "' to be computed before it is read, got no "
                               "value of that name so far",
                           ErrorKind::malformed);
    import.inputs.push_back(value ? *value : Binding());
  }
  while (!import.inputs.empty() &&
         node.inputs[import.inputs.size() - 1].empty())
    import.inputs.pop_back();
  Operation *before = lastOp();
  auto entry = table.find(nameOfOp(node));
  Scope *oldScope = std::exchange(current, &scope);
  rt::Status status;
  const Function *callee = findFunctionOf(model, node);
  if (entry != table.end())
    status = runHandler(entry->second, import);
  else if (callee)
    status = callFunction(node, *callee, import, scope);
  else
    status = refuseUnknown(import, nameOfOp(node));
  current = oldScope;
  LLMC_TRY(status);
  LLMC_TRY(checkNew(before, import));
  for (auto [i, output] : llvm::enumerate(node.outputs))
    if (!output.empty() && i < import.outputs.size() &&
        (import.outputs[i].isList || !import.outputs[i].values.empty()))
      LLMC_TRY(
          define(scope, output, keepApart(output, import.outputs[i], import)));
  return rt::Status::success();
}

rt::Status GraphImporter::importNodes(const std::vector<Node> &nodes,
                                      Scope &scope) {
  if (depth >= kMostNested)
    return refuse("expected at most " + std::to_string(kMostNested) +
                      " functions and graphs inside each other, got more",
                  ErrorKind::unsupported);
  ++depth;
  rt::Status status;
  for (const Node &node : nodes) {
    status = importNode(node, scope);
    if (!status.ok())
      break;
  }
  --depth;
  return status;
}

rt::Result<Value> GraphImporter::makeConstant(const Tensor &tensor,
                                              Location loc) {
  rt::Result<HostTensor> value = decode(getContext(), tensor);
  if (!value)
    return value.status().at(file);
  Value constant = stablehlo::ConstantOp::create(
      builder, loc, cast<ElementsAttr>(value->toAttribute()));
  if (value->getNumElements() <= kMostKnown)
    known[constant] = *value;
  return constant;
}

rt::Result<SmallVector<Value>>
GraphImporter::importBody(NodeImport &around, const Graph &graph,
                          ArrayRef<Value> inputs) {
  // A body without nodes takes time too.
  LLMC_TRY(countNode());
  Scope scope;
  scope.around = current;
  for (const Tensor &tensor : graph.initializers) {
    LLMC_TRY_ASSIGN(Value value, makeConstant(tensor, around.loc));
    LLMC_TRY(define(scope, tensor.name, value));
  }
  if (graph.inputs.size() != inputs.size())
    return around.refuse("expected a graph of " +
                             std::to_string(inputs.size()) + " inputs, got " +
                             std::to_string(graph.inputs.size()),
                         ErrorKind::malformed);
  for (auto [info, value] : llvm::zip_equal(graph.inputs, inputs))
    LLMC_TRY(define(scope, info.name, value));
  LLMC_TRY(importNodes(graph.nodes, scope));
  SmallVector<Value> results;
  for (const ValueInfo &output : graph.outputs) {
    const Binding *value = scope.find(output.name);
    if (!value || value->isList || value->values.empty())
      return around.refuse("expected the graph to compute a tensor '" +
                               std::string(output.name) + "', got none",
                           ErrorKind::malformed);
    results.push_back(value->values.front());
  }
  return results;
}

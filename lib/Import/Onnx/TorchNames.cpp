//===- TorchNames.cpp - Parameters get the names that PyTorch gave them ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All nodes that were made from one call of PyTorch's graph are looked at
// together: the tensors that they read are the parameters that the call takes.
// What is left is of two kinds. A tensor under the name of another call
// ("embedding_1") is that call's result, computed when the file was written
// from a parameter that no call takes any more. A parameter without a tensor
// may be another name of one (tied), or serve nothing.
//
// Test: test/Import/Onnx/TorchNamesTest.cpp
//===----------------------------------------------------------------------===//

#include "TorchNames.h"
#include "TorchMetadata.h"
#include "TorchRewrite.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

using namespace llmc;
using namespace llmc::onnx;
using rt::ErrorKind;

namespace {
/// The nodes that came from one call, and the floats that they read.
struct CallGroup {
  TorchCall call;
  std::vector<size_t> nodes;
  std::vector<Use> uses;
};

class Restorer {
public:
  Restorer(Model &model, TorchSignature signature, TorchNames &names,
           const ReadElements &readElements)
      : graph(model.graph), signature(std::move(signature)), names(names),
        rewrite(model.graph, names.storage, readElements) {}

  rt::Status run();

private:
  void collect();
  rt::Status assign(CallGroup &group);
  bool assignByPlace(const CallGroup &group);
  rt::Status assignInOrder(CallGroup &group,
                           std::vector<const TorchTensor *> wanted,
                           std::vector<std::string_view> tensors);
  bool restoreZeroBias(const CallGroup &group, const TorchTensor &bias);
  void keepPadding(const CallGroup &group);
  rt::Status restoreDropout(const CallGroup &group);
  rt::Status checkSmoothing(const TorchCall &call) const;
  std::vector<Use> findUses(const CallGroup &group,
                            std::string_view name) const;
  std::vector<std::string_view> findTensors(const CallGroup &group) const;
  void claim(const TorchTensor &tensor, std::vector<Use> uses);
  void claimByName();
  bool isTied(const TorchTensor &tensor) const;
  bool hasModule(std::string_view module) const;
  rt::Status assignComputed();
  rt::Status assignTable(std::string_view name, const std::vector<Use> &uses);
  rt::Status assignResult(std::string_view name, const std::vector<Use> &uses);
  std::vector<const TorchTensor *> candidates(std::string_view result,
                                              bool &isNamed) const;
  bool hasOtherName(const TorchTensor &tensor) const;
  rt::Status checkLost() const;

  Graph &graph;
  TorchSignature signature;
  TorchNames &names;
  Rewrite rewrite;
  /// In the order of the file.
  std::vector<CallGroup> groups;
  std::map<std::string_view, size_t> groupOf;
  /// Tensors under the names of calls, and who reads them.
  std::map<std::string_view, std::vector<Use>> computed;
  std::set<std::string_view> claimed;
};
} // namespace

static constexpr const char *kHint =
    "export the model with torch.onnx.export(..., optimize=False)";

static rt::Status refuseLost(const std::string &message) {
  return rt::makeError(ErrorKind::unsupported, message).withHint(kHint);
}

static std::string quote(std::string_view name) {
  return "'" + std::string(name) + "'";
}

//===----------------------------------------------------------------------===//
// What calls take
//===----------------------------------------------------------------------===//

void Restorer::collect() {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    std::optional<TorchCall> call = readTorchCall(node);
    if (!call)
      continue;
    auto [found, isNew] = groupOf.try_emplace(call->name, groups.size());
    if (isNew)
      groups.push_back({*call, {}, {}});
    groups[found->second].nodes.push_back(i);
    for (size_t input = 0; input < node.inputs.size(); ++input) {
      const Tensor *tensor = rewrite.findTensor(node.inputs[input]);
      if (!tensor || !isFloat(tensor->type))
        continue;
      bool isResult = call->takes(tensor->name);
      (isResult ? computed[tensor->name] : groups[found->second].uses)
          .push_back({i, input});
    }
  }
}

void Restorer::claim(const TorchTensor &tensor, std::vector<Use> uses) {
  claimed.insert(tensor.target);
  auto &kind = tensor.isParameter ? names.parameters : names.buffers;
  kind.emplace(tensor.target);
  for (Use use : uses)
    rewrite.addUse(tensor.target, use);
}

/// An argument by position or by name, or "0.0".
static std::string_view argumentOf(const TorchCall &call, size_t position,
                                   std::string_view keyword) {
  auto found = call.keywords.find(keyword);
  if (found != call.keywords.end())
    return found->second;
  return position < call.arguments.size() ? call.arguments[position] : "0.0";
}

static bool isZero(std::string_view text) {
  return text.find_first_not_of("0.") == std::string_view::npos;
}

/// The row of a table that stands for padding learns nothing from being looked
/// up. The file does not say so; the import of Gather knows the attribute.
void Restorer::keepPadding(const CallGroup &group) {
  const TorchCall &call = group.call;
  std::string row(argumentOf(call, 2, "padding_idx"));
  if (call.target != "aten.embedding.default" ||
      row.find_first_not_of("0123456789") != std::string::npos)
    return;
  for (size_t i : group.nodes) {
    if (graph.nodes[i].opType != "Gather")
      continue;
    NodeAttribute padding;
    padding.name = "padding_index";
    padding.type = 2;
    padding.i = std::strtoll(row.c_str(), nullptr, 10);
    graph.nodes[i].attributes.push_back(std::move(padding));
  }
}

/// Attention of PyTorch drops weights where its call says so; the exporter
/// writes a Dropout that drops nothing, or none.
rt::Status Restorer::restoreDropout(const CallGroup &group) {
  const TorchCall &call = group.call;
  if (call.target != "aten.scaled_dot_product_attention.default")
    return rt::Status::success();
  std::string ratio(argumentOf(call, 4, "dropout_p"));
  if (isZero(ratio))
    return rt::Status::success();
  const size_t *product = nullptr;
  for (const size_t &i : group.nodes) {
    if (graph.nodes[i].opType == "Dropout" &&
        graph.nodes[i].inputs.size() == 2) {
      graph.nodes[i].inputs.push_back(rewrite.addTrue());
      return rt::Status::success();
    }
    if (graph.nodes[i].opType == "MatMul")
      product = &i;
  }
  char *end = nullptr;
  float value = std::strtof(ratio.c_str(), &end);
  if (!product || *end)
    return refuseLost("expected the dropout of '" + std::string(call.name) +
                      "' in the graph, got an attention without one")
        .withHint("write attention out, or set its dropout to 0");
  rewrite.addDropout({*product, 0}, value);
  return rt::Status::success();
}

rt::Status Restorer::checkSmoothing(const TorchCall &call) const {
  if (call.target != "aten.cross_entropy_loss.default" ||
      isZero(argumentOf(call, 5, "label_smoothing")))
    return rt::Status::success();
  return refuseLost("expected the label smoothing of '" +
                    std::string(call.name) +
                    "' in the graph, got a loss from which the exporter left "
                    "it out")
      .withHint("write the smoothed loss out, or set label_smoothing to 0");
}

/// A call's operands of the model in the order in which its nodes read them:
/// addmm(bias, x, weight) is written as Gemm(x, weight, bias).
static std::vector<const TorchTensor *>
operandsOf(const TorchCall &call, const TorchSignature &signature) {
  std::vector<const TorchTensor *> operands;
  for (std::string_view name : call.operands)
    if (const TorchTensor *tensor = signature.find(name))
      operands.push_back(tensor);
  if (call.target == "aten.addmm.default")
    std::reverse(operands.begin(), operands.end());
  return operands;
}

rt::Status Restorer::assignInOrder(CallGroup &group,
                                   std::vector<const TorchTensor *> wanted,
                                   std::vector<std::string_view> tensors) {
  if (wanted.empty())
    return rt::Status::success();
  // Scalars are constants of what the call was written with.
  auto isScalar = [&](std::string_view name) {
    return countElements(*rewrite.findTensor(name)) == 1;
  };
  if (tensors.size() > wanted.size())
    tensors.erase(std::remove_if(tensors.begin(), tensors.end(), isScalar),
                  tensors.end());
  if (tensors.size() != wanted.size())
    return refuseLost("expected a tensor for parameter " +
                      quote(wanted.front()->target) + ", got nodes of '" +
                      std::string(group.call.name) + "' that read " +
                      std::to_string(tensors.size()) + " tensors for " +
                      std::to_string(wanted.size()) +
                      " parameters: the exporter has computed it into others");
  for (size_t i = 0; i < wanted.size(); ++i)
    claim(*wanted[i], findUses(group, tensors[i]));
  return rt::Status::success();
}

/// Of a product or a convolution with these weights.
static std::optional<int64_t> countBiases(const Node &node,
                                          const Tensor &weight) {
  int64_t groups = 1, isTransposed = 0;
  for (const NodeAttribute &attribute : node.attributes) {
    if (attribute.name == "group")
      groups = attribute.i.value_or(1);
    if (attribute.name == "transB")
      isTransposed = attribute.i.value_or(0);
  }
  size_t dim = node.opType == "Conv" || isTransposed ? 0 : 1;
  int64_t size = 0;
  if (weight.dims.size() <= dim || countElements(weight) == 0 || groups < 1 ||
      __builtin_mul_overflow(
          weight.dims[dim], node.opType == "ConvTranspose" ? groups : 1, &size))
    return std::nullopt;
  return size;
}

/// A bias of zeros is left out of the file; the call still takes it.
bool Restorer::restoreZeroBias(const CallGroup &group,
                               const TorchTensor &bias) {
  // A batch norm in a convolution is another thing.
  bool hasBias = false;
  for (std::string_view op : {"aten.linear", "aten.addmm", "aten.conv"})
    hasBias |= group.call.target.substr(0, op.size()) == op;
  if (!hasBias)
    return false;
  for (size_t i : group.nodes) {
    Node &node = graph.nodes[i];
    bool isConvolution =
        node.opType == "Conv" || node.opType == "ConvTranspose";
    if ((!isConvolution && node.opType != "Gemm") || node.inputs.size() != 2)
      continue;
    const Tensor *weight = rewrite.findTensor(node.inputs[1]);
    std::optional<int64_t> size =
        weight ? countBiases(node, *weight) : std::nullopt;
    if (!size)
      continue;
    node.inputs.push_back(rewrite.addZeros(bias.target, weight->type, {*size}));
    names.zeros.emplace(bias.target);
    claim(bias, {});
    return true;
  }
  return false;
}

std::vector<Use> Restorer::findUses(const CallGroup &group,
                                    std::string_view name) const {
  std::vector<Use> uses;
  for (Use use : group.uses)
    if (rewrite.nameAt(use) == name)
      uses.push_back(use);
  return uses;
}

/// The tensors that nodes of the call read, each once.
std::vector<std::string_view>
Restorer::findTensors(const CallGroup &group) const {
  std::vector<std::string_view> tensors;
  for (Use use : group.uses) {
    // The scale of the norm inside a group norm is ones.
    bool isInside = group.call.target == "aten.group_norm.default" &&
                    graph.nodes[use.node].opType == "InstanceNormalization";
    std::string_view name = rewrite.nameAt(use);
    if (!isInside &&
        std::find(tensors.begin(), tensors.end(), name) == tensors.end())
      tensors.push_back(name);
  }
  return tensors;
}

/// A node that reads one tensor twice, as a fresh batch norm whose scale and
/// variance are ones: its operands are told apart by their places.
bool Restorer::assignByPlace(const CallGroup &group) {
  std::vector<const TorchTensor *> wanted = operandsOf(group.call, signature);
  if (wanted.size() != group.uses.size() ||
      findTensors(group).size() == wanted.size())
    return false;
  for (Use use : group.uses)
    if (use.node != group.uses.front().node)
      return false;
  for (size_t i = 0; i < wanted.size(); ++i)
    claim(*wanted[i], {group.uses[i]});
  return true;
}

rt::Status Restorer::assign(CallGroup &group) {
  keepPadding(group);
  LLMC_TRY(restoreDropout(group));
  LLMC_TRY(checkSmoothing(group.call));
  if (assignByPlace(group))
    return rt::Status::success();
  std::vector<std::string_view> tensors = findTensors(group), unnamed;
  std::vector<const TorchTensor *> wanted = operandsOf(group.call, signature);
  for (std::string_view tensor : tensors) {
    auto named = std::find_if(
        wanted.begin(), wanted.end(),
        [&](const TorchTensor *each) { return each->target == tensor; });
    if (named == wanted.end()) {
      unnamed.push_back(tensor);
      continue;
    }
    claim(**named, findUses(group, tensor));
    wanted.erase(named);
  }
  // Operands that are no floats, and those that another node reads.
  auto isElsewhere = [&](const TorchTensor *each) {
    const Tensor *tensor = rewrite.findTensor(each->target);
    return tensor && (!isFloat(tensor->type) || unnamed.empty());
  };
  wanted.erase(std::remove_if(wanted.begin(), wanted.end(), isElsewhere),
               wanted.end());
  if (wanted.size() == unnamed.size() + 1 &&
      restoreZeroBias(group, *wanted.back()))
    wanted.pop_back();
  return assignInOrder(group, std::move(wanted), std::move(unnamed));
}

/// Tensors that have the name of a parameter and that no call explains.
void Restorer::claimByName() {
  for (const TorchTensor &tensor : signature.tensors)
    if (rewrite.findTensor(tensor.target) && !claimed.count(tensor.target))
      claim(tensor, {});
}

//===----------------------------------------------------------------------===//
// What was computed
//===----------------------------------------------------------------------===//

bool Restorer::hasModule(std::string_view module) const {
  return std::any_of(
      graph.nodes.begin(), graph.nodes.end(),
      [&](const Node &node) { return readTorchModule(node) == module; });
}

/// Whether the module of a parameter calls with another's of that name.
bool Restorer::isTied(const TorchTensor &tensor) const {
  auto [module, name] = splitTarget(tensor.target);
  for (const Node &node : graph.nodes) {
    if (readTorchModule(node) != module)
      continue;
    std::optional<TorchCall> call = readTorchCall(node);
    if (!call)
      continue;
    for (const TorchTensor *operand : operandsOf(*call, signature)) {
      auto [otherModule, otherName] = splitTarget(operand->target);
      if (otherName == name && otherModule != module)
        return true;
    }
  }
  return false;
}

/// "embedding" of "embedding_12".
static std::string_view kindOf(std::string_view call) {
  size_t end = call.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == call.size() ||
      call[end] != '_')
    return call;
  return call.substr(0, end);
}

/// Parameters without a tensor from which a call may have computed its result;
/// `isNamed` says whether the line of who reads the result names the only one.
std::vector<const TorchTensor *> Restorer::candidates(std::string_view result,
                                                      bool &isNamed) const {
  bool isTable = kindOf(result) == "embedding";
  std::vector<const TorchTensor *> found, named;
  for (const TorchTensor &tensor : signature.tensors) {
    auto [module, name] = splitTarget(tensor.target);
    if (!tensor.isParameter || claimed.count(tensor.target) ||
        (isTable && (name != "weight" || hasModule(module))) || isTied(tensor))
      continue;
    found.push_back(&tensor);
    // "x + position_embeddings".
    std::string_view word = isTable ? splitTarget(module).second : name;
    const std::vector<Use> &uses = computed.at(result);
    if (std::any_of(uses.begin(), uses.end(), [&](Use use) {
          return isNamedInCode(graph.nodes[use.node], word);
        }))
      named.push_back(&tensor);
  }
  isNamed = named.size() == 1;
  return isNamed ? named : found;
}

/// A table that was looked up at fixed places: its rows must have a name.
rt::Status Restorer::assignTable(std::string_view name,
                                 const std::vector<Use> &uses) {
  bool isNamed = false;
  std::vector<const TorchTensor *> found = candidates(name, isNamed);
  if (found.size() != 1)
    return refuseLost(
        "expected one parameter behind tensor " + quote(name) + ", got " +
        (found.empty()
             ? "none"
             : quote(found[0]->target) + " and " + quote(found[1]->target)) +
        ": the exporter has computed it and keeps no names");
  LLMC_TRY(rewrite.restoreRows(found.front()->target, name, uses, true));
  claim(*found.front(), {});
  return rt::Status::success();
}

/// Whatever else was computed from a parameter alone. Masks and angles are
/// computed too, so that a name counts only where the code or the elements say
/// that it is one.
rt::Status Restorer::assignResult(std::string_view name,
                                  const std::vector<Use> &uses) {
  bool isNamed = false;
  std::vector<const TorchTensor *> found = candidates(name, isNamed);
  if (found.size() != 1)
    return rt::Status::success();
  if (kindOf(name) != "expand") {
    if (isNamed)
      claim(*found.front(), uses);
    return rt::Status::success();
  }
  LLMC_TRY_ASSIGN(bool isConstant, rewrite.isSplat(name));
  if (isConstant && !isNamed)
    return rt::Status::success();
  LLMC_TRY(rewrite.restoreRows(found.front()->target, name, uses, false));
  claim(*found.front(), {});
  return rt::Status::success();
}

rt::Status Restorer::assignComputed() {
  constexpr std::string_view kinds[] = {
      "expand", "transpose", "t", "permute", "view", "reshape", "unsqueeze"};
  for (const auto &[name, uses] : computed) {
    std::string_view kind = kindOf(name);
    if (kind == "embedding")
      LLMC_TRY(assignTable(name, uses));
    if (std::find(std::begin(kinds), std::end(kinds), kind) != std::end(kinds))
      LLMC_TRY(assignResult(name, uses));
  }
  return rt::Status::success();
}

/// Whether a module below has a parameter of that name: two names of one.
bool Restorer::hasOtherName(const TorchTensor &tensor) const {
  auto own = splitTarget(tensor.target);
  std::string below = std::string(own.first) + ".";
  return std::any_of(claimed.begin(), claimed.end(), [&](auto target) {
    return target.substr(0, below.size()) == below &&
           splitTarget(target).second == own.second;
  });
}

/// In an optimized file, which has no node Constant, a parameter that no node
/// reads may be one of two equal norms of which one was left.
rt::Status Restorer::checkLost() const {
  for (const Node &node : graph.nodes)
    if (node.opType == "Constant")
      return rt::Status::success();
  for (const TorchTensor &tensor : signature.tensors)
    if (tensor.isParameter && !claimed.count(tensor.target) &&
        !isTied(tensor) && !hasOtherName(tensor))
      return refuseLost("expected a tensor for parameter " +
                        quote(tensor.target) +
                        ", got none: the exporter has computed it into others, "
                        "or left it out beside an equal one");
  return rt::Status::success();
}

rt::Status Restorer::run() {
  collect();
  for (CallGroup &group : groups)
    LLMC_TRY(assign(group));
  claimByName();
  LLMC_TRY(assignComputed());
  LLMC_TRY(checkLost());
  LLMC_TRY(rewrite.apply());
  return rt::Status::success();
}

rt::Result<TorchNames>
onnx::restoreTorchNames(Model &model, const ReadElements &readElements) {
  TorchNames names;
  std::optional<TorchSignature> signature = readTorchSignature(model.graph);
  if (!signature)
    return names;
  names.found = true;
  LLMC_TRY(Restorer(model, std::move(*signature), names, readElements).run());
  return names;
}

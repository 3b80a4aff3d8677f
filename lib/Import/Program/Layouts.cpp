//===- Layouts.cpp - Layouts that the user gives --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// [[layout]] tables become rows of states and layouts of inputs. For each kind
// of layout the first table counts whose glob matches the name:
//
//   [[layout]]                        dist.state @blocks.0.qkv.w ...
//   match = "blocks.*.qkv.w"            row = #dist.row<rest =
//   rest = [[], ["tensor"]]               #dist.layout<@mesh, [{},
//   {"tensor"}]>>
//
// A glob stands for the states that have at least as many dimensions as the
// table has lists: "*" with two lists is about matrices, and leaves biases and
// scalars to the tables after it.
//
// An entry is an axis or a part of one (AxisParts.h), "tensor:(1)2". Axes of
// size 1 are dropped, so that one file serves all meshes; on a mesh of
// one device there is nothing to say. The layout of optimizer states waits on
// their parameter for phase 1, which makes them.
//
// Tests: test/Import/StableHLO/layouts.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

namespace {
class LayoutMaker {
public:
  LayoutMaker(dist::MeshOp mesh, const rt::Config &config)
      : mesh(mesh), config(config) {}

  rt::Status run(ModuleOp module, func::FuncOp main);

private:
  rt::Status checkTables(ModuleOp module, func::FuncOp main);
  rt::Status checkTable(size_t table, ArrayRef<std::string> states,
                        ArrayRef<std::string> inputs);
  rt::Status markState(dist::StateOp state);
  rt::Result<dist::LayoutAttr> find(bool isInput, StringRef name,
                                    RankedTensorType type, Lists kind,
                                    StringRef key);
  rt::Result<dist::LayoutAttr> makeLayout(const rt::AxisLists &lists,
                                          RankedTensorType type, StringRef name,
                                          const std::string &key);
  rt::Result<SmallVector<dist::AxisAttr>>
  readAxis(const std::string &text, const std::string &key,
           SmallVectorImpl<AxisPart> &used);
  std::string keyOf(size_t table, StringRef member) {
    return "layout[" + std::to_string(table) + "]." + member.str();
  }
  rt::Status refuse(const std::string &key, const std::string &message) {
    return rt::makeError(ErrorKind::usage,
                         config.originOf(key) + ": " + message);
  }

  dist::MeshOp mesh;
  const rt::Config &config;
};

constexpr std::pair<StringLiteral, Lists> stateKinds[] = {
    {"rest", &rt::LayoutConfig::rest},
    {"use", &rt::LayoutConfig::use},
    {"gradient", &rt::LayoutConfig::gradient},
    {"optimizer", &rt::LayoutConfig::optimizer}};
} // namespace

//===----------------------------------------------------------------------===//
// The tables alone
//===----------------------------------------------------------------------===//

/// " (did you mean 'x'?)", or which names there are.
static std::string hintFor(const std::string &pattern,
                           ArrayRef<std::string> names) {
  std::string near = rt::nearest(pattern, names.vec());
  if (!near.empty())
    return "did you mean '" + near + "'?";
  constexpr size_t shown = 4;
  return "there are " + llvm::join(names.take_front(shown), ", ") +
         (names.size() > shown ? ", ..." : "");
}

rt::Status LayoutMaker::checkTable(size_t table, ArrayRef<std::string> states,
                                   ArrayRef<std::string> inputs) {
  const rt::LayoutConfig &layout = config.layout[table];
  std::string place = "layout[" + std::to_string(table) + "]";
  if (layout.match.empty() == layout.input.empty())
    return refuse(place, "expected '" + place +
                             "' to have one of 'match' (states) and 'input', "
                             "got " +
                             (layout.match.empty() ? "none" : "both"));
  bool isInput = layout.match.empty();
  bool hasStateKind = false;
  for (auto [member, kind] : stateKinds)
    if (layout.*kind) {
      hasStateKind = true;
      if (isInput)
        return refuse(keyOf(table, member),
                      "expected 'dims' for an input, got '" + member.str() +
                          "'");
    }
  if (!layout.gradientType.empty() && isInput)
    return refuse(keyOf(table, "gradient_type"),
                  "expected 'gradient_type' of states, got it for an input");
  if (layout.wholeBelow != 0 && (isInput || layout.wholeBelow < 0))
    return refuse(keyOf(table, "whole_below"),
                  "expected 'whole_below' to be bytes of states, at least 0, "
                  "got " +
                      std::to_string(layout.wholeBelow) +
                      (isInput ? " for an input" : ""));
  if (!isInput && layout.dims)
    return refuse(keyOf(table, "dims"), "expected 'rest', 'use', 'gradient' or "
                                        "'optimizer' for states, got 'dims'");
  hasStateKind = hasStateKind || !layout.gradientType.empty();
  if (isInput ? !layout.dims : !hasStateKind)
    return refuse(place,
                  "expected '" + place + "' to give a layout (" +
                      (isInput ? "dims)"
                               : "rest, use, gradient or optimizer) or a "
                                 "'gradient_type'") +
                      ", got none");
  std::string key = keyOf(table, isInput ? "input" : "match");
  const std::string &pattern = isInput ? layout.input : layout.match;
  ArrayRef<std::string> names = isInput ? inputs : states;
  for (const std::string &name : names)
    if (rt::matchesGlob(pattern, name))
      return rt::Status::success();
  return refuse(key, "expected '" + key + "' to match " +
                         (isInput ? "an input" : "a state") + ", got \"" +
                         pattern + "\", which matches none")
      .withHint(hintFor(pattern, names));
}

rt::Status LayoutMaker::checkTables(ModuleOp module, func::FuncOp main) {
  std::vector<std::string> states, inputs;
  for (auto state : module.getOps<dist::StateOp>())
    states.push_back(rt::unescapeName(state.getSymName()));
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (StringAttr name = dist::getInput(dist::getArgumentPort(main, i)))
      inputs.push_back(name.str());
  for (size_t table = 0; table < config.layout.size(); ++table)
    LLMC_TRY(checkTable(table, states, inputs));
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// The axes of the mesh that an entry of a list names.
rt::Result<SmallVector<dist::AxisAttr>>
LayoutMaker::readAxis(const std::string &text, const std::string &key,
                      SmallVectorImpl<AxisPart> &used) {
  std::vector<std::string> known = getWholeAxes(mesh.getAxes());
  AxisPart part = readPart(text);
  if (!llvm::is_contained(known, part.name)) {
    std::string near = rt::nearest(part.name, known);
    return refuse(key,
                  "expected '" + key + "' to name axes of 'mesh.axes' (" +
                      llvm::join(known, ", ") + "), got \"" + text + "\"" +
                      (near.empty() ? "" : ", did you mean \"" + near + "\"?"));
  }
  if (mesh.getPipeline() == StringRef(part.name))
    return refuse(key, "expected '" + key +
                           "' to name axes other than the pipeline axis, got "
                           "\"" +
                           text + "\"")
        .withHint("stages follow from the blocks of the model");
  for (const AxisPart &other : used)
    if (overlap(part, other))
      return refuse(key, "expected '" + key +
                             "' to name each axis once, got \"" + text +
                             (showPart(other) == text
                                  ? "\" twice"
                                  : "\" and \"" + showPart(other) + "\""));
  used.push_back(part);
  return findAxes(mesh.getAxes(), part);
}

rt::Result<dist::LayoutAttr> LayoutMaker::makeLayout(const rt::AxisLists &lists,
                                                     RankedTensorType type,
                                                     StringRef name,
                                                     const std::string &key) {
  MLIRContext *context = mesh.getContext();
  if (static_cast<int64_t>(lists.size()) > type.getRank())
    return refuse(key, "expected '" + key + "' to have at most " +
                           std::to_string(type.getRank()) +
                           " lists, one for each dimension of '" + name.str() +
                           "', got " + std::to_string(lists.size()));
  SmallVector<AxisPart> used;
  SmallVector<dist::DimAttr> dims;
  for (const std::vector<std::string> &list : lists) {
    SmallVector<dist::AxisAttr> axes;
    bool isOpen = !list.empty() && list.back() == "?";
    for (const std::string &axis : ArrayRef(list).drop_back(isOpen)) {
      LLMC_TRY_ASSIGN(SmallVector<dist::AxisAttr> named,
                      readAxis(axis, key, used));
      axes.append(named);
    }
    dims.push_back(dist::DimAttr::get(context, axes, isOpen, -1, {}, {}));
  }
  dims.resize(type.getRank(), dist::DimAttr::get(context));
  return dist::LayoutAttr::get(
      context, FlatSymbolRefAttr::get(mesh.getSymNameAttr()), dims);
}

bool import::isGlob(const std::string &pattern) {
  return pattern.find_first_of("*?") != std::string::npos;
}

/// "*" means all that have the dimensions; a name means that one.
std::optional<size_t> import::findTable(const rt::Config &config, bool isInput,
                                        StringRef name, int64_t rank,
                                        Lists kind) {
  for (auto [table, layout] : llvm::enumerate(config.layout)) {
    const std::string &pattern = isInput ? layout.input : layout.match;
    if (layout.*kind && rt::matchesGlob(pattern, name) &&
        (!isGlob(pattern) ||
         static_cast<int64_t>((layout.*kind)->size()) <= rank))
      return table;
  }
  return std::nullopt;
}

std::string import::findLayoutOrigin(const rt::Config &config, bool isInput,
                                     StringRef name, int64_t rank,
                                     StringRef kind) {
  Lists lists = &rt::LayoutConfig::dims;
  for (auto [key, member] : stateKinds)
    if (key == kind)
      lists = member;
  std::optional<size_t> table = findTable(config, isInput, name, rank, lists);
  if (!table)
    return "";
  std::string key = "layout[" + std::to_string(*table) + "]." + kind.str();
  return key + ", " + config.originOf(key);
}

/// The layout of the first table that gives one of this kind, or null. A table
/// with a glob passes over what has fewer dimensions than it has lists.
rt::Result<dist::LayoutAttr> LayoutMaker::find(bool isInput, StringRef name,
                                               RankedTensorType type,
                                               Lists kind, StringRef key) {
  std::optional<size_t> table =
      findTable(config, isInput, name, type.getRank(), kind);
  if (!table)
    return dist::LayoutAttr();
  return makeLayout(*(config.layout[*table].*kind), type, name,
                    keyOf(*table, key));
}

rt::Status LayoutMaker::markState(dist::StateOp state) {
  SmallVector<dist::LayoutAttr> found;
  for (auto [key, kind] : stateKinds) {
    LLMC_TRY_ASSIGN(dist::LayoutAttr layout,
                    find(false, rt::unescapeName(state.getSymName()),
                         state.getTensorType(), kind, key));
    found.push_back(layout);
  }
  if (mesh.getAxes().getNumDevices() > 1)
    setRowLayouts(state, found[0], found[1], found[2], found[3]);
  return rt::Status::success();
}

void import::setRowLayouts(dist::StateOp state, dist::LayoutAttr rest,
                           dist::LayoutAttr use, dist::LayoutAttr gradient,
                           dist::LayoutAttr optimizer) {
  if (rest || use || gradient || optimizer)
    state.setRowAttr(
        dist::RowAttr::get(state.getContext(), rest, use, gradient, optimizer));
}

rt::Status LayoutMaker::run(ModuleOp module, func::FuncOp main) {
  LLMC_TRY(checkTables(module, main));
  for (auto state : module.getOps<dist::StateOp>())
    LLMC_TRY(markState(state));
  dist::Signature signature(main);
  for (auto [i, port] : llvm::enumerate(signature.arguments)) {
    StringAttr name = dist::getInput(port);
    if (!name)
      continue;
    auto type = cast<RankedTensorType>(main.getArgument(i).getType());
    LLMC_TRY_ASSIGN(dist::LayoutAttr layout,
                    find(true, name, type, &rt::LayoutConfig::dims, "dims"));
    if (layout && mesh.getAxes().getNumDevices() > 1)
      port = port.withLayout(layout);
  }
  signature.write(main);
  return rt::Status::success();
}

rt::Status import::addLayouts(ModuleOp module, func::FuncOp main,
                              dist::MeshOp mesh, const rt::Config &config) {
  return LayoutMaker(mesh, config).run(module, main);
}

std::vector<NamedPart> import::getParts(const rt::Config &config) {
  std::vector<NamedPart> parts;
  auto read = [&](const std::optional<rt::AxisLists> &lists,
                  const std::string &key) {
    if (!lists)
      return;
    for (const std::vector<std::string> &list : *lists)
      for (const std::string &axis : list)
        if (AxisPart part = readPart(axis); part.size > 0)
          parts.push_back({part, config.originOf(key) + ": "});
  };
  for (auto [table, layout] : llvm::enumerate(config.layout)) {
    std::string key = "layout[" + std::to_string(table) + "].";
    for (auto [member, kind] : stateKinds)
      read(layout.*kind, key + member.str());
    read(layout.dims, key + "dims");
  }
  return parts;
}

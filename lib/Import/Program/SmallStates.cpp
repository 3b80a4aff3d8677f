//===- SmallStates.cpp - What is too small to be stored in parts ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A collective of a few bytes costs its latency. A [[layout]] table with
// `whole_below` stores a state of fewer bytes that its glob matches as it is
// used: what the table says of rest, gradient and optimizer does not count.
//
//   match = "*"  rest = [["data"]]  use = []  whole_below = 4096
//   matrix of 16 KiB   at rest [{"data"}, {}], in use [{}, {}]
//   scale of 256 B     at rest and in use [{}]
//
// Tables that name a state in full, and layouts of the text, stand. Each table
// that keeps something whole says so in a remark of category `costs`.
//
// Tests: test/Import/StableHLO/small-states.mlir, test/EndToEnd/small.test
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Support/HostTensor.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;

namespace {
class SmallStates {
public:
  SmallStates(func::FuncOp main, const rt::Config &config)
      : config(config), kept(config.layout.size()),
        bytes(config.layout.size()) {
    findInputAxes(main);
  }

  void keepWhole(dist::StateOp state);
  void report(Location loc) const;

private:
  void findInputAxes(func::FuncOp main);
  bool drops(dist::StateOp state, Lists kind);
  dist::LayoutAttr inUse(dist::LayoutAttr rest, dist::LayoutAttr use) const;

  const rt::Config &config;
  llvm::DenseSet<StringAttr> inputAxes;
  /// For each table the names of what it keeps whole, and their bytes.
  std::vector<std::vector<std::string>> kept;
  std::vector<int64_t> bytes;
};
} // namespace

void SmallStates::findInputAxes(func::FuncOp main) {
  for (dist::PortAttr port : dist::Signature(main).arguments)
    if (dist::LayoutAttr layout =
            dist::getInput(port) ? dist::getLayout(port) : dist::LayoutAttr())
      for (dist::DimAttr dim : layout.getDims())
        for (dist::AxisAttr axis : dim.getAxes())
          inputAxes.insert(axis.getName());
}

/// As propagation uses what says nothing of its use.
dist::LayoutAttr SmallStates::inUse(dist::LayoutAttr rest,
                                    dist::LayoutAttr use) const {
  if (use || !rest)
    return use;
  SmallVector<dist::DimAttr> dims;
  for (dist::DimAttr dim : rest.getDims()) {
    SmallVector<dist::AxisAttr> left;
    for (dist::AxisAttr axis : dim.getAxes())
      if (!inputAxes.contains(axis.getName()))
        left.push_back(axis);
    dims.push_back(dist::DimAttr::get(rest.getContext(), left, dim.getIsOpen(),
                                      dim.getPriority(), {}, {}));
  }
  return rest.withDims(dims);
}

/// Whether the table that gives this layout does not count for the state.
bool SmallStates::drops(dist::StateOp state, Lists kind) {
  RankedTensorType type = state.getTensorType();
  std::string name = rt::unescapeName(state.getSymName());
  std::optional<size_t> table =
      findTable(config, /*isInput=*/false, name, type.getRank(), kind);
  int64_t size = type.getNumElements() * getElementBytes(type.getElementType());
  if (!table || size >= config.layout[*table].wholeBelow ||
      !isGlob(config.layout[*table].match))
    return false;
  if (kept[*table].empty() || kept[*table].back() != name) {
    kept[*table].push_back(name);
    bytes[*table] += size;
  }
  return true;
}

void SmallStates::keepWhole(dist::StateOp state) {
  dist::RowAttr row = state.getRowAttr();
  if (!row)
    return;
  dist::LayoutAttr rest = row.getRest(), use = row.getUse();
  if (drops(state, &rt::LayoutConfig::rest))
    rest = use = inUse(rest, use);
  dist::LayoutAttr gradient = row.getGradient(), optimizer = row.getOptimizer();
  if (drops(state, &rt::LayoutConfig::gradient))
    gradient = {};
  if (drops(state, &rt::LayoutConfig::optimizer))
    optimizer = {};
  state.removeRowAttr();
  setRowLayouts(state, rest, use, gradient, optimizer);
}

void SmallStates::report(Location loc) const {
  constexpr size_t shown = 8;
  for (auto [table, names] : llvm::enumerate(kept))
    if (!names.empty()) {
      std::string place = "layout[" + std::to_string(table) + "]";
      remark::analysis(loc, remark::RemarkOpts::name("small").category("costs"))
          << "rest, gradient and optimizer of " + place + " do not count for " +
                 std::to_string(names.size()) + " states of " +
                 std::to_string(bytes[table]) +
                 " B in all, since its whole_below is " +
                 std::to_string(config.layout[table].wholeBelow) + ": " +
                 rt::listGlobbed(names, shown);
    }
}

void import::storeSmallWhole(ModuleOp module, func::FuncOp main,
                             const rt::Config &config) {
  SmallStates small(main, config);
  for (auto state : module.getOps<dist::StateOp>())
    small.keepWhole(state);
  small.report(UnknownLoc::get(module.getContext()));
}

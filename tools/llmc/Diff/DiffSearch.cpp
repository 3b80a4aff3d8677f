//===- DiffSearch.cpp - The first op whose value differs ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiffSearch.h"
#include "../Driver/Compile.h"
#include "DiffValues.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using dist::LayoutAttr;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

void driver::numberOps(ModuleOp module) {
  int64_t number = 0;
  Builder builder(module.getContext());
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.front().without_terminator())
      op.setLoc(FusedLoc::get(module.getContext(), {op.getLoc()},
                              builder.getI64IntegerAttr(number++)));
}

std::optional<int64_t> driver::getNumber(Operation *op) {
  if (auto fused = op->getLoc()->findInstanceOf<FusedLocWith<IntegerAttr>>())
    return fused.getMetadata().getInt();
  return std::nullopt;
}

static std::string quoteOp(Operation *op) {
  return "'" + op->getName().getStringRef().str() + "'";
}

std::string Finding::describe() const {
  std::string text = (place.empty() ? "" : place + ": ") + op;
  if (run > 0)
    text += ", run " + std::to_string(run + 1) + " of it in the step,";
  return text + ": " + what;
}

//===----------------------------------------------------------------------===//
// Not finite
//===----------------------------------------------------------------------===//

void FiniteSearch::see(Operation *op, ArrayRef<HostTensor> results) {
  int64_t run = runs[op]++, order = numSeen++;
  if (!getNumber(op))
    return;
  bool readsFinite = llvm::none_of(op->getOperands(), [&](Value operand) {
    return infinite.contains(operand);
  });
  for (auto [result, tensor] : llvm::zip(op->getResults(), results)) {
    infinite.erase(result);
    if (!tensor.isFloat())
      continue;
    std::vector<double> numbers = toNumbers(tensor);
    auto bad =
        llvm::find_if(numbers, [](double x) { return !std::isfinite(x); });
    if (bad == numbers.end())
      continue;
    infinite.insert(result);
    // A constant is what the text asks for.
    if (found || !readsFinite || op->getNumOperands() == 0)
      continue;
    int64_t count =
        llvm::count_if(numbers, [](double x) { return !std::isfinite(x); });
    found = Finding{order, run, describeLocation(op->getLoc()), quoteOp(op),
                    llvm::formatv("{0} of {1} elements are not finite, element "
                                  "{2} is {3}, and all that it reads is finite",
                                  count, numbers.size(), bad - numbers.begin(),
                                  *bad)
                        .str()};
  }
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

rt::Result<DeviceProgram> DeviceProgram::make(ModuleOp whole,
                                              const Options &options) {
  DeviceProgram program;
  program.local = OwningOpRef<ModuleOp>(cast<ModuleOp>(whole->clone()));
  ModuleOp module = *program.local;
  size_t materialized = *findPhase("materialized");
  LLMC_TRY(
      runPasses(module, *findPhase("training"), materialized, {}, options));
  llvm::DenseMap<int64_t, StringAttr> names;
  for (auto function : whole.getOps<func::FuncOp>())
    for (Operation &op : function.front().without_terminator())
      if (std::optional<int64_t> number = getNumber(&op))
        names[*number] = op.getName().getIdentifier();
  // What a pass adds has the location of the op for which it is there, but
  // hardly its name; of several of both, the last one makes the value.
  auto isCounterpart = [&](Operation *op, std::optional<int64_t> number) {
    return number && names.lookup(*number) == op->getName().getIdentifier();
  };
  module.walk([&](Operation *op) {
    std::optional<int64_t> number = getNumber(op);
    if (!isCounterpart(op, number))
      return;
    SmallVector<LayoutAttr> &list = program.layouts[*number];
    list.clear();
    for (Value result : op->getResults())
      list.push_back(dist::getLayout(result.getType()));
  });
  LLMC_TRY(runPasses(module, materialized, *findPhase("local"), {}, options));
  std::map<int64_t, Operation *> last;
  module.walk([&](Operation *op) {
    std::optional<int64_t> number = getNumber(op);
    if (isCounterpart(op, number))
      last[*number] = op;
  });
  for (auto [number, op] : last)
    program.counterparts[op] = number;
  return std::move(program);
}

void DifferenceSearch::keep(Operation *op, ArrayRef<HostTensor> results) {
  int64_t run = runs[op]++;
  if (std::optional<int64_t> number = getNumber(op))
    values[{*number, run}] = {static_cast<int64_t>(values.size()),
                              SmallVector<HostTensor>(results)};
}

/// The devices' terms added up, or whatever the kind says, axis by axis.
static DeviceTensors combinePartial(DeviceTensors tensors, LayoutAttr layout,
                                    const rt::Mesh &mesh) {
  for (dist::PartialAttr partial : layout.getPartial())
    for (dist::AxisAttr axis : partial.getAxes()) {
      int32_t number = mesh.axisNamed(axis.getName().str());
      if (number < 0)
        continue;
      DeviceTensors combined = tensors;
      for (size_t device = 0; device < tensors.size(); ++device) {
        std::vector<int64_t> place = mesh.coordinatesOf(int64_t(device));
        SmallVector<HostTensor> terms;
        for (int64_t i = 0; i < mesh.axes[number].size; ++i) {
          place[number] = i;
          if (HostTensor &term = tensors[mesh.deviceAt(place)])
            terms.push_back(term);
        }
        if (!terms.empty() && tensors[device])
          combined[device] = combineTensors(terms, partial.getKind());
      }
      tensors = combined;
    }
  return tensors;
}

/// How far they are apart; empty where that is within the tolerance, or where
/// the value is of another form than the layout says.
std::string DifferenceSearch::describeDifference(const HostTensor &want,
                                                 const DeviceTensors &got,
                                                 LayoutAttr layout) {
  std::optional<rt::Layout> runtime =
      layout ? dist::getRuntimeLayout(layout, want.getShape(), mesh)
             : std::nullopt;
  if (!runtime)
    return "";
  std::vector<int64_t> local = runtime->localShape(mesh);
  for (const HostTensor &part : got)
    if (part && part.getShape() != ArrayRef(local))
      return "";
  HostTensor whole(want.getElementType(), want.getShape());
  std::string error = gatherTensor(combinePartial(got, layout, mesh),
                                   layout.withPartial({}), mesh, whole);
  ++numCompared;
  if (!error.empty())
    return "its parts do not fit together: " + error;
  double distance = getDistance(toNumbers(want), toNumbers(whole));
  if (distance <= tolerance)
    return "";
  return llvm::formatv("{0:e2} of its largest element from the whole program's",
                       distance)
      .str();
}

void DifferenceSearch::compare(Operation *op, ArrayRef<DeviceTensors> results) {
  auto counterpart = program.counterparts.find(op);
  if (counterpart == program.counterparts.end())
    return;
  int64_t number = counterpart->second, run = runs[op]++;
  auto want = values.find({number, run});
  auto layouts = program.layouts.find(number);
  if (want == values.end() || layouts == program.layouts.end() ||
      want->second.results.size() != results.size() ||
      layouts->second.size() != results.size())
    return;
  for (size_t i = 0; i < results.size(); ++i) {
    Finding finding{want->second.order, run, describeLocation(op->getLoc()),
                    quoteOp(op),
                    describeDifference(want->second.results[i], results[i],
                                       layouts->second[i])};
    if (!finding.what.empty() && (!found || finding.order < found->order))
      found = finding;
  }
}

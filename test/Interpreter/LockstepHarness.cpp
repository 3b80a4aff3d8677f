//===- LockstepHarness.cpp - Random values on a mesh ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LockstepHarness.h.
//
//===----------------------------------------------------------------------===//

#include "LockstepHarness.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;

dist::LayoutAttr test::parseLayout(MLIRContext *context,
                                   const std::string &text) {
  return dyn_cast_or_null<dist::LayoutAttr>(
      parseAttribute("#dist.layout<@mesh, " + text + ">", context));
}

std::string test::localType(dist::LayoutAttr layout, ArrayRef<int64_t> shape,
                            dist::MeshOp mesh, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : layout.getLocalShape(shape, mesh.getAxes()))
    text += std::to_string(size) + "x";
  return text + element + ">";
}

HostTensor test::drawIntegers(RankedTensorType type, std::mt19937_64 &engine) {
  HostTensor tensor(type);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    int64_t value = static_cast<int64_t>(engine() % 41) - 20;
    if (type.getElementType().isInteger(1))
      value = value > 0;
    tensor.isFloat() ? tensor.setFloat(i, static_cast<double>(value))
                     : tensor.setInt(i, value);
  }
  return tensor;
}

/// `whole` as `count` terms that combine to it.
static std::vector<HostTensor> cutTerms(const HostTensor &whole, int64_t count,
                                        ReductionKind kind,
                                        std::mt19937_64 &engine) {
  std::vector<HostTensor> terms(count, HostTensor(whole.getType()));
  auto set = [](HostTensor &tensor, int64_t i, double value) {
    tensor.isFloat() ? tensor.setFloat(i, value)
                     : tensor.setInt(i, static_cast<int64_t>(value));
  };
  bool isUp = kind == ReductionKind::min || kind == ReductionKind::bitOr;
  for (int64_t i = 0; i < whole.getNumElements(); ++i) {
    double value = whole.getFloat(i), rest = value;
    int64_t last = engine() % count;
    for (int64_t k = 0; k < count; ++k) {
      if (k == last)
        continue;
      double term = static_cast<double>(engine() % 9) - 4;
      if (kind == ReductionKind::product)
        term = engine() % 2 ? 1 : -1;
      else if (kind == ReductionKind::bitAnd || kind == ReductionKind::bitOr)
        term = engine() % 2 ? value : !isUp;
      else if (kind != ReductionKind::sum)
        term = value + (isUp ? 1.0 : -1.0) * double(engine() % 5);
      rest = kind == ReductionKind::sum       ? rest - term
             : kind == ReductionKind::product ? rest * term
                                              : rest;
      set(terms[k], i, term);
    }
    set(terms[last], i, rest);
  }
  return terms;
}

DeviceTensors test::splitIntoTerms(const HostTensor &whole,
                                   dist::LayoutAttr layout,
                                   const rt::Mesh &mesh,
                                   std::mt19937_64 &engine, bool poison) {
  if (!layout.isPartial())
    return splitTensor(whole, layout, mesh, poison);
  dist::PartialAttr partial = layout.getPartial().front();
  dist::AxisAttr axis = partial.getAxes().front();
  int32_t number = mesh.axisNamed(axis.getName().str());
  SmallVector<int64_t> at(layout.getPin(axis.getName()));
  for (int64_t i = 0; at.empty() && i < mesh.axes[number].size; ++i)
    at.push_back(i);
  if (layout.getPin(axis.getName()).empty())
    at = llvm::to_vector(llvm::seq<int64_t>(0, mesh.axes[number].size));
  std::vector<HostTensor> terms =
      cutTerms(whole, at.size(), partial.getKind(), engine);
  DeviceTensors result(mesh.numDevices());
  for (auto [coordinate, term] : llvm::zip_equal(at, terms)) {
    DeviceTensors parts = splitIntoTerms(
        term, layout.withoutPartialOver({axis}), mesh, engine, poison);
    for (int64_t device = 0; device < mesh.numDevices(); ++device)
      if (!parts.empty() && mesh.coordinatesOf(device)[number] == coordinate)
        result[device] = parts[device];
  }
  return result;
}

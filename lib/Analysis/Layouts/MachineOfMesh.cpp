//===- MachineOfMesh.cpp - The machine that a mesh stands for -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/MachineOfMesh.h"

#include "llmc/Dialect/Dist/IR/ImportMarks.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace llmc;

namespace {
class Reader {
public:
  Reader(dist::MeshOp mesh, DictionaryAttr dictionary)
      : mesh(mesh), dictionary(dictionary) {}

  FailureOr<MachineModel> run();

private:
  InFlightDiagnostic error() {
    return mesh.emitOpError() << "attribute '" << dist::kMachine << "': ";
  }
  LogicalResult readLink(Attribute attribute);
  LogicalResult readAxes();

  dist::MeshOp mesh;
  DictionaryAttr dictionary;
  MachineModel machine;
};
} // namespace

static double readNumber(DictionaryAttr from, StringRef name, double fallback) {
  Attribute value = from.get(name);
  if (auto number = dyn_cast_or_null<FloatAttr>(value))
    return number.getValueAsDouble();
  if (auto number = dyn_cast_or_null<IntegerAttr>(value))
    return static_cast<double>(number.getInt());
  return fallback;
}

LogicalResult Reader::readLink(Attribute attribute) {
  auto link = dyn_cast<DictionaryAttr>(attribute);
  auto name = link ? link.getAs<StringAttr>("name") : StringAttr();
  if (!name)
    return error() << "expected links with a name, got " << attribute;
  machine.links.push_back({name.str(), readNumber(link, "latency", 0),
                           readNumber(link, "bandwidth", 0)});
  return success();
}

LogicalResult Reader::readAxes() {
  auto axes = dictionary.getAs<DictionaryAttr>("axes");
  for (StringAttr axis : mesh.getAxes().getNames()) {
    auto name = axes ? axes.getAs<StringAttr>(axis) : StringAttr();
    if (!name) {
      machine.axisLinks.push_back(0);
      continue;
    }
    auto link = llvm::find_if(machine.links, [&](const auto &candidate) {
      return candidate.name == name.getValue();
    });
    if (link == machine.links.end())
      return error() << "expected a link class of axis " << axis
                     << " among the links, got " << name;
    machine.axisLinks.push_back(
        static_cast<int32_t>(link - machine.links.begin()));
  }
  return success();
}

FailureOr<MachineModel> Reader::run() {
  size_t numAxes = mesh.getAxes().getNumAxes();
  auto links = dictionary.getAs<ArrayAttr>("links");
  if (links && !links.empty()) {
    for (Attribute link : links)
      if (failed(readLink(link)))
        return failure();
    if (failed(readAxes()))
      return failure();
  } else {
    machine = MachineModel::uniform(numAxes);
  }
  machine.flops = readNumber(dictionary, "flops", machine.flops);
  machine.memory =
      static_cast<int64_t>(readNumber(dictionary, "memory", machine.memory));
  if (std::string reason = machine.check(numAxes); !reason.empty())
    return error() << reason;
  return machine;
}

FailureOr<MachineModel> llmc::readMachine(dist::MeshOp mesh) {
  Attribute attribute = mesh->getAttr(dist::kMachine);
  if (!attribute)
    return MachineModel::uniform(mesh.getAxes().getNumAxes());
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  if (!dictionary)
    return mesh.emitOpError() << "attribute '" << dist::kMachine
                              << "': expected a dictionary, got " << attribute;
  return Reader(mesh, dictionary).run();
}

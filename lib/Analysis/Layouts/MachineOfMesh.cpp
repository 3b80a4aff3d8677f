//===- MachineOfMesh.cpp - The machine that a mesh stands for -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/MachineOfMesh.h"
#include "llmc/Runtime/Base/LibraryCost.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;

FailureOr<MachineModel> llmc::readMachine(dist::MeshOp mesh) {
  size_t numAxes = mesh.getAxes().getNumAxes();
  MachineModel machine = MachineModel::uniform(numAxes);
  std::optional<dist::MachineAttr> attribute = mesh.getMachine();
  if (!attribute)
    return machine;
  if (ArrayAttr links = attribute->getLinks(); links && !links.empty()) {
    machine.links.clear();
    machine.axisLinks.clear();
    for (auto link : links.getAsRange<dist::LinkAttr>())
      machine.links.push_back({link.getName().str(),
                               link.getLatency().getValueAsDouble(),
                               link.getBandwidth().getValueAsDouble()});
    for (StringAttr axis : mesh.getAxes().getNames())
      machine.axisLinks.push_back(
          static_cast<int32_t>(attribute->getLinkOfAxis(axis)));
  }
  if (FloatAttr flops = attribute->getFlops())
    machine.flops = flops.getValueAsDouble();
  if (FloatAttr memory = attribute->getMemory())
    machine.memory = static_cast<int64_t>(memory.getValueAsDouble());
  if (FloatAttr bandwidth = attribute->getMemoryBandwidth())
    machine.memoryBandwidth = bandwidth.getValueAsDouble();
  if (FloatAttr bucket = attribute->getBucket())
    machine.bucket = bucket.getValueAsDouble();
  if (DictionaryAttr rates = attribute->getRates())
    for (NamedAttribute rate : rates)
      machine.rates[rate.getName().str()] =
          cast<FloatAttr>(rate.getValue()).getValueAsDouble();
  if (std::string reason = machine.check(numAxes); !reason.empty())
    return mesh.emitOpError() << "attribute 'machine': " << reason;
  return machine;
}

double llmc::getOperationsPerSecond(const MachineModel &machine,
                                    Operation *op) {
  FloatType widest;
  for (Type type : op->getOperandTypes())
    if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
      if (!widest || element.getWidth() > widest.getWidth())
        widest = element;
  std::optional<rt::DType> type;
  if (widest)
    type = getRuntimeDType(widest);
  return type ? machine.rateOf(rt::rateNameOf(*type)) : machine.flops;
}

FailureOr<MachineModel> llmc::readTimedMachine(dist::MeshOp mesh) {
  FailureOr<MachineModel> machine = readMachine(mesh);
  if (failed(machine))
    return failure();
  auto given = mesh.getMachine();
  if (!given || !given->getLinks() || given->getLinks().empty())
    machine->links.front() = {"", kCoreLatency, kCoreBandwidth};
  if (!given || !given->getFlops())
    machine->flops = kCoreFlops;
  return machine;
}

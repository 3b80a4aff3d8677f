//===- PlanTables.cpp - Mesh, device, frames, buffers, kernels ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/EndToEnd/resume.test
//===----------------------------------------------------------------------===//

#include "PlanExport.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"

using namespace mlir;
namespace rtp = llmc::rt::plan;

namespace llmc::target {

rt::Result<rt::DType> getDType(Operation *op, Type element) {
  if (std::optional<rt::DType> dtype = dist::getRuntimeDType(element))
    return *dtype;
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return errorAt(op, "expected elements that the runtime stores, got '" + text +
                         "'");
}

int32_t PlanExport::intern(std::vector<std::string> &list,
                           llvm::StringMap<int32_t> &table, StringRef name) {
  auto [known, isNew] = table.insert({name, static_cast<int32_t>(list.size())});
  if (isNew)
    list.push_back(name.str());
  return known->second;
}

int32_t PlanExport::locationOf(Location loc) {
  std::string text = describeLocation(loc);
  return text.empty() ? -1 : intern(plan.locations, locations, text);
}

static std::vector<int32_t> toStages(std::optional<ArrayRef<int64_t>> stages) {
  if (!stages)
    return {};
  return {stages->begin(), stages->end()};
}

rt::Status PlanExport::exportMesh() {
  for (auto op : module.getOps<dist::MeshOp>()) {
    if (mesh)
      return errorAt(op, "expected one mesh in a plan, got two");
    mesh = op;
  }
  if (!mesh)
    return errorAt(module, "expected a mesh, got none");
  dist::MeshAxesAttr axes = mesh.getAxes();
  for (auto [name, size] : llvm::zip(axes.getNames(), axes.getSizes()))
    plan.mesh.axes.push_back({name.str(), size});
  if (std::optional<StringRef> pipeline = mesh.getPipeline())
    plan.mesh.pipelineAxis = plan.mesh.axisNamed(pipeline->str());
  exportMachine();
  return rt::Status::success();
}

void PlanExport::exportMachine() {
  std::optional<dist::MachineAttr> machine = mesh.getMachine();
  if (!machine)
    return;
  auto valueOf = [](FloatAttr attr) {
    return attr ? attr.getValueAsDouble() : 0;
  };
  plan.machine.flops = valueOf(machine->getFlops());
  plan.machine.memory = valueOf(machine->getMemory());
  plan.machine.memoryBandwidth = valueOf(machine->getMemoryBandwidth());
  if (DictionaryAttr rates = machine->getRates())
    for (NamedAttribute rate : rates)
      plan.machine.rates.push_back(
          {rate.getName().str(), valueOf(cast<FloatAttr>(rate.getValue()))});
  if (!machine->getLinks() || machine->getLinks().empty())
    return;
  for (auto link : machine->getLinks().getAsRange<dist::LinkAttr>())
    plan.machine.links.push_back({link.getName().str(),
                                  link.getLatency().getValueAsDouble(),
                                  link.getBandwidth().getValueAsDouble()});
  for (StringAttr axis : mesh.getAxes().getNames())
    plan.machine.axisLinks.push_back(
        static_cast<int32_t>(machine->getLinkOfAxis(axis)));
}

rt::Status PlanExport::exportDevice() {
  for (auto op : module.getOps<plan::DeviceOp>()) {
    plan.threads = static_cast<int32_t>(op.getThreads());
    plan.seed = static_cast<uint64_t>(op.getSeed());
    if (std::optional<ArrayRef<int64_t>> arenas = op.getArenas())
      plan.arenas.assign(arenas->begin(), arenas->end());
  }
  if (plan.arenas.empty())
    return errorAt(module, "expected a plan.device with arenas: frames have "
                           "no places yet");
  for (auto op : module.getOps<plan::StreamOp>()) {
    streams[op.getSymName()] = static_cast<int32_t>(plan.streams.size());
    plan.streams.push_back({op.getSymName().str(),
                            static_cast<rtp::StreamKind>(op.getKind()),
                            static_cast<int32_t>(op.getPriority())});
  }
  return rt::Status::success();
}

rt::Status PlanExport::exportFrames() {
  for (auto op : module.getOps<plan::FrameOp>()) {
    if (!op.isPlaced())
      return errorAt(op, "expected a place");
    rtp::Frame frame;
    frame.name = op.getSymName().str();
    frame.kind = static_cast<rtp::FrameKind>(op.getKind());
    frame.stages = toStages(op.getStages());
    frame.offset = *op.getOffset();
    frame.size = *op.getSize();
    frame.slots = static_cast<int32_t>(op.getSlots());
    if (plan::ExprAttr slot = op.getSlotAttr()) {
      LLMC_TRY_ASSIGN(frame.slot, exprOf(op, slot));
    }
    frame.events = static_cast<int32_t>(op.getEvents());
    frame.chunk = op.getChunk() ? static_cast<int32_t>(*op.getChunk()) : -1;
    frames[op.getSymName()] = static_cast<int32_t>(plan.frames.size());
    plan.frames.push_back(std::move(frame));
  }
  for (auto op : module.getOps<plan::BufferOp>()) {
    buffers[op.getSymName()] = static_cast<int32_t>(plan.buffers.size());
    plan.buffers.push_back({indexOf(frames, op.getFrame()),
                            static_cast<int64_t>(*op.getOffset()),
                            static_cast<int64_t>(op.getBytes()),
                            op.getSymName().str(), locationOf(op.getLoc())});
  }
  return rt::Status::success();
}

rt::Status PlanExport::exportKernels() {
  for (auto op : module.getOps<plan::ObjectOp>()) {
    rtp::KernelObject object;
    object.file = op.getFile().str();
    object.hash = static_cast<uint64_t>(op.getHash());
    for (auto feature : op.getFeatures().getAsRange<StringAttr>())
      object.features.push_back(feature.str());
    plan.objects.push_back(std::move(object));
  }
  if (plan.objects.empty() && !options.objectFile.empty())
    plan.objects.push_back(
        {options.objectFile, options.objectHash, manifest.features});
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto op : program.getBody().getOps<plan::KernelOp>()) {
      std::string name = op.getKernel().getLeafReference().str();
      if (kernels.count(name))
        continue;
      if (!manifest.find(name))
        return errorAt(op, "expected kernel '" + name +
                               "' in the manifest, got none");
      if (plan.objects.empty())
        return errorAt(op, "expected an object for kernel '" + name + "'");
      kernels[name] = static_cast<int32_t>(plan.kernels.size());
      plan.kernels.push_back({name, 0});
    }
  return rt::Status::success();
}

rt::Result<rtp::ExprId> PlanExport::exprOf(Operation *op, plan::ExprAttr expr) {
  rtp::ExprNode node;
  node.op = static_cast<rtp::ExprOp>(expr.getOp());
  node.value = expr.getValue();
  if (expr.getOp() == plan::ExprOp::Coordinate) {
    node.value = plan.mesh.axisNamed(expr.getAxis().str());
    if (node.value < 0)
      return errorAt(op, "expected axis '" + expr.getAxis().getValue() +
                             "' in the mesh");
  }
  if (expr.getLhs()) {
    LLMC_TRY_ASSIGN(node.lhs, exprOf(op, expr.getLhs()));
    LLMC_TRY_ASSIGN(node.rhs, exprOf(op, expr.getRhs()));
  }
  auto [known, isNew] = expressions.insert(
      {{static_cast<int>(node.op), node.lhs, node.rhs, node.value},
       static_cast<int32_t>(plan.expressions.size())});
  if (isNew)
    plan.expressions.push_back(node);
  return known->second;
}

/// One dim of a layout: a factor for each extent, or one for all of it.
static rt::DimLayout toDim(dist::DimAttr dim, int64_t size) {
  rt::DimLayout result;
  ArrayRef<int64_t> extents = dim.getExtents(), sizes = dim.getSizes();
  if (extents.empty())
    result.factors.push_back({size, size});
  else if (sizes.empty())
    result.factors.push_back({size, extents.front()});
  else
    for (auto [part, extent] : llvm::zip(sizes, extents))
      result.factors.push_back({part, extent});
  return result;
}

rt::Result<rt::Layout> PlanExport::layoutOf(Operation *op, Attribute attr,
                                            ArrayRef<int64_t> shape) {
  auto layout = dyn_cast_or_null<dist::LayoutAttr>(attr);
  if (!layout)
    return rt::Layout::whole({shape.begin(), shape.end()});
  rt::Layout result;
  for (auto [dim, size] : llvm::zip(layout.getDims(), shape)) {
    result.dims.push_back(toDim(dim, size));
    for (dist::AxisAttr axis : dim.getAxes()) {
      int32_t number = plan.mesh.axisNamed(axis.getName().str());
      if (number < 0 || axis.isSubAxis())
        return errorAt(op, "expected whole axes of the mesh in a layout, got "
                           "'" +
                               axis.getName().getValue() + "'");
      result.dims.back().axes.push_back(number);
    }
  }
  return result;
}

rt::Result<rtp::Operand> PlanExport::operandOf(Operation *op,
                                               plan::OperandAttr attr) {
  rtp::Operand operand;
  operand.buffer = indexOf(buffers, attr.getBuffer().getValue());
  LLMC_TRY_ASSIGN(operand.dtype, getDType(op, attr.getDtype()));
  operand.offset = attr.getOffset();
  ArrayRef<int64_t> shape = attr.getShape().asArrayRef();
  operand.shape.assign(shape.begin(), shape.end());
  if (attr.getStrides()) {
    ArrayRef<int64_t> strides = attr.getStrides().asArrayRef();
    operand.strides.assign(strides.begin(), strides.end());
  }
  if (attr.getExpr()) {
    LLMC_TRY_ASSIGN(operand.expr, exprOf(op, attr.getExpr()));
  }
  return operand;
}

} // namespace llmc::target

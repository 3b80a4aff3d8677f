//===- LockstepStepInterpreter.cpp - Steps on all devices -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LockstepStepInterpreter.h. What an argument or result means is read from
// its port, as in StepInterpreter.cpp; a state is the buffer that holds it.
//
//===----------------------------------------------------------------------===//

#include "llmc/Interpreter/LockstepStepInterpreter.h"
#include "StepValues.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;

/// What the arguments of one call come from.
struct LockstepStepInterpreter::Call {
  int64_t step = 0;
  int64_t microbatch = 0;
  InputSource inputs;
  /// Sums of the microbatches; null in @microbatch and entries.
  const StepResult *sums = nullptr;
};

LockstepStepInterpreter::LockstepStepInterpreter(ModuleOp module,
                                                 dist::MeshOp mesh,
                                                 LockstepOptions options)
    : module(module), symbols(module), lockstep(mesh, options.limits),
      options(options) {
  for (auto buffer : module.getOps<dist::BufferOp>())
    buffers[buffer.getOfAttr().getAttr()] = {buffer, {}};
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

LockstepStepInterpreter::Buffer *
LockstepStepInterpreter::findBuffer(StringRef name) {
  auto it = buffers.find(StringAttr::get(module.getContext(), name));
  return it == buffers.end() ? nullptr : &it->second;
}

static SmallVector<dist::BoxAttr> listBoxes(dist::BufferOp buffer) {
  return llvm::to_vector(buffer.getBoxes().getAsRange<dist::BoxAttr>());
}

/// Writes the parts of `whole` into their box of the devices' buffers.
static LogicalResult fillBox(dist::BufferOp buffer, dist::BoxAttr box,
                             const HostTensor &whole, const rt::Mesh &mesh,
                             DeviceTensors &value) {
  DeviceTensors parts = splitTensor(whole, box.getLayout(), mesh);
  if (parts.empty())
    return buffer.emitOpError()
           << "expected a layout that fits " << whole.getType() << ", got "
           << box.getLayout();
  for (auto [part, local] : llvm::zip_equal(parts, value)) {
    if (!part)
      continue;
    if (!local)
      local = HostTensor(buffer.getTensorType());
    SmallVector<int64_t> zeros(part.getRank());
    copyBox(part, zeros, local, box.getOffsets().asArrayRef(), part.getShape());
  }
  return success();
}

LogicalResult LockstepStepInterpreter::setStates(const NamedTensors &states) {
  if (failed(verifyStoredElements(module)))
    return failure();
  const rt::Mesh &mesh = lockstep.getMesh();
  for (auto &[name, buffer] : buffers) {
    buffer.value.assign(mesh.numDevices(), HostTensor());
    for (dist::BoxAttr box : listBoxes(buffer.op)) {
      HostTensor whole = states.lookup(box.getState().getAttr());
      if (!whole)
        return buffer.op.emitOpError() << "expected a value of state "
                                       << box.getState() << ", got none";
      if (failed(fillBox(buffer.op, box, whole, mesh, buffer.value)))
        return failure();
    }
  }
  return success();
}

/// What the devices hold of one box.
static DeviceTensors takeBox(const DeviceTensors &value, dist::BoxAttr box,
                             ArrayRef<int64_t> shape) {
  DeviceTensors parts(value.size());
  for (auto [local, part] : llvm::zip_equal(value, parts)) {
    if (!local)
      continue;
    part = HostTensor(local.getElementType(), shape);
    SmallVector<int64_t> zeros(shape.size());
    copyBox(local, box.getOffsets().asArrayRef(), part, zeros, shape);
  }
  return parts;
}

FailureOr<HostTensor> LockstepStepInterpreter::getState(StringRef name) const {
  auto state = symbols.lookup<dist::StateOp>(name);
  const rt::Mesh &mesh = lockstep.getMesh();
  for (auto &[symbol, buffer] : buffers)
    for (dist::BoxAttr box : listBoxes(buffer.op)) {
      if (!state || box.getState().getValue() != name)
        continue;
      HostTensor whole(state.getTensorType());
      std::optional<rt::Layout> layout =
          dist::getRuntimeLayout(box.getLayout(), whole.getShape(), mesh);
      std::string error = "the layout does not fit the shape";
      if (layout)
        error =
            gatherTensor(takeBox(buffer.value, box, layout->localShape(mesh)),
                         box.getLayout(), mesh, whole);
      if (error.empty())
        return whole;
      return dist::BufferOp(buffer.op).emitOpError()
             << "cannot gather state '" << name << "': " << error;
    }
  // A whole is what its parts are.
  HostTensor joined;
  for (auto part : ModuleOp(module).getOps<dist::StateOp>()) {
    if (part.getPartOf() != name)
      continue;
    FailureOr<HostTensor> value = getState(part.getSymName());
    if (failed(value))
      return failure();
    if (!joined)
      joined = HostTensor(state.getTensorType());
    pasteBox(joined, *value, *part.getBoxOffsets());
  }
  if (joined)
    return joined;
  return mlir::emitError(ModuleOp(module).getLoc())
         << "expected a buffer that holds state '" << name << "', got none";
}

SmallVector<StringAttr> LockstepStepInterpreter::getStateNames() const {
  SmallVector<StringAttr> names;
  for (auto &[symbol, buffer] : buffers)
    for (dist::BoxAttr box : listBoxes(buffer.op))
      names.push_back(box.getState().getAttr());
  return names;
}

LogicalResult
LockstepStepInterpreter::writeStates(func::FuncOp function,
                                     ArrayRef<DeviceTensors> results) {
  const rt::Mesh &mesh = lockstep.getMesh();
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    FlatSymbolRefAttr name = dist::getState(dist::getResultPort(function, i));
    if (!name)
      continue;
    Buffer *buffer = findBuffer(name.getValue());
    if (!buffer)
      return function.emitOpError()
             << "expected a buffer of state " << name << ", got none";
    for (int64_t device = 0; device < mesh.numDevices(); ++device) {
      HostTensor &old = buffer->value[device];
      if (old && !results[i][device])
        return function.emitOpError()
               << "expected a new value of " << name << " at device "
               << describeDevice(mesh, device) << ", got none";
      if (old && results[i][device].getType() != old.getType())
        return function.emitOpError()
               << "expected a new value of " << name << " of type "
               << old.getType() << ", got " << results[i][device].getType();
      if (old)
        old = results[i][device];
    }
  }
  return success();
}

/// Whatever no box covers must be zero.
LogicalResult
LockstepStepInterpreter::checkPadding(const Buffer &buffer) const {
  const rt::Mesh &mesh = lockstep.getMesh();
  dist::BufferOp op = buffer.op;
  DeviceTensors rest = buffer.value;
  for (dist::BoxAttr box : listBoxes(op)) {
    auto state = symbols.lookup<dist::StateOp>(box.getState().getValue());
    std::optional<rt::Layout> layout = dist::getRuntimeLayout(
        box.getLayout(), state.getTensorType().getShape(), mesh);
    for (int64_t device = 0; layout && device < mesh.numDevices(); ++device) {
      rt::Result<std::vector<rt::Box>> places =
          layout->boxes(mesh, mesh.coordinatesOf(device));
      if (!rest[device] || !places)
        continue;
      for (const rt::Box &place : *places) {
        HostTensor zeros(rest[device].getElementType(), place.size);
        SmallVector<int64_t> from(place.size.size());
        SmallVector<int64_t> to(place.local.begin(), place.local.end());
        for (auto [at, offset] :
             llvm::zip_equal(to, box.getOffsets().asArrayRef()))
          at += offset;
        copyBox(zeros, from, rest[device], to, place.size);
      }
    }
  }
  for (auto [device, tensor] : llvm::enumerate(rest))
    for (int64_t i = 0; tensor && i < tensor.getNumElements(); ++i)
      if (tensor.getFloat(i) != 0)
        return op.emitOpError()
               << "expected padding of zero at device "
               << describeDevice(mesh, device) << " after the step, got "
               << tensor.getFloat(i) << " in element " << i;
  return success();
}

LogicalResult LockstepStepInterpreter::checkStates() const {
  for (auto &[name, buffer] : buffers)
    if (failed(checkPadding(buffer)))
      return failure();
  for (StringAttr name : getStateNames())
    if (failed(getState(name)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

DeviceTensors
LockstepStepInterpreter::everywhere(const HostTensor &value) const {
  return DeviceTensors(lockstep.getMesh().numDevices(), value);
}

FailureOr<DeviceTensors>
LockstepStepInterpreter::getInput(func::FuncOp function, unsigned i,
                                  StringRef name, Call &call) {
  FailureOr<HostTensor> whole = call.inputs(name, call.step, call.microbatch);
  if (failed(whole))
    return failure();
  dist::LayoutAttr layout = dist::getLayout(dist::getArgumentPort(function, i));
  if (!layout)
    return everywhere(*whole);
  DeviceTensors parts =
      splitTensor(*whole, layout, lockstep.getMesh(), options.poison);
  if (parts.empty())
    return function.emitOpError()
           << "expected a layout of input '" << name << "' that fits "
           << whole->getType() << ", got " << layout;
  return parts;
}

FailureOr<DeviceTensors>
LockstepStepInterpreter::getArgument(func::FuncOp function, unsigned i,
                                     Call &call) {
  dist::PortAttr port = dist::getArgumentPort(function, i);
  Type type = function.getArgument(i).getType();
  if (FlatSymbolRefAttr state = dist::getState(port)) {
    if (Buffer *buffer = findBuffer(state.getValue()))
      return buffer->value;
  } else if (FlatSymbolRefAttr hyper = dist::getHyper(port)) {
    FailureOr<HostTensor> scalar = evaluateHyper(
        function, symbols, hyper, externals, call.step, options.seed);
    if (failed(scalar))
      return failure();
    return everywhere(*scalar);
  } else if (FlatSymbolRefAttr of = dist::getGradientOf(port)) {
    if (call.sums)
      return call.sums->gradients.lookup(of.getAttr());
  } else if (dist::isScalarSum(port)) {
    if (call.sums)
      return call.sums->sums.lookup(port.getSlot());
  } else if (dist::isPort(port, dist::PortKind::Step)) {
    return everywhere(makeScalar(type, call.step));
  } else if (dist::isPort(port, dist::PortKind::Microbatch)) {
    return everywhere(makeScalar(type, call.microbatch));
  } else if (StringAttr input = dist::getInput(port)) {
    if (call.inputs)
      return getInput(function, i, input.getValue(), call);
  }
  return DeviceTensors();
}

LogicalResult LockstepStepInterpreter::collectArguments(
    func::FuncOp function, Call &call,
    SmallVectorImpl<DeviceTensors> &arguments) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    FailureOr<DeviceTensors> value = getArgument(function, i, call);
    if (failed(value))
      return failure();
    if (value->empty())
      return mlir::emitError(function.getArgument(i).getLoc())
             << "expected a buffer, hyper value, input or sum for argument #"
             << i << " of '" << function.getSymName() << "', got none";
    arguments.push_back(std::move(*value));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult
LockstepStepInterpreter::collectMetrics(func::FuncOp function,
                                        ArrayRef<DeviceTensors> results,
                                        NamedTensors &metrics) {
  MLIRContext *context = module.getContext();
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    StringAttr name = dist::getMetric(dist::getResultPort(function, i));
    if (!name)
      continue;
    auto type = cast<RankedTensorType>(function.getResultTypes()[i]);
    HostTensor whole(type);
    auto replicated = dist::LayoutAttr::getReplicated(
        FlatSymbolRefAttr::get(context, "mesh"), type.getRank());
    std::string error =
        gatherTensor(results[i], replicated, lockstep.getMesh(), whole);
    if (!error.empty())
      return function.emitOpError()
             << "expected metric '" << name.getValue()
             << "' to be whole on every device: " << error;
    metrics[name] = whole;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Steps and entries
//===----------------------------------------------------------------------===//

LogicalResult LockstepStepInterpreter::countFirst(dist::StepOp op, int64_t step,
                                                  InputSource inputs) {
  dist::EntryOp entry = dist::findCounting(op);
  auto function = entry ? symbols.lookup<func::FuncOp>(entry.getFunction())
                        : func::FuncOp();
  if (!function)
    return success();
  llvm::StringMap<double> totals;
  for (int64_t m = 0; m < static_cast<int64_t>(op.getMicrobatches()); ++m) {
    Call call{step, m, inputs};
    SmallVector<DeviceTensors> arguments, results;
    if (failed(collectArguments(function, call, arguments)) ||
        failed(lockstep.run(function, arguments, results,
                            entry.getChunks().value_or(ArrayRef<int64_t>()))))
      return failure();
    // As in the runtime, the first device that has a count reports it.
    NamedTensors counts;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto found = llvm::find_if(
              results[i], [](const HostTensor &value) { return bool(value); });
          found != results[i].end())
        counts[dist::getMetric(dist::getResultPort(function, i))] = *found;
    addCounts(counts, totals);
  }
  for (auto &[name, total] : totals)
    setExternal(name, total);
  return success();
}

LogicalResult LockstepStepInterpreter::runStep(StringRef name, int64_t step,
                                               InputSource inputs,
                                               StepResult &result) {
  auto op = symbols.lookup<dist::StepOp>(name);
  if (!op)
    return mlir::emitError(module.getLoc())
           << "expected a 'dist.step' named '" << name << "'";
  auto microbatch = symbols.lookup<func::FuncOp>(op.getMicrobatch());
  auto update = symbols.lookup<func::FuncOp>(op.getUpdate());
  if (!microbatch || !update)
    return op.emitOpError() << "expected functions of the module";
  if (failed(verifyStoredElements(module)) ||
      failed(countFirst(op, step, inputs)))
    return failure();
  ArrayRef<int64_t> chunks = op.getChunks().value_or(ArrayRef<int64_t>());
  for (int64_t m = 0; m < static_cast<int64_t>(op.getMicrobatches()); ++m) {
    Call call{step, m, inputs};
    SmallVector<DeviceTensors> arguments, results;
    if (failed(collectArguments(microbatch, call, arguments)) ||
        failed(lockstep.run(microbatch, arguments, results, chunks)) ||
        failed(writeStates(microbatch, results)))
      return failure();
    addResults(symbols, microbatch, ArrayRef(results), result);
  }
  convertSums(update, result);
  Call call{step, 0, nullptr, &result};
  SmallVector<DeviceTensors> arguments, results;
  if (failed(collectArguments(update, call, arguments)) ||
      failed(lockstep.run(update, arguments, results)) ||
      failed(collectMetrics(update, results, result.metrics)) ||
      failed(writeStates(update, results)))
    return failure();
  return checkStates();
}

/// The argument of `update` that takes the gradient of `state`, or nothing.
static std::optional<unsigned> findGradient(func::FuncOp update,
                                            StringRef state) {
  for (unsigned i = 0; update && i < update.getNumArguments(); ++i)
    if (FlatSymbolRefAttr of =
            dist::getGradientOf(dist::getArgumentPort(update, i));
        of && of.getValue() == state)
      return i;
  return std::nullopt;
}

/// The gradient of a whole from those of its parts; empty when it has none.
FailureOr<HostTensor>
LockstepStepInterpreter::gatherParts(StringRef name, dist::StateOp whole,
                                     const StepResult &result) {
  HostTensor joined;
  for (auto part : module.getOps<dist::StateOp>()) {
    if (part.getPartOf() != whole.getSymName())
      continue;
    FailureOr<HostTensor> value =
        gatherGradient(name, part.getSymName(), result);
    if (failed(value))
      return failure();
    if (!joined)
      joined =
          HostTensor(value->getElementType(), whole.getTensorType().getShape());
    pasteBox(joined, *value, *part.getBoxOffsets());
  }
  return joined;
}

/// Parts that share a buffer, each from its box; empty or why not.
std::string LockstepStepInterpreter::gatherBoxes(const DeviceTensors &value,
                                                 ArrayAttr boxes,
                                                 HostTensor &whole) {
  const rt::Mesh &mesh = lockstep.getMesh();
  for (auto box : boxes.getAsRange<dist::BoxAttr>()) {
    auto state = symbols.lookup<dist::StateOp>(box.getState().getValue());
    ArrayRef<int64_t> shape = state.getTensorType().getShape();
    HostTensor part(whole.getElementType(), shape);
    std::optional<rt::Layout> layout =
        dist::getRuntimeLayout(box.getLayout(), shape, mesh);
    if (!layout)
      return "the layout does not fit the shape";
    std::string error =
        gatherTensor(takeBox(value, box, layout->localShape(mesh)),
                     box.getLayout(), mesh, part);
    if (!error.empty())
      return error;
    pasteBox(whole, part, *state.getBoxOffsets());
  }
  return "";
}

FailureOr<HostTensor>
LockstepStepInterpreter::gatherGradient(StringRef name, StringRef state,
                                        const StepResult &result) {
  auto op = symbols.lookup<dist::StepOp>(name);
  auto update =
      op ? symbols.lookup<func::FuncOp>(op.getUpdate()) : func::FuncOp();
  auto of = symbols.lookup<dist::StateOp>(state);
  std::optional<unsigned> argument = findGradient(update, state);
  auto sum =
      of ? result.gradients.find(of.getSymNameAttr()) : result.gradients.end();
  if (of && !argument) {
    FailureOr<HostTensor> joined = gatherParts(name, of, result);
    if (failed(joined) || *joined)
      return joined;
  }
  dist::PortAttr port =
      argument ? dist::getArgumentPort(update, *argument) : dist::PortAttr();
  dist::LayoutAttr layout = dist::getLayout(port);
  ArrayAttr boxes = port ? port.getBoxes() : ArrayAttr();
  if (!(layout || boxes) || sum == result.gradients.end())
    return mlir::emitError(module.getLoc())
           << "expected a gradient of '" << state << "' in step '" << name
           << "', got none";
  HostTensor whole(getElementTypeOrSelf(update.getArgumentTypes()[*argument]),
                   of.getTensorType().getShape());
  std::string error =
      boxes ? gatherBoxes(sum->second, boxes, whole)
            : gatherTensor(sum->second, layout, lockstep.getMesh(), whole);
  if (error.empty())
    return whole;
  return update.emitOpError()
         << "cannot gather the gradient of '" << state << "': " << error;
}

LogicalResult LockstepStepInterpreter::runEntry(
    StringRef name, int64_t step, InputSource inputs,
    ArrayRef<RankedTensorType> wholes, SmallVectorImpl<HostTensor> &results) {
  auto entry = symbols.lookup<dist::EntryOp>(name);
  auto function = entry ? symbols.lookup<func::FuncOp>(entry.getFunction())
                        : func::FuncOp();
  if (!function || wholes.size() != function.getNumResults())
    return mlir::emitError(module.getLoc())
           << "expected a 'dist.entry' named '" << name << "' with "
           << wholes.size() << " results";
  if (failed(verifyStoredElements(module)))
    return failure();
  Call call{step, 0, inputs};
  SmallVector<DeviceTensors> arguments, locals;
  if (failed(collectArguments(function, call, arguments)) ||
      failed(lockstep.run(function, arguments, locals,
                          entry.getChunks().value_or(ArrayRef<int64_t>()))))
    return failure();
  for (auto [i, type] : llvm::enumerate(wholes)) {
    dist::LayoutAttr layout = dist::getLayout(dist::getResultPort(function, i));
    if (!layout)
      layout = dist::LayoutAttr::getReplicated(
          FlatSymbolRefAttr::get(module.getContext(), "mesh"), type.getRank());
    HostTensor &whole = results.emplace_back(type);
    std::string error =
        gatherTensor(locals[i], layout, lockstep.getMesh(), whole);
    if (!error.empty())
      return function.emitOpError()
             << "cannot gather result #" << i << ": " << error;
  }
  return success();
}

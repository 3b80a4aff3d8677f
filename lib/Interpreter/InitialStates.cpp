//===- InitialStates.cpp - First values of a program's states -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A drawn state comes from the runtime's generator, keyed by seed and name and
// indexed in the whole tensor; a state in a file is read from its region, and
// converted when the file holds another element type; a part is cut out of the
// whole of which it is a part. A state without a source is zero.
//
//===----------------------------------------------------------------------===//

#include "StepValues.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Interpreter/StepInterpreter.h"
#include "llmc/Runtime/Base/ComplexNames.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace llmc;

static FailureOr<HostTensor> drawState(dist::StateOp state, dist::DrawAttr draw,
                                       uint64_t seed) {
  RankedTensorType type = state.getTensorType();
  std::optional<rt::DType> dtype = dist::getRuntimeDType(type.getElementType());
  if (!dtype)
    return emitRefusal(state, rt::ErrorKind::unsupported)
           << "expected an element type that can be drawn, "
              "got "
           << type.getElementType();
  HostTensor tensor(type);
  rt::RandomStream stream(seed, rt::unescapeName(state.getSymName()));
  rt::drawSpan(dist::getRuntimeDraw(draw), stream, 0, tensor.getNumElements(),
               *dtype, tensor.mutableBytes());
  return tensor;
}

static FailureOr<HostTensor>
readState(dist::StateOp state, dist::FileAttr source, StringRef directory) {
  RankedTensorType type = state.getTensorType();
  Type from = source.getDtype() ? source.getDtype() : type.getElementType();
  // The attribute and `verifyStoredElements` have seen to it.
  rt::DType stored = *dist::getRuntimeDType(from);
  SmallString<128> path(source.getPath());
  if (llvm::sys::path::is_relative(path) && !directory.empty()) {
    path = directory;
    llvm::sys::path::append(path, source.getPath());
  }
  rt::Result<rt::MappedFile> file = rt::MappedFile::open(path.str().str());
  if (!file)
    return emitRefusal(state, file.kind()) << rt::describe(file.error());
  HostTensor tensor(type);
  uint64_t bytes = tensor.getNumElements() * rt::sizeOf(stored);
  uint64_t offset = source.getOffset();
  // A part of complex elements has the region of both.
  std::string name = rt::unescapeName(state.getSymName());
  std::optional<rt::PartName> part = rt::parsePartName(name);
  bool isOfPairs =
      part && static_cast<uint64_t>(source.getBytes()) == 2 * bytes;
  int64_t step = isOfPairs ? 2 : 1, first = isOfPairs ? part->part : 0;
  bytes *= static_cast<uint64_t>(step);
  if (static_cast<uint64_t>(source.getBytes()) != bytes ||
      offset > file->size() || bytes > file->size() - offset)
    return emitRefusal(state, rt::ErrorKind::malformed)
           << "expected " << bytes << " bytes at offset " << offset
           << " of file '" << path << "' of " << file->size() << " bytes";
  const uint8_t *data = file->data() + offset;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    if (tensor.isFloat()) {
      tensor.setFloat(i, rt::loadElement(stored, data, step * i + first));
      continue;
    }
    int64_t value = rt::loadInteger(stored, data, step * i + first);
    tensor.setInt(i, value);
    if (tensor.getInt(i) != value)
      return emitRefusal(state, rt::ErrorKind::malformed)
             << "expected values of " << type.getElementType() << ", got "
             << value << " at element " << i;
  }
  return tensor;
}

FailureOr<HostTensor> StepInterpreter::makeInitial(dist::StateOp state,
                                                   StringRef directory) {
  if (state.isPart()) {
    auto whole = symbols.lookup<dist::StateOp>(*state.getPartOf());
    if (!whole || whole.isPart())
      return state.emitOpError()
             << "expected the state that it is a part of, got '"
             << *state.getPartOf() << "'";
    FailureOr<HostTensor> tensor = makeInitial(whole, directory);
    if (failed(tensor))
      return failure();
    return cutBox(*tensor, state.getTensorType(), *state.getBoxOffsets());
  }
  Attribute source = state.getSourceAttr();
  if (!source)
    return HostTensor(state.getTensorType());
  if (auto draw = dyn_cast<dist::DrawAttr>(source))
    return drawState(state, draw, seed);
  if (auto file = dyn_cast<dist::FileAttr>(source))
    return readState(state, file, directory);
  return state.emitOpError()
         << "expected a drawn source or a file to interpret, got " << source;
}

/// States are refused together, before any is drawn.
static LogicalResult checkBytes(ModuleOp module, int64_t most) {
  int64_t total = 0;
  for (auto state : module.getOps<dist::StateOp>()) {
    RankedTensorType type = state.getTensorType();
    int64_t bytes = getElementBytes(type.getElementType());
    bool overflows = false;
    for (int64_t dim : type.getShape())
      overflows |= llvm::MulOverflow(bytes, dim, bytes);
    overflows |= llvm::AddOverflow(total, bytes, total);
    if (overflows || total > most)
      return emitRefusal(state, rt::ErrorKind::infeasible)
             << "expected states of at most " << most
             << " bytes in the interpreter, got " << type;
  }
  return success();
}

LogicalResult StepInterpreter::initializeStates(uint64_t seedOfRun,
                                                StringRef directory) {
  seed = seedOfRun;
  states.clear();
  if (failed(verifyStoredElements(module)) ||
      failed(checkBytes(module, limits.maxLiveBytes)))
    return failure();
  for (auto state : module.getOps<dist::StateOp>()) {
    FailureOr<HostTensor> value = makeInitial(state, directory);
    if (failed(value))
      return failure();
    states[state.getSymNameAttr()] = std::move(*value);
  }
  return success();
}

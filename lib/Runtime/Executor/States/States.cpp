//===- States.cpp - Initial values, and states as whole tensors -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/StatesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "States.h"

#include "Boxes.h"
#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/ComplexNames.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace llmc::rt::exec {

const plan::State *States::find(const std::string &name) const {
  for (const plan::State &state : plan.states) {
    if (state.name == name) {
      return &state;
    }
  }
  return nullptr;
}

std::byte *States::placeOf(const plan::StatePart &part,
                           const LocalDevice &device) {
  const plan::Buffer &buffer = plan.buffers[part.place.buffer];
  const BoundFrame &frame = device.frames[buffer.frame];
  int64_t offset = buffer.offset + part.place.offset;
  if (part.place.expr != plan::noExpr) {
    offset +=
        fold(plan.expressions, part.place.expr, device.coordinates).value_or(0);
  }
  return device.arena.base + frame.offset + frame.slotOf.front() * frame.size +
         offset;
}

Status States::visitPart(const plan::State &state, const plan::StatePart &part,
                         LocalDevice &device, Staging &staging, WindowUse use,
                         const Visitor &visitor, const Box *only) {
  const int64_t bytes = sizeOf(state.dtype);
  const auto most = static_cast<int64_t>(staging.capacity()) / bytes;
  Window window(staging, placeOf(part, device),
                static_cast<uint64_t>(plan::spanOf(part.place).value_or(0)),
                use);
  Status status;
  Placement placement{part.layout, part.origin, state.shape,
                      part.place.strides};
  auto visitRun = [&](const ElementRun &run) {
    for (int64_t i = 0; i < run.length && status.ok(); i += most) {
      int64_t length = std::min(most, run.length - i);
      Result<std::byte *> values =
          window.at(static_cast<uint64_t>((run.local + i) * bytes),
                    static_cast<uint64_t>(length * bytes));
      status = values.ok() ? visitor(*values, run.global + i, length)
                           : values.status();
    }
  };
  LLMC_TRY(visitRuns(placement, plan.mesh, device.coordinates, visitRun, only));
  LLMC_TRY(status);
  return window.flush();
}

Status States::visit(const plan::State &state, WindowUse use,
                     const Visitor &visitor) {
  for (const plan::StatePart &part : state.parts) {
    for (LocalDevice &device : devices) {
      if (plan::hasStage(part.stages, device.stage)) {
        LLMC_TRY(visitPart(state, part, device, *device.staging, use, visitor));
      }
    }
  }
  return Status::success();
}

Status States::clear(const plan::State &state) {
  for (const plan::StatePart &part : state.parts) {
    for (LocalDevice &device : devices) {
      if (plan::hasStage(part.stages, device.stage)) {
        int64_t span = plan::spanOf(part.place).value_or(0);
        LLMC_TRY(device.staging->fill(placeOf(part, device), 0,
                                      static_cast<uint64_t>(span)));
      }
    }
  }
  return Status::success();
}

Status States::draw(const plan::State &state, uint64_t seed) {
  RandomStream stream(seed, state.name);
  return visit(state, WindowUse::write,
               [&](std::byte *values, int64_t global, int64_t length) {
                 drawSpan(state.source.draw, stream,
                          static_cast<uint64_t>(global), length, state.dtype,
                          values);
                 return Status::success();
               });
}

static Status notFinite(const plan::State &state, int64_t index) {
  return makeError(ErrorKind::numeric,
                   fmt::format("expected finite values of state '{}', got NaN "
                               "or infinity at element {}",
                               state.name, index));
}

/// The integer `index` of a file is none of the state's type.
static Status notInRange(const plan::State &state, int64_t index,
                         int64_t value) {
  return makeError(ErrorKind::malformed,
                   fmt::format("expected values of state '{}' of {}, got {} at "
                               "element {}",
                               state.name, nameOf(state.dtype), value, index));
}

namespace {
/// Where a state's elements lie in a mapped file.
struct FileRegion {
  const uint8_t *data;
  DType dtype;
  /// One of so many elements is the state's.
  int64_t step = 1;

  double at(int64_t index) const {
    return loadElement(dtype, data, step * index);
  }
  int64_t integerAt(int64_t index) const {
    return loadInteger(dtype, data, step * index);
  }
};
} // namespace

static Result<FileRegion> regionOf(const plan::State &state,
                                   const Safetensors &file) {
  const SafetensorsEntry *entry = file.find(state.source.tensor);
  if (!entry) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected tensor '{}' for state '{}'",
                                 state.source.tensor, state.name));
  }
  // Of complex elements the state is the part that its name says.
  std::optional<PartName> part = parsePartName(state.name);
  bool isOfPairs = entry->isComplex && part;
  std::vector<int64_t> shape(entry->shape.begin(),
                             entry->shape.end() - isOfPairs);
  if (shape != state.shape || entry->isComplex != isOfPairs ||
      isFloat(entry->dtype) != isFloat(state.dtype)) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected tensor '{}' of {}[{}], got {}[{}]",
                                 state.source.tensor, nameOf(state.dtype),
                                 fmt::join(state.shape, ", "),
                                 nameOf(entry->dtype),
                                 fmt::join(entry->shape, ", ")));
  }
  return isOfPairs
             ? FileRegion{file.data(*entry) + part->part * sizeOf(entry->dtype),
                          entry->dtype, 2}
             : FileRegion{file.data(*entry), entry->dtype};
}

static Result<FileRegion> regionOf(const plan::State &state,
                                   const MappedFile &file) {
  DType dtype = state.source.dtype.value_or(state.dtype);
  if (isFloat(dtype) != isFloat(state.dtype)) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected values of state '{}' of {}, got {}",
                                 state.name, nameOf(state.dtype),
                                 nameOf(dtype)));
  }
  Checked end =
      checkedProduct(state.shape) * sizeOf(dtype) + state.source.offset;
  if (!end.valid() || static_cast<uint64_t>(end.value()) > file.size()) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected the values of state '{}' at byte {} "
                                 "within the file, got {} bytes",
                                 state.name, state.source.offset, file.size()));
  }
  return FileRegion{file.data() + state.source.offset, dtype};
}

/// Where a file of the (untrusted) plan lies.
static Result<std::string> pathOf(const std::string &name,
                                  const std::string &folder, bool trust) {
  bool absolute = !name.empty() && name[0] == '/';
  bool climbs = ("/" + name + "/").find("/../") != std::string::npos;
  if ((absolute || climbs) && !trust) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected initial values within the plan's "
                                 "folder, got '{}'",
                                 name))
        .withHint("pass --trust-kernels if you trust the plan");
  }
  return absolute ? name : folder + "/" + name;
}

Status States::load(const plan::State &state, const std::string &path) {
  std::optional<Safetensors> container;
  std::optional<MappedFile> raw;
  if (state.source.tensor.empty()) {
    LLMC_TRY_ASSIGN(raw, MappedFile::open(path));
  } else {
    LLMC_TRY_ASSIGN(container, Safetensors::open(path));
  }
  Result<FileRegion> region =
      container ? regionOf(state, *container) : regionOf(state, *raw);
  if (!region) {
    return region.status().at(path);
  }
  int64_t bad = -1, bytes = sizeOf(state.dtype);
  bool checks = isFloat(state.dtype) && state.role != plan::StateRole::constant;
  auto copy = [&](std::byte *values, int64_t global, int64_t length) {
    bool isSame = region->dtype == state.dtype && region->step == 1;
    if (isSame) {
      std::memcpy(values, region->data + global * bytes,
                  static_cast<size_t>(length * bytes));
    }
    for (int64_t i = 0; i < length; ++i) {
      bool isWrong = false;
      if (!isSame && isFloat(state.dtype)) {
        storeElement(state.dtype, values, i, region->at(global + i));
      } else if (!isSame) {
        int64_t value = region->integerAt(global + i);
        storeInteger(state.dtype, values, i, value);
        isWrong = loadInteger(state.dtype, values, i) != value;
      }
      isWrong |= checks && !std::isfinite(loadElement(state.dtype, values, i));
      if (isWrong && bad < 0) {
        bad = global + i;
      }
    }
    return Status::success();
  };
  LLMC_TRY(visit(state, WindowUse::write, copy));
  if (bad < 0) {
    return Status::success();
  }
  return (isFloat(state.dtype) ? notFinite(state, bad)
                               : notInRange(state, bad, region->integerAt(bad)))
      .at(path);
}

Status States::fill(const plan::State &state) {
  if (state.source.kind == plan::SourceKind::draw) {
    return draw(state, origin.seed);
  }
  LLMC_TRY_ASSIGN(std::string path, pathOf(plan.files[state.source.file],
                                           origin.folder, origin.trust));
  return load(state, path);
}

Status States::initialise(const Origin &from, bool isFilled) {
  origin = from;
  for (const plan::State &state : plan.states) {
    LLMC_TRY(clear(state));
    if (isFilled) {
      LLMC_TRY(fill(state));
    }
  }
  return Status::success();
}

Result<HostTensor> States::read(const plan::State &state) {
  HostTensor whole = HostTensor::zeros(state.dtype, state.shape);
  int64_t bytes = sizeOf(state.dtype);
  Pieces own(bytes);
  LLMC_TRY(visit(state, WindowUse::read,
                 [&](std::byte *values, int64_t global, int64_t length) {
                   std::memcpy(whole.bytes.data() + global * bytes, values,
                               static_cast<size_t>(length * bytes));
                   if (!peers.areNone()) {
                     own.add(global, values, length);
                   }
                   return Status::success();
                 }));
  LLMC_TRY(peers.complete(whole, own));
  return whole;
}

Status States::write(const plan::State &state, const HostTensor &value) {
  if (value.dtype != state.dtype || value.shape != state.shape) {
    return makeError(
        ErrorKind::mismatch,
        fmt::format("expected state '{}' of {}[{}], got {}[{}]", state.name,
                    nameOf(state.dtype), fmt::join(state.shape, ", "),
                    nameOf(value.dtype), fmt::join(value.shape, ", ")));
  }
  int64_t bytes = sizeOf(state.dtype);
  return visit(state, WindowUse::write,
               [&](std::byte *values, int64_t global, int64_t length) {
                 std::memcpy(values, value.bytes.data() + global * bytes,
                             static_cast<size_t>(length * bytes));
                 return Status::success();
               });
}

Result<bool> States::copiesAgree(const plan::State &state) {
  LLMC_TRY_ASSIGN(HostTensor whole, read(state));
  bool agree = true;
  int64_t bytes = sizeOf(state.dtype);
  LLMC_TRY(visit(state, WindowUse::read,
                 [&](std::byte *values, int64_t global, int64_t length) {
                   agree =
                       agree &&
                       std::memcmp(whole.bytes.data() + global * bytes, values,
                                   static_cast<size_t>(length * bytes)) == 0;
                   return Status::success();
                 }));
  LLMC_TRY_ASSIGN(auto all, peers.gather(std::vector<uint8_t>{agree}));
  return std::all_of(all.begin(), all.end(),
                     [](const auto &each) { return each[0] != 0; });
}

} // namespace llmc::rt::exec

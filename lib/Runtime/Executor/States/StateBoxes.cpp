//===- StateBoxes.cpp - States of a checkpoint ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each box of a state is written once, by the device of the lowest number that
// has it; and each device reads the elements of its own boxes, whoever wrote
// them.
//
// Tested by test/Runtime/Executor/CheckpointRunTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "States.h"

#include "Boxes.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Base/Names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace llmc::rt::exec {

static std::vector<int64_t> originOf(const plan::StatePart &part,
                                     const Box &box) {
  std::vector<int64_t> origin = box.global;
  for (size_t i = 0; i < origin.size(); ++i) {
    origin[i] += part.origin[i];
  }
  return origin;
}

TensorBox States::OwnedBox::inTensor() const {
  return {state->name, state->dtype, state->shape, originOf(*part, box),
          box.size};
}

static bool isEmpty(const Box &box) {
  return std::find(box.size.begin(), box.size.end(), 0) != box.size.end();
}

Result<std::vector<States::OwnedBox>> States::ownedBoxes() {
  std::vector<OwnedBox> owned;
  std::map<int64_t, LocalDevice *> local;
  for (LocalDevice &device : devices) {
    local[device.number] = &device;
  }
  using Place = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
  for (const plan::State &state : plan.states) {
    std::set<Place> taken;
    for (int64_t number = 0; number < plan.mesh.numDevices(); ++number) {
      std::vector<int64_t> coordinates = plan.mesh.coordinatesOf(number);
      for (const plan::StatePart &part : state.parts) {
        if (!plan::hasStage(part.stages, plan.mesh.stageOf(number))) {
          continue;
        }
        LLMC_TRY_ASSIGN(std::vector<Box> boxes,
                        part.layout.boxes(plan.mesh, coordinates));
        for (const Box &box : boxes) {
          bool isNew = taken.insert({originOf(part, box), box.size}).second;
          auto device = local.find(number);
          if (isNew && device != local.end() && !isEmpty(box)) {
            owned.push_back({&state, &part, device->second, box});
          }
        }
      }
    }
  }
  return owned;
}

Status States::readBox(const OwnedBox &owned, Staging &staging,
                       const Sink &sink) {
  const int64_t bytes = sizeOf(owned.state->dtype);
  return visitPart(
      *owned.state, *owned.part, *owned.device, staging, WindowUse::read,
      [&](const std::byte *values, int64_t, int64_t length) {
        return sink(values, static_cast<size_t>(length * bytes));
      },
      &owned.box);
}

/// A state of llmc's own, as the scale of a loss, comes and goes with the
/// configuration; it then begins as it is drawn.
static bool comesAndGoes(const std::string &name, std::string_view role) {
  return role == nameOf(plan::StateRole::carried) && isOurs(name);
}

static std::string listNames(const char *what,
                             const std::vector<std::string> &names) {
  constexpr size_t shown = 16;
  std::string text;
  for (size_t i = 0; i < std::min(shown, names.size()); ++i) {
    text += (i ? ", " : " ") + escape(names[i], 80);
  }
  if (names.size() > shown) {
    text += fmt::format(" and {} more", names.size() - shown);
  }
  return names.empty() ? "" : fmt::format("; {}{}", what, text);
}

/// "train.amax." of "train.amax.12", and "" of a name without such an end. The
/// number is that of an op of the program, which another mesh may count
/// otherwise, as it cuts some ops in parts.
static std::string familyOf(const std::string &name) {
  size_t end = name.find_last_not_of("0123456789") + 1;
  bool isNumbered = end > 0 && end < name.size() && name[end - 1] == '.';
  return isNumbered && isOurs(name) ? name.substr(0, end) : "";
}

/// Families of llmc's own states of which the checkpoint has another number, or
/// others in shape, as where a mesh cuts loops: which state is which is not
/// known.
static std::set<std::string> findRenumbered(const plan::Plan &plan,
                                            const StoredTensors &stored) {
  using Shapes = std::map<std::string, std::vector<int64_t>>;
  std::map<std::string, Shapes> here, there;
  for (const plan::State &state : plan.states) {
    here[familyOf(state.name)][state.name] = state.shape;
  }
  for (const auto &[name, tensor] : stored.tensors()) {
    there[familyOf(name)][name] = tensor.shape;
  }
  std::set<std::string> renumbered;
  for (const auto &[family, shapes] : here) {
    const Shapes &others = there[family];
    if (!family.empty() && !others.empty() && others != shapes) {
      const char *like =
          others.size() == shapes.size() ? " of other shapes" : "";
      log(LogLevel::warning,
          fmt::format("expected {} states '{}*' in the checkpoint, got {}{}: "
                      "they begin anew",
                      shapes.size(), family, others.size(), like));
      renumbered.insert(family);
    }
  }
  return renumbered;
}

/// All but the states of families that begin anew.
static Status compare(const plan::Plan &plan, const StoredTensors &stored,
                      const std::set<std::string> &renumbered) {
  std::vector<std::string> missing, others, extra;
  std::set<std::string> known;
  for (const plan::State &state : plan.states) {
    known.insert(state.name);
    if (renumbered.count(familyOf(state.name))) {
      continue;
    }
    const StoredTensor *tensor = stored.find(state.name);
    if (!tensor && !comesAndGoes(state.name, nameOf(state.role))) {
      missing.push_back(state.name);
    } else if (tensor && (tensor->shape != state.shape ||
                          isFloat(tensor->dtype) != isFloat(state.dtype))) {
      others.push_back(
          fmt::format("{} ({}[{}], not {}[{}])", state.name,
                      nameOf(tensor->dtype), fmt::join(tensor->shape, ","),
                      nameOf(state.dtype), fmt::join(state.shape, ",")));
    }
  }
  for (const auto &[name, tensor] : stored.tensors()) {
    if (!known.count(name) && !comesAndGoes(name, tensor.role)) {
      extra.push_back(name);
    }
  }
  if (missing.empty() && others.empty() && extra.empty()) {
    return Status::success();
  }
  return makeError(ErrorKind::mismatch,
                   "expected a checkpoint of this plan's states, got one" +
                       listNames("without", missing) +
                       listNames("with in another shape or type", others) +
                       listNames("with besides", extra))
      .withHint("resume with the model and the optimizer that wrote it");
}

Status States::restore(const StoredTensors &stored) {
  std::set<std::string> renumbered = findRenumbered(plan, stored);
  LLMC_TRY(compare(plan, stored, renumbered));
  for (const plan::State &state : plan.states) {
    const StoredTensor *tensor = stored.find(state.name);
    if (!tensor || renumbered.count(familyOf(state.name))) {
      LLMC_TRY(fill(state));
      continue;
    }
    TensorReader reader(stored, *tensor);
    Status read =
        visit(state, WindowUse::write,
              [&](std::byte *values, int64_t global, int64_t length) {
                return reader.read(global, length, state.dtype, values);
              });
    LLMC_TRY(read.inContext(fmt::format("state '{}'", state.name)));
  }
  stored.release();
  return Status::success();
}

} // namespace llmc::rt::exec

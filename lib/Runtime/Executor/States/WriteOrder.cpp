//===- WriteOrder.cpp - In which order a step writes states ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriteOrder.h"

#include "llmc/Runtime/Plan/Format/PlanPrograms.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace llmc::rt::exec {

namespace {
/// Whether it is an update that writes first, and where in the device's walk.
using FirstWrite = std::pair<bool, int64_t>;
constexpr FirstWrite never{true, std::numeric_limits<int64_t>::max()};

/// What one device writes of the boxes that it owns.
class DeviceWrites {
public:
  DeviceWrites(const plan::Plan &plan, const LocalDevice &device,
               const std::vector<States::OwnedBox> &owned);

  /// By box; those of other devices stay as they are.
  void find(std::vector<FirstWrite> &found);
  /// The boxes in the buffers that the action writes.
  std::vector<size_t> boxesWrittenBy(const plan::Action &action);

private:
  void visit(int32_t program, bool isUpdate, std::vector<FirstWrite> &found);
  const std::vector<size_t> &boxesIn(int32_t buffer);
  /// Of a buffer of a state frame, which has one slot.
  int64_t beginOf(int32_t buffer) const {
    return plan.frames[plan.buffers[buffer].frame].offset +
           plan.buffers[buffer].offset;
  }

  /// The bytes of the arena in whose buffer a box lies.
  struct Span {
    int64_t begin, end;
    int64_t farthest; ///< End of this and of those before it.
    size_t box;
  };

  const plan::Plan &plan;
  const LocalDevice &device;
  std::vector<Span> spans; ///< Of the device's boxes, by their begin.
  std::vector<bool> seen;  ///< Programs.
  int64_t at = 0;
  std::map<int32_t, std::vector<size_t>> byBuffer;
};
} // namespace

DeviceWrites::DeviceWrites(const plan::Plan &plan, const LocalDevice &device,
                           const std::vector<States::OwnedBox> &owned)
    : plan(plan), device(device), seen(plan.programs.size()) {
  for (size_t i = 0; i < owned.size(); ++i) {
    if (owned[i].device == &device) {
      int32_t buffer = owned[i].part->place.buffer;
      int64_t begin = beginOf(buffer);
      spans.push_back({begin, begin + plan.buffers[buffer].bytes, 0, i});
    }
  }
  std::stable_sort(
      spans.begin(), spans.end(),
      [](const Span &a, const Span &b) { return a.begin < b.begin; });
  int64_t farthest = 0;
  for (Span &span : spans) {
    span.farthest = farthest = std::max(farthest, span.end);
  }
}

const std::vector<size_t> &DeviceWrites::boxesIn(int32_t buffer) {
  auto [found, isNew] = byBuffer.try_emplace(buffer);
  if (!isNew) {
    return found->second;
  }
  int64_t begin = beginOf(buffer), end = begin + plan.buffers[buffer].bytes;
  auto span =
      std::partition_point(spans.begin(), spans.end(), [&](const Span &each) {
        return each.farthest <= begin;
      });
  for (; span != spans.end() && span->begin < end; ++span) {
    if (span->end > begin) {
      found->second.push_back(span->box);
    }
  }
  return found->second;
}

std::vector<size_t> DeviceWrites::boxesWrittenBy(const plan::Action &action) {
  std::vector<size_t> boxes;
  for (int32_t buffer : plan::statesWrittenBy(plan, action)) {
    const std::vector<size_t> &some = boxesIn(buffer);
    boxes.insert(boxes.end(), some.begin(), some.end());
  }
  return boxes;
}

/// What a program writes in a later call it has written in the first.
void DeviceWrites::visit(int32_t program, bool isUpdate,
                         std::vector<FirstWrite> &found) {
  if (program < 0 || seen[program]) {
    return;
  }
  seen[program] = true;
  isUpdate |= plan.programs[program].phase == plan::Phase::update;
  for (const plan::Instruction &each : plan.programs[program].instructions) {
    visit(plan::calleeOf(each.action), isUpdate, found);
    for (size_t box : boxesWrittenBy(each.action)) {
      found[box] = std::min(found[box], {isUpdate, at});
    }
    ++at;
  }
}

void DeviceWrites::find(std::vector<FirstWrite> &found) {
  auto stages = static_cast<size_t>(plan.mesh.numStages());
  auto stage = static_cast<size_t>(device.stage);
  for (const plan::Entry &entry : plan.entries) {
    if (entry.kind != plan::EntryKind::train) {
      continue;
    }
    visit(entry.prologue[stage], false, found);
    for (size_t cell = stage; cell < entry.table.size(); cell += stages) {
      visit(entry.table[cell].program, false, found);
    }
    visit(entry.epilogue[stage], true, found);
  }
}

static int64_t bytesOf(const States::OwnedBox &box) {
  return std::accumulate(box.box.size.begin(), box.box.size.end(),
                         int64_t(sizeOf(box.state->dtype)),
                         std::multiplies<>());
}

/// Those before the first that an update writes, as long as they are small.
static size_t countAtEdge(const std::vector<States::OwnedBox> &owned,
                          const std::vector<FirstWrite> &found) {
  size_t count = 0;
  for (int64_t bytes = 0; count < owned.size() && !found[count].first;
       ++count) {
    bytes += bytesOf(owned[count]);
    if (bytes > mostEdgeBytes) {
      break;
    }
  }
  return count;
}

static void setWaits(const plan::Plan &plan, LocalDevice &device,
                     const std::vector<States::OwnedBox> &owned, size_t edge) {
  DeviceWrites writes(plan, device, owned);
  for (size_t p = 0; p < plan.programs.size(); ++p) {
    const auto &instructions = plan.programs[p].instructions;
    for (size_t i = 0; device.programs[p] && i < instructions.size(); ++i) {
      uint64_t after = 0;
      for (size_t box : writes.boxesWrittenBy(instructions[i].action)) {
        after = std::max<uint64_t>(after, box + 1);
      }
      device.programs[p]->instructions[i].writesAfter =
          after > edge ? after : 0;
    }
  }
}

size_t orderByWrites(const plan::Plan &plan, std::vector<LocalDevice> &devices,
                     std::vector<States::OwnedBox> &owned) {
  std::vector<FirstWrite> found(owned.size(), never);
  for (const LocalDevice &device : devices) {
    DeviceWrites(plan, device, owned).find(found);
  }
  std::vector<size_t> order(owned.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return found[a] < found[b]; });
  std::vector<States::OwnedBox> sorted;
  std::vector<FirstWrite> sortedWrites;
  for (size_t each : order) {
    sorted.push_back(std::move(owned[each]));
    sortedWrites.push_back(found[each]);
  }
  owned = std::move(sorted);
  size_t edge = countAtEdge(owned, sortedWrites);
  for (LocalDevice &device : devices) {
    setWaits(plan, device, owned, edge);
  }
  return edge;
}

} // namespace llmc::rt::exec

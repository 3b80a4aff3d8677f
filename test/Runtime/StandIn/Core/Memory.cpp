//===- Memory.cpp - Memory of devices, and host memory they know ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/Memory.h"
#include "Core/Report.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace llmc::standin;

static constexpr uint64_t kPage = 4096, kAlignment = 256;
static constexpr uint64_t kGiB = 1ull << 30;

static uint64_t roundUp(uint64_t value, uint64_t step) {
  return (value + step - 1) / step * step;
}

static uint64_t reserve(uint64_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    violation("no %llu bytes of addresses for devices",
              static_cast<unsigned long long>(bytes));
  return reinterpret_cast<uint64_t>(memory);
}

Memory &Memory::get() {
  static Memory *memory = new Memory;
  return *memory;
}

/// The devices that CUDA_VISIBLE_DEVICES lists, up to the first that is none.
static std::vector<int> findVisible() {
  int number = environmentNumber("LLMC_STANDIN_DEVICES", 8);
  const char *list = std::getenv("CUDA_VISIBLE_DEVICES");
  std::vector<int> visible;
  for (int i = 0; !list && i < number; ++i)
    visible.push_back(i);
  while (list && *list) {
    char *end = nullptr;
    long device = std::strtol(list, &end, 10);
    if (end == list || device < 0 || device >= number)
      break;
    visible.push_back(device);
    list = *end == ',' ? end + 1 : "";
  }
  return visible;
}

Memory::Memory()
    : visible(findVisible()),
      total(environmentNumber("LLMC_STANDIN_MEMORY", 80 * kGiB)),
      span(roundUp(3 * total + kGiB, kGiB)),
      poison(environmentNumber("LLMC_STANDIN_POISON", 64ull << 20)),
      devices(visible.size()) {
  if (devices.empty())
    return;
  base = reserve(devices.size() * span);
  view = reserve(devices.size() * span);
}

/// The first page at or after `start` with room for `bytes`, or 0.
uint64_t Memory::findGap(Device &device, uint64_t start, uint64_t bytes) {
  uint64_t first = base + (&device - devices.data()) * span + kPage;
  uint64_t end = first + span - 2 * kPage;
  uint64_t at = std::max(start, first);
  auto next = device.allocations.lower_bound(at);
  for (; next != device.allocations.end(); ++next) {
    if (next->first / kPage * kPage >= at + bytes + kPage)
      break;
    at = roundUp(next->first + next->second->bytes, kPage) + kPage;
  }
  return at + bytes + kPage <= end ? at : 0;
}

AllocationRef Memory::allocate(Context *context, int index, uint64_t bytes) {
  Device &device = devices[index];
  uint64_t padded = roundUp(bytes, kAlignment), pages = roundUp(padded, kPage);
  if (pages > total - std::min(device.used, total))
    return nullptr;
  uint64_t begin = findGap(device, device.cursor, pages);
  if (!begin)
    begin = findGap(device, 0, pages);
  if (!begin)
    return nullptr;
  if (mprotect(translate(begin), pages, PROT_READ | PROT_WRITE))
    return nullptr;
  device.cursor = begin + pages + kPage;
  device.used += pages;
  auto allocation = std::make_shared<Allocation>();
  allocation->address = begin + pages - padded;
  allocation->bytes = bytes;
  allocation->device = index;
  allocation->context = context;
  std::memset(translate(allocation->address), 0xff, std::min(padded, poison));
  device.allocations[allocation->address] = allocation;
  return allocation;
}

void Memory::free(const AllocationRef &allocation) {
  uint64_t begin = allocation->address / kPage * kPage;
  uint64_t pages =
      roundUp(allocation->address + allocation->bytes, kPage) - begin;
  madvise(translate(begin), pages, MADV_DONTNEED);
  mprotect(translate(begin), pages, PROT_NONE);
  allocation->live = false;
  Device &device = devices[allocation->device];
  device.used -= pages;
  device.allocations.erase(allocation->address);
}

AllocationRef Memory::find(uint64_t address) const {
  int index = deviceOf(address);
  if (index < 0)
    return nullptr;
  const auto &allocations = devices[index].allocations;
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin())
    return nullptr;
  const AllocationRef &found = std::prev(next)->second;
  return address - found->address < found->bytes ? found : nullptr;
}

AllocationRef Memory::find(uint64_t address, uint64_t bytes) const {
  AllocationRef found = find(address);
  if (!found || bytes > found->bytes - (address - found->address))
    return nullptr;
  return found;
}

HostRange *Memory::allocateHost(Context *context, uint64_t bytes,
                                unsigned flags) {
  void *memory = mmap(nullptr, roundUp(bytes, kPage), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  auto address = reinterpret_cast<uint64_t>(memory);
  HostRange &range = hostRanges[address];
  range = {address, bytes, 0, false, flags, context};
  std::memset(memory, 0xff, std::min(bytes, poison));
  return &range;
}

bool Memory::registerHost(Context *context, uint64_t address, uint64_t bytes,
                          unsigned flags) {
  auto next = hostRanges.lower_bound(address);
  if (next != hostRanges.end() && next->first - address < bytes)
    return false;
  if (findHost(address))
    return false;
  hostRanges[address] = {address, bytes, 0, true, flags, context};
  return true;
}

HostRange *Memory::findHost(uint64_t address) {
  auto next = hostRanges.upper_bound(address);
  if (next == hostRanges.begin())
    return nullptr;
  HostRange &range = std::prev(next)->second;
  return address - range.address < range.bytes ? &range : nullptr;
}

bool Memory::isPinned(uint64_t address, uint64_t bytes) {
  HostRange *range = findHost(address);
  return range && bytes <= range->bytes - (address - range->address);
}

void Memory::freeHost(const HostRange &range) {
  if (!range.registered)
    munmap(reinterpret_cast<void *>(range.address),
           roundUp(range.bytes, kPage));
  hostRanges.erase(range.address);
}

void Memory::freeAll(Context *context) {
  for (Device &device : devices)
    for (auto at = device.allocations.begin();
         at != device.allocations.end();) {
      AllocationRef allocation = (at++)->second;
      if (allocation->context == context)
        free(allocation);
    }
  for (auto at = hostRanges.begin(); at != hostRanges.end();) {
    const HostRange &range = (at++)->second;
    if (range.context == context)
      freeHost(range);
  }
}

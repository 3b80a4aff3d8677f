//===- Looping.h - A device with what it repeats --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often a part runs lies in the device's memory: in each trip flags move up
// by one, and so do the values by which trips are counted.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_DEVICE_LOOPING_H
#define LLMC_TEST_RUNTIME_DEVICE_LOOPING_H

#include "../Comm/Worlds.h"

#include <algorithm>
#include <vector>

namespace llmc::rt::test {

inline constexpr std::chrono::seconds repeatPatience(20);
inline const Origin repeatOrigin{"loop", "model.py:12"}, bodyOrigin{"body", ""};
inline constexpr int mostTrips = 4;

/// A device with two streams of a repeat and one beside it. Its memory has
/// `flags`, which move up, and `y`, which does.
struct Looping {
  Device &device;
  Stream &first, &second, &beside;
  Event &counted, &moved;
  Repeat &repeat;
  Mirror mirror;
  CopyBox one{1, {}}, firstValue{4, {}}, flagBox{mostTrips, {}},
      valueBox{4 * mostTrips, {}}, movedBox{4 * (mostTrips - 1), {}};

  /// Offsets in memory.
  enum Place : uint64_t {
    flags = 0,
    oldFlags = 16,
    y = 32,
    oldY = 64,
    seen = 96,
    sum = 128
  };

  explicit Looping(World &world, int number = 0)
      : device(world.device(number)), first(makeStream("C")),
        second(makeStream("D")), beside(makeStream("E")),
        counted(**device.event({"counted", ""})),
        moved(**device.event({"moved", ""})),
        repeat(**device.repeat({&first, &second})), mirror(world, device, 160) {
  }

  Stream &makeStream(const std::string &name) {
    return **device.stream({name, 0, 64, 64});
  }
  std::byte *at(uint64_t place) { return mirror.at(mirror.host()) + place; }
  const int32_t *values(uint64_t place) {
    return reinterpret_cast<const int32_t *>(mirror.host() + place);
  }

  /// `trips` flags that hold, then some that do not; y is 7.
  void start(int trips) {
    static const CopyBox all{2 * mostTrips, {}};
    static const CopyBox some[mostTrips + 1] = {
        {0, {}}, {1, {}}, {2, {}}, {3, {}}, {4, {}}};
    device.fill(first, at(flags), 0, 1, all, bodyOrigin);
    device.fill(first, at(flags), 1, 1, some[trips], bodyOrigin);
    device.fill(first, at(y), 7, 4, valueBox, bodyOrigin);
  }
  void begin() { device.beginRepeat(repeat, at(flags), repeatOrigin); }
  void end() { device.endRepeat(repeat, repeatOrigin); }
  /// Another flag; the second stream waits for the trip's count, and what is
  /// next on the first one for it, unless it is not asked to.
  void move(bool isAwaited = true) {
    device.record(first, counted, bodyOrigin);
    device.wait(second, counted, bodyOrigin);
    device.copy(second, at(oldFlags), at(flags + 1), flagBox, bodyOrigin);
    device.copy(second, at(flags), at(oldFlags), flagBox, bodyOrigin);
    device.record(second, moved, bodyOrigin);
    if (isAwaited) {
      device.wait(first, moved, bodyOrigin);
    }
  }
  /// y moves up, and begins with 9.
  void count() {
    device.copy(first, at(oldY), at(y), movedBox, bodyOrigin);
    device.copy(first, at(y + 4), at(oldY), movedBox, bodyOrigin);
    device.fill(first, at(y), 9, 4, firstValue, bodyOrigin);
  }
};

/// Those of `y`, and of what else is as long.
inline std::vector<int32_t> listOf(const int32_t *values) {
  return {values, values + mostTrips};
}

/// `y` after so many trips.
inline std::vector<int32_t> counted(int trips) {
  std::vector<int32_t> expected(mostTrips, 7);
  std::fill_n(expected.begin(), trips, 9);
  return expected;
}

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_DEVICE_LOOPING_H

//===- TextShardings.h - Random shardings as texts write them ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mesh whose axes are cut into parts, shardings by these parts, and how the
// two kinds of texts say them:
//
//   sdy    <@mesh, [{"b", "a":(2)2}p1, {?}], replicated={"a":(1)2}>
//   XLA    {devices=[4,1,2]<=[2,2,2]T(2,1,0) last_tile_dim_replicate}, with a
//          list of the devices in place of `<=`, or with the axes' names
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_PROPERTIES_TEXTSHARDINGS_H
#define LLMC_TEST_ENDTOEND_PROPERTIES_TEXTSHARDINGS_H

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace llmc::test::text {

using Shape = std::vector<int64_t>;

/// Choices, all from one seed.
class Draw {
public:
  explicit Draw(uint64_t seed) : engine(seed) {}
  int64_t below(int64_t end) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(end));
  }
  bool oneIn(int64_t n) { return below(n) == 0; }
  template <typename List> const auto &pick(const List &list) {
    return list[below(static_cast<int64_t>(std::size(list)))];
  }
  template <typename List> void shuffle(List &list) {
    std::shuffle(list.begin(), list.end(), engine);
  }

private:
  std::mt19937_64 engine;
};

/// "2, 3", or with another separator.
std::string join(const Shape &list, const char *separator = ", ");
/// `tensor<2x3xf64>`
std::string typeOf(const Shape &shape, const std::string &element = "f64");

/// Digits of a device's coordinate on an axis: `size` of them after the
/// `before` major ones.
struct AxisRef {
  size_t axis;
  int64_t before, size;
};

struct TextSharding {
  std::vector<std::vector<AxisRef>> dims;
  std::vector<bool> isOpen;
  /// -1: none.
  std::vector<int> priorities;
  std::vector<AxisRef> replicated;
};

/// `unspecified_dims=[0, 2]`, or nothing.
std::string getOpenDims(const TextSharding &sharding);

/// Axes by their number.
using AxisSet = std::set<size_t>;

class TextMesh {
public:
  /// Axes a, b, c, ... of these sizes, cut into random parts.
  TextMesh(const Shape &sizes, Draw &draw);

  size_t getNumAxes() const { return sizes.size(); }
  int64_t getSize(size_t axis) const { return sizes[axis]; }
  int64_t getNumDevices() const;
  static std::string getName(size_t axis) {
    return std::string(1, static_cast<char>('a' + axis));
  }
  AxisRef getWhole(size_t axis) const { return {axis, 1, sizes[axis]}; }
  /// `["a"=2, "b"=3]`
  std::string show() const;

  /// Each part of an axis that is not `without` splits a dimension, or none.
  TextSharding draw(const Shape &shape, Draw &draw,
                    const AxisSet &without = {}) const;
  /// `<@mesh, [...]>`
  std::string showSdy(const TextSharding &sharding) const;
  /// `{...}`; along the axes `manual` each device has a program of its own.
  std::string showHlo(const TextSharding &sharding, Draw &draw,
                      const AxisSet &manual = {}) const;
  /// `{0, 2}, {1, 3}`: the devices that differ on these axes only, in the order
  /// of the axes.
  std::vector<Shape> getGroups(const std::vector<size_t> &axes) const;

private:
  std::string show(const AxisRef &ref, char quote) const;
  std::string show(const std::vector<AxisRef> &refs, char quote) const;
  std::string showDims(const TextSharding &sharding, char quote) const;
  std::string showNamed(const TextSharding &sharding,
                        const AxisSet &manual) const;
  std::string showDevices(const std::vector<AxisRef> &order, int64_t copies,
                          Draw &draw) const;
  std::vector<AxisRef> getAtoms() const;
  std::vector<AxisRef> getAtoms(const AxisRef &ref) const;
  int64_t getStride(const AxisRef &atom) const;

  Shape sizes;
  /// Of each axis where its parts end, from 1 to the size.
  std::vector<Shape> ends;
};

} // namespace llmc::test::text

#endif // LLMC_TEST_ENDTOEND_PROPERTIES_TEXTSHARDINGS_H

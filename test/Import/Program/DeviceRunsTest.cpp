//===- DeviceRunsTest.cpp - Numbers of devices as axes of a mesh ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Import/Program/DeviceRuns.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace llmc::import;
using llvm::SmallVector;

namespace {
/// The digits of `device` on the axes of `list`, read as one number.
int64_t getPart(const MeshAxes &mesh, llvm::ArrayRef<unsigned> list,
                int64_t device) {
  int64_t part = 0;
  for (unsigned axis : list) {
    int64_t stride = 1;
    for (size_t after = axis + 1; after < mesh.size(); ++after)
      stride *= mesh[after].second;
    part = part * mesh[axis].second + device / stride % mesh[axis].second;
  }
  return part;
}

SmallVector<int64_t> getParts(const MeshAxes &mesh,
                              llvm::ArrayRef<unsigned> list) {
  SmallVector<int64_t> parts;
  for (int64_t device = 0; device < countDevices(mesh); ++device)
    parts.push_back(getPart(mesh, list, device));
  return parts;
}

TEST(DeviceRuns, FindsAnyListOfAxes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    MeshAxes mesh;
    for (int n = 1 + random() % 4; n > 0; --n)
      mesh.emplace_back(std::string(1, 'a' + n), 1 + random() % 4);
    SmallVector<unsigned> list;
    for (unsigned axis = 0; axis < mesh.size(); ++axis)
      if (mesh[axis].second > 1 && random() % 2)
        list.push_back(axis);
    std::shuffle(list.begin(), list.end(), random);
    int64_t count = 1;
    for (unsigned axis : list)
      count *= mesh[axis].second;
    auto runs = findRuns(getParts(mesh, list), count);
    ASSERT_TRUE(runs) << showMesh(mesh);
    std::vector<std::string> found, wanted;
    for (unsigned axis : list)
      wanted.push_back(mesh[axis].first);
    for (const DeviceRun &run : *runs) {
      auto parts = findParts(mesh, run);
      ASSERT_TRUE(parts) << showMesh(mesh);
      for (const AxisPart &part : *parts)
        found.push_back(showPart(part));
    }
    EXPECT_EQ(found, wanted) << showMesh(mesh);
    auto sizes = cutDevices(countDevices(mesh), *runs);
    ASSERT_TRUE(sizes);
    MeshAxes cut;
    for (int64_t size : *sizes)
      cut.emplace_back("x", size);
    for (const DeviceRun &run : *runs)
      EXPECT_TRUE(findParts(cut, run)) << showSizes(*sizes);
  }
}

TEST(DeviceRuns, RefusesWhatIsNoDigit) {
  EXPECT_FALSE(findRuns({0, 1, 2, 3, 4, 5, 7, 6}, 8));
  EXPECT_FALSE(findRuns({1, 0}, 2));
  EXPECT_FALSE(findRuns({0, 0, 1, 1, 1, 1}, 2));
  EXPECT_FALSE(findRuns({0, 0, 0, 0}, 2));
  // 0 1 0 1 1 0 1 0: the digit of one axis and that of another together.
  EXPECT_FALSE(findRuns({0, 1, 0, 1, 1, 0, 1, 0}, 2));
}

std::string showParts(const MeshAxes &mesh, DeviceRun run) {
  auto parts = findParts(mesh, run);
  if (!parts)
    return "none";
  std::string text;
  for (const AxisPart &part : *parts)
    text += showPart(part) + " ";
  return text;
}

TEST(DeviceRuns, AxesAreCutWhereARunEnds) {
  MeshAxes mesh = {{"a", 4}, {"one", 1}, {"b", 6}};
  EXPECT_EQ(showParts(mesh, {6, 4}), "a ");
  EXPECT_EQ(showParts(mesh, {1, 24}), "a b ");
  EXPECT_EQ(showParts(mesh, {6, 2}), "a:(2)2 ");
  EXPECT_EQ(showParts(mesh, {2, 6}), "a:(2)2 b:(1)3 ");
  EXPECT_EQ(showParts(mesh, {1, 3}), "b:(2)3 ");
  EXPECT_EQ(showParts(mesh, {1, 4}), "none");
  EXPECT_EQ(showParts(mesh, {4, 3}), "none");
  EXPECT_FALSE(cutDevices(6, {{1, 2}, {1, 3}}));
  EXPECT_EQ(*cutDevices(8, {{2, 2}}), (SmallVector<int64_t>{2, 2, 2}));
}
} // namespace

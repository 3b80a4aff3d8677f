//===- MeshTest.cpp - Named axes over devices -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Layout/Mesh.h"

#include <gtest/gtest.h>

using namespace llmc::rt;

static Mesh makeMesh() {
  return {{{"pipe", 2}, {"data", 3}, {"tensor", 4}}, 0};
}

TEST(Mesh, CoordinatesAreRowMajor) {
  Mesh mesh = makeMesh();
  ASSERT_TRUE(mesh.check().ok());
  EXPECT_EQ(mesh.numDevices(), 24);
  EXPECT_EQ(mesh.numStages(), 2);
  EXPECT_EQ(mesh.coordinatesOf(17), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(mesh.stageOf(17), 1);
  for (int64_t d = 0; d < 24; ++d) {
    EXPECT_EQ(mesh.deviceAt(mesh.coordinatesOf(d)), d);
  }
}

TEST(Mesh, GroupsAreMajorToMinor) {
  Mesh mesh = makeMesh();
  EXPECT_EQ(mesh.groupSize({2, 0}), 8);
  EXPECT_EQ(mesh.memberIndex({2, 0}, {1, 0, 3}), 7);
  EXPECT_EQ(mesh.memberIndex({0, 2}, {1, 0, 3}), 7);
  EXPECT_EQ(mesh.memberIndex({0, 2}, {1, 0, 1}), 5);
  EXPECT_EQ(mesh.memberIndex({}, {1, 0, 1}), 0);
  EXPECT_EQ(mesh.axisNamed("tensor"), 2);
  EXPECT_EQ(mesh.axisNamed("none"), -1);
}

TEST(Mesh, Refusals) {
  EXPECT_EQ((Mesh{{{"a", 0}}, -1}).check().message(),
            "expected axis \"a\" to have a size of at least 1, got 0");
  EXPECT_EQ((Mesh{{{"a", 2}, {"a", 2}}, -1}).check().message(),
            "axis \"a\" occurs twice");
  EXPECT_FALSE((Mesh{{{"a", INT64_MAX}, {"b", 3}}, -1}).check().ok());
  EXPECT_FALSE((Mesh{{{"a", 2}}, 1}).check().ok());
  EXPECT_TRUE(Mesh{}.check().ok());
  EXPECT_EQ(Mesh{}.numDevices(), 1);
}

TEST(Mesh, Ends) {
  auto message = [](const Mesh &mesh) { return mesh.check().message(); };
  EXPECT_EQ(message({{{"a", 1}}, 0}), "");
  EXPECT_EQ(message({{{"a", -1}}, -1}),
            "expected axis \"a\" to have a size of at least 1, got -1");
  EXPECT_EQ(message({{{"a", 1 << 24}}, -1}), "");
  std::string tooMany = "expected at most 16777216 devices in the mesh";
  EXPECT_EQ(message({{{"a", (1 << 24) + 1}}, -1}), tooMany);
  EXPECT_EQ(message({{{"a", 1 << 12}, {"b", (1 << 12) + 1}}, -1}), tooMany);
  EXPECT_EQ(message({{{"a", INT64_MAX}, {"b", INT64_MAX}}, -1}), tooMany);
  EXPECT_EQ(message({{{"a", 2}, {"b", 2}, {"a", 2}}, -1}),
            "axis \"a\" occurs twice");
  EXPECT_EQ(message({{{"a", 2}, {"b", 2}}, 1}), "");
  EXPECT_EQ(message({{{"a", 2}}, 1}),
            "expected the pipeline axis to be one of 1, got index 1");
  EXPECT_EQ(message({{{"a", 2}}, -2}),
            "expected the pipeline axis to be one of 1, got index -2");
}

TEST(Mesh, WithoutStages) {
  Mesh mesh{{{"data", 3}, {"pipe", 2}}, -1};
  EXPECT_EQ(mesh.numStages(), 1);
  EXPECT_EQ(mesh.stageOf(5), 0);
  mesh.pipelineAxis = 1;
  EXPECT_EQ(mesh.numStages(), 2);
  EXPECT_EQ(mesh.stageOf(5), 1);
  EXPECT_EQ(mesh.stageOf(4), 0);
}

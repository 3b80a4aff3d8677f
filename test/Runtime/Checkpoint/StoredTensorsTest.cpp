//===- StoredTensorsTest.cpp - Tensors that lie in boxes in files ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Checkpoint/StoredTensors.h"

#include "TestFolder.h"
#include "llmc/Runtime/Checkpoint/BoxFile.h"

#include <gmock/gmock.h>

namespace llmc::rt::test {
namespace {

/// Element i of the tensor is i.
std::string numbersOf(const TensorBox &box) {
  std::string bytes;
  std::vector<int64_t> at(box.size.size(), 0);
  for (int64_t n = 0; n < box.elements(); ++n) {
    int64_t rest = n, index = 0, stride = 1;
    for (size_t i = box.size.size(); i-- > 0;) {
      index += (box.origin[i] + rest % box.size[i]) * stride;
      stride *= box.shape[i];
      rest /= box.size[i];
    }
    auto value = static_cast<float>(index);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  return bytes;
}

void writeBoxes(const std::string &path, const std::vector<TensorBox> &boxes) {
  auto file =
      BoxFileWriter::create(systemCalls(), path, *printBoxHeader(boxes));
  ASSERT_TRUE(file.ok()) << file.message();
  for (const TensorBox &box : boxes) {
    std::string bytes = numbersOf(box);
    ASSERT_TRUE((*file)->append(bytes.data(), bytes.size()).ok());
  }
  ASSERT_TRUE((*file)->close().ok());
}

CheckpointManifest manifestOf(std::vector<int64_t> shape) {
  CheckpointManifest manifest;
  manifest.tensors = {{"w", DType::f32, std::move(shape), "parameter", ""}};
  manifest.files = {{"a", 0, 0}, {"b", 0, 0}};
  return manifest;
}

// A tensor of 4 x 6 in three boxes, two of which lie in one file.
TEST(StoredTensors, ElementsAreFoundInTheirBoxes) {
  TestFolder folder;
  writeBoxes(folder.path + "/a", {{"w", DType::f32, {4, 6}, {0, 0}, {2, 4}},
                                  {"w", DType::f32, {4, 6}, {2, 0}, {2, 6}}});
  writeBoxes(folder.path + "/b", {{"w", DType::f32, {4, 6}, {0, 4}, {2, 2}}});
  auto stored = StoredTensors::open(folder.path, manifestOf({4, 6}));
  ASSERT_TRUE(stored.ok()) << stored.message();
  TensorReader reader(*stored, *stored->find("w"));
  for (int64_t row = 0; row < 4; ++row) {
    for (int64_t column = 0; column < 6; ++column) {
      for (int64_t length = 1; length <= 6 - column; ++length) {
        std::vector<double> values(6, -1);
        Status status =
            reader.read(row * 6 + column, length, DType::f64, values.data());
        ASSERT_TRUE(status.ok()) << status.message();
        for (int64_t i = 0; i < 6; ++i) {
          EXPECT_EQ(values[i], i < length ? row * 6 + column + i : -1);
        }
      }
    }
  }
}

TEST(StoredTensors, AScalarHasOneElement) {
  TestFolder folder;
  writeBoxes(folder.path + "/a", {{"w", DType::f32, {}, {}, {}}});
  writeBoxes(folder.path + "/b", {});
  auto stored = StoredTensors::open(folder.path, manifestOf({}));
  ASSERT_TRUE(stored.ok()) << stored.message();
  float value = -1;
  TensorReader reader(*stored, *stored->find("w"));
  ASSERT_TRUE(reader.read(0, 1, DType::f32, &value).ok());
  EXPECT_EQ(value, 0);
  EXPECT_EQ(reader.read(0, 1, DType::i32, &value).kind(), ErrorKind::mismatch);
}

TEST(StoredTensors, WhatDoesNotFitTheManifestIsRefused) {
  using Boxes = std::vector<TensorBox>;
  const std::vector<std::pair<Boxes, std::string>> cases = {
      {{{"v", DType::f32, {4, 6}, {0, 0}, {4, 6}}}, "does not have"},
      {{{"w", DType::f64, {4, 6}, {0, 0}, {4, 3}}}, "another type or place"},
      {{{"w", DType::f32, {9, 9}, {1, 0}, {4, 6}}}, "another type or place"},
      {{{"w", DType::f32, {4, 6}, {0, 0}, {3, 6}}},
       "expected 24 elements of "
       "'w', got 18"},
  };
  for (const auto &[boxes, expected] : cases) {
    TestFolder folder;
    if (boxes[0].dtype == DType::f32) {
      writeBoxes(folder.path + "/a", boxes);
    } else {
      std::string bytes(static_cast<size_t>(boxes[0].elements()) * 8, 'x');
      auto file = BoxFileWriter::create(systemCalls(), folder.path + "/a",
                                        *printBoxHeader(boxes));
      ASSERT_TRUE((*file)->append(bytes.data(), bytes.size()).ok());
      ASSERT_TRUE((*file)->close().ok());
    }
    writeBoxes(folder.path + "/b", {});
    auto stored = StoredTensors::open(folder.path, manifestOf({4, 6}));
    ASSERT_EQ(stored.kind(), ErrorKind::malformed) << expected;
    EXPECT_THAT(stored.message(), testing::HasSubstr(expected));
  }
}

// As many elements as there are, but one box twice.
TEST(StoredTensors, AHoleIsFoundWhenItIsRead) {
  TestFolder folder;
  writeBoxes(folder.path + "/a", {{"w", DType::f32, {4, 6}, {0, 0}, {2, 6}}});
  writeBoxes(folder.path + "/b", {{"w", DType::f32, {4, 6}, {0, 0}, {2, 6}}});
  auto stored = StoredTensors::open(folder.path, manifestOf({4, 6}));
  ASSERT_TRUE(stored.ok()) << stored.message();
  TensorReader reader(*stored, *stored->find("w"));
  float values[6];
  EXPECT_TRUE(reader.read(6, 6, DType::f32, values).ok());
  Status hole = reader.read(12, 6, DType::f32, values);
  EXPECT_EQ(hole.kind(), ErrorKind::malformed);
  EXPECT_THAT(hole.message(), testing::HasSubstr("expected element 12"));
}

} // namespace
} // namespace llmc::rt::test

//===- DataSetTest.cpp - The files of a source ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/DataSet.h"

#include "TestFiles.h"

#include "llmc/Runtime/Executor/HostTensor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace llmc::rt {
namespace {

using testing::HasSubstr;

/// A folder that is empty, below that of all tests.
std::string emptyFolder(const std::string &name) {
  std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

DataRule ruleOf(DataKind kind, std::vector<int64_t> weights = {}) {
  DataRule rule;
  rule.kind = kind;
  rule.dtype = DType::u8;
  rule.weights = std::move(weights);
  return rule;
}

std::string writeRows(const std::string &path, DType dtype,
                      std::vector<int64_t> shape, double first = 0) {
  HostTensor tensor = HostTensor::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    storeElement(dtype, tensor.bytes.data(), i, first + double(i));
  }
  EXPECT_TRUE(writeNpy(tensor, path).ok());
  return path;
}

// Matches of a glob are sorted by bytes; lists keep their order.
TEST(DataSet, GlobsAndLists) {
  std::string folder = emptyFolder("globs");
  for (const char *name : {"b.bin", "a10.bin", "a2.bin", "B.bin", "c.txt"}) {
    std::ofstream(folder + "/" + name) << name;
  }
  Result<DataSet> set = DataSet::open(ruleOf(DataKind::tokens),
                                      {folder + "/c.txt", folder + "/*.bin"});
  ASSERT_TRUE(set.ok()) << set.message();
  EXPECT_EQ(set->rows(), (RowsOfFiles{{5, 5, 7, 6, 5}}));
  EXPECT_EQ(set->path(0, 0), folder + "/c.txt");
  EXPECT_EQ(set->path(0, 1), folder + "/B.bin");
  EXPECT_EQ(set->path(0, 2), folder + "/a10.bin");
  // With weights each is a part.
  Result<DataSet> parts =
      DataSet::open(ruleOf(DataKind::text, {2, 1}),
                    {folder + "/a*.bin", folder + "/[bB].bin"});
  ASSERT_TRUE(parts.ok()) << parts.message();
  EXPECT_EQ(parts->rows(), (RowsOfFiles{{7, 6}, {5, 5}}));
}

// A name that reads as a glob and is there is that file.
TEST(DataSet, NamesWithSpecialCharacters) {
  std::string folder = emptyFolder("names");
  std::ofstream(folder + "/a[1].bin") << "x";
  std::ofstream(folder + "/a1.bin") << "yy";
  EXPECT_EQ(
      DataSet::open(ruleOf(DataKind::text), {folder + "/a[1].bin"})->rows(),
      (RowsOfFiles{{1}}));
  EXPECT_EQ(
      DataSet::open(ruleOf(DataKind::text), {folder + "/a[12].bin"})->rows(),
      (RowsOfFiles{{2}}));
}

TEST(DataSet, WhatDoesNotFitIsRefused) {
  std::string folder = emptyFolder("refused");
  auto error = [](const DataRule &rule, std::vector<std::string> patterns,
                  ErrorKind kind = ErrorKind::malformed) {
    Result<DataSet> set = DataSet::open(rule, patterns);
    EXPECT_EQ(set.kind(), kind);
    return set.ok() ? "" : describe(set.error());
  };
  EXPECT_EQ(error(ruleOf(DataKind::tokens), {folder + "/*.bin"}),
            folder + "/*.bin: expected files that the glob matches, got none");
  EXPECT_THAT(error(ruleOf(DataKind::tokens), {folder + "/x.bin"}),
              HasSubstr("x.bin: cannot open: No such file"));
  EXPECT_EQ(error(ruleOf(DataKind::text, {1, 2}), {"x"}, ErrorKind::usage),
            "expected a file or glob for each of 2 weights, got 1");
  EXPECT_EQ(error(ruleOf(DataKind::text), {}, ErrorKind::usage),
            "expected a file or glob, got 0");
  std::string a = writeRows(folder + "/a.npy", DType::f32, {2, 3}),
              b = writeRows(folder + "/b.npy", DType::f32, {2, 4}),
              c = writeRows(folder + "/c.npy", DType::f64, {2, 3});
  EXPECT_EQ(error(ruleOf(DataKind::array), {a, b}),
            b + ": expected rows of f32[3] as in " + a + ", got f32[4]");
  EXPECT_EQ(error(ruleOf(DataKind::array, {1, 1}), {a, c}),
            c + ": expected rows of f32[3] as in " + a + ", got f64[3]");
}

// A sample of an array may have rows of several files; bytes are counted.
TEST(DataSet, RowsGoOnInTheNextFile) {
  std::string folder = emptyFolder("rows");
  writeRows(folder + "/0.npy", DType::f32, {2, 2}, 0);
  writeRows(folder + "/1.npy", DType::f32, {1, 2}, 4);
  writeRows(folder + "/2.npy", DType::f32, {3, 2}, 6);
  Result<DataSet> set =
      DataSet::open(ruleOf(DataKind::array), {folder + "/*.npy"});
  ASSERT_TRUE(set.ok()) << set.message();
  double out[8];
  ASSERT_TRUE(set->read({0, 0, 1}, 0, 4, {DType::f64}, out).ok());
  EXPECT_THAT(out, testing::ElementsAre(2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(set->bytesRead(), 4u * 2 * 4);
  ASSERT_TRUE(set->read({0, 0, 0}, 3, 1, {DType::f64}, out).ok());
  EXPECT_EQ(out[0], 6);
  EXPECT_EQ(set->bytesRead(), 5u * 2 * 4);
}

} // namespace
} // namespace llmc::rt

//===- SamplesTest.cpp - What the inputs of an entry read -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Samples.h"

#include "llmc/Runtime/Executor/HostTensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace llmc::rt {
namespace {

constexpr uint64_t seed = 11;

/// Row r of the array is 10 r, 10 r + 1, ...
DataFile openArray(const std::string &name, DType dtype,
                   std::vector<int64_t> shape, bool shuffle = true) {
  HostTensor tensor = HostTensor::zeros(dtype, shape);
  int64_t columns = tensor.elements() / shape[0];
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    storeElement(dtype, tensor.bytes.data(), i,
                 double(10 * (i / columns) + i % columns));
  }
  std::string path = testing::TempDir() + "/" + name + ".npy";
  EXPECT_TRUE(writeNpy(tensor, path).ok());
  return *DataFile::open({DataKind::array, DType::u16, shuffle, ""}, path);
}

std::vector<float> read(const Samples &samples, size_t input,
                        const DataFiles &files, int64_t step,
                        int64_t microbatch, size_t elements) {
  std::vector<float> out(elements);
  Status status =
      samples.read(input, files, seed, step, microbatch, out.data());
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

DataFiles makeFiles() {
  DataFiles files;
  files.emplace_back(openArray("samples-x", DType::f32, {7, 2}));
  files.emplace_back(openArray("samples-y", DType::i32, {7}));
  return files;
}

const std::vector<DataKind> arrays = {DataKind::array, DataKind::array};
const SampleInput x{"x", 0, 0, DType::f32, {3, 2}};
const SampleInput y{"y", 1, 0, DType::f32, {3}};

// Row i of each array belongs to the same sample.
TEST(Samples, ArraysStayTogether) {
  DataFiles files = makeFiles();
  Samples samples({x, y}, arrays, 2);
  std::vector<float> order;
  for (int64_t step = 0; step < 7; ++step) {
    for (int64_t m : {0, 1}) {
      std::vector<float> a = read(samples, 0, files, step, m, 6);
      std::vector<float> b = read(samples, 1, files, step, m, 3);
      for (int row = 0; row < 3; ++row) {
        EXPECT_EQ(a[2 * row], b[row]);
        EXPECT_EQ(a[2 * row + 1], b[row] + 1);
        order.push_back(b[row]);
      }
    }
  }
  // Six epochs of seven rows, each of which has all.
  for (auto at = order.begin(); at != order.end(); at += 7) {
    EXPECT_EQ(std::set<float>(at, at + 7).size(), 7u);
  }
}

// A process of several reads the rows of its devices alone.
TEST(Samples, SomeRowsAreThoseOfAll) {
  DataFiles files = makeFiles();
  Samples samples({x, y}, arrays, 2);
  std::vector<float> all = read(samples, 0, files, 3, 1, 6);
  std::vector<float> some(6, -1);
  Status status = samples.readRows(0, files, seed, 3, 1, {0, 2}, some.data());
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(some,
              testing::ElementsAre(all[0], all[1], -1, -1, all[4], all[5]));
}

// Sample i is the same whatever the number of microbatches.
TEST(Samples, MicrobatchesOnlyCutTheStep) {
  DataFiles files = makeFiles();
  SampleInput six = y;
  six.shape = {6};
  Samples one({x, six}, arrays, 1), two({x, y}, arrays, 2);
  for (int64_t step = 0; step < 4; ++step) {
    std::vector<float> whole = read(one, 1, files, step, 0, 6);
    std::vector<float> parts = read(two, 1, files, step, 0, 3);
    std::vector<float> rest = read(two, 1, files, step, 1, 3);
    parts.insert(parts.end(), rest.begin(), rest.end());
    EXPECT_EQ(whole, parts);
  }
}

// With offsets a sample is a window of rows.
TEST(Samples, OffsetsCountRows) {
  DataFiles files;
  files.emplace_back(openArray("samples-z", DType::f32, {5, 2}, false));
  SampleInput next = x;
  next.offset = 2;
  Samples samples({x, next}, {DataKind::array}, 1);
  EXPECT_EQ(read(samples, 0, files, 0, 0, 6),
            (std::vector<float>{0, 1, 10, 11, 20, 21}));
  EXPECT_EQ(read(samples, 1, files, 0, 0, 6),
            (std::vector<float>{20, 21, 30, 31, 40, 41}));
  // Three windows fit, and then the first comes again.
  EXPECT_EQ(read(samples, 1, files, 1, 0, 6),
            (std::vector<float>{20, 21, 30, 31, 40, 41}));
}

// Inputs of one source read the same window, as long as all of them need.
TEST(Samples, TokensOfOneWindow) {
  std::string path = testing::TempDir() + "/samples.bin";
  {
    std::ofstream file(path, std::ios::binary);
    for (int i = 0; i < 8; ++i) {
      file.put(char(i));
    }
  }
  DataRule rule{DataKind::tokens, DType::u8, false, ""};
  DataFiles files;
  files.emplace_back(*DataFile::open(rule, path));
  SampleInput now{"now", 0, 0, DType::f32, {2, 3}};
  SampleInput next{"next", 0, 1, DType::f32, {2, 3}};
  Samples samples({now, next}, {DataKind::tokens}, 1);
  EXPECT_EQ(read(samples, 0, files, 0, 0, 6),
            (std::vector<float>{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(read(samples, 1, files, 0, 0, 6),
            (std::vector<float>{1, 2, 3, 5, 6, 7}));
}

TEST(Samples, WhatDoesNotFitIsRefused) {
  float out[8];
  auto message = [&](const DataFiles &files, std::vector<SampleInput> inputs,
                     size_t i, ErrorKind kind = ErrorKind::malformed) {
    Status status =
        Samples(std::move(inputs), arrays, 1).read(i, files, 0, 0, 0, out);
    EXPECT_EQ(status.kind(), kind);
    return status.message();
  };
  DataFiles files = makeFiles();
  SampleInput transposed = x, integer = x, scalars = x, free = x;
  transposed.shape = {3, 1, 2};
  EXPECT_EQ(message(files, {transposed}, 0),
            "expected rows of shape [1, 2] for input 'x', got [2]");
  scalars.shape = {3};
  EXPECT_EQ(message(files, {scalars}, 0),
            "expected rows of shape [] for input 'x', got [2]");
  integer.dtype = DType::i32;
  EXPECT_EQ(message(files, {integer}, 0),
            "expected values of i32 for input 'x', got f32");
  free.source = -1;
  EXPECT_EQ(message(files, {free}, 0, ErrorKind::usage),
            "expected data for input 'x'");
  DataFiles half;
  half.resize(2);
  EXPECT_EQ(message(half, {x, y}, 1, ErrorKind::usage),
            "expected data for input 'y'");
  DataFiles fewer;
  fewer.emplace_back(openArray("samples-x", DType::f32, {7, 2}));
  fewer.emplace_back(openArray("samples-few", DType::i32, {6}));
  EXPECT_EQ(message(fewer, {x, y}, 1), "expected 7 rows, as many samples as " +
                                           fewer[0]->path() + " has, got 6");
  // Six windows of two rows, and six rows.
  SampleInput next = x;
  next.offset = 1;
  EXPECT_TRUE(
      Samples({x, next, y}, arrays, 1).read(2, fewer, 0, 0, 0, out).ok());
}

// Products of a large step wrap, and stay within the file.
TEST(Samples, GreatestSteps) {
  DataFiles files = makeFiles();
  Samples samples({x, y}, arrays, 1 << 20);
  float out[3];
  EXPECT_TRUE(samples.read(1, files, 0, INT64_MAX, (1 << 20) - 1, out).ok());
}

// An input of one number has one sample in a batch.
TEST(Samples, InputsWithoutDims) {
  DataFiles files = makeFiles();
  SampleInput scalar = y;
  scalar.shape = {};
  Samples one({scalar, scalar}, arrays, 1);
  std::set<float> seen;
  for (int64_t step = 0; step < 7; ++step) {
    seen.insert(read(one, 0, files, step, 0, 1)[0]);
  }
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(*seen.rbegin(), 60);
  scalar.source = 0;
  float out[2];
  EXPECT_EQ(Samples({scalar}, arrays, 1).read(0, files, 0, 0, 0, out).message(),
            "expected rows of shape [] for input 'y', got [2]");
}

// Arrays that no input reads, that are not there yet, and tokens may have any
// length; the second of the others may not.
TEST(Samples, OnlyArraysThatAreReadAgree) {
  float out[8];
  auto message = [&](const DataFiles &files, std::vector<SampleInput> inputs,
                     std::vector<DataKind> kinds) {
    return Samples(std::move(inputs), std::move(kinds), 1)
        .read(0, files, 0, 0, 0, out)
        .message();
  };
  DataFiles files = makeFiles();
  files.emplace_back(openArray("samples-third", DType::i32, {6}));
  SampleInput z = y;
  z.source = 2;
  std::vector<DataKind> three(3, DataKind::array);
  EXPECT_EQ(message(files, {x, y}, three), "");
  EXPECT_EQ(message(files, {x, y, z}, three),
            "expected 6 rows, as many samples as " + files[2]->path() +
                " has, got 7");
  three[2] = DataKind::tokens;
  EXPECT_EQ(message(files, {x, y, z}, three), "");
  three[2] = DataKind::array;
  files[2].reset();
  EXPECT_EQ(message(files, {x, y, z}, three), "");
}

} // namespace
} // namespace llmc::rt

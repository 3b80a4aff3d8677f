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
DataSet openArray(const std::string &name, DType dtype,
                  std::vector<int64_t> shape, bool shuffle = true,
                  double heldOut = 0) {
  HostTensor tensor = HostTensor::zeros(dtype, shape);
  int64_t columns = tensor.elements() / shape[0];
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    storeElement(dtype, tensor.bytes.data(), i,
                 double(10 * (i / columns) + i % columns));
  }
  std::string path = testing::TempDir() + "/" + name + ".npy";
  EXPECT_TRUE(writeNpy(tensor, path).ok());
  DataRule rule{DataKind::array, DType::u16, shuffle, ""};
  rule.heldOut = heldOut;
  return *DataSet::open(rule, {path});
}

DataSets setsOf(std::vector<std::optional<DataSet>> files) {
  DataSets sets(files.size());
  sets.training = std::move(files);
  return sets;
}

template <typename... Set> DataSets setsOf(Set... set) {
  std::vector<std::optional<DataSet>> files;
  (files.emplace_back(std::move(set)), ...);
  return setsOf(std::move(files));
}

std::vector<float> read(Samples &samples, size_t input, const DataSets &files,
                        int64_t step, int64_t microbatch, size_t elements) {
  std::vector<float> out(elements);
  Status status = samples.bind(files);
  EXPECT_TRUE(status.ok()) << status.message();
  status = samples.read(input, seed, step, microbatch, out.data());
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

DataSets makeFiles() {
  return setsOf(openArray("samples-x", DType::f32, {7, 2}),
                openArray("samples-y", DType::i32, {7}));
}

/// What `bind` or `read` says against the inputs.
Status statusOf(Samples samples, const DataSets &files, size_t i = 0) {
  float out[16];
  LLMC_TRY(samples.bind(files));
  return samples.read(i, 0, 0, 0, out);
}

const std::vector<DataKind> arrays = {DataKind::array, DataKind::array};
const SampleInput x{"x", 0, 0, DType::f32, {3, 2}};
const SampleInput y{"y", 1, 0, DType::f32, {3}};

// Row i of each array belongs to the same sample.
TEST(Samples, ArraysStayTogether) {
  DataSets files = makeFiles();
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
  DataSets files = makeFiles();
  Samples samples({x, y}, arrays, 2);
  std::vector<float> all = read(samples, 0, files, 3, 1, 6);
  std::vector<float> some(6, -1);
  Status status = samples.readRows(0, seed, 3, 1, {0, 2}, some.data());
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(some,
              testing::ElementsAre(all[0], all[1], -1, -1, all[4], all[5]));
}

// Sample i is the same whatever the number of microbatches.
TEST(Samples, MicrobatchesOnlyCutTheStep) {
  DataSets files = makeFiles();
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
  DataSets files = setsOf(openArray("samples-z", DType::f32, {5, 2}, false));
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
  DataSets files = setsOf(*DataSet::open(rule, {path}));
  SampleInput now{"now", 0, 0, DType::f32, {2, 3}};
  SampleInput next{"next", 0, 1, DType::f32, {2, 3}};
  Samples samples({now, next}, {DataKind::tokens}, 1);
  EXPECT_EQ(read(samples, 0, files, 0, 0, 6),
            (std::vector<float>{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(read(samples, 1, files, 0, 0, 6),
            (std::vector<float>{1, 2, 3, 5, 6, 7}));
}

TEST(Samples, WhatDoesNotFitIsRefused) {
  auto message = [&](const DataSets &files, std::vector<SampleInput> inputs,
                     size_t i, ErrorKind kind = ErrorKind::malformed) {
    Status status = statusOf(Samples(std::move(inputs), arrays, 1), files, i);
    EXPECT_EQ(status.kind(), kind);
    return status.message();
  };
  DataSets files = makeFiles();
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
  EXPECT_EQ(message(DataSets(2), {x, y}, 1, ErrorKind::usage),
            "expected data for input 'y'");
  DataSets fewer = setsOf(openArray("samples-x", DType::f32, {7, 2}),
                          openArray("samples-few", DType::i32, {6}));
  EXPECT_EQ(message(fewer, {x, y}, 1), "expected 6 rows, as many samples as " +
                                           fewer.training[1]->path(0, 0) +
                                           " has, got 7");
  // Six windows of two rows, and six rows.
  SampleInput next = x;
  next.offset = 1;
  EXPECT_TRUE(statusOf(Samples({x, next, y}, arrays, 1), fewer, 2).ok());
}

/// Row r of the array is complex numbers of real part r and imaginary part -r.
DataSet openComplex() {
  HostTensor real = HostTensor::zeros(DType::f64, {4, 2}), imag = real;
  for (int64_t i = 0; i < 8; ++i) {
    storeElement(DType::f64, real.bytes.data(), i, double(i / 2));
    storeElement(DType::f64, imag.bytes.data(), i, double(-(i / 2)));
  }
  std::string path = testing::TempDir() + "/samples-complex.npy";
  EXPECT_TRUE(writeNpy(joinParts(real, imag), path).ok());
  return *DataSet::open({DataKind::array, DType::u16, false, ""}, {path});
}

TEST(Samples, ComplexArraysFeedParts) {
  SampleInput real{"z.real", 0, 0, DType::f32, {2, 2}}, imag = real, whole = x;
  imag.name = "z.imag";
  whole.shape = {2, 2};
  DataSets files = setsOf(openComplex());
  Samples samples({real, imag}, arrays, 1);
  EXPECT_EQ(read(samples, 0, files, 1, 0, 4), (std::vector<float>{2, 2, 3, 3}));
  EXPECT_EQ(read(samples, 1, files, 1, 0, 4),
            (std::vector<float>{-2, -2, -3, -3}));
  EXPECT_EQ(statusOf(Samples({whole}, arrays, 1), files).message(),
            "expected real numbers for input 'x', got complex ones");
  // Two real arrays are the parts, one is not.
  DataSets two = setsOf(openArray("samples-re", DType::f32, {4, 2}),
                        openArray("samples-im", DType::f32, {4, 2}));
  EXPECT_EQ(statusOf(Samples({real, imag}, arrays, 1), two).message(),
            "expected complex numbers for input 'z', got f32");
  imag.source = 1;
  EXPECT_TRUE(statusOf(Samples({real, imag}, arrays, 1), two, 1).ok());
}

// Of a file that has fewer samples than a batch some would come twice.
TEST(Samples, FilesShorterThanABatch) {
  auto message = [&](DataSets files, SampleInput input, DataKind kind) {
    return statusOf(Samples({input}, {kind}, 1), files).message();
  };
  SampleInput eight = y;
  eight.source = 0;
  eight.shape = {8};
  EXPECT_EQ(message(setsOf(openArray("samples-y", DType::i32, {7})), eight,
                    DataKind::array),
            "expected at least 8 samples of 1 rows for a batch, got 7");
  std::string path = testing::TempDir() + "/samples-short.bin";
  std::ofstream(path, std::ios::binary) << "0123456789";
  DataRule rule{DataKind::text, DType::u8, true, ""};
  SampleInput tokens{"tokens", 0, 0, DType::f32, {2, 4}};
  auto of = [&](int64_t batch, int64_t length, bool once, double heldOut) {
    tokens.shape = {batch, length};
    rule.once = once;
    rule.heldOut = heldOut;
    return message(setsOf(*DataSet::open(rule, {path})), tokens,
                   DataKind::text);
  };
  EXPECT_EQ(of(1, 10, false, 0), "");
  EXPECT_EQ(of(1, 11, false, 0),
            "expected at least 11 tokens for one sample, got 10");
  EXPECT_EQ(of(2, 8, false, 0), "");
  EXPECT_EQ(of(4, 8, false, 0),
            "expected at least 4 samples of 8 tokens for a batch, got 3");
  EXPECT_EQ(of(2, 6, true, 0),
            "expected at least 2 samples of 6 tokens for a batch, got 1");
  EXPECT_EQ(of(1, 6, true, 0.5),
            "expected at least 6 tokens for one sample beside what is held "
            "out, got too few of 10");
}

// What evaluates reads what is held out, or files of its own, in order; its
// samples are the same in each run, and none is one of training.
TEST(Samples, WhatEvaluatesIsApart) {
  DataSets files =
      setsOf(openArray("samples-hx", DType::f32, {20, 2}, true, 0.3),
             openArray("samples-hy", DType::i32, {20}, true, 0.3));
  Samples training({x, y}, arrays, 1), held({x, y}, arrays, 1, true);
  EXPECT_TRUE(held.checkApart(files).ok());
  std::set<float> trained, evaluated;
  for (int64_t step = 0; step < 20; ++step) {
    for (float row : read(training, 1, files, step, 0, 3)) {
      trained.insert(row);
    }
    std::vector<float> a = read(held, 0, files, step, 0, 6);
    std::vector<float> b = read(held, 1, files, step, 0, 3);
    evaluated.insert(b.begin(), b.end());
    for (int row = 0; row < 3; ++row) {
      EXPECT_EQ(a[2 * row], b[row]);
    }
  }
  EXPECT_EQ(held.wholeSteps(), 2);
  EXPECT_EQ(trained.size(), 14u);
  EXPECT_EQ(evaluated.size(), 6u);
  for (float row : evaluated) {
    EXPECT_FALSE(trained.count(row));
  }
  // Files of its own are read from their first row on, whatever the seed.
  DataSets apart = makeFiles();
  EXPECT_EQ(held.checkApart(apart).kind(), ErrorKind::usage);
  DataRule rule = apart.training[0]->rule();
  for (size_t source : {0, 1}) {
    ASSERT_TRUE(
        apart.open(source, rule, {files.training[source]->path(0, 0)}, true)
            .ok());
  }
  EXPECT_TRUE(held.checkApart(apart).ok());
  EXPECT_EQ(read(held, 1, apart, 1, 0, 3), (std::vector<float>{30, 40, 50}));
  EXPECT_EQ(held.wholeSteps(), 6);
}

TEST(Samples, Epochs) {
  DataSets files = makeFiles();
  Samples samples({x, y}, arrays, 2);
  EXPECT_FALSE(samples.epochs(1));
  ASSERT_TRUE(samples.bind(files).ok());
  EXPECT_DOUBLE_EQ(*samples.epochs(0), 0);
  EXPECT_DOUBLE_EQ(*samples.epochs(7), 6);
}

// Products of a large step wrap, and stay within the file.
TEST(Samples, GreatestSteps) {
  DataSets files = makeFiles();
  Samples samples({x, y}, arrays, 1 << 20);
  float out[3];
  ASSERT_TRUE(samples.bind(files).ok());
  EXPECT_TRUE(samples.read(1, 0, INT64_MAX, (1 << 20) - 1, out).ok());
}

// An input of one number has one sample in a batch.
TEST(Samples, InputsWithoutDims) {
  DataSets files = makeFiles();
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
  EXPECT_EQ(statusOf(Samples({scalar}, arrays, 1), files).message(),
            "expected rows of shape [] for input 'y', got [2]");
}

// Arrays that no input reads, that are not there yet, and tokens may have any
// length; the second of the others may not.
TEST(Samples, OnlyArraysThatAreReadAgree) {
  auto message = [&](const DataSets &files, std::vector<SampleInput> inputs,
                     std::vector<DataKind> kinds) {
    return statusOf(Samples(std::move(inputs), std::move(kinds), 1), files)
        .message();
  };
  DataSets files = setsOf(openArray("samples-x", DType::f32, {7, 2}),
                          openArray("samples-y", DType::i32, {7}),
                          openArray("samples-third", DType::i32, {6}));
  SampleInput z = y;
  z.source = 2;
  std::vector<DataKind> three(3, DataKind::array);
  EXPECT_EQ(message(files, {x, y}, three), "");
  EXPECT_EQ(message(files, {x, y, z}, three),
            "expected 6 rows, as many samples as " +
                files.training[2]->path(0, 0) + " has, got 7");
  files.training[2].reset();
  EXPECT_EQ(message(files, {x, y, z}, three), "");
}

} // namespace
} // namespace llmc::rt

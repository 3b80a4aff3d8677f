//===- DataFileTest.cpp - Files of sources --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/DataFile.h"

#include "TestFiles.h"

#include "llmc/Runtime/Base/Safetensors.h"
#include "llmc/Runtime/Executor/HostTensor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace llmc::rt {
namespace {

using testing::HasSubstr;

/// An .npy file of these values.
std::string npy(const std::string &name, DType dtype,
                std::vector<int64_t> shape, const std::vector<double> &values) {
  HostTensor tensor = HostTensor::zeros(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) {
    storeElement(dtype, tensor.bytes.data(), int64_t(i), values[i]);
  }
  std::string path = testing::TempDir() + "/" + name;
  EXPECT_TRUE(writeNpy(tensor, path).ok());
  return path;
}

DataRule tokens(DType dtype) { return {DataKind::tokens, dtype, true, ""}; }
DataRule array(std::string tensor = "") {
  return {DataKind::array, DType::u16, true, std::move(tensor)};
}

std::string messageOf(const DataRule &rule, const std::string &path) {
  Result<DataFile> file = DataFile::open(rule, path);
  EXPECT_EQ(file.kind(), ErrorKind::malformed);
  return file.message();
}

TEST(DataFile, TokensOfEveryType) {
  uint16_t values[] = {5, 60000, 7};
  std::string raw(reinterpret_cast<char *>(values), sizeof(values));
  Result<DataFile> file =
      DataFile::open(tokens(DType::u16), writeFile("u16.bin", raw));
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->rows(), 3);
  EXPECT_TRUE(file->rowShape().empty());
  int32_t out[2];
  ASSERT_TRUE(file->read(1, 2, {DType::i32}, out).ok());
  EXPECT_EQ(out[0], 60000);
  EXPECT_EQ(out[1], 7);
  // The file's own type counts.
  Result<DataFile> other = DataFile::open(
      tokens(DType::u8), npy("t.npy", DType::u16, {3}, {5, 60000, 7}));
  ASSERT_TRUE(other.ok()) << other.message();
  ASSERT_TRUE(other->read(1, 1, {DType::i32}, out).ok());
  EXPECT_EQ(out[0], 60000);
}

TEST(DataFile, MalformedTokens) {
  DataRule u8 = tokens(DType::u8);
  EXPECT_THAT(messageOf(u8, "/nonexistent"), HasSubstr("cannot open"));
  EXPECT_EQ(messageOf(u8, testing::TempDir()), "expected a regular file");
  EXPECT_EQ(messageOf(u8, writeFile("empty.bin", "")),
            "expected tokens, got an empty file");
  EXPECT_EQ(messageOf(tokens(DType::u16), writeFile("odd.bin", "abc")),
            "expected a multiple of 2 bytes of u16 tokens, got 3");
  EXPECT_EQ(DataFile::open(tokens(DType::u32), writeFile("odd.bin", "abcdefg"))
                .error()
                .offset,
            4u);
  EXPECT_EQ(
      messageOf(u8, npy("flat.npy", DType::f32, {2}, {})),
      "expected tokens, one dimension of integers, got 1 dimensions of f32");
  EXPECT_EQ(
      messageOf(u8, npy("deep.npy", DType::i32, {2, 1}, {})),
      "expected tokens, one dimension of integers, got 2 dimensions of i32");
  EXPECT_EQ(messageOf(u8, npy("none.npy", DType::i32, {0}, {})),
            "expected tokens, got an empty file");
  EXPECT_THAT(messageOf(u8, writeFile("bad.npy", "12345678")),
              HasSubstr("expected an .npy file"));
  // The name decides, and only its end.
  EXPECT_EQ(DataFile::open(u8, writeFile("x.npy.bin", "12345678"))->rows(), 8);
  EXPECT_EQ(DataFile::open(u8, writeFile("npy", "12345678"))->rows(), 8);
  EXPECT_EQ(
      DataFile::open(tokens(DType::f32), writeFile("f.bin", "1234")).kind(),
      ErrorKind::usage);
}

// Any regular file is text; its suffix says nothing.
TEST(DataFile, BytesOfText) {
  DataRule rule{DataKind::text, DType::u16, true, ""};
  Result<DataFile> file =
      DataFile::open(rule, writeFile("text.npy", "na\xC3\xAFve"));
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->rows(), 6);
  int32_t out[2];
  ASSERT_TRUE(file->read(2, 2, {DType::i32}, out).ok());
  EXPECT_EQ(out[0], 0xC3);
  EXPECT_EQ(messageOf(rule, testing::TempDir()), "expected a regular file");
  EXPECT_EQ(messageOf(rule, "/dev/null"), "expected a regular file");
  EXPECT_EQ(messageOf(rule, writeFile("empty.txt", "")),
            "expected tokens, got an empty file");
}

/// Of an error: its message and the byte of the file.
std::string placeOf(const Status &status) {
  EXPECT_EQ(status.kind(), ErrorKind::malformed);
  return status.ok() ? ""
                     : fmt::format("{} at {}", status.message(),
                                   status.error().offset.value_or(0));
}

// Integers at or beyond the limit, in files of every kind.
TEST(DataFile, Limits) {
  uint16_t values[] = {5, 299, 300, 7};
  std::string raw(reinterpret_cast<char *>(values), sizeof(values));
  DataFile file =
      *DataFile::open(tokens(DType::u16), writeFile("limit.bin", raw));
  std::byte out[64];
  EXPECT_TRUE(file.read(0, 2, {DType::i32, 300}, out).ok());
  EXPECT_TRUE(file.read(0, 4, {DType::i32, 301}, out).ok());
  EXPECT_EQ(placeOf(file.read(1, 3, {DType::i32, 300}, out)),
            "expected numbers below 300 at token 2, got 300 at 4");
  std::string labels =
      npy("limit.npy", DType::i64, {3, 2}, {1, 2, -100, 4, 9, 10});
  DataFile rows = *DataFile::open(array(), labels);
  uint64_t begin = std::filesystem::file_size(labels) - 6 * 8;
  for (DType type : {DType::i64, DType::i32, DType::f32}) {
    EXPECT_TRUE(rows.read(0, 2, {type, 10}, out).ok());
    EXPECT_EQ(placeOf(rows.read(0, 3, {type, 10}, out)),
              fmt::format("expected numbers below 10 at row 2, got 10 at {}",
                          begin + 5 * 8));
  }
  DataFile big = *DataFile::open(
      array(), npy("big.npy", DType::u64, {1}, {double(uint64_t(1) << 63)}));
  EXPECT_THAT(placeOf(big.read(0, 1, {DType::u64, 10}, out)),
              HasSubstr("got 9223372036854775808"));
}

// NaN and infinity, of every float type, also where a number is too great for
// the input's type; where they are allowed they are read as they are.
TEST(DataFile, FiniteFloats) {
  const double nan = std::nan(""), inf = HUGE_VAL;
  std::byte out[64];
  for (DType type : {DType::f64, DType::f32, DType::f16}) {
    std::string path = npy("floats.npy", type, {5}, {1, -2, nan, inf, -inf});
    DataFile file = *DataFile::open(array(), path);
    EXPECT_TRUE(file.read(0, 2, {type, 0, true}, out).ok());
    EXPECT_TRUE(file.read(0, 5, {type, 0, false}, out).ok());
    EXPECT_TRUE(std::isnan(loadElement(type, out, 2)));
    uint64_t begin = std::filesystem::file_size(path) - 5 * sizeOf(type);
    for (DType to : {type, DType::f32, DType::bf16}) {
      for (int64_t row : {2, 3, 4}) {
        EXPECT_EQ(placeOf(file.read(row, 1, {to, 0, true}, out)),
                  fmt::format("expected finite values of {} at row {}, got {} "
                              "at {}",
                              nameOf(to), row,
                              row == 2   ? "nan"
                              : row == 3 ? "inf"
                                         : "-inf",
                              begin + uint64_t(row) * sizeOf(type)));
      }
    }
  }
  DataFile wide =
      *DataFile::open(array(), npy("wide.npy", DType::f64, {1}, {1e300}));
  EXPECT_TRUE(wide.read(0, 1, {DType::f64, 0, true}, out).ok());
  EXPECT_THAT(placeOf(wide.read(0, 1, {DType::f32, 0, true}, out)),
              HasSubstr("expected finite values of f32 at row 0, got 1e+300"));
}

// Rows that are longer than what is copied at once.
TEST(DataFile, LongRows) {
  std::vector<double> values(50000);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = double(i);
  }
  std::string path = npy("long.npy", DType::f32, {2, 25000}, values);
  DataFile file = *DataFile::open(array(), path);
  for (DType type : {DType::f32, DType::f64}) {
    HostTensor out = HostTensor::zeros(type, {25000});
    ASSERT_TRUE(file.read(1, 1, {type, 0, true}, out.bytes.data()).ok());
    for (int64_t i = 0; i < 25000; ++i) {
      ASSERT_EQ(out.at(i), 25000 + i);
    }
  }
}

TEST(DataFile, RowsOfArrays) {
  Result<DataFile> file = DataFile::open(
      array(), npy("a.npy", DType::f64, {3, 2}, {0, 1, 2, 1.0 / 3, 4, 5}));
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->rows(), 3);
  EXPECT_EQ(file->rowShape(), std::vector<int64_t>{2});
  double same[2];
  ASSERT_TRUE(file->read(1, 1, {DType::f64}, same).ok());
  EXPECT_EQ(same[1], 1.0 / 3);
  float narrow[4];
  ASSERT_TRUE(file->read(1, 2, {DType::f32}, narrow).ok());
  EXPECT_EQ(narrow[1], 1.0f / 3);
  EXPECT_EQ(narrow[3], 5.0f);
}

TEST(DataFile, Safetensors) {
  std::string x("\x01\x02\x03\x04", 4), y("\x01\x00", 2);
  std::string path = testing::TempDir() + "/two.safetensors";
  ASSERT_TRUE(writeSafetensors(
                  {{"x", DType::u8, {2, 2}, x}, {"y", DType::i1, {2}, y}}, path)
                  .ok());
  uint8_t out[2] = {};
  ASSERT_TRUE(
      DataFile::open(array("x"), path)->read(1, 1, {DType::u8}, out).ok());
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 4);
  ASSERT_TRUE(
      DataFile::open(array("y"), path)->read(0, 2, {DType::i1}, out).ok());
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 0);
  EXPECT_EQ(messageOf(array("z"), path),
            "expected a tensor 'z', got 2 of other names");
  std::ifstream whole(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(whole), {});
  EXPECT_THAT(
      messageOf(array("x"), writeFile("cut.safetensors",
                                      bytes.substr(0, bytes.size() - 1))),
      HasSubstr("expected 6 bytes of data, got 5"));
}

// Longer than what is converted at once.
TEST(DataFile, ComplexRows) {
  HostTensor real = HostTensor::zeros(DType::f64, {3, 5000}), imag = real;
  for (int64_t i = 0; i < real.elements(); ++i) {
    storeElement(DType::f64, real.bytes.data(), i, double(i));
    storeElement(DType::f64, imag.bytes.data(), i, double(-i));
  }
  std::string path = testing::TempDir() + "/complex-rows.npy";
  ASSERT_TRUE(writeNpy(joinParts(real, imag), path).ok());
  Result<DataFile> file = DataFile::open(array(), path);
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_TRUE(file->isComplex());
  EXPECT_EQ(file->rows(), 3);
  EXPECT_EQ(file->rowShape(), std::vector<int64_t>{5000});
  EXPECT_EQ(file->rowBytes(), 5000 * 16);
  std::vector<float> out(10000);
  for (int part : {0, 1}) {
    RowUse use{DType::f32};
    use.part = part;
    ASSERT_TRUE(file->read(1, 2, use, out.data()).ok());
    for (int64_t i = 0; i < 10000; ++i) {
      ASSERT_EQ(out[i], float(part ? -5000 - i : 5000 + i));
    }
  }
}

TEST(DataFile, MalformedArrays) {
  EXPECT_EQ(messageOf(array(), npy("scalar.npy", DType::f32, {}, {})),
            "expected an array of rows, got shape []");
  EXPECT_EQ(messageOf(array(), npy("none.npy", DType::f32, {0, 3}, {})),
            "expected an array of rows, got shape [0, 3]");
  EXPECT_EQ(messageOf(array(), writeFile("x.bin", "12345678")),
            "expected an array in an .npy or .safetensors file, got another "
            "suffix");
}

TEST(DataFile, WhatConverts) {
  using T = DType;
  for (auto [from, to, can] :
       std::vector<std::tuple<T, T, bool>>{{T::f64, T::bf16, true},
                                           {T::f32, T::f64, true},
                                           {T::u8, T::f32, true},
                                           {T::i64, T::i32, true},
                                           {T::i1, T::i1, true},
                                           {T::i1, T::f32, true},
                                           {T::i1, T::i8, true},
                                           {T::f32, T::i32, false},
                                           {T::f32, T::i1, false},
                                           {T::u8, T::i1, false}}) {
    EXPECT_EQ(canConvert(from, to), can) << nameOf(from) << nameOf(to);
  }
}

/// The integer of type `to` that one of type `from` becomes, or its refusal.
std::string convert(DType from, int64_t value, DType to) {
  HostTensor tensor = HostTensor::zeros(from, {2, 1});
  storeInteger(from, tensor.bytes.data(), 1, value);
  std::string path = testing::TempDir() + "/convert.npy";
  EXPECT_TRUE(writeNpy(tensor, path).ok());
  std::byte cell[8] = {};
  Status status = DataFile::open(array(), path)->read(1, 1, {to}, cell);
  return status.ok() ? fmt::format("{}", loadInteger(to, cell, 0))
                     : status.message();
}

TEST(DataFile, IntegersFitOrAreRefused) {
  EXPECT_EQ(convert(DType::i64, -5, DType::i8), "-5");
  EXPECT_EQ(convert(DType::i64, INT32_MAX, DType::i32), "2147483647");
  EXPECT_EQ(convert(DType::i64, int64_t(INT32_MAX) + 1, DType::i32),
            "expected values of i32 at row 1, got 2147483648");
  EXPECT_EQ(convert(DType::i8, -1, DType::u8),
            "expected values of u8 at row 1, got -1");
  EXPECT_EQ(convert(DType::u64, -1, DType::i64),
            "expected values of i64 at row 1, got 18446744073709551615");
  EXPECT_EQ(convert(DType::i64, -1, DType::u64),
            "expected values of u64 at row 1, got -1");
  EXPECT_EQ(convert(DType::u64, 1, DType::i64), "1");
  EXPECT_EQ(convert(DType::i1, 1, DType::i32), "1");
}

// A byte of a boolean is data of a stranger.
TEST(DataFile, BooleansAreZeroOrOne) {
  std::string path = npy("b.npy", DType::i1, {4}, {1, 0, 1, 0});
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out)
      .seekp(-1, std::ios::end)
      .put(2);
  Result<DataFile> file = DataFile::open(array(), path);
  uint8_t out[4] = {};
  ASSERT_TRUE(file->read(0, 3, {DType::i1}, out).ok());
  EXPECT_EQ(out[2], 1);
  for (DType type : {DType::i1, DType::f32, DType::i8}) {
    float cells[4];
    EXPECT_EQ(file->read(3, 1, {type}, cells).message(),
              fmt::format("expected values of {} at row 3, got a boolean of 2",
                          nameOf(type)));
  }
}

// Names that are shorter than what a name may end with.
TEST(DataFile, ShortNames) {
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "llmc-short-names";
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  std::ofstream("x") << "x";
  std::ofstream("npy") << "x";
  std::string messages[] = {messageOf(array(), "x"), messageOf(array(), "npy")};
  std::filesystem::current_path(before);
  for (const std::string &message : messages) {
    EXPECT_EQ(message, "expected an array in an .npy or .safetensors file, got "
                       "another suffix");
  }
}

} // namespace
} // namespace llmc::rt

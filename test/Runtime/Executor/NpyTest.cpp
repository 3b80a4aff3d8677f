//===- NpyTest.cpp - NumPy's file format ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/HostTensor.h"

#include "TestFiles.h"

#include "llmc/Runtime/Base/File.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace llmc::rt {
namespace {

std::string npy(const std::string &header, const std::string &data) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + data;
}

TEST(NpyTest, RoundTrip) {
  for (DType type : {DType::f64, DType::f32, DType::i32, DType::u8, DType::i1,
                     DType::u16, DType::i64}) {
    HostTensor tensor = HostTensor::zeros(type, {2, 3});
    for (int i = 0; i < 6; ++i) {
      storeElement(type, tensor.bytes.data(), i, i % 2);
    }
    std::string path = testing::TempDir() + "/round.npy";
    ASSERT_TRUE(writeNpy(tensor, path).ok());
    Result<HostTensor> read = readNpy(path);
    ASSERT_TRUE(read.ok()) << read.message();
    EXPECT_EQ(read->dtype, type);
    EXPECT_EQ(read->shape, tensor.shape);
    EXPECT_EQ(read->bytes, tensor.bytes);
  }
  HostTensor scalar = HostTensor::zeros(DType::f32, {});
  std::string path = testing::TempDir() + "/scalar.npy";
  ASSERT_TRUE(writeNpy(scalar, path).ok());
  EXPECT_TRUE(readNpy(path)->shape.empty());
}

TEST(NpyTest, ComplexNumbers) {
  for (DType type : {DType::f64, DType::f32}) {
    HostTensor real = HostTensor::zeros(type, {2, 2}), imag = real;
    for (int i = 0; i < 4; ++i) {
      storeElement(type, real.bytes.data(), i, i + 0.5);
      storeElement(type, imag.bytes.data(), i, -i);
    }
    std::string path = testing::TempDir() + "/complex.npy";
    ASSERT_TRUE(writeNpy(joinParts(real, imag), path).ok());
    EXPECT_THAT(*readFile(path),
                testing::HasSubstr(type == DType::f64 ? "'<c16'" : "'<c8'"));
    EXPECT_THAT(*readFile(path), testing::HasSubstr("'shape': (2,2,), "));
    Result<HostTensor> read = readNpy(path);
    ASSERT_TRUE(read.ok()) << read.message();
    EXPECT_TRUE(read->isComplex);
    EXPECT_EQ(read->shape, (std::vector<int64_t>{2, 2, 2}));
    EXPECT_EQ(takePart(*read, 0).bytes, real.bytes);
    EXPECT_EQ(takePart(*read, 1).bytes, imag.bytes);
    EXPECT_EQ(printElements(*read, 3), "[[0.5+0j, 1.5-1j], [2.5-2j, ...]]");
    EXPECT_EQ(printType(*read),
              type == DType::f64 ? "complex f64[2, 2]" : "complex f32[2, 2]");
  }
}

TEST(NpyTest, MalformedFilesAreRefused) {
  const std::string good =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  std::string eight(8, 0);
  EXPECT_TRUE(readNpy(writeFile("good.npy", npy(good, eight))).ok());
  for (const std::string &bytes :
       {std::string(), std::string("\x93NUM"), npy(good, "1234"),
        npy(good, eight + "x"), npy("", eight), npy("{}", eight),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", eight),
        npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", eight),
        npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", eight),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }",
            eight),
        npy("{'descr': '<f4', 'fortran_order': False, "
            "'shape': (99999999999, 99999999999,), }",
            eight),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2", eight),
        npy(good, eight).replace(8, 2, "\xff\xff")}) {
    EXPECT_EQ(readNpy(writeFile("bad.npy", bytes)).kind(),
              ErrorKind::malformed);
  }
}

// Exact causes: the sizes at which each part of the header is just not there.
TEST(NpyTest, Headers) {
  auto messageOf = [](const std::string &bytes) {
    // In memory of its own size, so that a byte read beyond it is found.
    std::vector<uint8_t> copy(bytes.begin(), bytes.end());
    Result<NpyHeader> header = parseNpyHeader(copy.data(), copy.size());
    return header.ok() ? "" : header.message();
  };
  std::string v1("\x93NUMPY\x01\x00\x00\x00", 10);
  std::string v2("\x93NUMPY\x02\x00\x00\x00\x00\x00", 12);
  auto version = [](size_t size) {
    return "expected an .npy file of version 1 or 2, got " +
           std::to_string(size) + " bytes of something else";
  };
  std::string scan = "expected an .npy header with a plain little-endian type, "
                     "C order and a shape, got something else at character ";
  EXPECT_EQ(messageOf(""), version(0));
  EXPECT_EQ(messageOf(v1.substr(0, 9)), version(9));
  EXPECT_EQ(messageOf(v1), scan + "0");
  EXPECT_EQ(messageOf(v2.substr(0, 10)), version(10));
  EXPECT_EQ(messageOf(v2.substr(0, 11)), version(11));
  EXPECT_EQ(messageOf(v2), scan + "0");
  for (char bad : {'\0', '\3'}) {
    std::string other = v2;
    other[6] = bad;
    EXPECT_EQ(messageOf(other), version(12));
  }
  std::string magic = v1;
  magic[5] = 'X';
  EXPECT_EQ(messageOf(magic), version(10));
  // A header of one byte more than the file has.
  std::string length = v1;
  length[8] = 1;
  EXPECT_EQ(messageOf(length), "expected an .npy header of at most 65536 bytes "
                               "within the file, got 1");
  length = v1;
  length[9] = 1;
  EXPECT_THAT(messageOf(length), testing::EndsWith(", got 256"));
  for (auto [at, value] : {std::pair<size_t, std::string>{8, "1"},
                           {9, "256"},
                           {10, "65536"},
                           {11, "16777216"}}) {
    length = v2;
    length[at] = 1;
    EXPECT_THAT(messageOf(length), testing::EndsWith(", got " + value));
  }
  // The greatest header, and one byte more.
  std::string large(12 + 65537, ' ');
  large.replace(0, 12, v2);
  large[10] = 1;
  EXPECT_THAT(messageOf(large), testing::HasSubstr("got something else"));
  large[8] = 1;
  EXPECT_THAT(messageOf(large), testing::EndsWith(", got 65537"));
}

TEST(NpyTest, Dictionaries) {
  auto isSound = [](const std::string &header, size_t bytes = 8) {
    std::string file = npy(header, std::string(bytes, 0));
    std::vector<uint8_t> copy(file.begin(), file.end());
    return parseNpyHeader(copy.data(), copy.size()).ok();
  };
  const std::string type = "'descr': '<f4'", order = "'fortran_order': False",
                    shape = "'shape': (2,)";
  auto join = [](std::initializer_list<std::string> fields) {
    std::string text = "{";
    for (const std::string &field : fields) {
      text += (text.size() > 1 ? ", " : "") + field;
    }
    return text + "}";
  };
  EXPECT_TRUE(isSound(join({type, order, shape})));
  EXPECT_TRUE(isSound(join({shape, type, order}) + " \n"));
  EXPECT_TRUE(isSound(join({type, order, "'shape': (1, 2)"})));
  EXPECT_TRUE(isSound(join({type, order, "'shape': (1, 2,)"})));
  EXPECT_TRUE(isSound(join({type, order, "'shape': ()"}), 4));
  EXPECT_TRUE(isSound(join({type, order, "'shape': (0,)"}), 0));
  for (const std::string &bad :
       {join({type, order}), join({type, shape}), join({order, shape}),
        join({type, type, order, shape}), join({type, order, order, shape}),
        join({type, order, shape, shape}), join({type, order, shape, "'x': 1"}),
        join({type, order, shape}).substr(1),
        type + ", " + order + ", " + shape,
        join({"'descr' '<f4'", order, shape}),
        join({"descr: '<f4'", order, shape}), "{" + type + order + shape + "}",
        join({type, order, "'shape': 2"}), join({type, order, "'shape': (,)"}),
        join({type, order, "'shape': (2 1)"}),
        join({type, order, "'shape': (2,"}),
        join({type, "'fortran_order': 0", shape}),
        join({"'descr': '<f4", order, shape})}) {
    EXPECT_FALSE(isSound(bad)) << bad;
  }
  // Lines may be broken anywhere.
  EXPECT_TRUE(isSound("{\n" + type + ",\n " + order + ",\n\n" + shape + "\n}"));
  EXPECT_TRUE(isSound(join({type, order, "'shape':\n(\n2\n,)"})));
  // The place where the reader stops.
  auto placeOf = [](const std::string &header) {
    std::string file = npy(header, std::string(8, 0));
    std::string message =
        parseNpyHeader(reinterpret_cast<const uint8_t *>(file.data()),
                       file.size())
            .message();
    return message.substr(message.rfind(' ') + 1);
  };
  EXPECT_EQ(placeOf("{'descr: 1"), "2");
  EXPECT_EQ(placeOf("{'descr': '<f4"), "11");
  EXPECT_EQ(placeOf("{'descr': <f4,"), "10");
  EXPECT_EQ(placeOf("{'descr': '<f3',"), "15");
  // 32 dims, 18 digits: what a header may say at most.
  std::string ones = "'shape': (2";
  for (int i = 1; i < 32; ++i) {
    ones += ",1";
  }
  EXPECT_TRUE(isSound(join({type, order, ones + ")"})));
  EXPECT_FALSE(isSound(join({type, order, ones + ",1)"})));
  EXPECT_TRUE(isSound(join({type, order, "'shape': (000000000000000002,)"})));
  EXPECT_FALSE(isSound(join({type, order, "'shape': (0000000000000000002,)"})));
  // The elements fill the file exactly.
  EXPECT_FALSE(isSound(join({type, order, shape}), 7));
  EXPECT_FALSE(isSound(join({type, order, shape}), 9));
}

TEST(NpyTest, WritesWhatNumPyReads) {
  struct Row {
    DType type;
    const char *descr;
  };
  std::string path = testing::TempDir() + "/written.npy";
  for (const Row &row : {Row{DType::f64, "<f8"},
                         {DType::f32, "<f4"},
                         {DType::f16, "<f2"},
                         {DType::bf16, "<f4"},
                         {DType::i8, "|i1"},
                         {DType::i16, "<i2"},
                         {DType::i32, "<i4"},
                         {DType::i64, "<i8"},
                         {DType::u8, "|u1"},
                         {DType::u16, "<u2"},
                         {DType::u32, "<u4"},
                         {DType::u64, "<u8"},
                         {DType::i1, "|b1"}}) {
    HostTensor tensor = HostTensor::zeros(row.type, {1, 3});
    storeElement(row.type, tensor.bytes.data(), 2, 1);
    ASSERT_TRUE(writeNpy(tensor, path).ok());
    std::string bytes = *readFile(path);
    std::string header = std::string("{'descr': '") + row.descr +
                         "', 'fortran_order': False, 'shape': (1,3,), }";
    EXPECT_EQ(bytes.substr(10, header.size()), header);
    HostTensor read = *readNpy(path);
    EXPECT_EQ(read.at(2), 1) << row.descr;
    size_t data = read.bytes.size();
    EXPECT_EQ((bytes.size() - data) % 64, 0u);
    EXPECT_EQ(bytes[bytes.size() - data - 1], '\n');
    EXPECT_EQ(bytes.size() - data, 128u);
  }
  // A header that ends with its block of 64, and one that needs the next.
  for (auto [rank, size] : {std::pair<size_t, size_t>{31, 128}, {32, 192}}) {
    HostTensor tensor =
        HostTensor::zeros(DType::u8, std::vector<int64_t>(rank, 1));
    ASSERT_TRUE(writeNpy(tensor, path).ok());
    EXPECT_EQ(readFile(path)->size(), size + 1) << rank;
    EXPECT_EQ(readNpy(path)->shape, tensor.shape);
  }
}

TEST(NpyTest, PrintsElements) {
  HostTensor tensor = HostTensor::zeros(DType::i32, {2, 3});
  storeElement(DType::i32, tensor.bytes.data(), 4, 7);
  EXPECT_EQ(printElements(tensor), "[[0, 0, 0], [0, 7, 0]]");
  EXPECT_EQ(printElements(tensor, 2), "[[0, 0, ...], ...]");
  EXPECT_EQ(printElements(tensor, 3), "[[0, 0, 0], ...]");
  EXPECT_EQ(printElements(tensor, 6), "[[0, 0, 0], [0, 7, 0]]");
  EXPECT_EQ(printElements(tensor, 0), "[...]");
  EXPECT_EQ(printElements(HostTensor::zeros(DType::f32, {2, 0})), "[[], []]");
  HostTensor scalar = HostTensor::zeros(DType::f64, {});
  storeElement(DType::f64, scalar.bytes.data(), 0, 1.0 / 3);
  EXPECT_EQ(printElements(scalar), "0.333333333");
}

} // namespace
} // namespace llmc::rt

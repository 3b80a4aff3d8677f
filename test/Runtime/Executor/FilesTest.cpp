//===- FilesTest.cpp - .npy files and corpora -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Corpus.h"
#include "llmc/Runtime/Executor/HostTensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <set>

namespace llmc::rt {
namespace {

std::string write(const std::string &name, const std::string &bytes) {
  std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

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

TEST(NpyTest, MalformedFilesAreRefused) {
  const std::string good =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  std::string eight(8, 0);
  EXPECT_TRUE(readNpy(write("good.npy", npy(good, eight))).ok());
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
    EXPECT_EQ(readNpy(write("bad.npy", bytes)).kind(), ErrorKind::malformed);
  }
}

TEST(NpyTest, PrintsElements) {
  HostTensor tensor = HostTensor::zeros(DType::i32, {2, 3});
  storeElement(DType::i32, tensor.bytes.data(), 4, 7);
  EXPECT_EQ(printElements(tensor), "[[0, 0, 0], [0, 7, 0]]");
  EXPECT_EQ(printElements(tensor, 2), "[[0, 0, ...], ...]");
}

TEST(CorpusTest, ReadsEveryType) {
  uint16_t tokens[] = {5, 60000, 7};
  std::string raw(reinterpret_cast<char *>(tokens), sizeof(tokens));
  Result<Corpus> corpus = Corpus::open(write("u16.bin", raw), DType::u16);
  ASSERT_TRUE(corpus.ok());
  EXPECT_EQ(corpus->size(), 3);
  int32_t out[2];
  corpus->read(1, 2, DType::i32, out);
  EXPECT_EQ(out[0], 60000);
  EXPECT_EQ(out[1], 7);
  Result<Corpus> array = Corpus::open(
      write("t.npy", npy("{'descr': '<u2', 'fortran_order': False, "
                         "'shape': (3,), }",
                         raw)),
      DType::u8);
  ASSERT_TRUE(array.ok()) << array.message();
  array->read(1, 1, DType::i32, out);
  EXPECT_EQ(out[0], 60000);
}

TEST(CorpusTest, MalformedFilesAreRefused) {
  EXPECT_EQ(Corpus::open("/nonexistent", DType::u8).kind(),
            ErrorKind::malformed);
  EXPECT_EQ(Corpus::open(testing::TempDir(), DType::u8).kind(),
            ErrorKind::malformed);
  EXPECT_EQ(Corpus::open(write("empty.bin", ""), DType::u8).kind(),
            ErrorKind::malformed);
  Status odd = Corpus::open(write("odd.bin", "abc"), DType::u16).status();
  EXPECT_EQ(odd.kind(), ErrorKind::malformed);
  EXPECT_NE(odd.message().find("multiple of 2 bytes"), std::string::npos);
  Result<Corpus> small = Corpus::open(write("small.bin", "abc"), DType::u8);
  EXPECT_TRUE(small->checkWindow(3).ok());
  EXPECT_EQ(small->checkWindow(4).kind(), ErrorKind::malformed);
}

// A pure function of seed and sample, within the corpus, and spread over it.
TEST(CorpusTest, Positions) {
  Result<Corpus> corpus =
      Corpus::open(write("long.bin", std::string(100, 'x')), DType::u8);
  RandomStream stream(1, "data"), again(1, "data"), other(2, "data");
  std::set<int64_t> seen;
  bool differs = false;
  for (uint64_t i = 0; i < 2000; ++i) {
    int64_t at = corpus->position(stream, i, 91);
    ASSERT_GE(at, 0);
    ASSERT_LE(at, 9);
    EXPECT_EQ(at, corpus->position(again, i, 91));
    differs = differs || at != corpus->position(other, i, 91);
    seen.insert(at);
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_TRUE(differs);
}

} // namespace
} // namespace llmc::rt

//===- SafetensorsTest.cpp - Named tensors in a file ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

namespace llmc::rt {
namespace {

std::string file(const std::string &header, const std::string &data) {
  uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

Status parse(const std::string &bytes) {
  return parseSafetensorsHeader(reinterpret_cast<const uint8_t *>(bytes.data()),
                                bytes.size())
      .status();
}

std::string tensor(const std::string &name, const std::string &fields) {
  return "\"" + name + "\":{" + fields + "}";
}
const std::string w = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";

TEST(SafetensorsTest, RoundTrip) {
  std::string path = testing::TempDir() + "/round.safetensors";
  float a[] = {1, 2, 3};
  int64_t b[] = {-4};
  auto bytes = [](const auto &array) {
    return std::string_view(reinterpret_cast<const char *>(array),
                            sizeof(array));
  };
  ASSERT_TRUE(writeSafetensors({{"a", DType::f32, {3}, bytes(a)},
                                {"b", DType::i64, {}, bytes(b)}},
                               path)
                  .ok());
  Result<Safetensors> read = Safetensors::open(path);
  ASSERT_TRUE(read.ok()) << read.message();
  const SafetensorsEntry *found = read->find("b");
  ASSERT_TRUE(found);
  EXPECT_EQ(loadInteger(DType::i64, read->data(*found), 0), -4);
  EXPECT_EQ(read->find("a")->shape, std::vector<int64_t>{3});
  EXPECT_FALSE(read->find("c"));
}

TEST(SafetensorsTest, SoundHeaders) {
  EXPECT_TRUE(parse(file("{" + tensor("w", w) + "}", std::string(8, 0))).ok());
  EXPECT_TRUE(parse(file("{}", "")).ok());
  EXPECT_TRUE(
      parse(file(R"({"__metadata__":{"format":"pt"},)" + tensor("w", w) + "} ",
                 std::string(8, 0)))
          .ok());
  EXPECT_TRUE(parse(file("{" +
                             tensor("e", R"("dtype":"F32","shape":[0],)"
                                         R"("data_offsets":[0,0])") +
                             "}",
                         ""))
                  .ok());
}

struct BadCase {
  const char *name;
  std::string bytes;
};

std::vector<BadCase> badCases() {
  std::string eight(8, 0), sixteen(16, 0);
  auto one = [&](const std::string &fields) {
    return file("{" + tensor("w", fields) + "}", eight);
  };
  std::string deep = "{\"w\":";
  for (int i = 0; i < 100000; ++i) {
    deep += "[";
  }
  std::string half = R"("dtype":"F32","shape":[1],"data_offsets":[)";
  return {
      {"short", "1234567"},
      {"hugeLength", std::string(8, '\xff') + "{}"},
      {"lengthPastEnd", std::string("\x05\0\0\0\0\0\0\0{}", 10)},
      {"noObject", file("[]", "")},
      {"badUtf8", file("{\"\xff\xfe\":1}", "")},
      {"badJson", file("{" + tensor("w", w), eight)},
      {"repeatedName",
       file("{" + tensor("w", w) + "," + tensor("w", w) + "}", eight)},
      {"deep", file(deep, "")},
      {"floatOffset",
       one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8.0])")},
      {"hugeOffset",
       one(R"("dtype":"F32","shape":[2],"data_offsets":[0,1e400])")},
      {"negativeOffset",
       one(R"("dtype":"F32","shape":[2],"data_offsets":[-8,0])")},
      {"reversedSpan",
       one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])")},
      {"overlap",
       file("{" + tensor("a", w) + "," + tensor("b", w) + "}", eight)},
      {"hole", file("{" + tensor("a", half + "0,4]") + "," +
                        tensor("b", half + "8,12]") + "}",
                    std::string(12, 0))},
      {"trailing", file("{" + tensor("w", w) + "}", sixteen)},
      {"truncated", file("{" + tensor("w", w) + "}", "1234")},
      {"wrongSize", one(R"("dtype":"F64","shape":[2],"data_offsets":[0,8])")},
      {"overflow", one(R"("dtype":"F32","shape":[4611686018427387904,4],)"
                       R"("data_offsets":[0,8])")},
      {"unknownType",
       one(R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])")},
      {"missingField", one(R"("dtype":"F32","shape":[2])")},
      {"unknownField", one(w + R"(,"x":1)")},
      {"repeatedField", one(w + R"(,"dtype":"F32")")},
      {"metadataNumber", file(R"({"__metadata__":{"a":1}})", "")},
      {"emptySpanOutside", file("{" +
                                    tensor("w", R"("dtype":"F32","shape":[0],)"
                                                R"("data_offsets":[99,99])") +
                                    "}",
                                "")},
  };
}

TEST(SafetensorsTest, MalformedHeadersAreRefused) {
  for (const BadCase &bad : badCases()) {
    Status status = parse(bad.bytes);
    EXPECT_EQ(status.kind(), ErrorKind::malformed) << bad.name;
  }
}

TEST(SafetensorsTest, EveryPrefixIsRefused) {
  std::string whole = file("{" + tensor("w", w) + "}", std::string(8, 0));
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse(whole.substr(0, length)).ok()) << length;
  }
}

} // namespace
} // namespace llmc::rt

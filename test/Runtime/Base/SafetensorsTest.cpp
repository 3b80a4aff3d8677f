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

TEST(SafetensorsTest, ComplexNumbersHaveADimOfParts) {
  std::string path = testing::TempDir() + "/complex.safetensors";
  std::string data(24, 0);
  ASSERT_TRUE(
      writeSafetensors({{"z", DType::f32, {3, 2}, data, true}}, path).ok());
  EXPECT_NE(readFile(path)->find(R"("dtype":"C64","shape":[3],)"),
            std::string::npos);
  Result<Safetensors> read = Safetensors::open(path);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_TRUE(read->find("z")->isComplex);
  EXPECT_EQ(read->find("z")->dtype, DType::f32);
  EXPECT_EQ(read->find("z")->shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(writeSafetensors(
                {{"z", DType::f64, {1, 2}, "0123456789abcdef", true}}, path)
                .kind(),
            ErrorKind::unsupported);
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
      {"unknownType", one(R"("dtype":"F4","shape":[8],"data_offsets":[0,8])")},
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

std::string reasonOf(const std::string &header, size_t bytes = 8) {
  Status status = parse(file(header, std::string(bytes, 0)));
  EXPECT_EQ(status.kind(), ErrorKind::malformed) << header;
  return status.message();
}

// Each refusal says its own reason, so that none hides behind another.
TEST(SafetensorsTest, Reasons) {
  auto entry = [](const std::string &fields) {
    return "{" + tensor("w", fields) + "}";
  };
  std::string type = R"("dtype":"F32",)", shape = R"("shape":[2],)";
  std::string offsets = R"("data_offsets":[0,8])";
  std::string numbers64, numbers65;
  for (int i = 0; i < 64; ++i) {
    numbers64 += i ? ",1" : "2";
  }
  numbers65 = numbers64 + ",1";
  auto shapeOf = [&](const std::string &list) {
    return entry(type + "\"shape\":[" + list + "]," + offsets);
  };
  struct Row {
    std::string header, reason;
  };
  const std::string got = "expected a safetensors header, got ";
  for (const Row &row : std::vector<Row>{
           {"[]", "text that is no object"},
           {"", "text that is no object"},
           {"{\"w\":null}", "null in 'w'"},
           {"{\"w\":true}", "a boolean in 'w'"},
           {"{\"w\":-1}", "a negative number in 'w'"},
           {"{\"w\":1.5}", "a number that is no integer in 'w'"},
           {"{\"w\":1}", "a number in 'w'"},
           {"{\"w\":\"t\"}", "text 't' in 'w'"},
           {"{\"w\":[1]}", "a list in 'w'"},
           {"{\"w\":{}}",
            "a tensor without dtype, shape or data_offsets in 'w'"},
           {entry(type + shape + "\"data_offsets\":{}"), "an object in 'w'"},
           {entry(type + R"("shape":[[2]],)" + offsets), "a list in 'w'"},
           {entry(R"("dtype":[1],)" + shape + offsets), "a list in 'w'"},
           {entry(R"("shape":"2",)" + type + offsets), "text '2' in 'w'"},
           {entry(shape + offsets),
            "a tensor without dtype, shape or data_offsets in 'w'"},
           {entry(type + offsets),
            "a tensor without dtype, shape or data_offsets in 'w'"},
           {entry(R"("dtype":"F32","shape":[2])"),
            "a tensor without dtype, shape or data_offsets in 'w'"},
           {entry(R"("dtype":"f32",)" + shape + offsets),
            "element type 'f32' in 'w'"},
           {entry(type + shape + R"("data_offsets":[0])"),
            "offsets that are no span in 'w'"},
           {entry(type + shape + R"("data_offsets":[0,8,8])"),
            "offsets that are no span in 'w'"},
           {entry(type + shape + R"("data_offsets":[9,8])"),
            "offsets that are no span in 'w'"},
           {entry(type + shape + shape + offsets), "field 'shape' in 'w'"},
           {entry(type + type + shape + offsets), "field 'dtype' in 'w'"},
           {entry(type + shape + offsets + "," + offsets),
            "field 'data_offsets' in 'w'"},
           {entry(type + shape + offsets + ",\"x\":1"), "field 'x' in 'w'"},
           {shapeOf("3"), "a shape that does not fit its span in 'w'"},
           {shapeOf("1"), "a shape that does not fit its span in 'w'"},
           {shapeOf("9223372036854775807"),
            "a shape that does not fit its span in 'w'"},
           {shapeOf("9223372036854775808"), "a number in 'w'"},
           {shapeOf(numbers65), "too many numbers in 'w'"},
           {"{" + tensor("w", w) + "," + tensor("w", w) + "}",
            "a name twice in 'w'"},
           {R"({"__metadata__":{},"__metadata__":{}})",
            "metadata twice in '__metadata__'"},
           {R"({"__metadata__":1})", "a number in '__metadata__'"},
           {R"({"__metadata__":{"a":{}}})", "an object in '__metadata__'"},
           {"{\"w\" 1}", "text that is no JSON at character 6 in 'w'"}}) {
    EXPECT_EQ(reasonOf(row.header), got + row.reason) << row.header;
  }
  EXPECT_TRUE(parse(file(shapeOf(numbers64), std::string(8, 0))).ok());
}

TEST(SafetensorsTest, CoverageReasons) {
  auto spans = [&](const std::string &a, const std::string &b, size_t bytes) {
    std::string one = R"("dtype":"U8","shape":[4],"data_offsets":)";
    return reasonOf(
        "{" + tensor("a", one + a) + "," + tensor("b", one + b) + "}", bytes);
  };
  const std::string expected = "expected a tensor at byte ";
  EXPECT_EQ(spans("[0,4]", "[5,9]", 9),
            expected + "4 of the data, got the next one at 5");
  EXPECT_EQ(spans("[0,4]", "[3,7]", 7),
            expected + "4 of the data, got the next one at 3");
  EXPECT_EQ(spans("[1,5]", "[5,9]", 9),
            expected + "0 of the data, got the next one at 1");
  EXPECT_EQ(spans("[0,4]", "[4,8]", 9), "expected 8 bytes of data, got 9");
  EXPECT_EQ(spans("[0,4]", "[4,8]", 7), "expected 8 bytes of data, got 7");
  // An empty tensor may lie at the end, and not beyond it.
  std::string empty = R"("dtype":"F32","shape":[0],"data_offsets":)";
  auto withEmpty = [&](const std::string &at) {
    return file("{" + tensor("e", empty + at) + "," + tensor("w", w) + "}",
                std::string(8, 0));
  };
  EXPECT_TRUE(parse(withEmpty("[8,8]")).ok());
  EXPECT_EQ(parse(withEmpty("[9,9]")).message(),
            "expected spans within 8 bytes of data, got an end at 9");
}

// The length in front: what fits the file exactly, one byte more, the cap.
TEST(SafetensorsTest, Lengths) {
  std::string bytes = file("{}", "");
  EXPECT_TRUE(parse(bytes).ok());
  bytes[0] = 3;
  Status status = parse(bytes);
  EXPECT_EQ(status.message(),
            "expected a safetensors header of at most 104857600 bytes within "
            "the file, got 3");
  EXPECT_EQ(status.error().offset, 0u);
  EXPECT_EQ(parse("1234567").message(),
            "expected a safetensors header of 8 bytes or more, got 7");
  // Room for the header of the greatest length, and for one byte more.
  uint64_t cap = uint64_t(100) << 20;
  std::string large(8 + cap + 1, ' ');
  large[8] = '{', large[9] = '}';
  std::memcpy(large.data(), &cap, 8);
  EXPECT_EQ(parse(large).message(), "expected 0 bytes of data, got 1");
  ++cap;
  std::memcpy(large.data(), &cap, 8);
  EXPECT_NE(parse(large).message().find("at most"), std::string::npos);
}

// Every type by its published name, and a header padded to eight bytes.
TEST(SafetensorsTest, WritesEveryType) {
  std::string path = testing::TempDir() + "/types.safetensors";
  const char *names[numDTypes] = {
      "F64",  "F32",     "BF16",    "F16",         "I8",         "I16",
      "I32",  "I64",     "U8",      "U16",         "U32",        "U64",
      "BOOL", "F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"};
  for (int i = 0; i < numDTypes; ++i) {
    auto type = static_cast<DType>(i);
    std::string data(2 * sizeOf(type), 'x');
    if (!names[i]) {
      Status status = writeSafetensors({{"t", type, {2, 1}, data}}, path);
      EXPECT_EQ(status.kind(), ErrorKind::unsupported) << nameOf(type);
      continue;
    }
    ASSERT_TRUE(writeSafetensors({{"t", type, {2, 1}, data}}, path).ok());
    auto read = Safetensors::open(path);
    ASSERT_TRUE(read.ok()) << read.message();
    EXPECT_EQ(read->find("t")->dtype, type);
    EXPECT_EQ(read->find("t")->shape, (std::vector<int64_t>{2, 1}));
    std::string bytes = *readFile(path);
    EXPECT_NE(bytes.find("\"" + std::string(names[i]) + "\""),
              std::string::npos);
    EXPECT_EQ((bytes.size() - data.size()) % 8, 0u);
    EXPECT_EQ(bytes.substr(bytes.size() - data.size()), data);
  }
  EXPECT_EQ(Safetensors::open(path + ".none").kind(), ErrorKind::malformed);
  ASSERT_TRUE(writeFileAtomically(path, "1234567").ok());
  EXPECT_EQ(Safetensors::open(path).error().file, path);
}

} // namespace
} // namespace llmc::rt

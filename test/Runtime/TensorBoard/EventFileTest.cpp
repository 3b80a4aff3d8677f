//===- EventFileTest.cpp - Scalars for TensorBoard ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sums against published ones, the records against a reader of a few lines.
// TensorBoard's own reader: test/EndToEnd/tensorboard.test.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/TensorBoard/EventFile.h"

#include "llmc/Runtime/Base/File.h"

#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <sys/stat.h>

namespace llmc::rt::tensorboard {
namespace {

using testing::HasSubstr;

// RFC 3720, appendix B.4, and the catalogue's check value.
TEST(EventFile, PublishedSums) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string up, down;
  for (char i = 0; i < 32; ++i) {
    up += i;
    down += static_cast<char>(31 - i);
  }
  EXPECT_EQ(crc32c(up), 0x46dd794eu);
  EXPECT_EQ(crc32c(down), 0x113fdb5cu);
  // ((e3069283 >> 15) | (e3069283 << 17)) + a282ead8
  EXPECT_EQ(maskedCrc32c("123456789"), 0xc78ab0e5u);
}

template <typename T> T load(const std::string &bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// The messages of a file, each with right sums.
std::vector<std::string> readRecords(const std::string &bytes) {
  std::vector<std::string> messages;
  for (size_t at = 0; at < bytes.size();) {
    auto length = load<uint64_t>(bytes, at);
    EXPECT_EQ(load<uint32_t>(bytes, at + 8), maskedCrc32c(bytes.substr(at, 8)));
    messages.push_back(bytes.substr(at + 12, length));
    EXPECT_EQ(load<uint32_t>(bytes, at + 12 + length),
              maskedCrc32c(messages.back()));
    at += 16 + length;
  }
  return messages;
}

TEST(EventFile, Messages) {
  std::string second = "\x09" + std::string(6, '\0') + "\xf8\x3f"; // 1.5
  EXPECT_EQ(printVersionEvent(1.5), second + "\x1a\x0d"
                                             "brain.Event:2");
  std::string value =
      std::string("\x0a\x01w\x15", 4) + std::string("\0\0\0\x40", 4); // 2.0f
  EXPECT_EQ(printScalarEvent(1.5, 300, {{"w", 2}}),
            second + "\x10\xac\x02" + "\x2a\x0a" + "\x0a\x08" + value);
}

TEST(EventFile, HostileNames) {
  auto name = [](const std::string &text) {
    std::string event = printScalarEvent(0, 0, {{text, 0}});
    // Time and step, then three lengths, of summary, value and name.
    size_t at = 11, size = 0;
    for (int nesting = 0; nesting < 3; ++nesting) {
      size = static_cast<unsigned char>(event[++at]) & 0x7f;
      if (static_cast<unsigned char>(event[at++]) & 0x80) {
        size |= static_cast<size_t>(event[at++]) << 7;
      }
    }
    return event.substr(at, size);
  };
  EXPECT_EQ(name("a\x1b[31m\n"), "a\\x1b[31m\\n");
  EXPECT_EQ(name("\xff\xc3\xa4\xc3"), "?\xc3\xa4?");
  EXPECT_EQ(name("\xed\xa0\x80"), "???") << "half of a pair";
  EXPECT_EQ(name(std::string(1 << 20, 'x')), std::string(200, 'x') + "...");
}

TEST(EventFile, Files) {
  std::string pattern = testing::TempDir() + "llmc-events-XXXXXX";
  std::string folder = std::string(::mkdtemp(pattern.data())) + "/a/b";
  std::string path;
  {
    Result<EventFile> file = EventFile::create(folder);
    ASSERT_TRUE(file.ok()) << file.message();
    path = file->path();
    EXPECT_TRUE(file->add(7, {{"loss", 1.25}, {"lr", 1e-3}}).ok());
  }
  EXPECT_THAT(path, HasSubstr(folder + "/events.out.tfevents."));
  std::vector<std::string> records = readRecords(*readFile(path));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_THAT(records[0], HasSubstr("brain.Event:2"));
  EXPECT_THAT(records[1], HasSubstr("loss"));
  Result<EventFile> none = EventFile::create(path + "/c");
  EXPECT_EQ(none.kind(), ErrorKind::usage);
  EXPECT_EQ(none.error().file, path + "/c");
}

} // namespace
} // namespace llmc::rt::tensorboard

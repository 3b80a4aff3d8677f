//===- EventFile.cpp - Scalars for TensorBoard ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/TensorBoard/EventFile.h"

#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Base/Utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace llmc::rt::tensorboard {

namespace {
constexpr std::array<uint32_t, 256> makeTable() {
  constexpr uint32_t polynomial = 0x82f63b78u; // Reflected.
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest >> 1) ^ (rest & 1 ? polynomial : 0);
    }
    table[byte] = rest;
  }
  return table;
}
} // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> table = makeTable();
  uint32_t sum = ~0u;
  for (unsigned char byte : bytes) {
    sum = table[(sum ^ byte) & 0xff] ^ (sum >> 8);
  }
  return ~sum;
}

uint32_t maskedCrc32c(std::string_view bytes) {
  uint32_t sum = crc32c(bytes);
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8u;
}

/// Little-endian, as this machine has it.
template <typename T> static std::string bytesOf(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(T));
}

static std::string printVarint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) {
    text += static_cast<char>(value | 0x80);
  }
  return text + static_cast<char>(value);
}

namespace {
/// How the value of a field is coded.
enum Wire : uint64_t { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };
} // namespace

static std::string tagOf(uint64_t field, Wire wire) {
  return printVarint(field << 3 | wire);
}

static std::string printText(uint64_t field, std::string_view text) {
  return tagOf(field, delimited) + printVarint(text.size()) + std::string(text);
}

/// Protobuf's strings are UTF-8; control characters are shown.
static std::string mendName(std::string_view name) {
  constexpr size_t longest = 200;
  std::string text;
  for (size_t at = 0; at < name.size() && text.size() < longest;) {
    size_t length = lengthOfCharacter(name.substr(at));
    text += length ? escape(name.substr(at, length)) : std::string("?");
    at += std::max<size_t>(length, 1);
    if (text.size() >= longest && at < name.size()) {
      text += "...";
    }
  }
  return text;
}

std::string printVersionEvent(double seconds) {
  return tagOf(1, fixed64) + bytesOf(seconds) + printText(3, "brain.Event:2");
}

std::string printScalarEvent(double seconds, int64_t step,
                             const Scalars &scalars) {
  std::string summary;
  for (const auto &[name, value] : scalars) {
    summary += printText(1, printText(1, mendName(name)) + tagOf(2, fixed32) +
                                bytesOf(static_cast<float>(value)));
  }
  return tagOf(1, fixed64) + bytesOf(seconds) + tagOf(2, varint) +
         printVarint(static_cast<uint64_t>(step)) + printText(5, summary);
}

std::string frameRecord(std::string_view message) {
  std::string length = bytesOf(static_cast<uint64_t>(message.size()));
  return length + bytesOf(maskedCrc32c(length)) + std::string(message) +
         bytesOf(maskedCrc32c(message));
}

static double secondsNow() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// TensorBoard orders the files of a folder by their names.
static std::string makeName(const std::string &folder) {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  return fmt::format("{}/events.out.tfevents.{:010}.{}.{}", folder,
                     static_cast<int64_t>(secondsNow()), host, ::getpid());
}

Result<EventFile> EventFile::create(const std::string &folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) {
    return makeError(ErrorKind::usage,
                     "cannot make the folder for TensorBoard: " +
                         code.message())
        .at(folder);
  }
  LLMC_TRY_ASSIGN(AppendFile file, AppendFile::open(makeName(folder), true));
  LLMC_TRY(file.append(frameRecord(printVersionEvent(secondsNow()))));
  return EventFile(std::move(file));
}

Status EventFile::add(int64_t step, const Scalars &scalars) {
  return file.append(
      frameRecord(printScalarEvent(secondsNow(), step, scalars)));
}

} // namespace llmc::rt::tensorboard

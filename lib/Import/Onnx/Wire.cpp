//===- Wire.cpp - Messages as they are stored -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Import/Onnx/ReadModelTest.cpp
//===----------------------------------------------------------------------===//

#include "Wire.h"

#include <cstring>

using namespace llmc;
using namespace llmc::onnx;
using rt::ErrorKind;

/// Messages inside each other, and in all: each takes memory of a struct for
/// as little as two bytes of the file.
static constexpr size_t kMostDepth = 64;
static constexpr int64_t kMostMessages = int64_t(1) << 22;

rt::Status WireReader::refuse(const char *what, std::string_view place,
                              const std::string &message) const {
  std::string where;
  for (const Step &step : path) {
    where += (where.empty() ? "" : ".") + std::string(step.what);
    if (step.index >= 0)
      where += "[" + std::to_string(step.index) + "]";
  }
  if (*what)
    where += (where.empty() ? "" : ".") + std::string(what);
  return rt::makeError(ErrorKind::malformed,
                       message + (where.empty() ? "" : " in '" + where + "'"))
      .at(name, static_cast<uint64_t>(place.data() - file.data()));
}

/// Takes a number of variable length off the front; false where it does not
/// end, or has more than 64 bits.
static bool takeVarint(std::string_view &bytes, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 70 && !bytes.empty(); shift += 7) {
    auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    if (shift == 63 && byte > 1)
      return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return true;
  }
  return false;
}

template <typename T> static bool takeFixed(std::string_view &bytes, T &value) {
  if (bytes.size() < sizeof(T))
    return false;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return true;
}

/// Takes the value of a field off the front; false where it does not end.
static bool takeValue(std::string_view &bytes, Field &field) {
  uint32_t half = 0;
  switch (field.wire) {
  case Wire::varint:
    return takeVarint(bytes, field.bits);
  case Wire::fixed64:
    return takeFixed(bytes, field.bits);
  case Wire::fixed32:
    if (!takeFixed(bytes, half))
      return false;
    field.bits = half;
    return true;
  case Wire::bytes:
    if (!takeVarint(bytes, field.bits) || field.bits > bytes.size())
      return false;
    field.bytes = bytes.substr(0, field.bits);
    bytes.remove_prefix(field.bits);
    return true;
  }
  return false;
}

rt::Status WireReader::eachField(std::string_view message, Visit visit) {
  if (path.size() >= kMostDepth)
    return refuse("", message,
                  "expected at most " + std::to_string(kMostDepth) +
                      " messages inside each other, got more");
  if (++numMessages > kMostMessages)
    return refuse("", message,
                  "expected at most " + std::to_string(kMostMessages) +
                      " messages, got more");
  while (!message.empty()) {
    std::string_view begin = message;
    uint64_t tag = 0;
    if (!takeVarint(message, tag) || tag >> 3 == 0 || tag >> 32 != 0)
      return refuse("", begin, "expected the number of a field, got none");
    Field field;
    field.number = static_cast<uint32_t>(tag >> 3);
    auto wire = static_cast<uint8_t>(tag & 7);
    if (wire > 2 && wire != 5)
      return refuse("", begin,
                    "expected a field stored as 0, 1, 2 or 5, got " +
                        std::to_string(wire));
    field.wire = static_cast<Wire>(wire);
    std::string_view value = message;
    if (!takeValue(message, field))
      return refuse("", begin,
                    "expected the value of field " +
                        std::to_string(field.number) +
                        " to end within its message, got " +
                        std::to_string(value.size()) + " bytes");
    at = begin;
    LLMC_TRY(visit(field));
  }
  return rt::Status::success();
}

rt::Status WireReader::expect(const Field &field, Wire wire,
                              const char *what) const {
  if (field.wire == wire)
    return rt::Status::success();
  return refuse(what, at,
                "expected a field stored as " +
                    std::to_string(static_cast<int>(wire)) + ", got " +
                    std::to_string(static_cast<int>(field.wire)));
}

rt::Status WireReader::eachFieldOf(const Field &field, const char *what,
                                   int64_t index, Visit visit) {
  LLMC_TRY(expect(field, Wire::bytes, what));
  path.push_back({what, index});
  rt::Status status = eachField(field.bytes, visit);
  path.pop_back();
  return status;
}

rt::Status WireReader::read(const Field &field, const char *what,
                            std::string_view &text) {
  LLMC_TRY(expect(field, Wire::bytes, what));
  text = field.bytes;
  return rt::Status::success();
}

rt::Status WireReader::read(const Field &field, const char *what,
                            int64_t &value) {
  LLMC_TRY(expect(field, Wire::varint, what));
  value = static_cast<int64_t>(field.bits);
  return rt::Status::success();
}

rt::Status WireReader::read(const Field &field, const char *what,
                            float &value) {
  LLMC_TRY(expect(field, Wire::fixed32, what));
  auto bits = static_cast<uint32_t>(field.bits);
  std::memcpy(&value, &bits, sizeof(value));
  return rt::Status::success();
}

rt::Status WireReader::append(const Field &field, const char *what,
                              std::vector<int64_t> &values) {
  if (field.wire == Wire::varint) {
    values.push_back(static_cast<int64_t>(field.bits));
    return rt::Status::success();
  }
  LLMC_TRY(expect(field, Wire::bytes, what));
  std::string_view bytes = field.bytes;
  while (!bytes.empty()) {
    uint64_t value = 0;
    std::string_view begin = bytes;
    if (!takeVarint(bytes, value))
      return refuse(what, begin, "expected a list of numbers, got its end");
    values.push_back(static_cast<int64_t>(value));
  }
  return rt::Status::success();
}

/// The elements of a list of numbers of a fixed size; false where it does not
/// end with one.
template <typename T>
static bool appendFixed(std::string_view bytes, std::vector<T> &values) {
  T value;
  while (takeFixed(bytes, value))
    values.push_back(value);
  return bytes.empty();
}

rt::Status WireReader::append(const Field &field, const char *what,
                              std::vector<float> &values) {
  if (field.wire == Wire::fixed32) {
    float value = 0;
    LLMC_TRY(read(field, what, value));
    values.push_back(value);
    return rt::Status::success();
  }
  LLMC_TRY(expect(field, Wire::bytes, what));
  if (!appendFixed(field.bytes, values))
    return refuse(what, field.bytes,
                  "expected a list of numbers of 4 bytes, got " +
                      std::to_string(field.bytes.size()) + " bytes");
  return rt::Status::success();
}

rt::Status WireReader::append(const Field &field, const char *what,
                              std::vector<double> &values) {
  if (field.wire == Wire::fixed64) {
    double value = 0;
    std::memcpy(&value, &field.bits, sizeof(value));
    values.push_back(value);
    return rt::Status::success();
  }
  LLMC_TRY(expect(field, Wire::bytes, what));
  if (!appendFixed(field.bytes, values))
    return refuse(what, field.bytes,
                  "expected a list of numbers of 8 bytes, got " +
                      std::to_string(field.bytes.size()) + " bytes");
  return rt::Status::success();
}

//===- Safetensors.cpp - Named tensors in a file --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header is read event by event, so that memory stays within a small
// multiple of its size and nothing depends on how deep it nests.
//
// Test: test/Runtime/Base/SafetensorsTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Safetensors.h"

#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/Log.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace llmc::rt {

constexpr uint64_t mostHeaderBytes = uint64_t(100) << 20;
constexpr size_t mostDims = 64;

namespace {

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr TypeName typeNames[] = {
    {DType::f64, "F64"},
    {DType::f32, "F32"},
    {DType::bf16, "BF16"},
    {DType::f16, "F16"},
    {DType::i8, "I8"},
    {DType::i16, "I16"},
    {DType::i32, "I32"},
    {DType::i64, "I64"},
    {DType::u8, "U8"},
    {DType::u16, "U16"},
    {DType::u32, "U32"},
    {DType::u64, "U64"},
    {DType::i1, "BOOL"},
    {DType::f8E4M3FN, "F8_E4M3"},
    {DType::f8E5M2, "F8_E5M2"},
    {DType::f8E4M3FNUZ, "F8_E4M3FNUZ"},
    {DType::f8E5M2FNUZ, "F8_E5M2FNUZ"},
};

/// Of pairs of f32.
constexpr std::string_view complexName = "C64";

/// Receives the events of the header's JSON; accepts this grammar only:
///   { name: { "dtype": string, "shape": [n...], "data_offsets": [n, n] }...,
///     "__metadata__": { string: string... } }
class HeaderEvents {
public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  std::map<std::string, SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
  std::string reason;

  bool null() { return refuse("null"); }
  bool boolean(bool) { return refuse("a boolean"); }
  bool number_integer(number_integer_t) { return refuse("a negative number"); }
  bool number_float(number_float_t, const string_t &) {
    return refuse("a number that is no integer");
  }
  bool binary(binary_t &) { return refuse("binary data"); }

  bool number_unsigned(number_unsigned_t value) {
    if (state != State::list || value > uint64_t(INT64_MAX)) {
      return refuse("a number");
    }
    list.push_back(static_cast<int64_t>(value));
    return list.size() <= mostDims || refuse("too many numbers");
  }
  bool string(string_t &value) {
    if (state == State::metadata) {
      metadata[field] = value;
      return true;
    }
    return (state == State::entry && field == "dtype" && setType(value)) ||
           refuse("text '" + escape(value, 40) + "'");
  }
  bool start_object(size_t) {
    if (state == State::begin) {
      state = State::top;
    } else if (state == State::tensor) {
      state = State::entry;
    } else if (state == State::metadataName) {
      state = State::metadata;
    } else {
      return refuse("an object");
    }
    return true;
  }
  bool end_object() {
    if (state == State::entry) {
      return finishEntry();
    }
    state = state == State::metadata ? State::top : State::done;
    return true;
  }
  bool key(string_t &value) {
    if (state == State::top) {
      return startEntry(value);
    }
    if (state == State::entry) {
      field = value;
      bool repeated = field == "dtype"          ? hasType
                      : field == "shape"        ? hasShape
                      : field == "data_offsets" ? hasOffsets
                                                : true;
      return !repeated || refuse("field '" + escape(field, 40) + "'");
    }
    field = value;
    return true;
  }
  bool start_array(size_t) {
    if (state != State::entry ||
        (field != "shape" && field != "data_offsets")) {
      return refuse("a list");
    }
    state = State::list;
    list.clear();
    return true;
  }
  bool end_array() {
    state = State::entry;
    if (field == "shape") {
      current.shape = list;
      return hasShape = true;
    }
    if (list.size() != 2 || list[0] > list[1]) {
      return refuse("offsets that are no span");
    }
    current.begin = static_cast<uint64_t>(list[0]);
    current.end = static_cast<uint64_t>(list[1]);
    return hasOffsets = true;
  }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &) {
    return refuse(
        fmt::format("text that is no JSON at character {}", position));
  }

private:
  enum class State {
    begin,
    top,
    tensor,
    entry,
    list,
    metadataName,
    metadata,
    done
  };

  bool refuse(const std::string &what) {
    if (reason.empty()) {
      reason = what;
      if (!name.empty()) {
        reason += " in '" + escape(name, 80) + "'";
      }
    }
    return false;
  }
  bool startEntry(const std::string &value) {
    name = value;
    if (value == "__metadata__") {
      state = State::metadataName;
      bool repeated = std::exchange(hasMetadata, true);
      return !repeated || refuse("metadata twice");
    }
    if (entries.count(value)) {
      return refuse("a name twice");
    }
    current = {};
    hasType = hasShape = hasOffsets = false;
    state = State::tensor;
    return true;
  }
  bool setType(const std::string &value) {
    current.isComplex = value == complexName;
    if (current.isComplex) {
      current.dtype = DType::f32;
      return hasType = true;
    }
    for (const TypeName &candidate : typeNames) {
      if (candidate.name == value) {
        current.dtype = candidate.dtype;
        return hasType = true;
      }
    }
    return refuse("element type '" + escape(value, 40) + "'");
  }
  bool finishEntry() {
    if (!hasType || !hasShape || !hasOffsets) {
      return refuse("a tensor without dtype, shape or data_offsets");
    }
    if (current.isComplex) {
      current.shape.push_back(2);
    }
    Checked bytes = checkedProduct(current.shape) * sizeOf(current.dtype);
    if (!bytes.valid() ||
        static_cast<uint64_t>(bytes.value()) != current.end - current.begin) {
      return refuse("a shape that does not fit its span");
    }
    entries.emplace(name, current);
    state = State::top;
    return true;
  }

  State state = State::begin;
  std::string name, field;
  SafetensorsEntry current;
  std::vector<int64_t> list;
  bool hasType = false, hasShape = false, hasOffsets = false;
  bool hasMetadata = false;
};

/// The spans, sorted, follow each other from 0 to `size`.
Status checkCoverage(const std::map<std::string, SafetensorsEntry> &entries,
                     uint64_t size) {
  std::vector<std::pair<uint64_t, uint64_t>> spans;
  for (const auto &[name, entry] : entries) {
    if (entry.begin != entry.end) {
      spans.emplace_back(entry.begin, entry.end);
    } else if (entry.end > size) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected spans within {} bytes of data, "
                                   "got an end at {}",
                                   size, entry.end));
    }
  }
  std::sort(spans.begin(), spans.end());
  uint64_t at = 0;
  for (const auto &[begin, end] : spans) {
    if (begin != at) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected a tensor at byte {} of the data, "
                                   "got the next one at {}",
                                   at, begin));
    }
    at = end;
  }
  if (at != size) {
    return makeError(
        ErrorKind::malformed,
        fmt::format("expected {} bytes of data, got {}", at, size));
  }
  return Status::success();
}

} // namespace

Result<std::pair<std::map<std::string, SafetensorsEntry>, uint64_t>>
parseSafetensorsHeader(const uint8_t *bytes, uint64_t size,
                       std::map<std::string, std::string> *metadata) {
  uint64_t length = 0;
  if (size < sizeof(length)) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected a safetensors header of 8 bytes or "
                                 "more, got {}",
                                 size));
  }
  std::memcpy(&length, bytes, sizeof(length));
  if (length > mostHeaderBytes || length > size - sizeof(length)) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected a safetensors header of at most {} "
                                 "bytes within the file, got {}",
                                 mostHeaderBytes, length))
        .at("", 0);
  }
  const auto *text = reinterpret_cast<const char *>(bytes) + sizeof(length);
  HeaderEvents events;
  bool sound = length > 0 && text[0] == '{' &&
               nlohmann::json::sax_parse(text, text + length, &events);
  if (!sound) {
    return makeError(
        ErrorKind::malformed,
        "expected a safetensors header, got " +
            (events.reason.empty() ? "text that is no object" : events.reason));
  }
  uint64_t dataOffset = sizeof(length) + length;
  if (metadata) {
    *metadata = std::move(events.metadata);
  }
  LLMC_TRY(checkCoverage(events.entries, size - dataOffset));
  return std::make_pair(std::move(events.entries), dataOffset);
}

Result<Safetensors> Safetensors::open(const std::string &path) {
  LLMC_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  std::map<std::string, std::string> metadata;
  auto header = parseSafetensorsHeader(file.data(), file.size(), &metadata);
  if (!header) {
    return header.status().at(path);
  }
  return Safetensors(std::move(file), header->second, std::move(header->first),
                     std::move(metadata));
}

const SafetensorsEntry *Safetensors::find(const std::string &name) const {
  auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : &it->second;
}

Result<std::string> printSafetensorsHeader(
    const std::vector<std::pair<std::string, SafetensorsEntry>> &entries,
    const std::map<std::string, std::string> &metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    header["__metadata__"] = metadata;
  }
  for (const auto &[name, entry] : entries) {
    std::string_view type;
    for (const TypeName &candidate : typeNames) {
      if (candidate.dtype == entry.dtype) {
        type = candidate.name;
      }
    }
    std::vector<int64_t> shape(entry.shape.begin(),
                               entry.shape.end() - entry.isComplex);
    if (entry.isComplex) {
      type = entry.dtype == DType::f32 ? complexName : "";
    }
    if (type.empty()) {
      return makeError(ErrorKind::unsupported,
                       fmt::format("expected a type that safetensors have for "
                                   "'{}', got {}",
                                   name, nameOf(entry.dtype)));
    }
    header[name] = {{"dtype", std::string(type)},
                    {"shape", shape},
                    {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t length = text.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + text;
}

Status writeSafetensors(const std::vector<SafetensorsItem> &items,
                        const std::string &path) {
  std::vector<std::pair<std::string, SafetensorsEntry>> entries;
  uint64_t at = 0;
  for (const SafetensorsItem &item : items) {
    entries.emplace_back(item.name, SafetensorsEntry{item.dtype, item.shape, at,
                                                     at + item.data.size(),
                                                     item.isComplex});
    at += item.data.size();
  }
  Result<std::string> header = printSafetensorsHeader(entries);
  if (!header) {
    return header.status().at(path);
  }
  std::string file = *std::move(header);
  for (const SafetensorsItem &item : items) {
    file += item.data;
  }
  return writeFileAtomically(path, file);
}

} // namespace llmc::rt

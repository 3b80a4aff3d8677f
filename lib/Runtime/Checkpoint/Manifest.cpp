//===- Manifest.cpp - What a checkpoint says of itself --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Checkpoint/Manifest.h"

#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Base/Log.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>

namespace llmc::rt {

using Json = nlohmann::ordered_json;
constexpr const char *formatName = "llmc-checkpoint";
constexpr int64_t formatVersion = 1;

/// Bytes that are no UTF-8 are shown, and do not end the program.
static std::string dump(const Json &json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

static std::string checksumOf(const Json &json) {
  return hexDigits(hash64(dump(json, -1)));
}

std::string printManifest(const CheckpointManifest &manifest) {
  Json json = {
      {"format", formatName},
      {"format_version", formatVersion},
      {"llmc", manifest.version},
      {"step", manifest.step},
      {"entry", manifest.entry},
      {"data_position",
       {{"step", manifest.step + manifest.leftOut}, {"seed", manifest.seed}}},
      {"mesh", manifest.mesh},
      {"plan", manifest.plan}};
  json["metrics"] = Json::object();
  for (const auto &[name, value] : manifest.metrics) {
    json["metrics"][name] = std::isfinite(value) ? Json(value) : Json();
  }
  json["files"] = Json::array();
  for (const CheckpointFile &file : manifest.files) {
    json["files"].push_back({{"name", file.name},
                             {"bytes", file.bytes},
                             {"xxh3", hexDigits(file.hash)}});
  }
  json["tensors"] = Json::array();
  for (const CheckpointTensor &tensor : manifest.tensors) {
    Json row = {{"name", tensor.name},
                {"dtype", std::string(nameOf(tensor.dtype))},
                {"shape", tensor.shape},
                {"role", tensor.role}};
    if (!tensor.of.empty()) {
      row["of"] = tensor.of;
    }
    json["tensors"].push_back(std::move(row));
  }
  json["checksum"] = checksumOf(json);
  return dump(json, 1) + "\n";
}

static Status malformedManifest(const std::string &got) {
  return makeError(ErrorKind::malformed,
                   "expected the manifest of a checkpoint, got " + got);
}

namespace {
/// Reads fields and remembers the first that is missing or of another kind.
class FieldReader {
public:
  std::string text(const Json &from, const char *name) {
    const Json *field = find(from, name);
    return field && check(field->is_string(), name) ? field->get<std::string>()
                                                    : "";
  }
  uint64_t number(const Json &from, const char *name) {
    const Json *field = find(from, name);
    return field && check(field->is_number_unsigned(), name)
               ? field->get<uint64_t>()
               : 0;
  }
  const Json &list(const Json &from, const char *name) {
    const Json *field = find(from, name);
    return field && check(field->is_array(), name) ? *field : none;
  }
  uint64_t hash(const Json &from, const char *name) {
    std::string digits = text(from, name);
    uint64_t value = 0;
    auto [end, code] = std::from_chars(
        digits.data(), digits.data() + digits.size(), value, 16);
    check(code == std::errc() && digits.size() == 16 &&
              end == digits.data() + digits.size(),
          name);
    return value;
  }
  std::vector<int64_t> shape(const Json &from, const char *name) {
    std::vector<int64_t> sizes;
    for (const Json &size : list(from, name)) {
      if (check(size.is_number_unsigned(), name)) {
        sizes.push_back(size.get<int64_t>());
        check(sizes.back() >= 0, name);
      }
    }
    return sizes;
  }
  bool check(bool isRight, const char *name) {
    if (!isRight && wrong.empty()) {
      wrong = name;
    }
    return isRight;
  }

  std::string wrong;

private:
  const Json *find(const Json &from, const char *name) {
    auto it = from.is_object() ? from.find(name) : from.end();
    return check(from.is_object() && it != from.end(), name) ? &*it : nullptr;
  }
  const Json none = Json::array();
};
} // namespace

static void readTables(const Json &json, FieldReader &read,
                       CheckpointManifest &manifest) {
  for (const Json &row : read.list(json, "files")) {
    CheckpointFile file{read.text(row, "name"), read.number(row, "bytes"),
                        read.hash(row, "xxh3")};
    read.check(!file.name.empty() && file.name[0] != '.' &&
                   file.name.find('/') == std::string::npos,
               "files.name");
    manifest.files.push_back(std::move(file));
  }
  for (const Json &row : read.list(json, "tensors")) {
    CheckpointTensor tensor;
    tensor.name = read.text(row, "name");
    std::optional<DType> dtype = parseDType(read.text(row, "dtype"));
    read.check(dtype.has_value(), "tensors.dtype");
    tensor.dtype = dtype.value_or(DType::f32);
    tensor.shape = read.shape(row, "shape");
    tensor.role = read.text(row, "role");
    tensor.of = row.contains("of") ? read.text(row, "of") : "";
    manifest.tensors.push_back(std::move(tensor));
  }
}

Result<CheckpointManifest> parseManifest(const std::string &text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  FieldReader read;
  if (!json.is_object()) {
    return malformedManifest("text that is no JSON object");
  }
  std::string checksum = read.text(json, "checksum");
  std::string format = read.text(json, "format");
  uint64_t version = read.number(json, "format_version");
  if (format != formatName || version != formatVersion) {
    return malformedManifest(
        fmt::format("format '{}' of version {}", escape(format, 40), version));
  }
  json.erase("checksum");
  if (checksum != checksumOf(json)) {
    return malformedManifest("one whose checksum does not fit");
  }
  CheckpointManifest manifest;
  manifest.step = static_cast<int64_t>(read.number(json, "step"));
  manifest.entry = read.text(json, "entry");
  Json position = json.value("data_position", Json::object());
  manifest.seed = read.number(position, "seed");
  manifest.leftOut =
      static_cast<int64_t>(read.number(position, "step")) - manifest.step;
  read.check(manifest.leftOut >= 0, "data_position.step");
  manifest.mesh = read.text(json, "mesh");
  manifest.plan = read.text(json, "plan");
  manifest.version = read.text(json, "llmc");
  if (json.contains("metrics") && json["metrics"].is_object()) {
    for (const auto &[name, value] : json["metrics"].items()) {
      manifest.metrics[name] = value.is_number() ? value.get<double>() : NAN;
    }
  }
  readTables(json, read, manifest);
  if (!read.wrong.empty()) {
    return malformedManifest(
        fmt::format("one without a sound field '{}'", read.wrong));
  }
  return manifest;
}

} // namespace llmc::rt

//===- StoredTensors.cpp - Tensors that lie in boxes in files -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Checkpoint/StoredTensors.h"

#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/Log.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace llmc::rt {

static Status malformedBox(const std::string &key, const std::string &why) {
  return makeError(ErrorKind::malformed,
                   fmt::format("expected box '{}' to be one of a tensor of the "
                               "manifest, got {}",
                               escape(key, 80), why));
}

static std::vector<int64_t> readNumbers(const nlohmann::json &json,
                                        const char *name) {
  std::vector<int64_t> numbers;
  if (json.is_object() && json.contains(name) && json[name].is_array()) {
    for (const nlohmann::json &each : json[name]) {
      numbers.push_back(each.is_number_unsigned() ? each.get<int64_t>() : -1);
    }
  }
  return numbers;
}

/// The tensor of a key, and where the box begins in it.
static Result<std::pair<std::string, std::vector<int64_t>>>
placeOf(const Safetensors &file, const std::string &key,
        const SafetensorsEntry &entry) {
  auto text = file.metadata().find(key);
  if (text == file.metadata().end()) {
    return std::make_pair(key, std::vector<int64_t>(entry.shape.size(), 0));
  }
  nlohmann::json json = nlohmann::json::parse(text->second, nullptr, false);
  if (!json.is_object() || !json.contains("tensor") ||
      !json["tensor"].is_string()) {
    return malformedBox(key, "metadata that is none");
  }
  return std::make_pair(json["tensor"].get<std::string>(),
                        readNumbers(json, "origin"));
}

static bool fits(const StoredBox &box, const StoredTensor &tensor) {
  if (box.entry->dtype != tensor.dtype ||
      box.origin.size() != tensor.shape.size() ||
      box.size().size() != tensor.shape.size()) {
    return false;
  }
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (box.origin[i] < 0 || box.size()[i] > tensor.shape[i] ||
        box.origin[i] > tensor.shape[i] - box.size()[i]) {
      return false;
    }
  }
  return true;
}

Status StoredTensors::addFile(const std::string &path) {
  LLMC_TRY_ASSIGN(Safetensors opened, Safetensors::open(path));
  files.push_back(std::make_unique<Safetensors>(std::move(opened)));
  const Safetensors &file = *files.back();
  for (const auto &[key, entry] : file.entries()) {
    auto place = placeOf(file, key, entry);
    if (!place) {
      return place.status().at(path);
    }
    auto tensor = all.find(place->first);
    StoredBox box{&file, &entry, std::move(place->second)};
    if (tensor == all.end() || !fits(box, tensor->second)) {
      return malformedBox(key, tensor == all.end()
                                   ? "one of a tensor that it does not have"
                                   : "another type or place")
          .at(path);
    }
    tensor->second.boxes.push_back(std::move(box));
  }
  return Status::success();
}

Result<StoredTensors> StoredTensors::open(const std::string &folder,
                                          const CheckpointManifest &manifest) {
  StoredTensors stored;
  for (const CheckpointTensor &tensor : manifest.tensors) {
    stored.all[tensor.name] = {tensor.dtype, tensor.shape, tensor.role, {}};
  }
  for (const CheckpointFile &file : manifest.files) {
    LLMC_TRY(stored.addFile(folder + "/" + file.name));
  }
  for (const auto &[name, tensor] : stored.all) {
    Checked whole = checkedProduct(tensor.shape);
    int64_t elements = 0;
    for (const StoredBox &box : tensor.boxes) {
      elements += static_cast<int64_t>(box.entry->end - box.entry->begin) /
                  sizeOf(tensor.dtype);
    }
    if (!whole.valid() || elements < whole.value()) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected {} elements of '{}', got {}",
                                   whole.valid() ? whole.value() : -1,
                                   escape(name, 80), elements))
          .at(folder);
    }
  }
  return stored;
}

const StoredTensor *StoredTensors::find(const std::string &name) const {
  auto it = all.find(name);
  return it == all.end() ? nullptr : &it->second;
}

void StoredTensors::release() const {
  for (const auto &file : files) {
    file->release();
  }
}

static bool isWithin(const StoredBox &box, const std::vector<int64_t> &index) {
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < box.origin[i] || index[i] >= box.origin[i] + box.size()[i]) {
      return false;
    }
  }
  return true;
}

/// Rows of one box follow each other, so the last one is asked first.
const StoredBox *TensorReader::findBox(const std::vector<int64_t> &index) {
  for (size_t turn = 0; turn < tensor.boxes.size(); ++turn) {
    size_t at = (last + turn) % tensor.boxes.size();
    if (isWithin(tensor.boxes[at], index)) {
      last = at;
      return &tensor.boxes[at];
    }
  }
  return nullptr;
}

static std::vector<int64_t> indexOf(int64_t element,
                                    const std::vector<int64_t> &shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = element % shape[i];
    element /= shape[i];
  }
  return index;
}

static int64_t offsetIn(const StoredBox &box,
                        const std::vector<int64_t> &index) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    offset = offset * box.size()[i] + index[i] - box.origin[i];
  }
  return offset;
}

Status TensorReader::read(int64_t global, int64_t length, DType dtype,
                          void *values) {
  constexpr uint64_t mostTaken = uint64_t(64) << 20;
  const int64_t from = sizeOf(tensor.dtype), to = sizeOf(dtype);
  auto *out = static_cast<std::byte *>(values);
  while (length > 0) {
    std::vector<int64_t> index = indexOf(global, tensor.shape);
    const StoredBox *box = findBox(index);
    if (!box) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected element {} in some file of the "
                                   "checkpoint, got none",
                                   global));
    }
    int64_t part = length;
    if (box->size() != tensor.shape) {
      part = std::min(length,
                      box->origin.back() + box->size().back() - index.back());
    }
    const uint8_t *data =
        box->file->data(*box->entry) + offsetIn(*box, index) * from;
    LLMC_TRY(convert(data, part, dtype, out));
    global += part;
    length -= part;
    out += part * to;
    taken += static_cast<uint64_t>(part * from);
    if (taken > mostTaken) {
      this->from.release();
      taken = 0;
    }
  }
  return Status::success();
}

Status TensorReader::convert(const uint8_t *data, int64_t length, DType dtype,
                             void *values) const {
  if (dtype == tensor.dtype) {
    std::memcpy(values, data, static_cast<size_t>(length * sizeOf(dtype)));
    return Status::success();
  }
  if (isFloat(dtype) != isFloat(tensor.dtype)) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected values of {}, got {}", nameOf(dtype),
                                 nameOf(tensor.dtype)));
  }
  for (int64_t i = 0; i < length; ++i) {
    if (isFloat(dtype)) {
      storeElement(dtype, values, i, loadElement(tensor.dtype, data, i));
      continue;
    }
    int64_t value = loadInteger(tensor.dtype, data, i);
    storeInteger(dtype, values, i, value);
    if (loadInteger(dtype, values, i) != value) {
      return makeError(
          ErrorKind::malformed,
          fmt::format("expected values of {}, got {}", nameOf(dtype), value));
    }
  }
  return Status::success();
}

} // namespace llmc::rt

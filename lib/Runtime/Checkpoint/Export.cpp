//===- Export.cpp - A checkpoint as one file of weights -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Checkpoint/Export.h"

#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Checkpoint/BoxFile.h"
#include "llmc/Runtime/Checkpoint/CheckpointFolder.h"
#include "llmc/Runtime/Checkpoint/StoredTensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unistd.h>

namespace llmc::rt {

/// Its path, checked.
static Result<std::string> findCheckpoint(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code code;
  if (!fs::exists(path + "/" + manifestName, code)) {
    return findNewest(path, [](const std::string &other, const Status &why) {
      fmt::print(stderr, "checkpoint {} passed over: {}\n", other,
                 describe(why.error()));
    });
  }
  LLMC_TRY_ASSIGN(CheckpointManifest manifest, readManifest(path));
  for (size_t i = 0; i < manifest.files.size(); ++i) {
    LLMC_TRY(checkFile(path, manifest, i));
  }
  return path;
}

static bool isOfTheModel(const CheckpointTensor &tensor) {
  return tensor.role != "optimizer" &&
         !(tensor.role == "carried" && isOurs(tensor.name));
}

/// A tensor of the checkpoint, and how the file calls it.
struct ExportedTensor {
  const CheckpointTensor *from = nullptr;
  std::string name;
};

/// By the name of its parameter; as the compiler calls it.
static const CheckpointTensor *findAverage(const CheckpointManifest &manifest,
                                           const std::string &parameter) {
  for (const CheckpointTensor &tensor : manifest.tensors) {
    if (tensor.role == "optimizer" && tensor.name == parameter + ".average") {
      return &tensor;
    }
  }
  return nullptr;
}

static std::vector<ExportedTensor> choose(const CheckpointManifest &manifest,
                                          ExportedStates states) {
  std::vector<ExportedTensor> chosen;
  for (const CheckpointTensor &tensor : manifest.tensors) {
    if (states != ExportedStates::all && !isOfTheModel(tensor)) {
      continue;
    }
    const CheckpointTensor *average = states == ExportedStates::averages
                                          ? findAverage(manifest, tensor.name)
                                          : nullptr;
    chosen.push_back({average ? average : &tensor, tensor.name});
  }
  return chosen;
}

/// Of the checkpoint's tensor `name`, by what `box` calls it.
static Status writeTensor(const StoredTensors &stored, const std::string &name,
                          const TensorBox &box, BoxFileWriter &file) {
  constexpr int64_t pieceBytes = 1 << 20;
  const int64_t bytes = sizeOf(box.dtype), all = box.elements();
  const StoredTensor &tensor = *stored.find(name);
  bool isOne = tensor.boxes.size() == 1;
  int64_t row =
      isOne || box.shape.empty() ? std::max<int64_t>(all, 1) : box.shape.back();
  std::vector<std::byte> piece;
  TensorReader reader(stored, tensor);
  for (int64_t at = 0; at < all;) {
    int64_t left = std::min(row - at % row, all - at);
    int64_t length = std::min(left, std::max<int64_t>(1, pieceBytes / bytes));
    piece.resize(static_cast<size_t>(length * bytes));
    LLMC_TRY(reader.read(at, length, box.dtype, piece.data()));
    LLMC_TRY(file.append(piece.data(), piece.size()));
    at += length;
  }
  return Status::success();
}

static Result<CheckpointFile>
writeAll(const StoredTensors &stored, const std::vector<ExportedTensor> &chosen,
         const std::string &path) {
  std::vector<TensorBox> boxes;
  for (const ExportedTensor &each : chosen) {
    const CheckpointTensor &tensor = *each.from;
    std::vector<int64_t> origin(tensor.shape.size(), 0);
    boxes.push_back(
        {each.name, tensor.dtype, tensor.shape, origin, tensor.shape});
  }
  // Loaders of PyTorch want to read of whom a file is.
  LLMC_TRY_ASSIGN(std::string header, printBoxHeader(boxes, "pt"));
  LLMC_TRY_ASSIGN(auto file,
                  BoxFileWriter::create(systemCalls(), path, header));
  for (size_t i = 0; i < boxes.size(); ++i) {
    LLMC_TRY(writeTensor(stored, chosen[i].from->name, boxes[i], *file));
  }
  LLMC_TRY(file->close());
  return file->finish();
}

Result<Exported> exportCheckpoint(const std::string &checkpointOrFolder,
                                  const std::string &path,
                                  ExportedStates states) {
  LLMC_TRY_ASSIGN(std::string checkpoint, findCheckpoint(checkpointOrFolder));
  LLMC_TRY_ASSIGN(CheckpointManifest manifest, readManifest(checkpoint));
  LLMC_TRY_ASSIGN(StoredTensors stored,
                  StoredTensors::open(checkpoint, manifest));
  std::vector<ExportedTensor> chosen = choose(manifest, states);
  bool hasAverages =
      std::any_of(chosen.begin(), chosen.end(), [](const ExportedTensor &each) {
        return each.from->name != each.name;
      });
  if (states == ExportedStates::averages && !hasAverages) {
    return makeError(ErrorKind::usage,
                     "expected averages of parameters, got a checkpoint of a "
                     "run without 'training.average'")
        .at(checkpoint);
  }
  std::string temporary = fmt::format("{}.writing-{}", path, ::getpid());
  Result<CheckpointFile> written = writeAll(stored, chosen, temporary);
  Status status = written.status();
  if (status.ok()) {
    status = systemCalls().rename(temporary, path);
  }
  if (!status.ok()) {
    (void)systemCalls().remove(temporary);
    return status;
  }
  std::string folder = std::filesystem::path(path).parent_path().string();
  LLMC_TRY(systemCalls().syncFolder(folder.empty() ? "." : folder));
  return Exported{checkpoint, manifest.step, chosen.size(), written->bytes};
}

} // namespace llmc::rt

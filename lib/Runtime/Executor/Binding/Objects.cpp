//===- Objects.cpp - The plan's kernel objects ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/ObjectsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Objects.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc::rt::exec {

static Status mismatch(std::string message, const std::string &path) {
  return makeError(ErrorKind::mismatch, std::move(message)).at(path);
}

/// The file lies in the plan's folder and is the user's own.
static Status checkOwner(const std::string &path, bool trust) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) {
    return mismatch("kernel object is missing", path);
  }
  if (!S_ISREG(info.st_mode)) {
    return mismatch("expected kernel object to be a regular file", path);
  }
  bool own = info.st_uid == geteuid() && !(info.st_mode & (S_IWGRP | S_IWOTH));
  if (!own && !trust) {
    return mismatch("kernel object belongs to another user or may be written "
                    "by others",
                    path)
        .withHint("pass --trust-kernels if you trust its code");
  }
  return Status::success();
}

static Status checkObject(const plan::KernelObject &object,
                          const std::string &path, bool trust,
                          const std::vector<std::string> &features) {
  bool plain = !object.file.empty() && object.file[0] != '.' &&
               object.file.find('/') == std::string::npos;
  if (!plain) {
    return mismatch("expected a kernel object with a plain file name", path);
  }
  LLMC_TRY(checkOwner(path, trust));
  LLMC_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  uint64_t hash = hash64(file.data(), file.size());
  if (hash != object.hash) {
    return mismatch(fmt::format("expected kernel object with hash {}, got {}",
                                hexDigits(object.hash), hexDigits(hash)),
                    path);
  }
  for (const std::string &feature : object.features) {
    if (std::find(features.begin(), features.end(), feature) ==
        features.end()) {
      return mismatch(
                 fmt::format("expected a processor with feature '{}'", feature),
                 path)
          .withHint("compile the plan on this machine");
    }
  }
  return Status::success();
}

/// Codes keep their images.
static void append(const plan::Manifest &manifest, plan::Manifest &all) {
  auto first = static_cast<uint32_t>(all.images.size());
  all.features.insert(all.features.end(), manifest.features.begin(),
                      manifest.features.end());
  all.images.insert(all.images.end(), manifest.images.begin(),
                    manifest.images.end());
  for (plan::KernelInfo kernel : manifest.kernels) {
    for (plan::KernelCode &code : kernel.codes) {
      code.image += first;
    }
    all.kernels.push_back(std::move(kernel));
  }
}

Result<plan::Manifest> loadObjects(const plan::Plan &plan,
                                   const std::string &folder, bool trust,
                                   const std::vector<std::string> &features,
                                   Device &device) {
  plan::Manifest all;
  for (const plan::KernelObject &object : plan.objects) {
    std::string path = folder + "/" + object.file;
    LLMC_TRY(checkObject(object, path, trust, features));
    LLMC_TRY_ASSIGN(const void *data, device.load(path));
    if (!data) {
      return mismatch("expected a manifest in the kernel object", path);
    }
    Result<plan::Manifest> manifest = plan::parseManifest(data);
    if (!manifest) {
      return manifest.status().at(path);
    }
    append(*manifest, all);
  }
  return all;
}

KernelShape shapeOf(const plan::Manifest &manifest,
                    const plan::KernelInfo &info) {
  KernelShape shape{info.name,
                    info.rows,
                    static_cast<uint64_t>(info.scratchBytes),
                    info.rowsPerBlock,
                    info.threadsPerBlock,
                    info.sharedBytes,
                    {}};
  for (const plan::KernelCode &code : info.codes) {
    const plan::KernelImage &image = manifest.images[code.image];
    shape.images.push_back(
        {image.format, image.architecture, code.symbol, image.data});
  }
  return shape;
}

} // namespace llmc::rt::exec

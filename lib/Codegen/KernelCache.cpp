//===- KernelCache.cpp - Kernels compiled before --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry is the object after a hash of it:
//
//   <folder>/41c0…9f.o = [hash64 of the object, 8 bytes] [object]
//   <folder>/trimmed   = nothing; when it was written, entries were trimmed
//
// Test: test/Codegen/KernelCacheTest.cpp
//
//===----------------------------------------------------------------------===//

#include "llmc/Codegen/KernelCache.h"
#include "Processor.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace fs = llvm::sys::fs;

namespace llmc::codegen {

static constexpr size_t kHashBytes = 8;

/// What made the objects, beside what they are made of.
static std::string describeCompiler() {
  struct stat info = {};
  stat("/proc/self/exe", &info);
  std::string text = LLVM_VERSION_STRING;
  for (int64_t number : {static_cast<int64_t>(info.st_size),
                         static_cast<int64_t>(info.st_mtim.tv_sec),
                         static_cast<int64_t>(info.st_mtim.tv_nsec),
                         static_cast<int64_t>(getVectorBits())})
    text += " " + std::to_string(number);
  return text + " " + llvm::join(getProcessorFeatures(), ",");
}

rt::Result<KernelCache> KernelCache::open(const std::string &folder) {
  auto refuse = [&](const std::string &found) {
    return rt::makeError(rt::ErrorKind::usage,
                         "kernel cache: expected a folder that you own and "
                         "nobody else may write, got '" +
                             folder + "', " + found);
  };
  if (std::error_code code = fs::create_directories(
          folder, /*IgnoreExisting=*/true, fs::perms::owner_all))
    return refuse(code.message());
  struct stat info = {};
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return refuse("which is no folder");
  if (info.st_uid != geteuid())
    return refuse("which belongs to another user");
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return refuse("which others may write");
  return KernelCache(folder, describeCompiler());
}

std::string KernelCache::getKey(StringRef code) const {
  std::string text = compiler + "\n" + code.str();
  return rt::hexDigits(rt::hash64(text)) +
         rt::hexDigits(rt::hash64(text, /*seed=*/1));
}

std::string KernelCache::getPath(StringRef key) const {
  return folder + "/" + key.str() + ".o";
}

std::optional<std::string> KernelCache::find(StringRef key) const {
  std::string path = getPath(key);
  if (!fs::exists(path))
    return std::nullopt;
  rt::Result<std::string> entry = rt::readFile(path);
  if (!entry || entry->size() < kHashBytes)
    return std::nullopt;
  std::string object = entry->substr(kHashBytes);
  if (llvm::support::endian::read64le(entry->data()) != rt::hash64(object))
    return std::nullopt;
  // The time of its last use, for trim.
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return object;
}

rt::Status KernelCache::store(StringRef key, StringRef object) const {
  std::string entry(kHashBytes, '\0');
  llvm::support::endian::write64le(entry.data(),
                                   rt::hash64(object.data(), object.size()));
  // Beside its name and renamed; it need not outlast a crash of the machine.
  llvm::Error error =
      llvm::writeToOutput(getPath(key), [&](llvm::raw_ostream &stream) {
        stream << entry << object;
        return llvm::Error::success();
      });
  if (error)
    return rt::makeError(rt::ErrorKind::usage,
                         "kernel cache: expected to write '" + getPath(key) +
                             "', got: " + llvm::toString(std::move(error)));
  return rt::Status::success();
}

/// Whether a file of the folder is an entry: the user may keep others there.
static bool isEntry(StringRef path) {
  StringRef name = llvm::sys::path::filename(path);
  return name.consume_back(".o") && name.size() == 32 &&
         llvm::all_of(name, llvm::isHexDigit);
}

void KernelCache::trim(uint64_t bytes) const {
  struct Entry {
    llvm::sys::TimePoint<> used;
    uint64_t size;
    std::string path;
  };
  std::vector<Entry> entries;
  std::error_code code;
  uint64_t total = 0;
  for (fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code)) {
    fs::file_status status;
    if (!isEntry(it->path()) || fs::status(it->path(), status))
      continue;
    entries.push_back(
        {status.getLastModificationTime(), status.getSize(), it->path()});
    total += status.getSize();
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  for (const Entry &entry : entries) {
    if (total <= bytes)
      return;
    fs::remove(entry.path);
    total -= entry.size;
  }
}

void KernelCache::trimAtTimes() const {
  std::string mark = folder + "/trimmed";
  fs::file_status status;
  if (!fs::status(mark, status)) {
    // A mark of a clock that was ahead says nothing.
    auto age =
        std::chrono::system_clock::now() - status.getLastModificationTime();
    if (age >= age.zero() && age < std::chrono::minutes(10))
      return;
  }
  if (llvm::Error error = llvm::writeToOutput(
          mark, [](llvm::raw_ostream &) { return llvm::Error::success(); }))
    llvm::consumeError(std::move(error)); // Then the next one trims again.
  trim();
}

} // namespace llmc::codegen

//===- ExternalData.cpp - Elements in files beside the model --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Import/Onnx/ExternalDataTest.cpp
//===----------------------------------------------------------------------===//

#include "ExternalData.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace llmc;
using namespace llmc::onnx;
using llvm::StringRef;
using rt::ErrorKind;

namespace {
/// Closes on destruction.
class OpenFile {
public:
  explicit OpenFile(int fd) : fd(fd) {}
  OpenFile(const OpenFile &) = delete;
  ~OpenFile() {
    if (fd >= 0)
      ::close(fd);
  }
  int get() const { return fd; }
  void reset(int other) {
    if (fd >= 0)
      ::close(fd);
    fd = other;
  }

private:
  int fd;
};
} // namespace

static rt::Status refuseData(const Tensor &tensor, const std::string &message) {
  return rt::makeError(ErrorKind::malformed, "external data of tensor '" +
                                                 std::string(tensor.name) +
                                                 "': " + message);
}

ExternalData::ExternalData(const std::string &model) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(model, error);
  folder = path.parent_path().string();
}

/// Opens `location` below `folder`, step by step; a status says what it is not.
static rt::Status openBeneath(const Tensor &tensor, const std::string &folder,
                              StringRef location, OpenFile &file) {
  llvm::SmallVector<StringRef> steps;
  location.split(steps, '/');
  bool isPlain = !location.empty() && !location.contains('\0');
  for (StringRef step : steps)
    isPlain &= !step.empty() && step != "." && step != "..";
  if (!isPlain)
    return refuseData(tensor,
                      "expected a path within the model's folder, got '" +
                          location.str() + "'");
  file.reset(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (size_t i = 0; i < steps.size() && file.get() >= 0; ++i) {
    bool isLast = i + 1 == steps.size();
    file.reset(::openat(file.get(), steps[i].str().c_str(),
                        O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
                            (isLast ? 0 : O_DIRECTORY)));
  }
  if (file.get() < 0)
    return refuseData(
        tensor,
        errno == ELOOP
            ? "expected no symbolic link in '" + location.str() + "', got one"
            : "cannot open '" + location.str() + "': " + std::strerror(errno));
  return rt::Status::success();
}

/// The size of what was opened, which is a file of its own.
static rt::Result<int64_t> checkOpened(const Tensor &tensor, StringRef location,
                                       const OpenFile &file) {
  struct stat info;
  if (::fstat(file.get(), &info) != 0)
    return refuseData(tensor, "cannot read '" + location.str() +
                                  "': " + std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return refuseData(tensor,
                      "expected a regular file, got '" + location.str() + "'");
  if (info.st_nlink > 1)
    return refuseData(tensor, "expected a file with one name, got '" +
                                  location.str() + "' with " +
                                  std::to_string(info.st_nlink));
  return static_cast<int64_t>(info.st_size);
}

/// A decimal number, or `otherwise` where the key is not there.
static rt::Result<int64_t> readNumber(const Tensor &tensor,
                                      std::string_view key, int64_t otherwise) {
  auto found = tensor.external.find(key);
  if (found == tensor.external.end())
    return otherwise;
  StringRef text(found->second.data(), found->second.size());
  int64_t number = 0;
  if (text.empty() || !llvm::all_of(text, llvm::isDigit) ||
      text.getAsInteger(10, number))
    return refuseData(tensor, "expected '" + std::string(key) +
                                  "' to be a number, got '" + text.str() + "'");
  return number;
}

rt::Result<FileRegion> ExternalData::find(const Tensor &tensor, int64_t bytes) {
  auto found = tensor.external.find("location");
  if (found == tensor.external.end())
    return refuseData(tensor, "expected a location, got none");
  StringRef location(found->second.data(), found->second.size());
  std::string path = folder + "/" + location.str();
  auto known = sizes.find(path);
  if (known == sizes.end()) {
    OpenFile file(-1);
    LLMC_TRY(openBeneath(tensor, folder, location, file));
    LLMC_TRY_ASSIGN(int64_t size, checkOpened(tensor, location, file));
    known = sizes.emplace(path, size).first;
  }
  LLMC_TRY_ASSIGN(int64_t offset, readNumber(tensor, "offset", 0));
  int64_t rest = known->second - offset;
  if (rest < 0)
    return refuseData(tensor, "expected an offset of at most " +
                                  std::to_string(known->second) + ", got " +
                                  std::to_string(offset));
  LLMC_TRY_ASSIGN(int64_t length, readNumber(tensor, "length", rest));
  if (length > rest || length != bytes)
    return refuseData(tensor, "expected " + std::to_string(bytes) +
                                  " bytes within the file, got " +
                                  std::to_string(length) + " of " +
                                  std::to_string(rest));
  return FileRegion{path, offset, length};
}

rt::Result<std::string> ExternalData::read(const FileRegion &region) const {
  OpenFile file(::open(region.path.c_str(),
                       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::string bytes(region.bytes, '\0');
  size_t done = 0;
  while (file.get() >= 0 && done < bytes.size()) {
    ssize_t n = ::pread(file.get(), bytes.data() + done, bytes.size() - done,
                        region.offset + static_cast<int64_t>(done));
    if (n <= 0)
      break;
    done += n;
  }
  if (done == bytes.size())
    return bytes;
  return rt::makeError(ErrorKind::malformed,
                       "expected " + std::to_string(bytes.size()) +
                           " bytes at " + std::to_string(region.offset) +
                           ", got " + std::to_string(done))
      .at(region.path);
}

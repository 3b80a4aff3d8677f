//===- OptionValues.cpp - What values of flags say ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OptionValues.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Runtime/Comm/Backend.h"

using namespace llmc;
using namespace llmc::driver;

static rt::Status refuseValue(std::string message) {
  return rt::makeError(rt::ErrorKind::usage, std::move(message));
}

rt::Status
driver::parseMesh(StringRef text,
                  std::vector<std::pair<std::string, int64_t>> &mesh) {
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, false);
  for (StringRef part : parts) {
    auto [axis, size] = part.split('=');
    int64_t number = 0;
    if (axis.empty() || size.getAsInteger(10, number) || number < 1)
      return refuseValue(
          "--mesh: expected axis=size with a size of at least 1, got '" +
          part.str() + "'");
    for (auto &[known, other] : mesh)
      if (known == axis)
        return refuseValue("--mesh: expected each axis once, got '" +
                           axis.str() + "' again");
    mesh.push_back({axis.str(), number});
  }
  return rt::Status::success();
}

rt::Status
driver::parseDim(StringRef text,
                 std::vector<std::pair<std::string, int64_t>> &dims) {
  auto [name, size] = text.rsplit('=');
  int64_t number = 0;
  if (name.empty() || size.getAsInteger(10, number) || number < 0)
    return refuseValue(
        "--dim: expected name=size with a size of at least 0, got '" +
        text.str() + "'");
  for (auto &[known, other] : dims)
    if (known == name)
      return refuseValue("--dim: expected each name once, got '" + name.str() +
                         "' again");
  dims.push_back({name.str(), number});
  return rt::Status::success();
}

rt::Result<std::string> driver::findCodeTarget(const std::string &device) {
  if (device.find(':') != std::string::npos) {
    auto known = codegen::CodeTarget::parse(device);
    return known.ok() ? rt::Result<std::string>(device)
                      : refuseValue("--device: " + known.message());
  }
  // "cuda+cudnn": with libraries that are used where somebody asks for them.
  size_t plus = std::min(device.find('+'), device.size());
  LLMC_TRY_ASSIGN(const rt::Backend *backend,
                  rt::findBackend(device.substr(0, plus)));
  LLMC_TRY_ASSIGN(std::string target, backend->codeTarget());
  target += device.substr(plus);
  auto known = codegen::CodeTarget::parse(target);
  return known.ok() ? rt::Result<std::string>(target)
                    : refuseValue("--device: " + known.message());
}

//===- LoadTransport.cpp - Libraries that send messages -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library of messages is loaded only when a job asks for it, so that programs
// start on machines that have none.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Job/Job.h"

#include <fmt/format.h>

#include <dlfcn.h>
#include <unistd.h>

namespace llmc::rt {

static std::string programFolder() {
  char path[4096];
  ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  std::string text(path, length > 0 ? static_cast<size_t>(length) : 0);
  return text.substr(0, text.rfind('/'));
}

static Result<MakeTransport> openLibrary(const std::string &library) {
  const std::string file = "libllmc-" + library + ".so";
  const std::string folder = programFolder();
  void *module = nullptr;
  std::string reasons;
  for (const std::string &path :
       {folder + "/../lib/llmc/" + file, folder + "/" + file}) {
    module = module ? module : ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    reasons =
        module ? "" : reasons + (reasons.empty() ? "" : "; ") + ::dlerror();
  }
  if (!module) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected the library of messages '{}', got "
                                 "none ({})",
                                 library, reasons))
        .withHint("install the library and build llmc with it");
  }
  auto make =
      reinterpret_cast<MakeTransport>(::dlsym(module, makeTransportSymbol));
  if (!make) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected '{}' in {}, got none",
                                 makeTransportSymbol, file));
  }
  return make;
}

Status checkTransport(const std::string &library) {
  return openLibrary(library).status();
}

Result<std::shared_ptr<Transport>>
loadTransport(const std::string &library, Store &store, const Place &place) {
  LLMC_TRY_ASSIGN(MakeTransport make, openLibrary(library));
  Status error;
  std::shared_ptr<Transport> transport(make(store, place, error));
  return transport ? Result<std::shared_ptr<Transport>>(std::move(transport))
                   : Result<std::shared_ptr<Transport>>(error);
}

} // namespace llmc::rt

//===- KernelLink.cpp - The shared object of a plan's kernels -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that the objects call nothing but the C library's moves of memory,
// which compilers make out of loops, then runs the linker as a child process.
// The shared object is written beside its final name and renamed, so that a
// file of that name is always whole.
//
// Test: test/Codegen/KernelObjectTest.cpp
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace mlir;

namespace llmc::codegen {

static LogicalResult checkSymbols(ModuleOp kernels, StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(object, "kernels.o"));
  if (!file)
    return kernels.emitError("expected a readable object file, got: ")
           << llvm::toString(file.takeError());
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    uint32_t flags = llvm::cantFail(symbol.getFlags());
    StringRef name = llvm::cantFail(symbol.getName());
    if (!(flags & llvm::object::SymbolRef::SF_Undefined) || name.empty() ||
        isLibrarySymbol(name) || name == "_GLOBAL_OFFSET_TABLE_")
      continue;
    return kernels.emitError("expected kernels that need only the C library's "
                             "moves of memory, got a call of '")
           << name << "'";
  }
  return success();
}

static FailureOr<std::string> findLinker(ModuleOp kernels) {
  for (StringRef name : {"ld.lld-22", "ld.lld"})
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  if (auto path =
          llvm::sys::findProgramByName("ld.lld", {"/usr/lib/llvm-22/bin"}))
    return *path;
  return emitRefusal(kernels, rt::ErrorKind::usage)
         << ("expected the linker 'ld.lld-22' in PATH, got none; "
             "it comes with the package lld-22");
}

/// Writes the objects as one archive, which the linker takes as a whole.
static std::error_code writeObjects(ArrayRef<std::string> objects,
                                    StringRef path) {
  std::vector<llvm::NewArchiveMember> members;
  for (const std::string &object : objects)
    members.emplace_back(llvm::MemoryBufferRef(object, "kernel.o"));
  return llvm::errorToErrorCode(llvm::writeArchive(
      path, members, llvm::SymtabWritingMode::NoSymtab,
      llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false));
}

LogicalResult linkKernels(ModuleOp kernels, ArrayRef<std::string> objects,
                          StringRef path) {
  for (const std::string &object : objects)
    if (failed(checkSymbols(kernels, object)))
      return failure();
  FailureOr<std::string> linker = findLinker(kernels);
  if (failed(linker))
    return failure();
  std::string archivePath = (path + ".a").str();
  std::string sharedPath = (path + ".part").str();
  std::string logPath = (path + ".log").str();
  llvm::scope_exit cleanUp([&] {
    for (const std::string &file : {archivePath, sharedPath, logPath})
      llvm::sys::fs::remove(file);
  });
  std::error_code code = writeObjects(objects, archivePath);
  if (code)
    return emitRefusal(kernels, rt::ErrorKind::usage)
           << "expected to write '" << archivePath
           << "', got: " << code.message();
  StringRef arguments[] = {*linker,    "-shared",          "--build-id=none",
                           "-znow",    "--hash-style=gnu", "-o",
                           sharedPath, "--whole-archive",  archivePath};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(logPath),
                                          StringRef(logPath)};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt,
                                         redirects, /*SecondsToWait=*/120,
                                         /*MemoryLimit=*/0, &message);
  if (status != 0) {
    if (auto log = llvm::MemoryBuffer::getFile(logPath))
      message += (*log)->getBuffer().take_front(2000).str();
    return kernels.emitError("expected '")
           << *linker << "' to link '" << path << "', got status " << status
           << ": " << StringRef(message).trim();
  }
  if ((code = llvm::sys::fs::rename(sharedPath, path)))
    return emitRefusal(kernels, rt::ErrorKind::usage)
           << "expected to write '" << path << "', got: " << code.message();
  return success();
}

} // namespace llmc::codegen

//===- Modules.cpp - Images of kernels, and functions in them -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only image that the stand-in runs is a shared object for this processor
// whose functions are of type LlmcLaneFn. It is loaded from memory.
//
//===----------------------------------------------------------------------===//

#include "Driver/Call.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace llmc::standin;

static constexpr unsigned kAll = kInitialised | kContext | kUnsafe;
static constexpr uint16_t kMachineCuda = 190; // of a cubin

/// How many bytes an ELF file has, by its own headers.
static size_t bytesOf(const char *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  size_t bytes = header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    std::memcpy(&part, image + header.e_phoff + i * header.e_phentsize,
                sizeof part);
    bytes = std::max<size_t>(bytes, part.p_offset + part.p_filesz);
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr part;
    std::memcpy(&part, image + header.e_shoff + i * header.e_shentsize,
                sizeof part);
    if (part.sh_type != SHT_NOBITS)
      bytes = std::max<size_t>(bytes, part.sh_offset + part.sh_size);
  }
  return bytes;
}

static CUresult checkImage(Call &call, const void *image) {
  if (!image)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no image");
  const char *text = static_cast<const char *>(image);
  if (std::memcmp(text, ELFMAG, SELFMAG) != 0) {
    bool ptx = std::strncmp(text, "//", 2) == 0 ||
               std::strncmp(text, ".version", 8) == 0;
    return ptx ? call.refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                             "the stand-in compiles no PTX")
               : call.refuse(CUDA_ERROR_INVALID_IMAGE, "neither ELF nor PTX");
  }
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  if (header.e_machine == kMachineCuda)
    return call.refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                       "the stand-in runs no machine code of a GPU");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
      header.e_machine != EM_X86_64)
    return call.refuse(CUDA_ERROR_INVALID_IMAGE,
                       "an ELF file, but no shared object for x86-64");
  return CUDA_SUCCESS;
}

static bool writeAll(int file, const char *data, size_t bytes) {
  while (bytes) {
    ssize_t done = write(file, data, bytes);
    if (done <= 0)
      return false;
    data += done;
    bytes -= done;
  }
  return true;
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *handle, const void *image) {
  Call call("cuModuleLoadData", kAll);
  if (call.result)
    return call.result;
  if (!handle)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the module");
  if (checkImage(call, image))
    return call.result;
  auto module = std::make_shared<Module>();
  module->context = call.context;
  // The file stays open with the module: its number is the library's name.
  module->file = memfd_create("llmc-kernels", MFD_CLOEXEC);
  if (module->file < 0 ||
      !writeAll(module->file, static_cast<const char *>(image),
                bytesOf(static_cast<const char *>(image))))
    return call.refuse(CUDA_ERROR_OPERATING_SYSTEM, "no file in memory");
  std::string path = format("/proc/self/fd/%d", module->file);
  module->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module->library)
    return call.refuse(CUDA_ERROR_INVALID_IMAGE, dlerror());
  *handle = static_cast<CUmodule>(Handles::get().add(module));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *handle, const void *image,
                                    unsigned int numOptions,
                                    CUjit_option *options, void **values) {
  if (numOptions && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  // There is nothing to compile, so the logs are empty, and levels no matter.
  for (unsigned i = 0; i < numOptions; ++i)
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ||
        options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      values[i] = nullptr;
  return cuModuleLoadData(handle, image);
}

CUresult CUDAAPI cuModuleUnload(CUmodule handle) {
  Call call("cuModuleUnload", kAll);
  if (call.result)
    return call.result;
  std::shared_ptr<Module> module = call.object<Module>(handle);
  if (!module)
    return call.result;
  if (call.context != module->context)
    return call.refuse(CUDA_ERROR_INVALID_CONTEXT, "of another context");
  if (module->pending)
    violation("cuModuleUnload of a module of which %u submitted launches are "
              "not done",
              module->pending);
  for (CUfunction function : module->functions)
    Handles::get().remove(*Handles::get().find<Function>(function));
  Handles::get().remove(*module);
  return CUDA_SUCCESS;
}

/// The address of a symbol that the library itself defines, or null.
static void *ownSymbol(void *library, const char *name) {
  void *address = dlsym(library, name);
  Dl_info info;
  link_map *map = nullptr;
  if (!address || dlinfo(library, RTLD_DI_LINKMAP, &map) ||
      !dladdr(address, &info) ||
      reinterpret_cast<uint64_t>(info.dli_fbase) != map->l_addr)
    return nullptr;
  return address;
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *handle, CUmodule from,
                                     const char *name) {
  Call call("cuModuleGetFunction", kInitialised | kContext);
  if (call.result)
    return call.result;
  std::shared_ptr<Module> module = call.object<Module>(from);
  if (!module)
    return call.result;
  if (!handle || !name)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no name, or no place");
  for (CUfunction known : module->functions)
    if (Handles::get().find<Function>(known)->name == name) {
      *handle = known;
      return CUDA_SUCCESS;
    }
  void *address = ownSymbol(module->library, name);
  if (!address)
    return call.refuse(CUDA_ERROR_NOT_FOUND, "no such function");
  auto function = std::make_shared<Function>();
  function->module = module;
  function->name = name;
  function->entry = reinterpret_cast<LlmcLaneFn>(address);
  std::string counter = std::string(name) + "_parameters";
  if (void *count = ownSymbol(module->library, counter.c_str()))
    function->parameters = *static_cast<const uint32_t *>(count);
  *handle = static_cast<CUfunction>(Handles::get().add(function));
  module->functions.push_back(*handle);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncGetModule(CUmodule *module, CUfunction handle) {
  Call call("cuFuncGetModule", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Function> function = call.object<Function>(handle);
  if (!function || !module)
    return call.result ? call.result : CUDA_ERROR_INVALID_VALUE;
  *module = static_cast<CUmodule>(function->module->handle);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute name,
                                    CUfunction handle) {
  Call call("cuFuncGetAttribute", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Function> function = call.object<Function>(handle);
  if (!function)
    return call.result;
  if (!value)
    return call.refuse(CUDA_ERROR_INVALID_VALUE, "no place for the value");
  switch (name) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = 1024;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = 0;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = 32;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = 90;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = function->maxDynamicShared;
    return CUDA_SUCCESS;
  default:
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "an attribute that the stand-in does not know");
  }
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction handle,
                                    CUfunction_attribute name, int value) {
  Call call("cuFuncSetAttribute", kInitialised);
  if (call.result)
    return call.result;
  std::shared_ptr<Function> function = call.object<Function>(handle);
  if (!function)
    return call.result;
  if (name == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT &&
      value >= -1 && value <= 100)
    return CUDA_SUCCESS; // a hint
  if (name != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "an attribute that cannot be set");
  if (value < 0 || value > 232448)
    return call.refuse(CUDA_ERROR_INVALID_VALUE,
                       "more shared memory than a block may have");
  function->maxDynamicShared = value;
  return CUDA_SUCCESS;
}

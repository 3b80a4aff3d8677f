//===- Argsort.h - Orders along a dim on CPU --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys become unsigned numbers that grow in their order. A row becomes items,
// each of them its keys and its position, so that no two are equal and any sort
// is stable; nothing is allocated, as std::stable_sort would.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_ARGSORT_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_ARGSORT_H

#include "LibraryOp.h"

namespace llmc::rt::cpu {

Result<std::unique_ptr<CpuLibraryOp>>
makeArgsort(const ArgsortShape &shape, const std::string &name, int threads);

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_ARGSORT_H

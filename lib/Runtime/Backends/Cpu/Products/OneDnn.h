//===- OneDnn.h - What all calls of oneDNN share ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_ONEDNN_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_ONEDNN_H

#include <oneapi/dnnl/dnnl.hpp>

namespace llmc::rt::cpu {

/// oneDNN sizes a primitive for the threads of the thread that makes it: while
/// this lives, for one.
class OneThread {
public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread &) = delete;
  OneThread &operator=(const OneThread &) = delete;

private:
  int before;
};

const dnnl::engine &libraryEngine();

/// A stream of the calling worker.
const dnnl::stream &workerStream();

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_ONEDNN_H

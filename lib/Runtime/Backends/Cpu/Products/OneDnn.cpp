//===- OneDnn.cpp - What all calls of oneDNN share ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OneDnn.h"

#include "../LibraryOp.h"

// OpenMP's own header belongs to another compiler's runtime than the one that
// oneDNN is linked with; these two are all that is needed of it.
extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

namespace llmc::rt::cpu {

OneThread::OneThread() : before(omp_get_max_threads()) {
  omp_set_num_threads(1);
}
OneThread::~OneThread() { omp_set_num_threads(before); }

const dnnl::engine &libraryEngine() {
  static const dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

const dnnl::stream &workerStream() {
  thread_local const dnnl::stream instance(libraryEngine());
  return instance;
}

std::string libraryVersion() {
  const dnnl_version_t &version = *dnnl_version();
  return std::to_string(version.major) + "." + std::to_string(version.minor) +
         "." + std::to_string(version.patch);
}

void limitLibraryThreads() {
  omp_set_num_threads(1);
  // What the library keeps for a thread is made here, not in a step.
  workerStream();
}

} // namespace llmc::rt::cpu

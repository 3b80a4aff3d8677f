//===- LibraryContraction.h - Contractions by oneDNN ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the forms of a contraction that call oneDNN share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_LIBRARYCONTRACTION_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_LIBRARYCONTRACTION_H

#include "Contraction.h"

#include "OneDnn.h"

#include <optional>

namespace llmc::rt::cpu {

/// A product of oneDNN; its buffers lie as `desc` says.
class LibrarySlice final : public OpSlice {
public:
  explicit LibrarySlice(const dnnl::matmul::primitive_desc &desc);
  uint64_t workspaceBytes() const override {
    return workspace.get_desc().get_size();
  }
  void run(const SliceBuffers &at) override;

private:
  dnnl::matmul primitive;
  dnnl::memory a, b, c, workspace;
  dnnl::memory bias; ///< Null where there is none.
};

/// The product of `shape`; with `isPacked`, b lies as oneDNN wants it. None
/// where oneDNN cannot express it.
Result<std::optional<dnnl::matmul::primitive_desc>>
describeProduct(const MatrixShape &shape, bool isPacked);

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_LIBRARYCONTRACTION_H

//===- EmptyManifest.cpp - An object whose manifest is none ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

extern "C" {
alignas(16) extern char llmc_kernel_manifest[1024];
alignas(16) char llmc_kernel_manifest[1024];
}

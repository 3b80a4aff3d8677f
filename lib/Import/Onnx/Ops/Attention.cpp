//===- Attention.cpp - Attention and rotary embeddings --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;

void onnx::addAttentionOps(OpTable &table) {}

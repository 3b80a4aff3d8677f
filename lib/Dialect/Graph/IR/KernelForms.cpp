//===- KernelForms.cpp - Forms that kernels of an op may have -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See KernelForms.h. Test: test/Dialect/Graph/AnswersTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/KernelForms.h"

namespace llmc::graph {
#include "llmc/Dialect/Graph/IR/KernelForms.cpp.inc"

StringRef nameOf(KernelForm form) {
  switch (form) {
  case KernelForm::Element:
    return "element";
  case KernelForm::Reduction:
    return "reduction";
  case KernelForm::Library:
    return "library";
  case KernelForm::Update:
    return "update";
  case KernelForm::Alias:
    return "view";
  case KernelForm::Decompose:
    return "other ops";
  }
  return "";
}
} // namespace llmc::graph

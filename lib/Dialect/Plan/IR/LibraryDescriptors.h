//===- LibraryDescriptors.h - Descriptors to attributes ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kinds of descriptors share; `getDescriptorAttr` is for the rest.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_PLAN_IR_LIBRARYDESCRIPTORS_H
#define LLMC_DIALECT_PLAN_IR_LIBRARYDESCRIPTORS_H

#include "llmc/Dialect/Plan/IR/Plan.h"

namespace llmc::plan {

/// The signless type, but for unsigned integers.
mlir::Type getElementType(mlir::MLIRContext *context, rt::DType type);

LibraryDescriptorInterface getAttentionAttr(mlir::MLIRContext *context,
                                            const rt::AttentionShape &shape);
LibraryDescriptorInterface getArgsortAttr(mlir::MLIRContext *context,
                                          const rt::ArgsortShape &shape);
LibraryDescriptorInterface
getGroupedContractionAttr(mlir::MLIRContext *context,
                          const rt::GroupedContractionShape &shape);

} // namespace llmc::plan

#endif // LLMC_DIALECT_PLAN_IR_LIBRARYDESCRIPTORS_H

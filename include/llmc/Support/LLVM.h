//===- LLVM.h - Names of LLVM and MLIR used in headers ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Headers of the compiler house include this file instead of writing
// `using namespace mlir`. Source files may use the whole namespace.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_LLVM_H
#define LLMC_SUPPORT_LLVM_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/LogicalResult.h"

namespace llmc {
using llvm::ArrayRef;
using llvm::cast;
using llvm::dyn_cast;
using llvm::failed;
using llvm::failure;
using llvm::FailureOr;
using llvm::function_ref;
using llvm::isa;
using llvm::LogicalResult;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using llvm::succeeded;
using llvm::success;
using mlir::Attribute;
using mlir::Block;
using mlir::InFlightDiagnostic;
using mlir::Location;
using mlir::MLIRContext;
using mlir::ModuleOp;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Region;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;
} // namespace llmc

#endif // LLMC_SUPPORT_LLVM_H

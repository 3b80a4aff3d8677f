//===- OpAssembly.h - Parts of the assembly of ops --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists that ops print without the brackets of the attributes that hold them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_SDY_IR_OPASSEMBLY_H
#define LLMC_LIB_DIALECT_SDY_IR_OPASSEMBLY_H

#include "llmc/Dialect/Sdy/IR/Sdy.h"

namespace llmc::sdy {

/// `[<@mesh, [{"a"}]>, <@mesh, []>]`
mlir::ParseResult parseShardings(mlir::AsmParser &parser,
                                 TensorShardingPerValueAttr &list);
void printShardings(mlir::AsmPrinter &printer, mlir::Operation *,
                    TensorShardingPerValueAttr list);

/// `FORWARD`
mlir::ParseResult parseDirection(mlir::AsmParser &parser,
                                 mlir::StringAttr &direction);
void printDirection(mlir::AsmPrinter &printer, mlir::Operation *,
                    mlir::StringAttr direction);

/// `{"a", "b"}`
mlir::ParseResult parseManualAxes(mlir::AsmParser &parser,
                                  ManualAxesAttr &axes);
void printManualAxes(mlir::AsmPrinter &printer, mlir::Operation *,
                     ManualAxesAttr axes);

/// `(%arg0: tensor<4xf32>) { ... }`
mlir::ParseResult parseManualBody(mlir::OpAsmParser &parser,
                                  mlir::Region &body);
void printManualBody(mlir::OpAsmPrinter &printer, mlir::Operation *,
                     mlir::Region &body);

} // namespace llmc::sdy

#endif // LLMC_LIB_DIALECT_SDY_IR_OPASSEMBLY_H

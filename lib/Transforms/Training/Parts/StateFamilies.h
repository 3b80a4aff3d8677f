//===- StateFamilies.h - Parameters that may be stored in parts -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parameter is stored in parts together with its optimizer states. Where it
// is cut say the slices that read it; whether it can be cut, all its uses.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_TRAINING_STATEFAMILIES_H
#define LLMC_LIB_TRANSFORMS_TRAINING_STATEFAMILIES_H

#include "PartBuilder.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace llmc::training {

/// A parameter with its optimizer states, and where it is cut.
struct Family {
  dist::StateOp parameter;
  SmallVector<dist::StateOp> members;
  /// What slices read of the parameter, in the order of the ops, with the block
  /// in which they stand.
  SmallVector<std::pair<Cut, Attribute>> reads;
  int64_t dim = -1;
  /// Begins of the parts, and the size.
  SmallVector<int64_t> bounds;
  /// Why it stays whole, or empty.
  std::string obstacle;
  /// Parts of each member, by its symbol.
  llvm::DenseMap<mlir::StringAttr, SmallVector<dist::StateOp>> parts;

  size_t getNumParts() const { return bounds.size() - 1; }
  Cut getCut(size_t part) const {
    return {dim, bounds[part], bounds[part + 1]};
  }
};

/// All families, and those of their members by symbol.
struct Families {
  std::vector<Family> list;
  llvm::DenseMap<mlir::StringAttr, Family *> ofState;
};

/// What the port of an argument or result says of a family.
struct FamilyPort {
  Family *family = nullptr;
  dist::PortAttr port;

  mlir::StringAttr getSymbol() const { return port.getSymbol().getAttr(); }
};

/// The slices of a family's values in one function, and what stands against
/// splitting.
struct Uses {
  mlir::func::FuncOp function;
  const Families &families;
  const Family *family;
  SmallVector<std::pair<Cut, mlir::Operation *>> slices;
  /// Sums over the dimension that is cut, with the operand that is.
  llvm::MapVector<mlir::Operation *, std::pair<unsigned, Cut>> sums;
  std::string obstacle;
  llvm::DenseSet<std::pair<void *, int64_t>> seen;
};

FamilyPort getFamilyOfArgument(mlir::func::FuncOp function, unsigned index,
                               const Families &families);
FamilyPort getFamilyOfResult(mlir::func::FuncOp function, unsigned index,
                             const Families &families);

/// Follows the uses of a value that is cut along `dim`.
void followUses(Value value, int64_t dim, Uses &uses);

/// The parameters of the module, with where they are cut and what stands
/// against it; those that are not cut have no dim.
Families findFamilies(mlir::ModuleOp module,
                      ArrayRef<mlir::func::FuncOp> functions);

} // namespace llmc::training

#endif // LLMC_LIB_TRANSFORMS_TRAINING_STATEFAMILIES_H

//===- KernelTable.h - One kernel for each distinct computation -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module `@kernels`: each kernel says of itself what it takes
// (`dist.kernel`), with its code beside it. It is named by the hash of both, so
// equal layers share kernels, whatever their place or program.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_KERNELTABLE_H
#define LLMC_LIB_TRANSFORMS_KERNELS_KERNELTABLE_H

#include "Calls/CallForm.h"
#include "KernelEmitter.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <string>

namespace llmc::kernels {

using Ties = SmallVector<std::pair<unsigned, unsigned>>;

struct KernelUse {
  mlir::SymbolRefAttr symbol;
  int64_t scratchBytes = 0;
  Ties ties;
};

class KernelTable {
public:
  static constexpr StringRef moduleName = "kernels";

  /// Kernels of `program`, with code for `target`.
  KernelTable(ModuleOp program, const KernelTarget &target);

  const KernelTarget &getTarget() const { return target; }

  /// The kernel of `stage`, made if it is new. `chooseTies` picks the pairs
  /// that share a buffer from those that may. On failure an error has been
  /// emitted.
  FailureOr<KernelUse>
  get(const KernelStage &stage,
      function_ref<Ties(ArrayRef<std::pair<unsigned, unsigned>>)> chooseTies);

  /// The kernel of a launch whose arguments have `types`.
  mlir::SymbolRefAttr getCall(const CallLaunch &launch,
                              ArrayRef<RankedTensorType> types, Location loc);

  /// The kernel that copies a tensor of `type`.
  FailureOr<KernelUse> getCopy(RankedTensorType type, Location loc);

private:
  struct Known {
    Ties tieable;
    int64_t scratchBytes = 0;
  };

  FailureOr<EmittedKernel> emit(const KernelStage &stage);
  mlir::SymbolRefAttr finish(EmittedKernel &kernel, const KernelStage &stage,
                             const Ties &ties);
  mlir::SymbolRefAttr insert(mlir::func::FuncOp function,
                             ArrayRef<Attribute> arguments, int64_t rows,
                             const CallShape &shape);

  ModuleOp kernels;
  /// What stands in `kernels`, by name: a walk for each kernel would take a
  /// time that grows with their square.
  mlir::SymbolTable tables;
  const KernelTarget &target;
  /// Texts of types and attributes, by their unique pointers.
  llvm::DenseMap<const void *, std::string> names;
  std::map<std::string, Known> known;
  std::map<std::pair<std::string, Ties>, mlir::SymbolRefAttr> symbols;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_KERNELTABLE_H

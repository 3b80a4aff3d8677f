//===- CallTargets.h - Custom calls that texts may have ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The targets of `stablehlo.custom_call` that llmc knows. What becomes of each
// says getCallTargets of Import/StableHLO/Import.h; all others are refused.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_CALLTARGETS_H
#define LLMC_DIALECT_STABLEHLO_IR_CALLTARGETS_H

#include "llvm/ADT/StringRef.h"

namespace llmc::stablehlo {

/// A layout of the operand, as texts without Shardy write it.
inline constexpr llvm::StringLiteral kShardingTarget = "Sharding";
/// Around the call of a manual region's function, as older texts print it.
inline constexpr llvm::StringLiteral kManualEntryTarget =
                                         "SPMDFullToShardShape",
                                     kManualExitTarget = "SPMDShardToFullShape";
/// The same in texts that have Shardy's annotations as strings, and what else
/// is a call there: layouts of results of a function, groups of values that lie
/// alike, and barriers.
inline constexpr llvm::StringLiteral kLocalTarget =
                                         "xla.sdy.GlobalToLocalShape",
                                     kGlobalTarget =
                                         "xla.sdy.LocalToGlobalShape",
                                     kResultTarget =
                                         "xla.sdy.FuncResultSharding",
                                     kGroupTarget = "xla.sdy.ShardingGroup",
                                     kBarrierTarget =
                                         "xla.sdy.PropagationBarrier";
/// Routines of LAPACK that are ops: of f32 and of f64, as JAX calls them.
inline constexpr llvm::StringLiteral kFactorTargets[] = {"lapack_spotrf_ffi",
                                                         "lapack_dpotrf_ffi"};
inline constexpr llvm::StringLiteral kPivotTargets[] = {"lapack_sgetrf_ffi",
                                                        "lapack_dgetrf_ffi"};
inline constexpr llvm::StringLiteral kSolveTargets[] = {"lapack_strsm_ffi",
                                                        "lapack_dtrsm_ffi"};
/// In which memory the operand is to be.
inline constexpr llvm::StringLiteral kPlacementTarget =
    "annotate_device_placement";

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_IR_CALLTARGETS_H

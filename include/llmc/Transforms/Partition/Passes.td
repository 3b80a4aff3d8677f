//===- Passes.td - Passes of phase 4 -----------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_PARTITION_PASSES
#define LLMC_TRANSFORMS_PARTITION_PASSES

include "mlir/Pass/PassBase.td"

def LocalizePass : Pass<"llmc-localize", "::mlir::ModuleOp"> {
  let summary = "Give every value the shape that one device holds";
  let description = [{
    ```mlir
    %0 = stablehlo.add %x, %y : tensor<8xf32, #l>      // split by data=2
    // becomes
    %0 = stablehlo.add %x, %y : tensor<4xf32>
    ```
    Ops that depend on their place build their local form from
    `dist.coordinate`; padding is masked before it is reduced and where it is
    stored; reshards and keeps become slices and selects. Each state gets a
    `dist.buffer` with its box. Encodings are gone; ports of inputs keep their
    layout, ops of an update their stages in `dist.at`.

    Refuses a reshard that moves data, and sub-axes.
  }];
  let dependentDialects = ["::llmc::dist::DistDialect",
                           "::llmc::stablehlo::StableHLODialect"];
}

def MergePartsPass : Pass<"llmc-merge-parts", "::mlir::ModuleOp"> {
  let summary = "Store the parts of a state side by side";
  let description = [{
    ```mlir
    %a = stablehlo.dot_general %x, %Wa ...   %b = stablehlo.dot_general %x, %Wb ...
    // becomes
    %ab = stablehlo.dot_general %x, %W ...   // %a, %b: slices of %ab
    ```
    Parts that agree outside of the dimension along which they lie get one
    buffer with several boxes. Products with the same left side become one, sums
    of products one product, and so do the ops of the optimizer. Parts stay
    apart where a contraction or a collective would need a copy of one.
  }];
  let dependentDialects = ["::llmc::dist::DistDialect",
                           "::llmc::stablehlo::StableHLODialect"];
}

def CutSegmentsPass : Pass<"llmc-cut-segments", "::mlir::ModuleOp"> {
  let summary = "Move every op into the segment of its chunk and phase";
  let description = [{
    Segments stand in the order forward of chunk 0, 1, ..., then for chunks n - 1
    to 0 backward-input and backward-weight. Ops of an update are grouped by
    `dist.at`, each in the first segment of its stages after what it reads.
    Constants and coordinates are cloned into each segment that uses them;
    `dist.transfer` and `dist.join` stay between segments. All stages take part
    in a collective over the pipeline axis: where it is wanted at some alone, the
    others add zeros.

    ```mlir
    %0 = stablehlo.tanh %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    // becomes
    %0 = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
      %1 = stablehlo.tanh %x {...} : tensor<4xf32>
      dist.yield %1 : tensor<4xf32>
    }
    ```
    Refuses an op that has no marks, a value used before its segment, and a
    collective over the pipeline axis in a microbatch.
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def VerifyLocalPass : Pass<"llmc-verify-local", "::mlir::ModuleOp"> {
  let summary = "Check what holds after phase 4";
  let description = [{
    No encodings are left; every op of a program stands in a segment, or is a
    transfer or join; every state that is read or written has a buffer; with
    several stages values are read where they live.
  }];
}

#endif // LLMC_TRANSFORMS_PARTITION_PASSES

//===- DistLoopOps.td - Loops ------------------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes into a loop and what comes out of it. The ops of a trip stand in
// the function's block among all others (LoopRuns.h says which they are), so
// passes that look at ops one by one need not know of loops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTLOOPOPS
#define LLMC_DIALECT_DIST_IR_DISTLOOPOPS

include "llmc/Dialect/Dist/IR/DistAttrs.td"
include "llmc/Dialect/Dist/IR/DistProgramOps.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_LoopGroup : OpDocGroup {
  let summary = "Loops";
  let description = [{
    A loop keeps one copy of its ops, whatever the number of its trips:

    ```mlir
    %w = dist.enter row %W of <"l", trips = 12> : tensor<12x4x4xf32> -> tensor<4x4xf32>
    %x = dist.enter carry %x0 of <"l", trips = 12> number(0) : tensor<8x4xf32> -> tensor<8x4xf32>
    %y = stablehlo.dot_general %x, %w ...
    %f = dist.next %x, %y : tensor<8x4xf32>
    %xn = dist.leave last %f of <"l", trips = 12> : tensor<8x4xf32> -> tensor<8x4xf32>
    %ys = dist.leave stack %y of <"l", trips = 12> : tensor<8x4xf32> -> tensor<12x8x4xf32>
    ```
    Ops that depend on a `dist.enter` belong to its loop, up to `dist.leave`:
    they have a value in each trip. What does not depend on one is computed
    once, and read in each trip as it is.

    The derivative of a loop is the loop of the same name with `reversed`, which
    runs its trips from the last to the first. Its ops may read values of the
    forward loop: those of the same trip.

    A loop with `in` runs all its trips in each trip of another one. Its ops
    depend on what enters it, and what leaves it is a value of the other loop's
    trips:

    ```mlir
    %h = dist.enter carry %h0 of <"l", trips = 12> number(0) : tensor<64x4xf32> -> tensor<64x4xf32>
    %u = dist.enter row %h of <"t", trips = 64, in = <"l", trips = 12>> : tensor<64x4xf32> -> tensor<4xf32>
    %s = dist.leave stack %v of <"t", trips = 64, in = <"l", trips = 12>> : tensor<4xf32> -> tensor<64x4xf32>
    ```

    In a trip of a reversed loop a loop may run in both directions: first the
    forward run, whose values the reversed one reads. Where both are of one phase
    such a value enters the reversed run as it is.

    A conditional loop has one more carried value, its condition, which holds
    before each of its trips. It has no rows, stacks and sums, and no derivative.

    ```mlir
    %on = dist.enter carry %flag of <"l", conditional = true> number(0) : tensor<i1> -> tensor<i1>
    ```
  }];
}

let opDocGroup = Dist_LoopGroup in {

def Dist_EnterOp : Dist_Op<"enter", [Pure]> {
  let summary = "a value in a trip of a loop";
  let description = [{
    ```mlir
    %c = dist.enter same %v of <"l", trips = 12> : tensor<4xf32> -> tensor<4xf32>
    %w = dist.enter row %W of <"l", trips = 12> : tensor<12x4xf32> -> tensor<4xf32>
    %x = dist.enter carry %x0 of <"l", trips = 12> number(0) : tensor<4xf32> -> tensor<4xf32>
    ```
    `same` is the value itself, `row` its row with the number of the trip, `carry`
    the value in the first trip and then what the `dist.next` of its result was in
    the trip before.

    Constraints: the result's type is the input's, without the first dim for
    `row`, whose size is the number of trips; a number, which is another one for
    each carried value of the loop, exactly for `carry`, and one `dist.next`, which
    may stand in another segment.
  }];
  let arguments = (ins AnyRankedTensor:$input, Dist_EnterKindAttr:$kind, Dist_LoopAttr:$loop,
                       OptionalAttr<Dist_I64Attr>:$number);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    custom<EnterKindName>($kind) $input `of` $loop (`number` `(` $number^ `)`)? attr-dict `:` type($input) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input, "EnterKind":$kind, "LoopAttr":$loop, CArg<"int64_t", "-1">:$number)>
  ];
  let extraClassDeclaration = [{
    bool isRow() { return getKind() == EnterKind::Row; }
    bool isCarry() { return getKind() == EnterKind::Carry; }
    /// Whether a conditional loop has another trip.
    bool isCondition() {
      return getLoop().getConditional() && isCarry() && *getNumber() == LoopAttr::kCondition;
    }
    ::llvm::LogicalResult verifyConditional();
    /// Of `carry`: what closes the loop; null where there is none.
    NextOp getNext();
  }];
  let hasVerifier = 1;
}

def Dist_NextOp : Dist_Op<"next", [MemoryEffects<[MemWrite]>, AllTypesMatch<["carried", "value", "result"]>]> {
  let summary = "what a carried value is in the next trip";
  let description = [{
    ```mlir
    %f = dist.next %x, %y : tensor<8x4xf32>
    ```
    Its result is that of the last trip, read by `dist.leave last` alone. It is
    needed as long as the carried value is, whether that is read or not.

    Constraints: the first operand is a `dist.enter carry` with no other
    `dist.next`; all types are equal.
  }];
  let arguments = (ins AnyRankedTensor:$carried, AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$carried `,` $value attr-dict `:` type($result)";
  let extraClassDeclaration = [{
    EnterOp getEnter() { return getCarried().getDefiningOp<EnterOp>(); }
  }];
  let hasVerifier = 1;
}

def Dist_LeaveOp : Dist_Op<"leave", [Pure]> {
  let summary = "what a loop gives after its last trip";
  let description = [{
    ```mlir
    %xn = dist.leave last %f of <"l", trips = 12> : tensor<4xf32> -> tensor<4xf32>
    %ys = dist.leave stack %y of <"l", trips = 12> : tensor<4xf32> -> tensor<12x4xf32>
    %s = dist.leave sum %t of <"l", trips = 12> : tensor<4xf32> -> tensor<4xf32>
    ```
    `last` reads a `dist.next`; `stack` has the value of each trip as a row, by
    the number of the trip; `sum` adds the values up, in the order of the trips.

    Constraints: the result's type is the input's, with the trips as first dim
    for `stack`; exactly `last` reads a `dist.next`.
  }];
  let arguments = (ins AnyRankedTensor:$input, Dist_LeaveKindAttr:$kind, Dist_LoopAttr:$loop);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    custom<LeaveKindName>($kind) $input `of` $loop attr-dict `:` type($input) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "LeaveKind":$kind, "LoopAttr":$loop)>];
  let extraClassDeclaration = [{
    bool isStack() { return getKind() == LeaveKind::Stack; }
    bool isLast() { return getKind() == LeaveKind::Last; }
    bool isSum() { return getKind() == LeaveKind::Sum; }
  }];
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_DIST_IR_DISTLOOPOPS

// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/known.mlir | FileCheck %s --check-prefix=KNOWN
// RUN: %{import} %t/index.mlir | FileCheck %s --check-prefix=INDEX
// RUN: %{import} %t/predicate.mlir --set data.inputs.n=0 | FileCheck %s --check-prefix=PREDICATE
// RUN: %{import} %t/cond.mlir --set data.inputs.n=0 | FileCheck %s --check-prefix=COND
// RUN: %{import} %t/switch.mlir --set data.inputs.n=0 | FileCheck %s --check-prefix=SWITCH
// RUN: %{import} %t/nested.mlir --set data.inputs.n=0 | FileCheck %s --check-prefix=NESTED
// RUN: not %{import} %t/loops.mlir --set data.inputs.n=0 --set training.unroll=true 2>&1 | FileCheck %s --check-prefix=LOOPS

// The branch with the number of the index, the last one for numbers out of
// range; a branch may return what stands outside, and hold another one.
// KNOWN: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32>
// KNOWN-NEXT: %[[A:.*]] = stablehlo.tanh %[[X]] : tensor<4xf32> loc(#[[TANH:.*]])
// KNOWN-NEXT: %[[B:.*]] = stablehlo.negate %[[A]]
// KNOWN-NEXT: %[[C:.*]] = stablehlo.abs %[[B]]
// KNOWN-NEXT: %[[D:.*]] = stablehlo.abs %[[C]]
// KNOWN-NEXT: %[[E:.*]] = stablehlo.cosine %[[D]]
// KNOWN-NEXT: %[[F:.*]] = stablehlo.sine %[[E]]
// KNOWN-NEXT: return %[[F]], %[[X]]
// KNOWN: #[[TANH]] = loc("first"

// One branch is taken whatever the index.
// INDEX: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<i32>
// INDEX-NEXT: return %[[ONE]]

// Both branches, each on operands that are 0 where it is not taken; constants and
// integers are what they are, and so is what is only passed on.
// PREDICATE: func.func public @{{.*}}(%[[N:.*]]: tensor<1xi32> {{.*}}, %[[X:.*]]: tensor<4xf32>
// PREDICATE: %[[I:.*]] = stablehlo.reshape %[[N]]
// PREDICATE: %[[P:.*]] = stablehlo.convert %[[I]] : (tensor<i32>) -> tensor<i1>
// PREDICATE: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// PREDICATE-NEXT: %[[TAKEN:.*]] = stablehlo.select %[[P]], %[[X]], %[[ZERO]]
// PREDICATE-NEXT: %[[LOG:.*]] = stablehlo.log %[[TAKEN]]
// PREDICATE: %[[OTHER:.*]] = stablehlo.select %[[P]], %{{.*}}, %[[X]]
// PREDICATE-NEXT: %[[SUM:.*]] = stablehlo.add %[[OTHER]], %[[TWO:.*]] :
// PREDICATE-NEXT: %[[NEXT:.*]] = stablehlo.add %[[I]], %[[I]]
// PREDICATE-NEXT: %[[A:.*]] = stablehlo.select %[[P]], %[[LOG]], %[[SUM]]
// PREDICATE-NEXT: %[[B:.*]] = stablehlo.select %[[P]], %[[I]], %[[NEXT]]
// PREDICATE-NEXT: return %[[A]], %[[X]], %[[B]]

// `lax.cond`: the second branch is the one of true.
// COND: %[[P:.*]] = stablehlo.compare NE
// COND: %[[FALSE:.*]] = stablehlo.cosine
// COND: %[[TRUE:.*]] = stablehlo.sine
// COND-NEXT: stablehlo.select %[[P]], %[[TRUE]], %[[FALSE]]
// COND-NEXT: return

// Three branches: by the first number, by the second, and all others.
// SWITCH: %[[FIRST:.*]] = stablehlo.compare EQ, %[[I:.*]], %{{.*}}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// SWITCH: %[[SECOND:.*]] = stablehlo.compare EQ, %[[I]], %{{.*}}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
// SWITCH: %[[ANY:.*]] = stablehlo.or %[[FIRST]], %[[SECOND]]
// SWITCH: %[[ON0:.*]] = stablehlo.select %[[FIRST]], %[[X:.*]], %{{.*}} :
// SWITCH-NEXT: %[[R0:.*]] = stablehlo.log %[[ON0]]
// SWITCH: %[[ON1:.*]] = stablehlo.select %[[SECOND]], %[[X]], %{{.*}} :
// SWITCH-NEXT: %[[R1:.*]] = stablehlo.sqrt %[[ON1]]
// SWITCH: %[[ON2:.*]] = stablehlo.select %[[ANY]], %{{.*}}, %[[X]] :
// SWITCH-NEXT: %[[R2:.*]] = stablehlo.tanh %[[ON2]]
// SWITCH-NEXT: %[[LAST:.*]] = stablehlo.select %[[SECOND]], %[[R1]], %[[R2]]
// SWITCH-NEXT: %[[ALL:.*]] = stablehlo.select %[[FIRST]], %[[R0]], %[[LAST]]
// SWITCH-NEXT: return %[[ALL]]

// A branch in a branch, and a loop of known trips, whose predicates are the run's.
// NESTED-COUNT-3: stablehlo.sine
// NESTED: stablehlo.cosine
// NESTED-NOT: stablehlo.while
// NESTED-NOT: stablehlo.case

// LOOPS: {{^}}llmc: error[unsupported]: {{.*}}loops.mlir:4:8: {{.*}}expected branches of at most 4096 ops together, as all are computed where the run chooses one, got more: move loops out of them{{$}}

//--- known.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %less = stablehlo.constant dense<-1> : tensor<i32>
  %big = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = "stablehlo.case"(%zero) ({
    %8 = stablehlo.tanh %x : tensor<4xf32> loc("first")
    stablehlo.return %8, %x : tensor<4xf32>, tensor<4xf32>
  }, {
    stablehlo.return %x, %x : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = "stablehlo.case"(%one) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %8 = stablehlo.negate %0#0 : tensor<4xf32>
    stablehlo.return %8 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %2 = "stablehlo.case"(%big) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }, {
    %8 = stablehlo.abs %1 : tensor<4xf32>
    stablehlo.return %8 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %3 = "stablehlo.case"(%less) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %8 = stablehlo.abs %2 : tensor<4xf32>
    stablehlo.return %8 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %4 = stablehlo.compare LT, %zero, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %5 = "stablehlo.if"(%4) ({
    %8 = "stablehlo.if"(%4) ({
      %9 = stablehlo.cosine %3 : tensor<4xf32>
      stablehlo.return %9 : tensor<4xf32>
    }, {
      stablehlo.return %3 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    stablehlo.return %8 : tensor<4xf32>
  }, {
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %6 = stablehlo.not %4 : tensor<i1>
  %7 = "stablehlo.if"(%6) ({
    stablehlo.return %5 : tensor<4xf32>
  }, {
    %8 = stablehlo.sine %5 : tensor<4xf32>
    stablehlo.return %8 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %7, %0#1 : tensor<4xf32>, tensor<4xf32>
}

//--- index.mlir
func.func public @main(%x: tensor<1xi32> loc("x")) -> tensor<i32> {
  %0 = stablehlo.reshape %x : (tensor<1xi32>) -> tensor<i32>
  %c = stablehlo.constant dense<1> : tensor<i32>
  %1 = "stablehlo.case"(%0) ({
    stablehlo.return %c : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}

//--- predicate.mlir
func.func public @main(%n: tensor<1xi32> loc("n"), %x: tensor<4xf32> loc("x")) -> (tensor<4xf32>, tensor<4xf32>, tensor<i32>) {
  %i = stablehlo.reshape %n : (tensor<1xi32>) -> tensor<i32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %p = stablehlo.convert %i : (tensor<i32>) -> tensor<i1>
  %0:3 = "stablehlo.if"(%p) ({
    %1 = stablehlo.log %x : tensor<4xf32>
    stablehlo.return %1, %x, %i : tensor<4xf32>, tensor<4xf32>, tensor<i32>
  }, {
    %1 = stablehlo.add %x, %two : tensor<4xf32>
    %2 = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %1, %x, %2 : tensor<4xf32>, tensor<4xf32>, tensor<i32>
  }) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>, tensor<i32>
}

//--- cond.mlir
func.func public @main(%n: tensor<1xi32> loc("n"), %x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %i = stablehlo.reshape %n : (tensor<1xi32>) -> tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %p = stablehlo.compare NE, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %k = stablehlo.convert %p : (tensor<i1>) -> tensor<i32>
  %0 = "stablehlo.case"(%k) ({
    %1 = stablehlo.cosine %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    %1 = stablehlo.sine %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- switch.mlir
func.func public @main(%n: tensor<1xi32> loc("n"), %x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %i = stablehlo.reshape %n : (tensor<1xi32>) -> tensor<i32>
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.log %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    %1 = stablehlo.sqrt %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    %1 = stablehlo.tanh %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- nested.mlir
func.func public @main(%n: tensor<1xi32> loc("n"), %x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %i = stablehlo.reshape %n : (tensor<1xi32>) -> tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %p = stablehlo.convert %i : (tensor<i32>) -> tensor<i1>
  %0 = "stablehlo.if"(%p) ({
    %1:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %2 = stablehlo.compare LT, %k, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.sine %y : tensor<4xf32>
      %3 = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %3, %2 : tensor<i32>, tensor<4xf32>
    }
    stablehlo.return %1#1 : tensor<4xf32>
  }, {
    %1 = "stablehlo.case"(%i) ({
      stablehlo.return %x : tensor<4xf32>
    }, {
      %2 = stablehlo.cosine %x : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- loops.mlir
func.func public @main(%n: tensor<1xi32> loc("n"), %x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %i = stablehlo.reshape %n : (tensor<1xi32>) -> tensor<i32>
  %p = stablehlo.convert %i : (tensor<i32>) -> tensor<i1>
  %0 = "stablehlo.if"(%p) ({
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %many = stablehlo.constant dense<5000> : tensor<i32>
    %1:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %2 = stablehlo.compare LT, %k, %many, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.sine %y : tensor<4xf32>
      %3 = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %3, %2 : tensor<i32>, tensor<4xf32>
    }
    stablehlo.return %1#1 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// RUN: llmc-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | FileCheck %s

// Each collective in its two typings: layouts on global shapes, local shapes.

dist.mesh @mesh = <"pipe"=2, "x"=2, "y"=3> pipeline "pipe"

#full = #dist.layout<@mesh, [{}, {}]>
#x = #dist.layout<@mesh, [{"x"}, {}]>
#xy = #dist.layout<@mesh, [{"x", "y"}, {}]>
#yx = #dist.layout<@mesh, [{"y", "x"}, {}]>
#x_y = #dist.layout<@mesh, [{"x"}, {"y"}]>
#py = #dist.layout<@mesh, [{"x"}, {}], partial = [sum{"y"}]>
#pm = #dist.layout<@mesh, [{}, {}], partial = [sum{"y"}, max{"x"}]>
#pmx = #dist.layout<@mesh, [{}, {}], partial = [sum{"y"}]>
#at1 = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [1]}>
#at01 = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [0, 1]}>
#at1q = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [1], "y" = [0]}>
#q = #dist.layout<@mesh, [{}, {}], at = {"y" = [0]}>
#ppq = #dist.layout<@mesh, [{}, {}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1], "y" = [0]}>
#pxy = #dist.layout<@mesh, [{}, {}], partial = [sum{"x", "y"}]>
#px = #dist.layout<@mesh, [{}, {}], partial = [sum{"x"}]>
#xpad = #dist.layout<@mesh, [{"x"}:14, {"y"}:[1, 6:9]]>
#pad = #dist.layout<@mesh, [{}:14, {"y"}:[1, 6:9]]>
#ypad = #dist.layout<@mesh, [{}:14, {}:[1, 6:9]], partial = [sum{"y"}]>
#at12 = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [1], "y" = [2]}>
#pp = #dist.layout<@mesh, [{}, {}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>

// CHECK-LABEL: func.func @with_layouts
func.func @with_layouts(%py: tensor<12x6xf32, #py>, %pm: tensor<12x6xf32, #pm>, %xy: tensor<12x6xf32, #xy>,
                        %at1: tensor<12x6xf32, #at1>, %pp: tensor<12x6xf32, #pp>) {
  // CHECK-NEXT: dist.all_reduce %{{.*}} over ["y"] sum : tensor<12x6xf32, #{{.*}}> -> tensor<12x6xf32, #{{.*}}>
  %0 = dist.all_reduce %py over ["y"] sum : tensor<12x6xf32, #py> -> tensor<12x6xf32, #x>
  // CHECK-NEXT: dist.all_reduce %{{.*}} over ["x"] max
  %1 = dist.all_reduce %pm over ["x"] max : tensor<12x6xf32, #pm> -> tensor<12x6xf32, #pmx>
  // CHECK-NEXT: dist.reduce_scatter %{{.*}} dim 0 over ["y"] sum
  %2 = dist.reduce_scatter %py dim 0 over ["y"] sum : tensor<12x6xf32, #py> -> tensor<12x6xf32, #xy>
  // CHECK-NEXT: dist.all_gather %{{.*}} dim 0 over ["y"]
  %3 = dist.all_gather %xy dim 0 over ["y"] : tensor<12x6xf32, #xy> -> tensor<12x6xf32, #x>
  // CHECK-NEXT: dist.all_gather %{{.*}} dim 0 over ["x", "y"]
  %4 = dist.all_gather %xy dim 0 over ["x", "y"] : tensor<12x6xf32, #xy> -> tensor<12x6xf32, #full>
  // CHECK-NEXT: dist.all_to_all %{{.*}} split 1 concat 0 over ["y"]
  %5 = dist.all_to_all %xy split 1 concat 0 over ["y"] : tensor<12x6xf32, #xy> -> tensor<12x6xf32, #x_y>
  // CHECK-NEXT: dist.permute %{{.*}} over ["x", "y"] to ["y", "x"]
  %6 = dist.permute %xy over ["x", "y"] to ["y", "x"] : tensor<12x6xf32, #xy> -> tensor<12x6xf32, #yx>
  // CHECK-NEXT: dist.broadcast %{{.*}} from [1] over ["pipe"]
  %7 = dist.broadcast %at1 from [1] over ["pipe"] : tensor<12x6xf32, #at1> -> tensor<12x6xf32, #at01>
  // CHECK-NEXT: dist.reduce %{{.*}} to [1] over ["pipe"] sum
  %8 = dist.reduce %pp to [1] over ["pipe"] sum : tensor<12x6xf32, #pp> -> tensor<12x6xf32, #at1>
  return
}

// A mesh named twice, a result pinned nowhere, and pins of other axes that stay.
// CHECK-LABEL: func.func @beside
func.func @beside(%py: tensor<12x6xf32, #py>, %at1: tensor<12x6xf32, #at1>, %pp: tensor<12x6xf32, #pp>,
                  %at1q: tensor<12x6xf32, #at1q>, %ppq: tensor<12x6xf32, #ppq>, %at12: tensor<12x6xf32, #at12>) {
  // CHECK-NEXT: dist.all_reduce %{{.*}} over ["y"] on @mesh sum
  %0 = dist.all_reduce %py over ["y"] on @mesh sum : tensor<12x6xf32, #py> -> tensor<12x6xf32, #x>
  // CHECK-NEXT: dist.broadcast %{{.*}} from [1] over ["pipe"]
  %1 = dist.broadcast %at1 from [1] over ["pipe"] : tensor<12x6xf32, #at1> -> tensor<12x6xf32, #full>
  // CHECK-NEXT: dist.broadcast %{{.*}} from [0] over ["pipe"]
  %2 = dist.broadcast %pp from [0] over ["pipe"] : tensor<12x6xf32, #pp> -> tensor<12x6xf32, #full>
  // CHECK-NEXT: dist.broadcast %{{.*}} from [1] over ["pipe"]
  %3 = dist.broadcast %at1q from [1] over ["pipe"] : tensor<12x6xf32, #at1q> -> tensor<12x6xf32, #q>
  // CHECK-NEXT: dist.broadcast %{{.*}} from [1, 2] over ["pipe", "y"]
  %4 = dist.broadcast %at12 from [1, 2] over ["pipe", "y"] : tensor<12x6xf32, #at12> -> tensor<12x6xf32, #full>
  // CHECK-NEXT: dist.reduce %{{.*}} to [1] over ["pipe"] sum
  %5 = dist.reduce %ppq to [1] over ["pipe"] sum : tensor<12x6xf32, #ppq> -> tensor<12x6xf32, #at1q>
  return
}

// Other axes over which the value is partial stay, and so does padding.
// CHECK-LABEL: func.func @rest
func.func @rest(%pxy: tensor<12x6xf32, #pxy>, %xpad: tensor<12x6xf32, #xpad>, %ypad: tensor<12x6xf32, #ypad>) {
  // CHECK-NEXT: dist.all_reduce %{{.*}} over ["y"] sum
  %0 = dist.all_reduce %pxy over ["y"] sum : tensor<12x6xf32, #pxy> -> tensor<12x6xf32, #px>
  // CHECK-NEXT: dist.all_reduce %{{.*}} over ["y", "x"] sum
  %1 = dist.all_reduce %pxy over ["y", "x"] sum : tensor<12x6xf32, #pxy> -> tensor<12x6xf32, #full>
  // CHECK-NEXT: dist.all_gather %{{.*}} dim 0 over ["x"]
  %2 = dist.all_gather %xpad dim 0 over ["x"] : tensor<12x6xf32, #xpad> -> tensor<12x6xf32, #pad>
  // CHECK-NEXT: dist.reduce_scatter %{{.*}} dim 1 over ["y"] sum
  %3 = dist.reduce_scatter %ypad dim 1 over ["y"] sum : tensor<12x6xf32, #ypad> -> tensor<12x6xf32, #pad>
  return
}

// CHECK-LABEL: func.func @local
func.func @local(%a: tensor<12x6xf32>, %b: tensor<4xf32>, %n: tensor<4x6xi64>, %m: tensor<12x4x4xi64>) {
  // One collective of two buffers, with the name that its clones share.
  // CHECK-NEXT: dist.all_reduce @stats %{{.*}}, %{{.*}} over ["x", "y"] on @mesh sum : tensor<12x6xf32>, tensor<4xf32>
  %0:2 = dist.all_reduce @stats %a, %b over ["x", "y"] on @mesh sum : tensor<12x6xf32>, tensor<4xf32>
  // CHECK-NEXT: dist.reduce_scatter %{{.*}} dim 0 over ["x", "y"] max : tensor<12x6xf32> -> tensor<2x6xf32>
  %1 = dist.reduce_scatter %a dim 0 over ["x", "y"] max : tensor<12x6xf32> -> tensor<2x6xf32>
  // CHECK-NEXT: dist.all_gather %{{.*}} dim 1 over ["y"] : tensor<12x6xf32> -> tensor<12x18xf32>
  %2 = dist.all_gather %a dim 1 over ["y"] : tensor<12x6xf32> -> tensor<12x18xf32>
  // CHECK-NEXT: dist.all_to_all %{{.*}} split 1 concat 0 over ["y"] : tensor<12x6xf32> -> tensor<36x2xf32>
  %3 = dist.all_to_all %a split 1 concat 0 over ["y"] : tensor<12x6xf32> -> tensor<36x2xf32>
  // CHECK-NEXT: dist.permute %{{.*}} over ["x", "y"] to ["y", "x"] : tensor<12x6xf32>
  %4 = dist.permute %a over ["x", "y"] to ["y", "x"] : tensor<12x6xf32>
  // CHECK-NEXT: dist.broadcast %{{.*}} from [0, 2] over ["x", "y"] : tensor<4xf32>
  %5 = dist.broadcast %b from [0, 2] over ["x", "y"] : tensor<4xf32>
  // CHECK-NEXT: dist.reduce %{{.*}} to [1] over ["x"] min : tensor<4xf32>
  %6 = dist.reduce %b to [1] over ["x"] min : tensor<4xf32>
  // CHECK-NEXT: dist.ragged_all_to_all %{{.*}} dim 0 counts %{{.*}} : tensor<4x6xi64> over ["x", "y"] : tensor<12x6xf32> -> tensor<5x6xf32>
  %7 = dist.ragged_all_to_all %a dim 0 counts %n : tensor<4x6xi64> over ["x", "y"] : tensor<12x6xf32> -> tensor<5x6xf32>
  // CHECK-NEXT: dist.ragged_all_to_all @rows %{{.*}} dim 1 counts %{{.*}} : tensor<12x4x4xi64> over ["x"] on @mesh : tensor<12x6xf32>
  %8 = dist.ragged_all_to_all @rows %a dim 1 counts %m : tensor<12x4x4xi64> over ["x"] on @mesh : tensor<12x6xf32>
  return
}

// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<2x4x8x3xf32>, %s: tensor<2x4x4x8xi64>) {
  // CHECK-NEXT: dist.send_rows %{{.*}}, %{{.*}} : tensor<2x4x8x3xf32>, tensor<2x4x4x8xi64> -> tensor<2x4x20x3xf32>
  %0 = dist.send_rows %x, %s : tensor<2x4x8x3xf32>, tensor<2x4x4x8xi64> -> tensor<2x4x20x3xf32>
  // CHECK-NEXT: dist.send_rows %{{.*}}, %{{.*}} split : tensor<2x4x8x3xf32>, tensor<2x4x4x8xi64> -> tensor<2x4x8x3xf32>
  %1 = dist.send_rows %x, %s split : tensor<2x4x8x3xf32>, tensor<2x4x4x8xi64> -> tensor<2x4x8x3xf32>
  return
}

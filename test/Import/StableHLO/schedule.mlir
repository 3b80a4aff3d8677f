// RUN: split-file %s %t
// RUN: llmc compile %t/model.mlir --config %t/gpipe.toml --compile-to=import -o - | FileCheck %t/gpipe.toml
// RUN: llmc compile %t/model.mlir --config %t/file.toml --compile-to=import -o - | FileCheck %t/file.toml
// RUN: not llmc compile %t/model.mlir --config %t/gpipe.toml --set pipeline.schedule=zigzag --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not llmc compile %t/model.mlir --config %t/gpipe.toml --set pipeline.schedule=%t/cell.csv --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=CELL
// RUN: not llmc compile %t/model.mlir --config %t/gpipe.toml --set pipeline.schedule=%t/none.csv --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: llmc compile %t/model.mlir --config %t/gpipe.toml --set pipeline.schedule=interleaved --set pipeline.chunks=1024 --compile-to=import -o - | FileCheck %s --check-prefix=MOST
// RUN: not llmc compile %t/model.mlir --config %t/gpipe.toml --set pipeline.schedule=interleaved --set pipeline.chunks=1025 --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=MORE
// RUN: not llmc compile %t/model.mlir --config %t/file.toml --set pipeline.chunks=2 --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=BESIDE
// RUN: llmc compile %t/model.mlir --config %t/file.toml --set pipeline.chunks=1 --compile-to=import -o - | FileCheck %t/file.toml
// MOST: schedule(<interleaved with {chunks = 1024 : i64}>)
// MORE: llmc: error[usage]: expected 'pipeline.chunks' to be at most 1024, got 1025
// BESIDE: llmc: error[usage]: expected no 'pipeline.chunks' beside a table, whose cells name their chunks, got 2
// NAME: llmc: error[usage]: expected 'pipeline.schedule' to be 1f1b, gpipe, interleaved or a .csv file, got "zigzag"
// CELL: llmc: error[usage]: {{.*}}cell.csv: line 2, column 6: expected a cell such as F0.1, B0.1, W0.1, U or '.', got 'C0.0'
// NONE: llmc: error[{{.*}}none.csv

//--- gpipe.toml
# CHECK: dist.training @train {{.*}} schedule(<gpipe>)
[data.inputs]
x = 0
[[init]]
match = "*"
[pipeline]
schedule = "gpipe"

//--- file.toml
# A path relative to the configuration; the table is checked in phase 5.
# CHECK: dist.training @train {{.*}} schedule(<file table <["F0.0 B0.0 F0.1 . B0.1 U"]>>)
[data.inputs]
x = 0
[[init]]
match = "*"
[pipeline]
schedule = "table.csv"
[training]
microbatches = 2

//--- table.csv
# one stage, by hand
F0.0, B0.0, F0.1, , B0.1, U

//--- cell.csv
# a cell that is none
F0.0,C0.0,U

//--- model.mlir
#p = loc("params['w']")
#x = loc("x")
module @jit_loss {
  func.func public @main(%w: tensor<4xf32> loc(#p), %x: tensor<4xf32> loc(#x)) -> tensor<f32> {
    %p = stablehlo.multiply %w, %x : tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %n = stablehlo.constant dense<4.0> : tensor<f32>
    %m = stablehlo.divide %s, %n : tensor<f32>
    return %m : tensor<f32>
  }
}

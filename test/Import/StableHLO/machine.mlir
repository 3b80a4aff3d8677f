// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile %t/model.mlir --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} --config %t/inside.toml | FileCheck %t/inside.toml
// RUN: %{import} --config %t/inside.toml --machine %t/own.toml | FileCheck %t/own.toml
// RUN: %{import} | FileCheck %s --check-prefix=NONE
// NONE: dist.mesh @mesh = <"data"=1> loc
// RUN: not %{import} --config %t/inside.toml --machine %t/other.toml 2>&1 | FileCheck %t/other.toml
// RUN: not %{import} --config %t/inside.toml --machine %t/axis.toml 2>&1 | FileCheck %t/axis.toml
// RUN: not %{import} --config %t/inside.toml --machine %t/link.toml 2>&1 | FileCheck %t/link.toml
// RUN: not %{import} --config %t/inside.toml --machine %t/name.toml 2>&1 | FileCheck %t/name.toml
// RUN: not %{import} --config %t/inside.toml --machine %t/slow.toml 2>&1 | FileCheck %t/slow.toml
// RUN: not %{import} --config %t/inside.toml --machine %t/far-axis.toml 2>&1 | FileCheck %t/far-axis.toml
// RUN: not %{import} --config %t/inside.toml --machine %t/far-link.toml 2>&1 | FileCheck %t/far-link.toml
// RUN: not %{import} --config %t/inside.toml --machine %t/unnamed.toml 2>&1 | FileCheck %t/unnamed.toml
// RUN: not %{import} --config %t/inside.toml --machine %t/early.toml 2>&1 | FileCheck %t/early.toml
// RUN: %{import} --set machine.flops=2.0 | FileCheck %s --check-prefix=FLOPS
// FLOPS: dist.mesh @mesh = <"data"=1> machine <flops = 2.000000e+00 : f64> loc
// RUN: %{import} --set machine.memory=2.0 | FileCheck %s --check-prefix=MEMORY
// MEMORY: dist.mesh @mesh = <"data"=1> machine <memory = 2.000000e+00 : f64> loc
// RUN: %{import} --set machine.memory_bandwidth=2.0 | FileCheck %s --check-prefix=SPEED
// SPEED: dist.mesh @mesh = <"data"=1> machine <memory_bandwidth = 2.000000e+00 : f64> loc
// RUN: %{import} --set machine.rates.fp8=2.0 --set machine.rates.f32=0.5 | FileCheck %s --check-prefix=RATES
// RATES: dist.mesh @mesh = <"data"=1> machine <rates = {f32 = 5.000000e-01 : f64, fp8 = 2.000000e+00 : f64}> loc
// RUN: not %{import} --set machine.rates.bf8=2.0 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: {{^}}llmc: error[usage]: --set machine.rates.bf8: expected 'machine.rates.bf8' to name a type (f64, f32, f16, bf16, fp8), did you mean 'bf16'?{{$}}
// RUN: not %{import} --set machine.rates.f32=0.0 2>&1 | FileCheck %s --check-prefix=RATE
// RATE: {{^}}llmc: error[usage]: --set machine.rates.f32: expected 'machine.rates.f32' to be positive and finite, got 0.00{{$}}
// RUN: %{import} --set machine.bucket=2.0 | FileCheck %s --check-prefix=BUCKET
// BUCKET: dist.mesh @mesh = <"data"=1> machine <bucket = 2.000000e+00 : f64> loc
// RUN: %{import} --set machine.bucket=0 | FileCheck %s --check-prefix=OFF
// OFF: dist.mesh @mesh = <"data"=1> machine <bucket = 0.000000e+00 : f64> loc

// Axes have names of their own, and all together at most 2,147,483,647 devices.
// RUN: not %{import} --set 'mesh.axes=["a","b","a"]' 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: {{^}}llmc: error[usage]: mesh.axes, --mesh: expected distinct axes, got "a" twice{{$}}
// RUN: not %{import} --set 'mesh.axes=["a",""]' 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: {{^}}llmc: error[usage]: mesh.axes, --mesh: expected a name for axis 1, got ""{{$}}
// RUN: %{import} --mesh data=2147483647 | FileCheck %s --check-prefix=MOST
// MOST: dist.mesh @mesh = <"data"=2147483647>
// RUN: not %{import} --set 'mesh.axes=["a","b"]' --mesh a=65536,b=32768 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: {{^}}llmc: error[usage]: mesh.axes, --mesh: expected at most 2147483647 devices, got more at axis "b"{{$}}
// RUN: not %{import} --mesh data=2147483648 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: {{^}}llmc: error[usage]: mesh.axes, --mesh: expected at most 2147483647 devices, got more at axis "data"{{$}}
// RUN: not %{import} --mesh qqqqqqqq=2 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: {{^}}llmc: error[usage]: --mesh: expected an axis of 'mesh.axes' (data), got 'qqqqqqqq'{{$}}
// RUN: not %{import} --machine %t/absent.toml 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: llmc: error[malformed]: {{.*}}absent.toml

//--- model.mlir
func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  return %zero : tensor<f32>
}

//--- inside.toml
# CHECK: dist.mesh @mesh = <"data"=1, "tensor"=1> machine <links = [#dist.link<"nvlink", latency = 5.000000e-01 : f64, bandwidth = 4.500000e+11 : f64>, #dist.link<"network", latency = 1.000000e-05 : f64, bandwidth = 5.000000e+10 : f64>], axes = {data = "network", tensor = "nvlink"}, flops = 1.000000e+12 : f64, memory = 8.000000e+10 : f64>
[mesh]
axes = ["data", "tensor"]

[machine]
flops = 1e12
memory = 8e10

[[machine.link]]
name = "nvlink"
latency = 0.5
bandwidth = 450e9

[[machine.link]]
name = "network"
latency = 1e-5
bandwidth = 50e9

[machine.axes]
data = "network"
tensor = "nvlink"

//--- own.toml
# CHECK: machine <links = [#dist.link<"bus", latency = 0.000000e+00 : f64, bandwidth = 1.000000e+00 : f64>]> loc
[[machine.link]]
name = "bus"

//--- other.toml
# CHECK: llmc: error[usage]: {{.*}}other.toml:3:9: expected keys of [machine] alone in a file for --machine, got 'training.steps'
[training]
steps = 3

//--- axis.toml
# CHECK: llmc: error[usage]: {{.*}}axis.toml:5:8: expected 'machine.axes.dato' to name an axis of 'mesh.axes' (data, tensor), did you mean 'data'?
[[machine.link]]
name = "bus"
[machine.axes]
dato = "bus"

//--- link.toml
# CHECK: llmc: error[usage]: {{.*}}link.toml:5:8: expected 'machine.axes.data' to name a {{\[\[machine.link\]\]}}, got "bis", did you mean "bus"?
[[machine.link]]
name = "bus"
[machine.axes]
data = "bis"

//--- name.toml
# CHECK: llmc: error[usage]: {{.*}}name.toml:4:1: expected 'machine.link[1]' to have a name of its own, got "bus"
[[machine.link]]
name = "bus"
[[machine.link]]
name = "bus"

//--- slow.toml
# CHECK: llmc: error[usage]: {{.*}}slow.toml:2:1: expected 'machine.link[0]' to have a positive bandwidth and a latency of at least 0
[[machine.link]]
name = "bus"
bandwidth = 0

//--- far-axis.toml
# No hint where no name is near; the second axis is looked at too.
# CHECK: {{^}}llmc: error[usage]: {{.*}}far-axis.toml:7:12: expected 'machine.axes.zzzzzzzz' to name an axis of 'mesh.axes' (data, tensor){{$}}
[[machine.link]]
name = "bus"
[machine.axes]
data = "bus"
zzzzzzzz = "bus"

//--- far-link.toml
# CHECK: {{^}}llmc: error[usage]: {{.*}}far-link.toml:6:10: expected 'machine.axes.tensor' to name a {{\[\[machine.link\]\]}}, got "qqqqqqqq"{{$}}
[[machine.link]]
name = "bus"
[machine.axes]
data = "bus"
tensor = "qqqqqqqq"

//--- unnamed.toml
# CHECK: {{^}}llmc: error[usage]: {{.*}}unnamed.toml:2:1: expected 'machine.link[0]' to have a name of its own, got ""{{$}}
[[machine.link]]
bandwidth = 1.0

//--- early.toml
# CHECK: {{^}}llmc: error[usage]: {{.*}}early.toml:4:1: expected 'machine.link[1]' to have a positive bandwidth and a latency of at least 0{{$}}
[[machine.link]]
name = "bus"
[[machine.link]]
name = "net"
latency = -1e-9

// RUN: llmc-opt %s --split-input-file --verify-diagnostics

// What a port may not say: a misspelt kind or field, what its kind lacks, what
// its kind has no use for. That its symbol exists checks the op that uses the
// function: invalid-step.mlir, invalid-schedule.mlir.

// expected-error @+1 {{expected a kind of port: input, hyper, parameter, optimizer, carried, constant, step, microbatch, loss, loss_sum, count, metric_sum, gradient, metric, output, moment, setting, buffer, act, send, recv, carry, kept, got 'los_sum'}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<los_sum>})

// -----

// expected-error @+1 {{expected a field of a port: chunk, reduced, metric, data, default, layout, shape, boxes, trips, got 'laout'}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<input "x", laout = #l>})

// -----

// expected-error @+1 {{expected a name of port 'input', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<input>})

// -----

// expected-error @+1 {{expected a symbol of port 'hyper', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<hyper>})

// -----

// expected-error @+1 {{expected a symbol of port 'optimizer', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<optimizer>})

// -----

// expected-error @+1 {{expected a symbol of port 'carried', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<carried>})

// -----

// expected-error @+1 {{expected a symbol of port 'constant', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<constant>})

// -----

// expected-error @+1 {{expected a name of port 'metric_sum', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<metric_sum>})

// -----

// expected-error @+1 {{expected a name of port 'moment', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<moment>})

// -----

// expected-error @+1 {{expected a name of port 'setting', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<setting>})

// -----

// expected-error @+1 {{expected a symbol of port 'buffer', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<buffer>})

// -----

// expected-error @+1 {{expected a name of port 'act', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<act>})

// -----

// expected-error @+1 {{expected a symbol of port 'recv', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<recv>})

// -----

// expected-error @+1 {{expected a name of port 'metric', got none}}
func.func private @f() -> (tensor<4x4xf32> {dist.port = #dist.port<metric>})

// -----

// expected-error @+1 {{expected a name of port 'output', got none}}
func.func private @f() -> (tensor<4x4xf32> {dist.port = #dist.port<output>})

// -----

// expected-error @+1 {{expected a symbol of port 'send', got none}}
func.func private @f() -> (tensor<4x4xf32> {dist.port = #dist.port<send>})

// -----

// expected-error @+1 {{expected a port 'input' without a symbol, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<input @x>})

// -----

// expected-error @+1 {{expected a port 'hyper' without data, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<hyper @lr, data = <"x">>})

// -----

// expected-error @+1 {{expected a symbol of port 'hyper', got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<hyper "lr">})

// -----

// expected-error @+1 {{expected a port 'parameter' without a name, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<parameter "w">})

// -----

// expected-error @+1 {{expected a port 'optimizer' without a chunk, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<optimizer @m, chunk = 0>})

// -----

// expected-error @+1 {{expected a port 'carried' without 'reduced', got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<carried @n, reduced>})

// -----

// expected-error @+1 {{expected a port 'constant' without a shape, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<constant @c, shape = [4]>})

// -----

// expected-error @+1 {{expected a port 'step' without a symbol, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<step @s>})

// -----

// expected-error @+1 {{expected a port 'microbatch' without a name, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<microbatch "m">})

// -----

// expected-error @+1 {{expected a port 'loss' without a symbol, got one}}
func.func private @f() -> (tensor<4x4xf32> {dist.port = #dist.port<loss @w>})

// -----

// expected-error @+1 {{expected a port 'loss_sum' without a name, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<loss_sum "x">})

// -----

// expected-error @+1 {{expected a port 'count' without a symbol, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<count @w>})

// -----

// expected-error @+1 {{expected a port 'metric_sum' without a metric, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<metric_sum "a", metric = "a">})

// -----

// expected-error @+1 {{expected a port 'gradient' without a name, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<gradient "w">})

// -----

// expected-error @+1 {{expected a port 'gradient' without a default, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<gradient @w, default = 1.0>})

// -----

// expected-error @+1 {{expected a port 'metric' without 'reduced', got one}}
func.func private @f() -> (tensor<4x4xf32> {dist.port = #dist.port<metric "a", reduced>})

// -----

// expected-error @+1 {{expected a port 'output' without a chunk, got one}}
func.func private @f() -> (tensor<4x4xf32> {dist.port = #dist.port<output "y", chunk = 1>})

// -----

// expected-error @+1 {{expected a port 'moment' without a layout, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<moment "m", layout = <@mesh, [{}, {}]>>})

// -----

// expected-error @+1 {{expected a port 'setting' without data, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<setting "b", data = <"x">>})

// -----

// expected-error @+1 {{expected a port 'buffer' without a layout, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<buffer @w.local, layout = <@mesh, [{}, {}]>>})

// -----

// expected-error @+1 {{expected a port 'act' without a layout, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<act "a0", layout = <@mesh, [{}, {}]>>})

// -----

// expected-error @+1 {{expected a port 'send' without a chunk, got one}}
func.func private @f() -> (tensor<4x4xf32> {dist.port = #dist.port<send @t0, chunk = 0>})

// -----

// expected-error @+1 {{expected a port 'recv' without a metric, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<recv @t0, metric = "m">})

// -----

// expected-error @+1 {{expected a port 'loss_sum' without boxes, got one}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<loss_sum, boxes = [#dist.box<@w, <@mesh, [{}, {}]>, [0, 0]>]>})

// -----

// expected-error @+1 {{expected names of a port 'input', got ""}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<input "">})

// -----

// expected-error @+1 {{expected names of a port 'output', got ""}}
func.func private @f() -> (tensor<4x4xf32> {dist.port = #dist.port<output "y", metric = "">})

// -----

// expected-error @+1 {{expected a chunk of at least 0, got -2}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<act "a0", chunk = -2>})

// -----

// expected-error @+1 {{expected a layout of 1 dims beside the shape of a port, got none}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<input "x", shape = [4]>})

// -----

// expected-error @+1 {{expected a layout of 1 dims beside the shape of a port, got 2}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}, {}]>, shape = [4]>})

// -----

// expected-error @+1 {{expected a layout or boxes of a port, got both}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<gradient @w, layout = <@mesh, [{}, {}]>, boxes = [#dist.box<@w, <@mesh, [{}, {}]>, [0, 0]>]>})

// -----

// expected-error @+1 {{expected #dist.box in the boxes of a port, got []}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<gradient @w, boxes = []>})

// -----

// expected-error @+1 {{expected #dist.box in the boxes of a port, got [1]}}
func.func private @f(tensor<4x4xf32> {dist.port = #dist.port<gradient @w, boxes = [1]>})

// -----

// expected-error @+1 {{'func.func' op expected a port of an argument, got #dist.port<loss>}}
func.func private @f(tensor<f32> {dist.port = #dist.port<loss>})

// -----

// expected-error @+1 {{'func.func' op expected a port of a result, got #dist.port<input "x">}}
func.func private @f() -> (tensor<f32> {dist.port = #dist.port<input "x">})

// RUN: llmc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected axis "x" of size at least 1, got 0}}
dist.mesh @mesh = <"x"=0>

// -----

// expected-error @+1 {{expected distinct axes, got "x" twice}}
dist.mesh @mesh = <"x"=2, "x"=2>

// -----

// expected-error @+1 {{expected a name for axis 0, got ""}}
dist.mesh @mesh = <""=2>

// -----

// expected-error @+1 {{expected at most 2147483647 devices, got more at axis "y"}}
dist.mesh @mesh = <"x"=65536, "y"=65536>

// -----

// expected-error @+1 {{'dist.mesh' op must be public: types name it, which symbol uses do not show}}
dist.mesh @mesh = <"x"=2> {sym_visibility = "private"}

// -----

// expected-error @+1 {{'dist.mesh' op expected an axis of the mesh as pipeline, got "pipe"}}
dist.mesh @mesh = <"x"=2> pipeline "pipe"

// -----

// expected-error @+1 {{'dist.mesh' op expected 2 device ids, got 1}}
dist.mesh @mesh = <"x"=2> devices [0]

// -----

// expected-error @+1 {{'dist.mesh' op expected each device id below 2 once, got 1}}
dist.mesh @mesh = <"x"=2> devices [1, 1]

// -----

// expected-error @+1 {{expected each axis once among dims, partial and replicated, got "x" twice}}
func.func private @twice(tensor<4xf32, #dist.layout<@mesh, [{"x"}], partial = [sum{"x"}]>>)

// -----

// expected-error @+1 {{expected distinct axes, got "x" twice}}
func.func private @twice(tensor<4xf32, #dist.layout<@mesh, [{"x", "x":(1)2}]>>)

// -----

// expected-error @+1 {{expected a sub-axis of size at least 2, got 1}}
func.func private @sub(tensor<4xf32, #dist.layout<@mesh, [{"x":(1)1}]>>)

// -----

// expected-error @+1 {{expected a sub-axis of "x" with pre-size at least 1 and size at least 2, got (0)2}}
func.func private @sub(tensor<4xf32, #dist.layout<@mesh, [{"x":(0)2}]>>)

// -----

// expected-error @+1 {{expected the name of an axis, got ""}}
func.func private @name(tensor<4xf32, #dist.layout<@mesh, [{""}]>>)

// -----

// expected-error @+1 {{expected '?' as the last of a dim}}
func.func private @open(tensor<4xf32, #dist.layout<@mesh, [{?, "x"}]>>)

// -----

// expected-error @+1 {{expected a priority such as 'p1', got 'q1'}}
func.func private @priority(tensor<4xf32, #dist.layout<@mesh, [{"x"}q1]>>)

// -----

// expected-error @+1 {{expected at least two factors, got 1}}
func.func private @factors(tensor<6xf32, #dist.layout<@mesh, [{"x"}:[6:8]]>>)

// -----

// expected-error @+1 {{expected at least two factors, got 0}}
func.func private @factors(tensor<6xf32, #dist.layout<@mesh, [{"x"}:[]]>>)

// -----

// expected-error @+1 {{expected an extent between 6 and 11, got 12}}
func.func private @factors(tensor<24xf32, #dist.layout<@mesh, [{"x"}:[6:12, 4]]>>)

// -----

// expected-error @+1 {{expected an extent between 6 and 11, got 5}}
func.func private @factors(tensor<24xf32, #dist.layout<@mesh, [{"x"}:[6:5, 4]]>>)

// -----

// expected-error @+1 {{expected a factor of at least 1, got 0}}
func.func private @factors(tensor<24xf32, #dist.layout<@mesh, [{"x"}:[0:5, 4]]>>)

// -----

// expected-error @+1 {{expected an extent of at least 1, got 0}}
func.func private @extent(tensor<24xf32, #dist.layout<@mesh, [{"x"}:0]>>)

// -----

// expected-error @+1 {{expected a padded factor, got extents equal to sizes: leave them away}}
func.func private @factors(tensor<24xf32, #dist.layout<@mesh, [{"x"}:[6, 4]]>>)

// -----

// expected-error @+1 {{expected extents with a product below 2^63}}
func.func private @factors(tensor<24xf32, #dist.layout<@mesh, [{"x"}:[4294967296, 4294967296:4294967297]]>>)

// -----

// expected-error @+1 {{expected factors of dim 0 with product 24, got 32}}
func.func private @factors(tensor<24xf32, #dist.layout<@mesh, [{"x"}:[8, 4:5]]>>)

// -----

// expected-error @+1 {{expected an extent of dim 0 above 6 and below 12, got 6}}
func.func private @extent(tensor<6xf32, #dist.layout<@mesh, [{"x"}:6]>>)

// -----

// expected-error @+1 {{expected an axis over which the value is partial}}
func.func private @partial(tensor<6xf32, #dist.layout<@mesh, [{}], partial = [sum{}]>>)

// -----

// expected-error @+1 {{expected a reduction (sum, max, min, and, or, product), got 'mean'}}
func.func private @partial(tensor<6xf32, #dist.layout<@mesh, [{}], partial = [mean{"x"}]>>)

// -----

// expected-error @+1 {{expected a coordinate of axis "pipe"}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{}], at = {"pipe" = []}>>)

// -----

// expected-error @+1 {{expected ascending coordinates of axis "pipe" from 0 on, got 0}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{}], at = {"pipe" = [1, 0]}>>)

// -----

// expected-error @+1 {{axis "pipe" is pinned and cannot split or replicate}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{"pipe"}], at = {"pipe" = [1]}>>)

// -----

// expected-error @+1 {{expected at least two coordinates of pinned axis "pipe", over which the layout is partial, got 1}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [1]}>>)

// -----

// expected-error @+1 {{expected pinned axis "pipe" once}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{}], at = {"pipe" = [1], "pipe" = [0]}>>)

// -----

// expected-error @+1 {{expected one each of 'partial', 'replicated' and 'at', got 'pinned'}}
func.func private @word(tensor<6xf32, #dist.layout<@mesh, [{}], pinned = []>>)

// -----

// expected-error @+1 {{expected a layout of 2 dims for this tensor, got 1}}
func.func private @rank(tensor<6x6xf32, #dist.layout<@mesh, [{}]>>)

// -----

// expected-error @+1 {{expected dim 0 of an encoding to be closed and without priority}}
func.func private @open(tensor<6xf32, #dist.layout<@mesh, [{?}]>>)

// -----

// expected-error @+1 {{expected dim 0 of dynamic size to be whole}}
func.func private @dynamic(tensor<?xf32, #dist.layout<@mesh, [{"x"}]>>)

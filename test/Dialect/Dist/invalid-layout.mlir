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

// -----

// The most devices that a mesh has.
dist.mesh @mesh = <"x"=2147483647, "y"=1>

// -----

// expected-error @+1 {{expected at most 2147483647 devices, got more at axis "x"}}
dist.mesh @mesh = <"x"=2147483648>

// -----

// expected-error @+1 {{expected at most 2147483647 devices, got more at axis "y"}}
dist.mesh @mesh = <"x"=2, "y"=9223372036854775807>

// -----

// expected-error @+1 {{expected axis "y" of size at least 1, got -1}}
dist.mesh @mesh = <"x"=1, "y"=-1>

// -----

// expected-error @+1 {{expected a name for axis 1, got ""}}
dist.mesh @mesh = <"x"=2, ""=2>

// -----

// expected-error @+1 {{expected distinct axes, got "y" twice}}
dist.mesh @mesh = <"x"=2, "y"=2, "y"=3>

// -----

// expected-error @+1 {{'dist.mesh' op expected each device id below 2 once, got -1}}
dist.mesh @mesh = <"x"=2> devices [0, -1]

// -----

// expected-error @+1 {{'dist.mesh' op expected each device id below 2 once, got 2}}
dist.mesh @mesh = <"x"=2> devices [0, 2]

// -----

// expected-error @+1 {{'dist.mesh' op expected 2 device ids, got 3}}
dist.mesh @mesh = <"x"=2> devices [0, 1, 2]

// -----

// Parts of an axis that meet, on either side; those that do not, in any order.
func.func private @parts(tensor<16xf32, #dist.layout<@mesh, [{"x":(1)2, "x":(2)4}]>>, tensor<16xf32, #dist.layout<@mesh, [{"x":(2)4, "x":(1)2}]>>)
// expected-error @+1 {{expected distinct axes, got "x" twice}}
func.func private @meet(tensor<16xf32, #dist.layout<@mesh, [{"x":(1)4, "x":(2)4}]>>)

// -----

// expected-error @+1 {{expected distinct axes, got "x" twice}}
func.func private @meet(tensor<16xf32, #dist.layout<@mesh, [{"x":(2)4, "x":(1)4}]>>)

// -----

// expected-error @+1 {{expected distinct axes, got "x" twice}}
func.func private @meet(tensor<16xf32, #dist.layout<@mesh, [{"x":(1)2, "x"}]>>)

// -----

// expected-error @+1 {{expected each axis once among dims, partial and replicated, got "y" twice}}
func.func private @twice(tensor<4x4xf32, #dist.layout<@mesh, [{"x"}, {"y"}], replicated = {"y"}>>)

// -----

// expected-error @+1 {{expected each axis once among dims, partial and replicated, got "y" twice}}
func.func private @twice(tensor<4xf32, #dist.layout<@mesh, [{}], replicated = {"y"}, partial = [sum{"x", "y"}]>>)

// -----

// expected-error @+1 {{expected each axis once among dims, partial and replicated, got "x" twice}}
func.func private @twice(tensor<4xf32, #dist.layout<@mesh, [{}], partial = [sum{"x"}, max{"x"}]>>)

// -----

// expected-error @+1 {{expected a sub-axis of size at least 2, got 0}}
func.func private @sub(tensor<4xf32, #dist.layout<@mesh, [{"x":(1)0}]>>)

// -----

// expected-error @+1 {{expected a sub-axis of "y" with pre-size at least 1 and size at least 2, got (0)2}}
func.func private @sub(tensor<4xf32, #dist.layout<@mesh, [{}], replicated = {"x", "y":(0)2}>>)

// -----

// expected-error @+1 {{expected a sub-axis of size at least 2, got 1}}
func.func private @sub(tensor<4xf32, #dist.layout<@mesh, [{}], partial = [sum{"x", "y":(1)1}]>>)

// -----

// expected-error @+1 {{expected '?' as the last of a dim}}
func.func private @open(tensor<4xf32, #dist.layout<@mesh, [{"x", ?, ?}]>>)

// -----

// expected-error @+1 {{expected a priority such as 'p1', got 'px'}}
func.func private @priority(tensor<4xf32, #dist.layout<@mesh, [{"x"}px]>>)

// -----

// expected-error @+1 {{expected a priority such as 'p1', got 'p'}}
func.func private @priority(tensor<4xf32, #dist.layout<@mesh, [{"x"}p]>>)

// -----

// expected-error @+1 {{expected a priority such as 'p1', got 'p9223372036854775808'}}
func.func private @priority(tensor<4xf32, #dist.layout<@mesh, [{"x"}p9223372036854775808]>>)

// -----

// expected-error @+1 {{expected dim 1 of an encoding to be closed and without priority}}
func.func private @priority(tensor<4x4xf32, #dist.layout<@mesh, [{}, {"x"}p0]>>)

// -----

// expected-error @+1 {{expected a factor of at least 1, got -2}}
func.func private @factors(tensor<24xf32, #dist.layout<@mesh, [{"x"}:[4:5, -2]]>>)

// -----

// expected-error @+1 {{expected an extent of at least 1, got 0}}
func.func private @factors(tensor<24xf32, #dist.layout<@mesh, [{"x"}:[6, 4:0]]>>)

// -----

// The least and the most extents of a factor and of a whole dim.
func.func private @factors(tensor<24xf32, #dist.layout<@mesh, [{"x"}:[6:11, 4]]>>, tensor<6xf32, #dist.layout<@mesh, [{"x"}:7]>>,
                           tensor<6xf32, #dist.layout<@mesh, [{"x"}:11]>>)

// -----

// expected-error @+1 {{expected an extent of dim 1 above 6 and below 12, got 12}}
func.func private @extent(tensor<4x6xf32, #dist.layout<@mesh, [{}, {"x"}:12]>>)

// -----

// expected-error @+1 {{expected an extent of dim 1 above 6 and below 12, got 5}}
func.func private @extent(tensor<4x6xf32, #dist.layout<@mesh, [{}, {"x"}:5]>>)

// -----

// expected-error @+1 {{expected dim 1 of dynamic size to be whole}}
func.func private @dynamic(tensor<?x?xf32, #dist.layout<@mesh, [{}, {}:8]>>)

// -----

// What comes after a dim of dynamic size is looked at as well.
// expected-error @+1 {{expected an extent of dim 1 above 6 and below 12, got 6}}
func.func private @dynamic(tensor<?x6xf32, #dist.layout<@mesh, [{}, {"x"}:6]>>)

// -----

func.func private @dynamic(tensor<?x?xf32, #dist.layout<@mesh, [{}, {}]>>)

// -----

// expected-error @+1 {{expected the name of an axis, got ""}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{}], at = {"" = [0]}>>)

// -----

// expected-error @+1 {{expected ascending coordinates of axis "pipe" from 0 on, got -1}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{}], at = {"pipe" = [-1]}>>)

// -----

// expected-error @+1 {{expected ascending coordinates of axis "pipe" from 0 on, got 1}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{}], at = {"pipe" = [0, 1, 1]}>>)

// -----

// expected-error @+1 {{axis "y" is pinned and cannot split or replicate}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{"z"}], replicated = {"y"}, at = {"x" = [1], "y" = [1]}>>)

// -----

// expected-error @+1 {{expected pinned axis "y" once}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{}], at = {"y" = [0], "x" = [1], "y" = [1]}>>)

// -----

// expected-error @+1 {{expected at least two coordinates of pinned axis "y", over which the layout is partial, got 1}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{}], partial = [sum{"x"}, max{"y"}], at = {"x" = [0, 1], "y" = [1]}>>)

// -----

// expected-error @+1 {{expected one each of 'partial', 'replicated' and 'at', got 'partial'}}
func.func private @word(tensor<6xf32, #dist.layout<@mesh, [{}], partial = [sum{"x"}], partial = [sum{"y"}]>>)

// -----

// expected-error @+1 {{expected one each of 'partial', 'replicated' and 'at', got 'replicated'}}
func.func private @word(tensor<6xf32, #dist.layout<@mesh, [{}], replicated = {"x"}, replicated = {"y"}>>)

// -----

// expected-error @+1 {{expected one each of 'partial', 'replicated' and 'at', got 'at'}}
func.func private @word(tensor<6xf32, #dist.layout<@mesh, [{}], at = {"x" = [0]}, at = {"y" = [0]}>>)

// -----

// Parts of layouts as attributes of their own.
// expected-error @+1 {{expected '<'}}
func.func private @axis() attributes {a = #dist.axis}

// -----

// expected-error @+1 {{expected a sub-axis of size at least 2, got 1}}
func.func private @axis() attributes {a = #dist.axis<"x":(1)1>}

// -----

// expected-error @+1 {{expected '>'}}
func.func private @axis() attributes {a = #dist.axis<"x", "y">}

// -----

// expected-error @+1 {{expected '<'}}
func.func private @dim() attributes {a = #dist.dim}

// -----

// expected-error @+1 {{expected an extent of at least 1, got 0}}
func.func private @dim() attributes {a = #dist.dim<{"x"}:0>}

// -----

// expected-error @+1 {{expected '>'}}
func.func private @dim() attributes {a = #dist.dim<{"x"}, {}>}

// -----

// expected-error @+1 {{expected '<'}}
func.func private @partial() attributes {a = #dist.partial}

// -----

// expected-error @+1 {{expected an axis over which the value is partial}}
func.func private @partial() attributes {a = #dist.partial<sum{}>}

// -----

// expected-error @+1 {{expected '>'}}
func.func private @partial() attributes {a = #dist.partial<sum{"x"}, max{"y"}>}

// -----

// expected-error @+1 {{expected '<'}}
func.func private @pin() attributes {a = #dist.pin}

// -----

// expected-error @+1 {{expected a coordinate of axis "x"}}
func.func private @pin() attributes {a = #dist.pin<"x" = []>}

// -----

// expected-error @+1 {{expected '>'}}
func.func private @pin() attributes {a = #dist.pin<"x" = [0], "y" = [0]>}

// -----

// expected-error @+1 {{expected at least two coordinates of pinned axis "y", over which the layout is partial, got 1}}
func.func private @pin(tensor<6xf32, #dist.layout<@mesh, [{}], partial = [sum{"x", "y"}], at = {"y" = [1]}>>)

// -----

// expected-error @+1 {{expected distinct axes, got "y" twice}}
func.func private @twice(tensor<6xf32, #dist.layout<@mesh, [{"x", "y", "y"}]>>)

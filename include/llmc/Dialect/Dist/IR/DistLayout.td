//===- DistLayout.td - Meshes and layouts ------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attributes of a mesh and of a tensor's place on it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTLAYOUT
#define LLMC_DIALECT_DIST_IR_DISTLAYOUT

include "llmc/Dialect/Dist/IR/DistDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

class Dist_Attr<string name, string mnemonicOf, list<Trait> traits = []>
    : AttrDef<Dist_Dialect, name, traits> {
  let mnemonic = mnemonicOf;
}

def Dist_MeshAxesAttr : Dist_Attr<"MeshAxes", "mesh_axes"> {
  let summary = "named axes of a mesh with their sizes";
  let description = [{
    `#dist.mesh_axes<"pipe"=2, "data"=4>`. The first axis is the most major: the
    device at coordinates (c0, c1, ...) has the number ((c0 * n1) + c1) * ...

    Constraints: names are distinct and not empty, sizes at least 1; the number
    of devices fits 31 bits.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names, ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    size_t getNumAxes() const { return getNames().size(); }
    int64_t getNumDevices() const;
    /// Position of the axis, or nothing when the mesh has no such axis.
    std::optional<size_t> find(llvm::StringRef name) const;
    bool contains(llvm::StringRef name) const { return find(name).has_value(); }
    /// Size of the axis; 1 for an axis that the mesh lacks.
    int64_t getSize(llvm::StringRef name) const;
  }];
}

def Dist_LinkAttr : Dist_Attr<"Link", "link"> {
  let summary = "a class of links between devices";
  let description = [{
    `#dist.link<"nvlink", latency = 1.0e-6 : f64, bandwidth = 4.5e11 : f64>`:
    seconds for each message, bytes a second that a device receives.

    Constraints: a name; a latency of at least 0, a positive bandwidth, both
    finite f64.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::FloatAttr":$latency, "::mlir::FloatAttr":$bandwidth);
  let assemblyFormat = "`<` $name `,` struct($latency, $bandwidth) `>`";
  let genVerifyDecl = 1;
}

def Dist_MachineAttr : Dist_Attr<"Machine", "machine"> {
  let summary = "what the machine can do that a mesh stands for";
  let description = [{
    ```mlir
    #dist.machine<links = [#dist.link<"nvlink", ...>, #dist.link<"network", ...>],
                  axes = {data = "network", tensor = "nvlink"},
                  flops = 1.0e15 : f64, memory = 8.0e10 : f64, memory_bandwidth = 3.3e12 : f64, bucket = 2.5e7 : f64,
                  rates = {f32 = 6.7e13 : f64, fp8 = 2.0e15 : f64}>
    ```
    Of one device: operations a second, bytes, bytes a second of its memory. A
    bucket of collectives is full at `bucket` bytes. All may be absent: without
    links axes are alike and cost no latency; an axis that is not named crosses
    the first class; how large buckets are, follows from the links; a product
    takes `flops` where no rate of the type of its factors is given.

    Constraints: links are `#dist.link` with names of their own; `axes` gives
    each of its axes the name of a link; rates are of f64, f32, f16,
    bf16 and fp8, above 0; the numbers finite f64 of at least 0.
  }];
  let parameters = (ins OptionalParameter<"::mlir::ArrayAttr">:$links, OptionalParameter<"::mlir::DictionaryAttr">:$axes,
                        OptionalParameter<"::mlir::FloatAttr">:$flops, OptionalParameter<"::mlir::FloatAttr">:$memory,
                        OptionalParameter<"::mlir::FloatAttr">:$memory_bandwidth, OptionalParameter<"::mlir::FloatAttr">:$bucket,
                        OptionalParameter<"::mlir::DictionaryAttr">:$rates);
  let extraClassDeclaration = [{
    /// Position of the axis's class among the links; 0 where none is named.
    size_t getLinkOfAxis(::llvm::StringRef axis) const;
  }];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Dist_AxisAttr : Dist_Attr<"Axis", "axis"> {
  let summary = "a mesh axis, or a part of one";
  let description = [{
    `"tensor"`, or a sub-axis `"tensor":(2)4`: the axis is seen as (pre, size,
    rest) with `pre` = 2 and `size` = 4. A whole axis has size 0 here.

    Constraints: a name; a sub-axis has pre at least 1 and size at least 2.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, DefaultValuedParameter<"int64_t", "1">:$preSize,
                        DefaultValuedParameter<"int64_t", "0">:$subSize);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name), [{
    return $_get($_ctxt, ::mlir::StringAttr::get($_ctxt, name), 1, 0);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isSubAxis() const { return getSubSize() != 0; }
    /// How many parts the axis makes on this mesh.
    int64_t getSize(MeshAxesAttr mesh) const;
    /// Whether two parts of mesh axes have devices' digits in common.
    bool overlaps(AxisAttr other) const;
  }];
}

def Dist_DimAttr : Dist_Attr<"Dim", "dim"> {
  let summary = "how one dimension of a tensor is split";
  let description = [{
    `{"data", "tensor"}`: split by these axes, major to minor; `{}`: whole.
    `{"data", ?}` or `{?}` is open: propagation may append axes. `{"data"}p1`
    takes part from round 1 on. `{"tensor"}:50264` has a padded extent;
    `{"tensor"}:[6:8, 64]` is a product of factors, major to minor, each `size`
    or `size:extent`.

    A dim without padding has no extents (equal layouts are equal attributes).
    `sizes` is empty for the short form of one factor.

    Constraints: an axis once; extents at least 1; at least two factors in a
    list, of which one is padded; an extent is at least its size and less than
    twice its size; priority at least 0.
  }];
  let parameters = (ins ArrayRefParameter<"::llmc::dist::AxisAttr">:$axes, "bool":$isOpen,
                        DefaultValuedParameter<"int64_t", "-1">:$priority,
                        ArrayRefParameter<"int64_t">:$sizes, ArrayRefParameter<"int64_t">:$extents);
  let skipDefaultBuilders = 1;
  let builders = [
    /// A closed dim; one factor per extent (none: the dim is not padded).
    AttrBuilder<(ins CArg<"::llvm::ArrayRef<::llmc::dist::AxisAttr>", "{}">:$axes,
                     CArg<"::llvm::ArrayRef<int64_t>", "{}">:$sizes,
                     CArg<"::llvm::ArrayRef<int64_t>", "{}">:$extents), [{
      return $_get($_ctxt, axes, false, int64_t(-1), sizes, extents);
    }]>,
    AttrBuilder<(ins "::llvm::ArrayRef<::llmc::dist::AxisAttr>":$axes, "bool":$isOpen, "int64_t":$priority,
                     "::llvm::ArrayRef<int64_t>":$sizes, "::llvm::ArrayRef<int64_t>":$extents), [{
      return $_get($_ctxt, axes, isOpen, priority, sizes, extents);
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isPadded() const { return !getExtents().empty(); }
    bool hasPriority() const { return getPriority() >= 0; }
    /// The padded extent of a dimension of this size.
    int64_t getExtent(int64_t size) const;
    /// The product of the axes' sizes.
    int64_t getNumParts(MeshAxesAttr mesh) const;
  }];
}

def Dist_PartialAttr : Dist_Attr<"Partial", "partial"> {
  let summary = "axes over which a value is partial, with the kind";
  let description = [{
    `sum{"data", "tensor"}`: the value is the sum of what the devices along
    these axes hold.

    Constraints: at least one axis, each once.
  }];
  let parameters = (ins "::llmc::ReductionKind":$kind, ArrayRefParameter<"::llmc::dist::AxisAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dist_PinAttr : Dist_Attr<"Pin", "pin"> {
  let summary = "coordinates of an axis at which a value lives";
  let description = [{
    `"pipe" = [0, 1]`.

    Constraints: at least one coordinate; ascending, at least 0.
  }];
  let parameters = (ins "::mlir::StringAttr":$axis, ArrayRefParameter<"int64_t">:$coordinates);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dist_LayoutAttr : Dist_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let summary = "where the elements of a tensor live";
  let description = [{
    ```mlir
    #dist.layout<@mesh, [{"data"}, {}, {"tensor"}:[6:8, 64]], partial = [sum{"x"} ],
                 replicated = {"y"}, at = {"pipe" = [0, 1]}>
    ```
    For each dimension the axes that split it, the axes over which the value is
    partial, axes that may not be used further, and the coordinates of pinned
    axes. Axes named nowhere replicate. Between materialize and localize it is
    the encoding of every tensor type. Sets are kept in the order of their
    names, so equal layouts are equal attributes.

    Constraints: an axis occurs once among dims, partial and replicated; a
    pinned axis may be partial (over the coordinates that it lists) but neither
    split nor replicate. As an encoding: as many dims as the tensor has, static
    sizes where the layout splits or pads, extents that fit the size, no dim open and
    no priorities.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh, ArrayRefParameter<"::llmc::dist::DimAttr">:$dims,
                        ArrayRefParameter<"::llmc::dist::PartialAttr">:$partial,
                        ArrayRefParameter<"::llmc::dist::AxisAttr">:$replicated,
                        ArrayRefParameter<"::llmc::dist::PinAttr">:$at);
  let skipDefaultBuilders = 1;
  let builders = [
    AttrBuilder<(ins "::mlir::FlatSymbolRefAttr":$mesh, "::llvm::ArrayRef<::llmc::dist::DimAttr>":$dims,
                     CArg<"::llvm::ArrayRef<::llmc::dist::PartialAttr>", "{}">:$partial,
                     CArg<"::llvm::ArrayRef<::llmc::dist::AxisAttr>", "{}">:$replicated,
                     CArg<"::llvm::ArrayRef<::llmc::dist::PinAttr>", "{}">:$at), [{
      auto sorted = sortLayoutSets($_ctxt, partial, replicated, at);
      return $_get($_ctxt, mesh, dims, ::llvm::ArrayRef(sorted.partial), ::llvm::ArrayRef(sorted.replicated),
                   ::llvm::ArrayRef(sorted.at));
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The whole value on every device.
    static LayoutAttr getReplicated(mlir::FlatSymbolRefAttr mesh, int64_t rank);
    int64_t getRank() const { return getDims().size(); }
    bool isPartial() const { return !getPartial().empty(); }
    /// The kind with which the value is partial over the axis, if it is.
    std::optional<ReductionKind> getPartialKind(llvm::StringRef axis) const;
    /// The coordinates at which the value lives along the axis; empty = all.
    llvm::ArrayRef<int64_t> getPin(llvm::StringRef axis) const;
    /// The dim that the axis (or a part of it) splits, if any.
    std::optional<int64_t> getDimSplitBy(llvm::StringRef axis) const;
    /// The shape with padding.
    llvm::SmallVector<int64_t> getPaddedShape(llvm::ArrayRef<int64_t> shape) const;
    /// The shape that a device holds: padded extents over the parts. The axes
    /// must have been verified against the mesh (`verifyLayoutOnMesh`).
    llvm::SmallVector<int64_t> getLocalShape(llvm::ArrayRef<int64_t> shape, MeshAxesAttr mesh) const;
    LayoutAttr withDims(llvm::ArrayRef<DimAttr> dims) const;
    LayoutAttr withDim(int64_t index, DimAttr dim) const;
    LayoutAttr withPartial(llvm::ArrayRef<PartialAttr> partial) const;
    LayoutAttr withPartialOver(AxisAttr axis, ReductionKind kind) const;
    LayoutAttr withoutPartialOver(llvm::ArrayRef<AxisAttr> axes) const;
    LayoutAttr withPins(llvm::ArrayRef<PinAttr> at) const;
  }];
}

#endif // LLMC_DIALECT_DIST_IR_DISTLAYOUT

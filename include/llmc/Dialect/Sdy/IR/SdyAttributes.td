//===- SdyAttributes.td - The sdy dialect and its attributes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meshes and shardings as Shardy prints them:
//
//   #sdy.mesh<["data"=2, "model"=4]>            #sdy.mesh<[], device_ids=[0]>
//   #sdy.sharding<@mesh, [{"data"}, {"model":(1)2, ?}p1, {}], unreduced={"x"}>
//
// A dimension is open (`?`: more axes may be added) or closed; `p1` is its
// priority; `"model":(1)2` is the sub-axis of size 2 whose major part has size 1.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_SDY_IR_SDYATTRIBUTES_TD
#define LLMC_DIALECT_SDY_IR_SDYATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::llmc::sdy";
  let summary = "Sharding annotations of JAX exports";
  let description = [{
    Enough of Shardy to read annotated JAX text. The importer turns it into
    `dist` at once; no op of this dialect lives after phase 0. Discardable
    attributes `sdy.sharding` on function arguments, results and ops are
    verified against the mesh and the type that they annotate.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let useDefaultAttributePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
    std::optional<ParseOpHook>
    getParseOperationHook(::llvm::StringRef opName) const override;

  private:
    void registerAttributes();

  public:
  }];
}

class Sdy_Attr<string name, string attrMnemonic> : AttrDef<Sdy_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Sdy_MeshAxisAttr : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "Named mesh axis and its size, `\"data\"=2`";
  let description = "Constraints: a name; a size of at least 1.";
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$size);
}

def Sdy_MeshAttr : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "Mesh of named axes";
  let description = [{
    Without axes and ids the mesh is empty: nothing is sharded. Without axes but
    with one id it is that one device.

    Constraints: distinct names; a number of devices that fits in int64; device
    ids, if given, are a permutation of all devices, or one id where there is no
    axis.
  }];
  let parameters = (ins OptionalArrayRefParameter<"::llmc::sdy::MeshAxisAttr">:$axes,
                        OptionalArrayRefParameter<"int64_t">:$deviceIds);
  let extraClassDeclaration = [{
    /// Size of the axis; nothing if the mesh lacks it.
    std::optional<int64_t> getAxisSize(::llvm::StringRef name) const;
    bool isEmpty() const { return getAxes().empty() && getDeviceIds().empty(); }
  }];
}

def Sdy_SubAxisInfoAttr : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "Part of an axis, `(pre-size)size`";
  let description = "Constraints: pre-size at least 1, size at least 2.";
  let parameters = (ins "int64_t":$preSize, "int64_t":$size);
}

def Sdy_AxisRefAttr : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "Axis or sub-axis";
  let parameters = (ins StringRefParameter<"name">:$name,
                        OptionalParameter<"::llmc::sdy::SubAxisInfoAttr">:$subAxisInfo);
}

def Sdy_DimensionShardingAttr : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "Axes of one tensor dimension, major to minor";
  let description = "Constraints: an empty closed dimension has no priority.";
  let parameters = (ins OptionalArrayRefParameter<"::llmc::sdy::AxisRefAttr">:$axes,
                        "bool":$isClosed, OptionalParameter<"std::optional<int64_t>">:$priority);
}

def Sdy_TensorShardingAttr : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "Sharding of a tensor on a mesh";
  let parameters = (ins "::mlir::Attribute":$meshOrRef,
      OptionalArrayRefParameter<"::llmc::sdy::DimensionShardingAttr">:$dimShardings,
      OptionalArrayRefParameter<"::llmc::sdy::AxisRefAttr">:$replicatedAxes,
      OptionalArrayRefParameter<"::llmc::sdy::AxisRefAttr">:$unreducedAxes);
  let extraClassDeclaration = [{
    /// The mesh, written in place or found by its name from `op` upward; null if
    /// there is none.
    MeshAttr getMesh(::mlir::Operation *op) const;
  }];
}

def Sdy_TensorShardingPerValueAttr
    : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "One sharding for each result";
  let parameters = (ins
      OptionalArrayRefParameter<"::llmc::sdy::TensorShardingAttr">:$shardings);
  let genVerifyDecl = 0;
}

def Sdy_ManualAxesAttr : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "Axes of a manual region, `{\"data\", \"model\"}`";
  let description = "Constraints: distinct names.";
  let parameters = (ins OptionalArrayRefParameter<"::mlir::StringAttr">:$axes);
  let extraClassDeclaration = [{
    bool contains(::llvm::StringRef axis) const;
  }];
}

#endif // LLMC_DIALECT_SDY_IR_SDYATTRIBUTES_TD

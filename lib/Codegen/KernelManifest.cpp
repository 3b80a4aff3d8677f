//===- KernelManifest.cpp - What a kernel object says of its kernels ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read from the kernels' own signatures and attributes:
//
//   func.func private @k.3f2a(%a: memref<24xf32>, %y: memref<24xf32>,
//       %begin: index, %end: index, %scratch: memref<0xi8>)
//     attributes {llmc.kernel, llmc.access = ["read", "write"],
//                 llmc.types = [f32, f32], llmc.rows = 24, llmc.scratch = 0}
//
// An argument of access "scalar" is an index from 0 to the bound that
// `llmc.scalars` gives it, in their order.
//
// Test: test/Codegen/KernelObjectTest.cpp
//
//===----------------------------------------------------------------------===//

#include "Processor.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace llmc::codegen {

static FailureOr<rt::plan::KernelInfo> describe(func::FuncOp function) {
  rt::plan::KernelInfo info;
  info.name = function.getName().str();
  auto access = function->getAttrOfType<ArrayAttr>("llmc.access");
  auto types = function->getAttrOfType<ArrayAttr>("llmc.types");
  auto rows = function->getAttrOfType<IntegerAttr>("llmc.rows");
  auto scratch = function->getAttrOfType<IntegerAttr>("llmc.scratch");
  if (!access || !types || !rows || !scratch ||
      access.size() + 3 != function.getNumArguments() ||
      types.size() != access.size())
    return function.emitError("expected a kernel with 'llmc.access', "
                              "'llmc.types', 'llmc.rows' and 'llmc.scratch'");
  auto greatest = function->getAttrOfType<DenseI64ArrayAttr>("llmc.scalars");
  for (auto [index, mode] : llvm::enumerate(access.getAsRange<StringAttr>())) {
    if (mode == "scalar") {
      size_t number = info.scalars.size();
      if (!greatest || number >= static_cast<size_t>(greatest.size()))
        return function.emitError("expected 'llmc.scalars' to bound each "
                                  "scalar");
      info.scalars.push_back({0, greatest[number]});
      continue;
    }
    rt::plan::KernelArgument argument;
    // The type as the graph has it: unsigned and i1 differ from memory's.
    Type element = cast<TypeAttr>(types[index]).getValue();
    std::optional<rt::DType> dtype = getRuntimeDType(element);
    if (!dtype)
      return emitRefusal(function, rt::ErrorKind::unsupported)
             << "expected elements of a type of the plan, got '" << element
             << "'";
    argument.dtype = *dtype;
    argument.access = mode == "read"    ? rt::plan::Access::read
                      : mode == "write" ? rt::plan::Access::write
                                        : rt::plan::Access::readWrite;
    auto memref = cast<MemRefType>(function.getArgument(index).getType());
    argument.extentBytes = memref.getNumElements() * rt::sizeOf(*dtype);
    info.arguments.push_back(argument);
  }
  info.rows = rows.getInt();
  info.scratchBytes = scratch.getInt();
  return info;
}

FailureOr<rt::plan::Manifest> getManifest(ModuleOp kernels) {
  rt::plan::Manifest manifest;
  manifest.features = getCpuinfoFeatures();
  for (auto function : kernels.getOps<func::FuncOp>()) {
    if (!function->hasAttr("llmc.kernel"))
      continue;
    FailureOr<rt::plan::KernelInfo> info = describe(function);
    if (failed(info))
      return failure();
    manifest.kernels.push_back(std::move(*info));
  }
  return manifest;
}

} // namespace llmc::codegen

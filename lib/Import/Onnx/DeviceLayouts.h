//===- DeviceLayouts.h - A file's configuration of devices ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From IR version 11 on a file may say for each node on which devices the parts
// of its tensors lie (ONNX, docs/proposals/ONNXMultiDeviceProposal.md). Devices
// are numbers; a mesh has axes. Each split is a run of digits of the device's
// number, and the ends of all runs cut the number into axes:
//
//   8 devices; %x: shards 0 and 1 on {0, 1, 2, 3} and {4, 5, 6, 7}
//              %w: shards 0 and 1 on {0, 2, 4, 6} and {1, 3, 5, 7}
//   -> axes devices0 = 2, devices1 = 2, devices2 = 2; %x is split by the first,
//      %w by the last
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_DEVICELAYOUTS_H
#define LLMC_LIB_IMPORT_ONNX_DEVICELAYOUTS_H

#include "llmc/Import/Onnx/Model.h"
#include "llmc/Import/Program/Shardings.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llmc::onnx {

/// Annotates the values that the nodes of the file's graph name. The mesh is
/// `mesh` where it has axes, else the one that the file's numbers make; where
/// it is one device, nothing is done. `find` gives the value of a name, or
/// null. Error 2: another number of devices, axes that do not end where splits
/// do; 3: malformed; 5: parts that are no runs of digits. `file` is named in
/// warnings.
rt::Status
annotateDevices(const Model &model, const std::string &file,
                const import::MeshAxes &mesh, mlir::func::FuncOp main,
                llvm::function_ref<mlir::Value(std::string_view name)> find);

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_DEVICELAYOUTS_H

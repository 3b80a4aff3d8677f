//===- ExternalData.h - Elements in files beside the model ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor may name a file with its elements. Whoever made the model chose that
// name, so nothing outside the model's folder is read: each step of the path is
// opened from the one before without following links, and what is opened in the
// end is a regular file that has no other name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_EXTERNALDATA_H
#define LLMC_LIB_IMPORT_ONNX_EXTERNALDATA_H

#include "llmc/Import/Onnx/Model.h"

namespace llmc::onnx {

/// Bytes of a file.
struct FileRegion {
  std::string path;
  int64_t offset = 0, bytes = 0;
};

class ExternalData {
public:
  /// `model`: the path of the model.
  explicit ExternalData(const std::string &model);

  /// Where the elements of a tensor of `bytes` bytes are. Error 3.
  rt::Result<FileRegion> find(const Tensor &tensor, int64_t bytes);
  /// The bytes of a region that `find` has given.
  rt::Result<std::string> read(const FileRegion &region) const;

private:
  std::string folder;
  /// Sizes of files that have been checked.
  std::map<std::string, int64_t> sizes;
};

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_EXTERNALDATA_H

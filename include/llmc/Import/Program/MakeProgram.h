//===- MakeProgram.h - A graph with names becomes a program -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all frontends share. A frontend reads a file into one function of graph
// ops and says what its arguments and results are called; here the
// configuration makes a program of it:
//
//   func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<2x4xi32>) -> tensor<f32>
//   with names params.w and tokens
//   ->
//   dist.mesh @mesh = <"data"=2>
//   dist.state @w : tensor<4x8xf32> {role = parameter, source = ...}
//   func @loss(%w {dist.port = #dist.port<parameter @w>},
//              %tokens {dist.port = #dist.port<input "tokens">})
//       -> (tensor<f32> {dist.port = #dist.port<loss>})
//   dist.training @train forward(@loss) optimizer(@optimizer.adamw) ...
//   dist.entry @forward function(@loss)
//
// The configuration is resolved here and nowhere else.
//
// Tests: test/Import/StableHLO
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_PROGRAM_MAKEPROGRAM_H
#define LLMC_IMPORT_PROGRAM_MAKEPROGRAM_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Import/Program/AxisParts.h"
#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Config/Config.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>

namespace llmc::import {

struct Graph;

struct Options {
  rt::Config config;
  /// `--mesh` : axis name and size; axes that are absent have size 1.
  std::vector<std::pair<std::string, int64_t>> meshSizes;
  /// A safetensors file with initial values of parameters, or "".
  std::string weights;
  /// `--dim`: sizes of symbolic dimensions, for files that have some.
  std::vector<std::pair<std::string, int64_t>> dims;
  /// Refuse graphs without a loss or a parameter, which cannot be trained.
  bool mustTrain = false;
  /// Sees the graph before anything is asked of the configuration: for tools
  /// that say what a file has.
  std::function<void(const Graph &)> seeGraph;
};

/// The name of an argument: a root and a path in the tree below it, joined by
/// points: "params" and "blocks.0.w"; "x" has root "x" and no path. Of a
/// complex argument's two parts each ends with its own (ComplexNames.h):
/// ".imag".
struct ValueName {
  std::string root, path, part;
  /// Of the argument in the file, which may be complex.
  const std::string &wholeShortName() const {
    return path.empty() ? root : path;
  }
  std::string wholeName() const {
    return path.empty() ? root : root + "." + path;
  }
  /// The path, or the root of a name without one.
  std::string shortName() const { return wholeShortName() + part; }
  std::string fullName() const { return wholeName() + part; }
};

/// What a result has to do with derivatives that the file has itself.
enum class Derivation {
  /// It is computed from none.
  None,
  /// It is one.
  Gradient,
  /// It is computed from some.
  Update,
};

/// What a result is called. All may be empty, but for `metric` and `output`.
struct ResultName {
  /// As the file says it, for messages.
  std::string shown;
  /// In the tree of what the function returns: "1.mu.w" of result[1].mu['w'].
  std::string path;
  /// Of a complex result's two parts; all names but the path have it at the
  /// end.
  std::string part;
  /// The path of the argument that it replaces, if there is one.
  std::string replaces;
  /// As a metric, and as an output of the entry 'forward'.
  std::string metric, output;
  Derivation derivation = Derivation::None;
  /// Of no use to training, where it is no scalar: an output of 'forward'.
  bool isForForward = false;
};

/// What a file itself says of an argument.
struct GivenState {
  enum class Kind { Input, Parameter, Constant, Carried };
  Kind kind = Kind::Input;
  /// Of a state: how it begins, a region of a file or a draw; null for zeros.
  mlir::Attribute source;
  /// Of a carried state: the result that replaces it.
  std::optional<unsigned> result;
  /// Of an optimizer's state in a step: the argument whose state it is.
  std::optional<unsigned> parameter;
};

/// Whether a caller gives an argument's memory away, and for which result.
struct Donation {
  bool isGiven = false;
  std::optional<unsigned> result;
};

/// A function of graph ops without calls, the only one of its module.
struct Graph {
  mlir::func::FuncOp main;
  /// One for each argument and result.
  llvm::SmallVector<ValueName> arguments;
  llvm::SmallVector<Donation> donations;
  llvm::SmallVector<ResultName> results;
  /// One for each argument, or none where the file says nothing.
  llvm::SmallVector<std::optional<GivenState>> given;
};

/// Adds the loss that [loss] asks for to what the function returns, or makes
/// the result that it names the first one. Error 2 where these do not fit.
rt::Status addObjective(Graph &graph, const rt::Config &config);
/// Makes a result the first one.
void moveToFront(Graph &graph, unsigned result);

/// The axes that the configuration and the command line give, without the
/// pipeline; none where they say nothing.
MeshAxes getGivenAxes(const Options &options);

/// What a file says of a mesh: its axes, and the parts of axes that it names.
struct FileMesh {
  MeshAxes axes;
  std::vector<NamedPart> parts;
};

/// Makes the graph's module a program, and returns its mesh. Where the
/// configuration has no axes the mesh has those of the file. Errors: 1 or 2 for
/// arguments that fit neither data nor states, 2 and 3 for what the
/// configuration and the weights say. Of a module that has its derivative,
/// `description` gets what each argument is, and why.
rt::Result<dist::MeshOp> makeProgram(const Graph &graph, const Options &options,
                                     const FileMesh &fileMesh,
                                     std::string *description = nullptr);

/// Stores states that are smaller than `whole_below` of their tables as they
/// are used. After all layouts are known, those of the text too.
void storeSmallWhole(mlir::ModuleOp module, mlir::func::FuncOp main,
                     const rt::Config &config);

/// Writes into the rows of parameters in what floats their gradients are sent.
/// After all layouts are known.
void addSentTypes(mlir::ModuleOp module, const rt::Config &config);

/// Adds the entry 'forward' to a program, once its ops are final: the graph's
/// function, or what of it has nothing to do with derivatives.
void addForward(const Graph &graph);

/// Where the configuration gives a state's or an input's layout of this kind
/// ("rest", "use", "gradient", "optimizer", "dims"): "layout[2].rest,
/// model.toml:14:8"; empty where no table does.
std::string findLayoutOrigin(const rt::Config &config, bool isInput,
                             llvm::StringRef name, int64_t rank,
                             llvm::StringRef kind);

/// Gives `state` a row of these layouts, each of which may be null.
void setRowLayouts(dist::StateOp state, dist::LayoutAttr rest,
                   dist::LayoutAttr use, dist::LayoutAttr gradient,
                   dist::LayoutAttr optimizer);

} // namespace llmc::import

#endif // LLMC_IMPORT_PROGRAM_MAKEPROGRAM_H

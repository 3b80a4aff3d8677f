//===- Import.cpp - Phase 0: a StableHLO text becomes a program -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the steps; see Import.h for what comes out.
//
// Tests: test/Import/StableHLO/graphs.test
//===----------------------------------------------------------------------===//

#include "llmc/Import/StableHLO/Import.h"
#include "HloMesh.h"
#include "Parts.h"
#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Import/Text/ReadModule.h"
#include "llmc/Support/GraphTensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

/// The entry function: "main", or else the only public one.
static rt::Result<func::FuncOp> findMain(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (main && main.isPublic())
    return main;
  main = nullptr;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic())
      continue;
    if (main)
      return rt::makeError(ErrorKind::diagnosed,
                           describePlace(func.getLoc()) +
                               "expected one public function or '@main', got "
                               "several");
    main = func;
  }
  if (!main)
    return rt::makeError(ErrorKind::diagnosed,
                         describePlace(module.getLoc()) +
                             "expected a public function with a body, got "
                             "none");
  return main;
}

static rt::Status refuse(Location loc, const std::string &message) {
  return rt::makeError(ErrorKind::unsupported, describePlace(loc) + message);
}

static rt::Status checkTypes(Location loc, TypeRange types) {
  for (Type type : types)
    if (!isGraphTensor(type) || cast<RankedTensorType>(type).getEncoding()) {
      std::string shown;
      llvm::raw_string_ostream(shown) << type;
      return refuse(
          loc,
          "expected tensors of numbers without encodings in a function, got " +
              shown);
    }
  return rt::Status::success();
}

/// Whether ops of it may stand in a function.
static bool isForFunctions(Dialect *dialect) {
  return isa<stablehlo::StableHLODialect, chlo::ChloDialect, sdy::SdyDialect,
             nn::NNDialect>(dialect);
}

template <typename... Ops> static bool isOneOf(RegisteredOperationName op) {
  return ((op.getTypeID() == TypeID::get<Ops>()) || ...);
}

OpUse import::getUse(RegisteredOperationName op) {
  if (isOneOf<ModuleOp, func::FuncOp, func::CallOp, func::ReturnOp>(op))
    return OpUse::Read;
  if (!isForFunctions(&op.getDialect()))
    return OpUse::Refused;
  bool isRead = isa<sdy::SdyDialect>(op.getDialect()) ||
                op.hasTrait<OpTrait::IsTerminator>();
  return isRead ? OpUse::Read : OpUse::Graph;
}

static rt::Status checkOp(Operation *op) {
  if (!isa<func::ReturnOp>(op) && !isForFunctions(op->getDialect()))
    return refuse(op->getLoc(), "expected ops of stablehlo, chlo, nn and sdy "
                                "in a function, got '" +
                                    op->getName().getStringRef().str() + "'");
  return checkTypes(op->getLoc(), op->getResultTypes());
}

/// What phases take for granted of a graph, once calls are inlined.
static rt::Status checkGraph(ModuleOp module, func::FuncOp main) {
  for (Operation &op : *module.getBody())
    if (!isa<func::FuncOp, sdy::MeshOp>(op))
      return refuse(op.getLoc(), "expected functions and meshes of shardings "
                                 "in a module, got '" +
                                     op.getName().getStringRef().str() + "'");
  if (size_t blocks = main.getBody().getBlocks().size(); blocks != 1)
    return refuse(main.getLoc(), "expected a function with one block, got " +
                                     std::to_string(blocks));
  for (BlockArgument argument : main.getArguments())
    LLMC_TRY(checkTypes(argument.getLoc(), argument.getType()));
  rt::Status status;
  main.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    status = checkOp(op);
    return status.ok() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return status;
}

rt::Result<OwningOpRef<ModuleOp>>
import::importStableHLO(MLIRContext &context, const std::string &path,
                        const Options &options, std::string *description) {
  LLMC_TRY_ASSIGN(OwningOpRef<ModuleOp> module, readModule(context, path));
  LLMC_TRY_ASSIGN(func::FuncOp main, findMain(*module));
  LLMC_TRY(readShardyTexts(*module));
  LLMC_TRY(translateHloShardings(*module, getGivenAxes(options)));
  LLMC_TRY(readStopGradients(*module));
  LLMC_TRY(expandCallers(*module));
  LLMC_TRY(inlineCalls(*module, main));
  LLMC_TRY(flattenTuples(main));
  LLMC_TRY(readResources(main));
  LLMC_TRY(splitComplexNumbers(main));
  LLMC_TRY(checkGraph(*module, main));
  LLMC_TRY(markSpread(main));
  LLMC_TRY(inlineManualRegions(main));
  SmallVector<Derivation> derivations = readDerivations(main);
  if (options.config.training.unroll)
    unrollLoops(main);
  LLMC_TRY(expandOps(main));
  // What each device computes by itself becomes a batch of devices.
  LLMC_TRY(batchDevices(main));
  LLMC_TRY_ASSIGN(Graph graph, readNames(main));
  for (auto [result, derivation] : llvm::zip_equal(graph.results, derivations))
    result.derivation = derivation;
  LLMC_TRY(addObjective(graph, options.config));
  LLMC_TRY_ASSIGN(Shardings shardings, readShardings(main));
  LLMC_TRY_ASSIGN(dist::MeshOp mesh,
                  makeProgram(graph, options,
                              {axesOf(shardings.mesh), shardings.parts},
                              description));
  LLMC_TRY(applyShardings(*module, main, mesh, shardings));
  storeSmallWhole(*module, main, options.config);
  addSentTypes(*module, options.config);
  addForward(graph);
  FirstError error(context);
  if (failed(verify(*module)))
    return error.status(ErrorKind::internal, path + ": import failed");
  return module;
}

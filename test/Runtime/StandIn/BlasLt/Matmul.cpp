//===- Matmul.cpp - A product as work of a stream -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlasLt/Product.h"

#include <cstring>

using namespace llmc::standin;

namespace {

/// The memory of a product, found and checked by the call.
class Preparation {
public:
  Preparation(const Problem &problem, const Context &context)
      : p(problem), context(context) {}

  /// The view of device memory; ends the process where a GPU would fault.
  char *reach(const char *what, uint64_t address, uint64_t bytes);
  char *matrix(const char *what, const void *pointer,
               const LayoutFields &layout);
  cublasStatus_t align(const char *what, const void *pointer, uint32_t bytes);

  const Problem &p;
  const Context &context;
  std::vector<AllocationRef> uses;
};

} // namespace

char *Preparation::reach(const char *what, uint64_t address, uint64_t bytes) {
  Memory &memory = Memory::get();
  AllocationRef found = memory.find(address, bytes);
  if (!found)
    violation("cublasLtMatmul: %s, %llu bytes at 0x%llx, is not part of one "
              "allocation of a device",
              what, static_cast<unsigned long long>(bytes),
              static_cast<unsigned long long>(address));
  if (found->device != context.device && !context.peers.count(found->context))
    violation("cublasLtMatmul on device %d gets memory of device %d, to which "
              "it has no peer access",
              context.device, found->device);
  uses.push_back(found);
  return memory.translate(address);
}

static uint64_t extentOf(const LayoutFields &layout) {
  bool byColumns = layout.order == CUBLASLT_ORDER_COL;
  uint64_t lines = byColumns ? layout.columns : layout.rows;
  uint64_t length = byColumns ? layout.rows : layout.columns;
  uint64_t elements = (layout.batchCount - 1) * layout.batchStride +
                      (lines - 1) * layout.ld + length;
  return elements * bytesOf(layout.type);
}

char *Preparation::matrix(const char *what, const void *pointer,
                          const LayoutFields &layout) {
  return reach(what, reinterpret_cast<uint64_t>(pointer), extentOf(layout));
}

cublasStatus_t Preparation::align(const char *what, const void *pointer,
                                  uint32_t bytes) {
  if (reinterpret_cast<uint64_t>(pointer) % bytes == 0)
    return CUBLAS_STATUS_SUCCESS;
  return refuse(
      CUBLAS_STATUS_INVALID_VALUE,
      format("%s is not aligned to the %u bytes of the algorithm", what, bytes)
          .c_str());
}

/// Ends the process where D lies on what is read in another order.
static void refuseOverlap(const Problem &p, const void *a, const void *b,
                          const void *c, const void *d) {
  auto overlaps = [&](const void *other, const LayoutFields &layout) {
    auto first = reinterpret_cast<uint64_t>(d);
    auto second = reinterpret_cast<uint64_t>(other);
    return first < second + extentOf(layout) && second < first + extentOf(p.d);
  };
  bool sameLayout = p.c.ld == p.d.ld && p.c.batchStride == p.d.batchStride &&
                    p.c.type == p.d.type;
  if (overlaps(a, p.a) || overlaps(b, p.b))
    violation("cublasLtMatmul: D lies on a factor");
  if (c && overlaps(c, p.c) && !(c == d && sameLayout))
    violation("cublasLtMatmul: D lies on C, and is not the same matrix");
}

/// All but the four matrices.
static cublasStatus_t reachOthers(Preparation &preparation, Operands &o) {
  const Problem &p = preparation.p;
  const ProductFields &x = p.product;
  bool usesBias = (x.epilogue & (CUBLASLT_EPILOGUE_BIAS | 16)) ||
                  x.epilogue == CUBLASLT_EPILOGUE_BGRADA ||
                  x.epilogue == CUBLASLT_EPILOGUE_BGRADB;
  uint64_t batches = p.d.batchCount;
  if (usesBias) {
    uint64_t count = x.epilogue == CUBLASLT_EPILOGUE_BGRADB ? p.n : p.m;
    int type = x.biasType == -1 ? static_cast<int>(p.d.type) : x.biasType;
    if (!x.bias)
      return refuse(CUBLAS_STATUS_INVALID_VALUE, "no bias");
    o.bias = preparation.reach("the bias", x.bias,
                               ((batches - 1) * x.biasStride + count) *
                                   bytesOf(type));
  }
  if (x.epilogue & 128) {
    if (!x.aux)
      return refuse(CUBLAS_STATUS_INVALID_VALUE, "no auxiliary matrix");
    o.aux = preparation.reach(
        "the auxiliary matrix", x.aux,
        ((batches - 1) * x.auxStride + (p.n - 1) * x.auxLd + p.m) *
            bytesOf(p.d.type));
  }
  auto scalar = [&](const char *what, uint64_t address) {
    return address ? reinterpret_cast<float *>(
                         preparation.reach(what, address, sizeof(float)))
                   : nullptr;
  };
  o.scaleA = scalar("the scale of A", x.scaleA);
  o.scaleB = scalar("the scale of B", x.scaleB);
  o.scaleC = scalar("the scale of C", x.scaleC);
  o.scaleD = scalar("the scale of D", x.scaleD);
  o.amaxD = scalar("the maximum of D", x.amaxD);
  return CUBLAS_STATUS_SUCCESS;
}

namespace {
/// A product that is ready to run, any number of times.
struct Task {
  Problem problem;
  Operands operands = {};
  unsigned partialSums = 1;
  char *workspace = nullptr;
  uint64_t workspaceBytes = 0;
  char alpha[8] = {}, beta[8] = {};

  void run() const {
    // Partial sums would lie in the workspace: nobody else may have it now.
    if (workspaceBytes)
      std::memset(workspace, 0xa5, workspaceBytes);
    multiply(problem, operands, partialSums);
  }
};
} // namespace

/// Alpha and beta: those of the host are read now.
static cublasStatus_t reachScalars(Preparation &preparation, Task &task,
                                   const void *alpha, const void *beta) {
  size_t bytes = bytesOf(task.problem.product.scale);
  if (!alpha || !beta)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "no alpha, or no beta");
  if (task.problem.product.pointerMode == CUBLASLT_POINTER_MODE_DEVICE) {
    task.operands.alpha =
        preparation.reach("alpha", reinterpret_cast<uint64_t>(alpha), bytes);
    task.operands.beta =
        preparation.reach("beta", reinterpret_cast<uint64_t>(beta), bytes);
    return CUBLAS_STATUS_SUCCESS;
  }
  std::memcpy(task.alpha, alpha, bytes);
  std::memcpy(task.beta, beta, bytes);
  task.operands.alpha = task.alpha;
  task.operands.beta = task.beta;
  return CUBLAS_STATUS_SUCCESS;
}

/// Whether C is known not to be read.
static bool betaIsZero(const Task &task) {
  static const char zero[8] = {};
  return task.operands.beta == task.beta &&
         !std::memcmp(task.beta, zero, sizeof zero);
}

static cublasStatus_t reachWorkspace(Preparation &preparation, Task &task,
                                     const cublasLtMatmulAlgo_t *algorithm,
                                     void *workspace, size_t bytes,
                                     const void *const (&matrices)[4]) {
  if (reinterpret_cast<uint64_t>(workspace) % 16)
    return refuse(CUBLAS_STATUS_INVALID_VALUE,
                  "the workspace is not aligned to 16 bytes");
  const Problem &p = task.problem;
  AlgorithmFields fields = {};
  fields.alignA = bytesOf(p.a.type);
  fields.alignB = bytesOf(p.b.type);
  fields.alignC = fields.alignD = bytesOf(p.d.type);
  fields.partialSums = 1;
  if (algorithm) {
    auto *given = fieldsOf<AlgorithmFields>(algorithm);
    if (!given || given->shape != digest(p))
      return refuse(CUBLAS_STATUS_INVALID_VALUE,
                    "the algorithm was found for another product");
    fields = *given;
  }
  uint32_t aligned[] = {fields.alignA, fields.alignB, fields.alignC,
                        fields.alignD};
  const char *const names[] = {"A", "B", "C", "D"};
  for (int i = 0; i < 4; ++i)
    if (cublasStatus_t status =
            preparation.align(names[i], matrices[i], aligned[i]))
      return status;
  if (bytes < fields.workspaceBytes)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "the workspace is too small");
  task.partialSums = fields.partialSums;
  task.workspaceBytes = fields.workspaceBytes;
  if (fields.workspaceBytes)
    task.workspace = preparation.reach(
        "the workspace", reinterpret_cast<uint64_t>(workspace), bytes);
  return CUBLAS_STATUS_SUCCESS;
}

/// The stream, if it is one of the current context and may be used.
static std::shared_ptr<Stream> usableStream(cudaStream_t handle) {
  if (contextStack().empty())
    return nullptr;
  Context &context = *contextStack().back();
  std::shared_ptr<Stream> stream =
      findStream(reinterpret_cast<CUstream>(handle), context);
  if (!stream || stream->context != &context || checkUse(*stream))
    return nullptr;
  return stream;
}

static void submit(Stream &stream, const std::shared_ptr<Task> &task,
                   std::vector<AllocationRef> uses) {
  auto work = std::make_shared<Work>();
  work->name = format("product of %llu x %llu x %llu",
                      static_cast<unsigned long long>(task->problem.m),
                      static_cast<unsigned long long>(task->problem.n),
                      static_cast<unsigned long long>(task->problem.k));
  work->type = CU_GRAPH_NODE_TYPE_KERNEL;
  work->context = stream.context;
  work->uses = std::move(uses);
  work->run = [task] { task->run(); };
  enqueue(stream, std::move(work));
}

cublasStatus_t CUBLASWINAPI
cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
               const void *alpha, const void *A, cublasLtMatrixLayout_t a,
               const void *B, cublasLtMatrixLayout_t b, const void *beta,
               const void *C, cublasLtMatrixLayout_t c, void *D,
               cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t *algorithm,
               void *workspace, size_t workspaceBytes, cudaStream_t to) {
  Lock lock(Scheduler::get().mutex);
  if (isHostFunctionThread())
    return refuse(CUBLAS_STATUS_EXECUTION_FAILED, "called by a host function");
  if (!isLibraryHandle(handle))
    return refuse(CUBLAS_STATUS_NOT_INITIALIZED, "no handle of the library");
  auto task = std::make_shared<Task>();
  Problem &problem = task->problem;
  if (cublasStatus_t status = makeProblem(product, a, b, c, d, problem))
    return status;
  std::shared_ptr<Stream> stream = usableStream(to);
  if (!stream)
    return refuse(CUBLAS_STATUS_EXECUTION_FAILED,
                  "the stream is none of the current context, or its capture "
                  "is invalid");
  Preparation preparation(problem, *stream->context);
  const void *const matrices[] = {A, B, C, D};
  if (cublasStatus_t status = reachWorkspace(
          preparation, *task, algorithm, workspace, workspaceBytes, matrices))
    return status;
  if (cublasStatus_t status = reachScalars(preparation, *task, alpha, beta))
    return status;
  if (!C && !betaIsZero(*task))
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "no C, and beta is not 0");
  refuseOverlap(problem, A, B, C, D);
  Operands &o = task->operands;
  o.a = preparation.matrix("A", A, problem.a);
  o.b = preparation.matrix("B", B, problem.b);
  o.c = C ? preparation.matrix("C", C, problem.c) : nullptr;
  o.d = preparation.matrix("D", D, problem.d);
  if (cublasStatus_t status = reachOthers(preparation, o))
    return status;
  submit(*stream, task, std::move(preparation.uses));
  return CUBLAS_STATUS_SUCCESS;
}

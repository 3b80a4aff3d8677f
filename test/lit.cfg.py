# The lit suite: tools, features and substitutions.
import os
import shutil
import subprocess
import sys

import lit.formats

sys.path.append(os.path.join(os.path.dirname(__file__), "EndToEnd", "oracle"))
import quick_xla

config.name = "llmc"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Unit", "oracle"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.llmc_obj_root + "/test"

config.environment["PATH"] = os.pathsep.join(
    [config.llmc_obj_root + "/bin", config.llvm_tools_dir, config.environment.get("PATH", "")])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
config.environment["LLMC_SOURCE"] = config.llmc_src_root
config.environment["LLMC_BUILD"] = config.llmc_obj_root
# Most tests compile the kernels of a few models again and again.
# Kernels that LLVM optimizes less have the same bits; tests of code generation and scripts/nightly.sh have the others.
config.environment["LLMC_KERNEL_EFFORT"] = os.environ.get("LLMC_KERNEL_EFFORT", "quick")
config.environment["LLMC_KERNEL_CACHE"] = os.environ.get("LLMC_KERNEL_CACHE", config.llmc_obj_root + "/kernel-cache")

if config.has_compiler:
    config.available_features.add("compiler")
else:
    config.excludes += ["Support", "Dialect", "Analysis", "Interpreter", "Import",
                        "Transforms", "Codegen", "Target", "EndToEnd", "Tools"]

if config.has_seeded_faults:
    config.available_features.add("seeded-faults")
if os.path.exists(config.llmc_obj_root + "/bin/llmc-fuzz-plan"):
    config.available_features.add("libfuzzer")

# Libraries in place of those of a GPU, where CUDA's headers are.
if os.path.exists(config.llmc_obj_root + "/test/Runtime/StandIn/lib/libcuda.so.1"):
    config.available_features.add("stand-ins")
if os.path.exists(config.llmc_obj_root + "/test/Runtime/StandIn/lib/libcudnn.so.9"):
    config.available_features.add("cudnn-stand-in")

# Messages between processes, by a library that a machine may lack.
for name in ("gloo", "mpi"):
    if os.path.exists(f"{config.llmc_obj_root}/lib/llmc/libllmc-{name}.so"):
        config.available_features.add(name)

# Libraries that run on the processor what CUDA's run on GPUs.
if os.path.exists(config.llmc_obj_root + "/test/Runtime/StandIn/lib/libnccl.so.2"):
    config.available_features.add("cuda-stand-ins")

# Hosts that a test makes itself, where the system allows it.
probe = "ip netns add llmc$$ && ip netns del llmc$$ && unshare --uts true"
if subprocess.run(["sh", "-c", probe], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("network-namespaces")

# The public tests of ONNX backends, a Debian package.
onnx_data = "/usr/share/libonnx-testdata/data"
if os.path.isdir(onnx_data + "/node"):
    config.available_features.add("onnx-testdata")
config.substitutions.append(("%onnx_data", onnx_data))

# cuDNN itself, which needs a driver and no GPU to say what it can compute, and
# the names of a driver's functions.
def find_first(paths):
    return next((path for path in paths if os.path.exists(path)), "")
cuda_root = os.environ.get("CUDA_HOME", "/usr/local/cuda")
cudnn = find_first(f"{cuda_root}/{folder}/libcudnn.so.9" for folder in ("lib64", "lib"))
cuda_stub = find_first(f"{cuda_root}/{folder}/stubs/libcuda.so" for folder in ("lib64", "lib"))
real_cudnn = config.llmc_obj_root + "/test/Runtime/RealCudnn"
if cudnn and cuda_stub and os.path.exists(real_cudnn) and shutil.which("nm") and shutil.which("cc"):
    config.available_features.add("cudnn")
config.substitutions.append(("%cudnn", os.path.dirname(cudnn)))
config.substitutions.append(("%cuda_stub", cuda_stub))

# The assembler of a CUDA toolkit.
if shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas"):
    config.available_features.add("ptxas")

# A browser, which shows what a page of ours does.
if any(shutil.which(name) for name in ("chromium-headless-shell", "chromium", "google-chrome")):
    config.available_features.add("chromium")

# Python packages are oracles only: a test that needs one says so by a feature.
python = config.llmc_src_root + "/.venv/bin/python"
if not os.path.exists(python):
    python = "/usr/bin/python3"
for module in ("jax", "optax", "onnx", "torch", "numpy", "tensorboard"):
    probe = [python, "-c", f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"]
    if subprocess.run(probe, capture_output=True).returncode == 0:
        config.available_features.add(module)
config.environment["JAX_PLATFORMS"] = "cpu"
config.environment["XLA_FLAGS"] = quick_xla.FLAGS
config.substitutions.append(("%python", python))
config.substitutions.append(("%examples", config.llmc_src_root + "/examples"))
config.substitutions.append(("%source", config.llmc_src_root))
config.substitutions.append(("%build", config.llmc_obj_root))

// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-assign-chunks
// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-group-sums
// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-propagate-layouts
// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-verify-layouts
// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-place-reductions
// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-distribute-ops
// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-materialize
// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-expand-reshards
// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-verify-materialized

// The passes of phases 2 and 3 run on one mesh.
// expected-error@+1 {{expected one 'dist.mesh', got 0}}
module {
}

// -----

// expected-error@+1 {{expected one 'dist.mesh', got 2}}
module {
  dist.mesh @a = <"data"=1>
  dist.mesh @b = <"data"=1>
}

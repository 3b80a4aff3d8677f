// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-localize
// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-cut-segments

// The passes of phase 4 run on one mesh.
// expected-error@+1 {{expected one 'dist.mesh', got 0}}
module {
}

// -----

// expected-error@+1 {{expected one 'dist.mesh', got 2}}
module {
  dist.mesh @a = <"data"=1>
  dist.mesh @b = <"data"=1>
}

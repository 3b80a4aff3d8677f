//===- Pch.cpp - Owner of the tests' precompiled header -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program, as the tests are, so that the flags are theirs; it is not built.
//
//===----------------------------------------------------------------------===//

int main() { return 0; }

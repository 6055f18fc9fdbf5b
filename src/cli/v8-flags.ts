// V8 flags for the daemon: it is mostly idle, so they save memory at the cost of speed.

import { setFlagsFromString } from 'node:v8';

export function saveMemory(): void {
  // The HTTP client's parser is WebAssembly: compiling it a second time, for speed, takes over 30 MB for a moment.
  setFlagsFromString('--liftoff-only');
  // Of its functions most are never called.
  setFlagsFromString('--wasm-lazy-compilation');
  // What is loaded at the start stays: after the first look through it, the next is due when it has doubled.
  setFlagsFromString('--heap-growing-percent=100');
  // The young generation stays as small as it begins, instead of growing to 16 MB three times over.
  setFlagsFromString('--semi-space-growth-factor=1');
  // No code runs often enough to justify the memory of the optimizing compiler and its output.
  setFlagsFromString('--no-opt');
  // No code reads resource timings.
  performance.setResourceTimingBufferSize(0);
}

/** For a daemon that has started. */
export function collectOften(): void {
  // Collect garbage after the heap has grown by 20 %, not by several times that.
  setFlagsFromString('--heap-growing-percent=20');
}

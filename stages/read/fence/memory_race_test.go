//go:build race

package fence_test

// workerMemory under the race detector leaves room for the shadow of the heap,
// which counts as memory of the worker.
const workerMemory = 5 << 30

//go:build race

package read

// workerMemory under the race detector leaves room for the shadow of the heap,
// which counts as memory of the worker.
const workerMemory = 5 << 30

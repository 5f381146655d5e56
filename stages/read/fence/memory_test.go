//go:build !race

package fence_test

// workerMemory is the cap of a worker in tests.
const workerMemory = 256 << 20

//go:build !race

package read

// workerMemory is the cap of a worker in tests.
const workerMemory = 256 << 20

//go:build race

package patterns

// longLine is shorter under the race detector, which is slow and has nothing to
// find in the length of a line.
const longLine = 100_000

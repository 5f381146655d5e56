//go:build !race

package patterns

// longLine is the length of the lines of TestLinear.
const longLine = 1_000_000

// Package near computes the edit distance of two names, such as a mistyped option or column and an existing one, so
// that an error can suggest what was meant.
package near

// Distance returns the optimal string alignment distance of a and b: the number of letters inserted, deleted, changed
// or swapped with their neighbour.
func Distance[A, B ~string | ~[]byte](a A, b B) int {
	var room [96]int
	rows, n := room[:], len(b)+1
	if 3*n > len(rows) {
		rows = make([]int, 3*n)
	}
	before, last, row := rows[:n], rows[n:2*n], rows[2*n:3*n]
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			differs := 1
			if a[i] == b[j] {
				differs = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+differs)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[n-1]
}

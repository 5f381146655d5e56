// Package near says how far two names are apart. In come a name that somebody typed and one that
// there is, as those of options, columns and features; out comes how many letters differ, by which an
// error can say what was probably meant.
package near

// Distance counts the letters inserted, left out, changed or swapped with
// their neighbour between a and b (optimal string alignment).
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

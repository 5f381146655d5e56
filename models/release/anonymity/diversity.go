package anonymity

// Diversity sets how much the sensitive values of a group must differ: if all k people of a group have the same
// disease, everybody knows the disease of each.
type Diversity struct {
	L int // distinct values that each group has at least in each sensitive column (Machanavajjhala and others 2006); 0: any
	// most that a group's shares differ from those of all notes, half the sum of differences (Li and others 2007: the earth mover's
	// distance where all values are as far apart); 1: any
	T float64
}

// fits tells whether a group is diverse enough. all are the notes of all groups by value.
func (d Diversity) fits(x *group, all map[uint64]int64, notes int64) bool {
	l, t := x.diversity(all, notes)
	return len(all) == 0 || l >= d.L && t <= d.T+1e-9
}

// diversity returns the fewest distinct values of a sensitive column in a group, and how far its shares are from those of
// all notes. The columns are told apart by the last bits of the hashes.
func (x *group) diversity(all map[uint64]int64, notes int64) (least int, far float64) {
	var distinct [MaxColumns]int
	var apart [MaxColumns]int64 // in whole numbers, so that no order of sums shows
	for v, n := range all {
		column := v % MaxColumns
		if x.values[v] > 0 {
			distinct[column]++
		}
		d := x.values[v]*notes - n*x.notes
		apart[column] += max(d, -d)
	}
	for column, d := range apart {
		if far = max(far, float64(d)/float64(2*x.notes*notes)); distinct[column] > 0 && (least == 0 || distinct[column] < least) {
			least = distinct[column]
		}
	}
	return least, far
}

// values are the notes of all groups by sensitive value.
func (g *groups) values() (all map[uint64]int64, notes int64) {
	all = map[uint64]int64{}
	for _, x := range g.each() {
		notes += x.notes
		for v, n := range x.values {
			all[v] += n
		}
	}
	return all, notes
}

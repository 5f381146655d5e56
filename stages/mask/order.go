package mask

import "github.com/zeebo/xxh3"

// Order counts how the notes of an archive follow each other in time. Where dates move
// by patient and the rows stay in the order of days, a row's place tells its day, and the
// day what its patient's dates were moved by: of 300 patients of an archive that is
// sorted by date, `velum prove attack --only rows` finds 300 offsets.
//
// Only the first note of each patient in a batch counts: an archive that is sorted by
// patient, each with the oldest note first, falls at every border and gives nothing away.
type Order struct {
	Rising, Falling int64 // pairs of such notes, one behind the other, of which the second is younger, older
}

// follower counts the order of the notes of one batch.
type follower struct {
	Order
	seen map[uint64]struct{} // patients, by hash
	last int32               // day of the note before
	any  bool                // there is one
}

// start begins a batch.
func (f *follower) start() {
	if f.seen == nil {
		f.seen = map[uint64]struct{}{}
	}
	clear(f.seen)
	f.any = false
}

// follow counts a note of a day. A note of nobody is one of a patient of its own.
func (f *follower) follow(patient []byte, day int32) {
	if len(patient) > 0 {
		h := xxh3.Hash(patient)
		if _, ok := f.seen[h]; ok {
			return
		}
		f.seen[h] = struct{}{}
	}
	switch {
	case !f.any:
	case day > f.last:
		f.Rising++
	case day < f.last:
		f.Falling++
	}
	f.last, f.any = day, true
}

// follow counts the note at hand: by its column of dates, else by its first full date.
func (m *Masker) follow() {
	n := &m.note
	day, ok := n.Day, n.Dated
	if !ok && m.mover.reader.ready {
		day = m.mover.reader.context.Day
		ok = day != 0
	}
	if ok {
		m.follower.follow(n.Patient, day)
	}
}

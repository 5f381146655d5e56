package mask

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// Range is the range of dates of an archive, which is no secret: a dump of 2024 has notes of 2024. A patient whose
// notes span most of the range can have been shifted by few offsets only, since any other would move a date out of it.
// So such a patient's notes outside of a window are held back (pipeline.RangeEdge). The window is `edge` days shorter
// than the range, and the key decides how many of these days lie before it. All positions are equally likely, so that
// as many offsets remain possible.
//
// Of four designs this one holds back the fewest notes (scripts/bench/range.py). One window for all patients holds back
// twice as many if patients have few notes. A separate offset for each stretch of time loses the intervals between
// stretches and leaves fewer offsets, since the stretches follow each other. Moving notes into the window writes wrong
// dates that nobody notices.
type Range struct {
	From, To int32    // days since 1970-01-01
	Patients []uint64 // keyed marks of those patients, rising

	Stretches bool // pieces of the output, which are told by part or place, are of less than half of it, so that each tells days
}

// leastRange is how many times longer than the edge a range must be: of a shorter one the window would leave too little.
const leastRange = 3

// Days collects the days of the notes of an archive, in a pass before a run that trims the edges. It is a
// pipeline.Sink.
type Days struct {
	Mixed    bool // the notes leave in another order than they come; else their place tells that of each batch
	m        *Masker
	of       map[uint64][2]int32 // first and last day of each patient
	from, to int32
	pieces   []int32  // days between the first and the last note of each piece
	piece    [2]int32 // first and last day of the current one
	notes    int      // of it
}

// NewDays returns Days without notes. The error is ErrNoKey.
func NewDays(o *Options) (*Days, error) {
	m, err := NewMasker(*o)
	d := &Days{m: m, of: map[uint64][2]int32{}, from: math.MaxInt32, to: math.MinInt32}
	d.EndPiece()
	return d, err
}

// leastPiece is the least number of notes in a piece of the output for its days to be judged: if so many notes had
// random days, they would never all lie within half of the range.
const leastPiece = 30

// EndPiece ends a piece of the output: readers can distinguish later notes from earlier ones by their part or position.
func (d *Days) EndPiece() {
	if d.notes >= leastPiece {
		d.pieces = append(d.pieces, d.piece[1]-d.piece[0])
	}
	d.piece, d.notes = [2]int32{math.MaxInt32, math.MinInt32}, 0
}

// Put implements pipeline.Sink.
func (d *Days) Put(b *pipeline.Batch) error {
	d.m.columns(b)
	n := &d.m.note
	for i := range b.Len() {
		if d.m.who(b, i); !n.Dated {
			continue
		}
		d.from, d.to = min(d.from, n.Day), max(d.to, n.Day)
		d.piece, d.notes = [2]int32{min(d.piece[0], n.Day), max(d.piece[1], n.Day)}, d.notes+1
		if len(n.Patient) > 0 {
			p, _ := d.m.window()
			s, ok := d.of[p]
			if !ok {
				s = [2]int32{n.Day, n.Day}
			}
			d.of[p] = [2]int32{min(s[0], n.Day), max(s[1], n.Day)}
		}
	}
	if !d.Mixed {
		d.EndPiece()
	}
	return nil
}

// Range returns the range of the days so far, and whether it is long enough to trim its edges.
func (d *Days) Range(edge int) (r *Range, long bool) {
	r = &Range{From: d.from, To: d.to}
	for _, n := range d.pieces {
		r.Stretches = r.Stretches || int64(n) < (int64(d.to)-int64(d.from))/2
	}
	days := int64(d.to) - int64(d.from) + 1
	if days < int64(leastRange*edge) {
		return r, false
	}
	for p, s := range d.of {
		if days-int64(s[1]-s[0]) < int64(edge) {
			r.Patients = append(r.Patients, p)
		}
	}
	slices.Sort(r.Patients)
	return r, true
}

// window returns the mark of the patient of the current note, and a number that says where the window lies.
func (m *Masker) window() (mark, at uint64) {
	sum := m.note.Sum(PatientScope, "window", nil)
	return binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])
}

// atEdge tells whether the current note lies outside the window of its patient. What came to an output later than its
// range lies in no window.
func (m *Masker) atEdge() bool {
	n, r := &m.note, m.o.Range
	if r == nil || m.mover.edge == 0 || !n.Dated || n.Day < r.From || n.Day > r.To {
		return false
	}
	mark, at := m.window()
	first := r.From + int32(at%uint64(m.mover.edge+1))
	_, spans := slices.BinarySearch(r.Patients, mark)
	return spans && (n.Day < first || n.Day > first+r.To-r.From-int32(m.mover.edge))
}

package choose

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// A Shortlist holds the candidates of one unit that may still be chosen among all units: the most confident ones of
// those with equal counts, and the least confident ones for a curator. Other candidates cannot be chosen, because the
// unit alone has enough better ones, so their words need not be kept. The final choice needs some 14 bytes per note
// (see Choice).
type Shortlist struct {
	pool     *pool
	lowest   *Lowest
	recorder Recorder
	added    int     // candidates that were on the list when they came
	place    []int32 // where each is written among those that are; notWritten
	written  int32
}

const notWritten = -1

// Lower bounds of the sizes of a shortlist. Sizes grow in steps, so that a slightly different selection size leaves the
// units unchanged.
const (
	leastOfStratum = 8192
	leastOfReview  = 256
)

// ShortlistSizes returns how many notes of each stratum a unit keeps for a selection of k notes, and for a curator's
// list of review notes: at least as many, rounded up to a power of two; 0 for 0.
func ShortlistSizes(k, review int) (stratum, curator int) {
	return step(k, leastOfStratum), step(review, leastOfReview)
}

func step(n, least int) int {
	if n <= 0 {
		return 0
	}
	for least < n {
		least *= 2
	}
	return least
}

// NewShortlist returns the list of a unit for a selection with t's K, MinConfidence and WithoutSpans, and for a
// curator's list of review notes.
func NewShortlist(t Target, review int) *Shortlist {
	stratum, curator := ShortlistSizes(t.K, review)
	return newShortlist(t, stratum, curator)
}

func newShortlist(t Target, stratum, curator int) *Shortlist {
	t.K, t.MaxKept = stratum, math.MaxInt
	return &Shortlist{pool: newPool(t), lowest: NewLowest(curator)}
}

// Add considers note i of b, the next chosen note. It reports whether the note is on the list for now; a note that is
// not will never be.
func (s *Shortlist) Add(b *pipeline.Batch, i int) (listed bool, err error) {
	r, err := s.recorder.Record(b, i, 0)
	return err == nil && s.add(r, b.Chosen[i] == pipeline.ToReview), err
}

func (s *Shortlist) add(r Record, review bool) (listed bool) {
	r.Row = int64(s.added)
	if review {
		listed = s.lowest.Add(&r)
	} else {
		listed = s.pool.add(&r)
	}
	if listed {
		s.added++
	}
	return listed
}

// Settle returns which of the notes listed since the last call are still on the list; they are to be written next, in
// this order. Later notes may still displace some of them.
func (s *Shortlist) Settle() (listed []int) {
	from := len(s.place)
	for range s.added - from {
		s.place = append(s.place, notWritten)
	}
	list := func(entries []entry) {
		for _, e := range entries {
			if n := int(e.key.Row); n >= from {
				listed = append(listed, n-from)
			}
		}
	}
	list(s.lowest.entries)
	for _, stratum := range s.pool.strata {
		list(stratum.entries)
	}
	slices.Sort(listed)
	for _, n := range listed {
		s.place[from+n] = s.written
		s.written++
	}
	return listed
}

// AppendBinary appends the encoded list, which Choice.Add reads. All notes must have been settled (see Settle).
//
//	number of candidates, number of strata
//	for each stratum: number of classes; for each class its number, spans and tokens
//	                  number of notes; for each note the hash of its id, its confidence and its place
//	number of notes for a curator, and these notes as above
func (s *Shortlist) AppendBinary(dst []byte) []byte {
	s.pool.close()
	dst = binary.AppendUvarint(dst, uint64(s.pool.candidates))
	dst = binary.AppendUvarint(dst, uint64(len(s.pool.sorted)))
	for _, stratum := range s.pool.sorted {
		dst = append(dst, byte(len(stratum.classes)))
		for _, c := range stratum.classes {
			dst = append(dst, byte(c), stratum.spans[c], stratum.lengths[c])
		}
		dst = s.appendEntries(dst, stratum.entries)
	}
	slices.SortFunc(s.lowest.entries, func(a, b entry) int { return a.key.Compare(b.key) })
	return s.appendEntries(dst, s.lowest.entries)
}

const entryBytes = 8 + 2 + 4

func (s *Shortlist) appendEntries(dst []byte, entries []entry) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(entries)))
	for _, e := range entries {
		dst = binary.LittleEndian.AppendUint64(dst, e.hash)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(e.confidence))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(s.place[e.key.Row]))
	}
	return dst
}

// Remaining returns the encoded shortlist of a unit from which notes were removed. place maps the old position of a
// note among those that the unit has written to its new position; it returns false if the note was removed. The number
// of candidates falls by the removed notes on the shortlist. Removed candidates that the shortlist does not hold still
// count, because nothing tells which notes they were.
func Remaining(list []byte, place func(was int32) (now int32, stays bool)) ([]byte, error) {
	l := &listReader{data: list}
	candidates, strata := l.uvarint(), uint64(0)
	var left []byte
	for range l.uvarint() {
		from := l.data
		l.signature()
		key := from[:len(from)-len(l.data)]
		entries := l.entries()
		stay := remaining(entries, place)
		candidates -= min(candidates, uint64((len(entries)-len(stay))/entryBytes))
		if len(stay) > 0 {
			strata++
			left = binary.AppendUvarint(append(left, key...), uint64(len(stay)/entryBytes))
			left = append(left, stay...)
		}
	}
	review := remaining(l.entries(), place)
	if l.bad || len(l.data) > 0 {
		return nil, ErrShortlist
	}
	dst := binary.AppendUvarint(binary.AppendUvarint(nil, candidates), strata)
	dst = binary.AppendUvarint(append(dst, left...), uint64(len(review)/entryBytes))
	return append(dst, review...), nil
}

func remaining(entries []byte, place func(int32) (int32, bool)) (stay []byte) {
	for ; len(entries) > 0; entries = entries[entryBytes:] {
		if now, stays := place(int32(binary.LittleEndian.Uint32(entries[10:]))); stays {
			stay = append(stay, entries[:10]...)
			stay = binary.LittleEndian.AppendUint32(stay, uint32(now))
		}
	}
	return stay
}

// Choice makes the final choice from the shortlists of all units, with the same result as Final and Lowest for all
// notes. The row of a key is the position of a note among those that its unit has written.
type Choice struct {
	pool   *pool
	lowest *Lowest
}

// NewChoice returns a Choice of a selection and of review notes for a curator.
func NewChoice(t Target, review int) (*Choice, error) {
	t, err := t.checked()
	return &Choice{newPool(t), NewLowest(review)}, err
}

// ErrShortlist is returned for data that is no encoded shortlist.
var ErrShortlist = errors.New("is no list of candidates")

// Add adds a unit's encoded shortlist. The order of units does not matter.
func (c *Choice) Add(unit uint32, list []byte) error {
	l := &listReader{data: list}
	left := l.uvarint()
	for range l.uvarint() {
		key := l.signature()
		left -= uint64(c.pool.addAll(unit, key, l.entries()))
	}
	c.pool.candidates += int(left) // that are on no list
	r := Record{Key: Key{Unit: unit}}
	for entries := l.entries(); len(entries) > 0; entries = entries[entryBytes:] {
		e := parseEntry(unit, entries)
		r.Key, r.Hash, r.Confidence = e.key, e.hash, e.confidence
		c.lowest.Add(&r)
	}
	if l.bad || len(l.data) > 0 || left > math.MaxInt32 {
		return ErrShortlist
	}
	return nil
}

// Result returns the same notes as Final and Lowest would for all candidates.
func (c *Choice) Result() (selected Result, review []Key) {
	c.pool.close()
	return c.pool.choose(), c.lowest.Keys()
}

// addAll is add for the candidates of a stratum; it returns how many there are.
func (p *pool) addAll(unit uint32, key signature, entries []byte) (n int) {
	n = len(entries) / entryBytes
	for ; len(entries) > 0; entries = entries[entryBytes:] {
		e := parseEntry(unit, entries)
		if e.confidence < p.lowest {
			p.below++
			continue
		}
		if p.K == 0 || p.WithoutSpans == 0 && key.spans == [MaxClasses]uint8{} {
			continue
		}
		p.candidates++
		p.keep(key, e)
	}
	return n
}

func parseEntry(unit uint32, data []byte) entry {
	return entry{
		key:        Key{Unit: unit, Row: int64(binary.LittleEndian.Uint32(data[10:]))},
		hash:       binary.LittleEndian.Uint64(data),
		confidence: Confidence(binary.LittleEndian.Uint16(data[8:])),
	}
}

// listReader reads a shortlist; what is cut off or wrong sets bad.
type listReader struct {
	data []byte
	bad  bool
}

// take returns the next n bytes.
func (l *listReader) take(n uint64) []byte {
	if l.bad = l.bad || n > uint64(len(l.data)); l.bad {
		l.data = nil
		return nil
	}
	taken := l.data[:n]
	l.data = l.data[n:]
	return taken
}

func (l *listReader) uvarint() uint64 {
	v, n := binary.Uvarint(l.data)
	l.take(uint64(max(n, 0)))
	if l.bad = l.bad || n <= 0 || v > math.MaxInt32; l.bad {
		return 0
	}
	return v
}

func (l *listReader) entries() []byte { return l.take(l.uvarint() * entryBytes) }

func (l *listReader) signature() (key signature) {
	classes := l.take(1)
	for left := 0; !l.bad && left < int(classes[0]); left++ {
		c := l.take(3)
		if l.bad = l.bad || c[0] >= MaxClasses; l.bad {
			break
		}
		key.spans[c[0]], key.lengths[c[0]] = c[1], c[2]
	}
	return key
}

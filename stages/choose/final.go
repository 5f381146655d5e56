package choose

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
)

// Target describes the selection set that is wanted.
type Target struct {
	K             int     // most notes
	MinConfidence float64 // C_min once more: records below it are counted and left out
	Floors        *Floors // C_min by class in place of MinConfidence; nil: one for all
	// Shares is the wanted share of every class among the spans, in the
	// order of TagSet.Categories, adding up to 1; nil wants none.
	Shares []float64
	// Lengths is the wanted mean length of the spans of every class in
	// tokens; 0 or nil wants none.
	Lengths []float64
	// WithoutSpans is the wanted share of notes that hold no span.
	WithoutSpans float64
	Tolerance    float64 // allowed deviation of a share; 0 means 0.02
	// MaxKept bounds the memory: about so many entries of 32 bytes are kept, with at most an eighth as many different
	// counts. 0 means 1,000,000. If there are more candidates, only the most confident of those with the same counts
	// stay.
	MaxKept int
}

// Result is the selection set that was chosen.
type Result struct {
	Keys       []Key // by unit, then row
	Candidates int   // records at or above C_min that may be chosen
	Below      int   // records below C_min

	// Met reports whether all shares are within the tolerance. If not, Short is the class with too few candidates, or
	// -1 if that is not the reason.
	Met   bool
	Short int

	Shares       []float64 // of the classes among the chosen spans
	Lengths      []float64 // mean, in tokens; 0 for a class without spans
	WithoutSpans float64   // share of the chosen notes
	Lowest       Confidence
}

// Final chooses among the records. The result depends on the set of records only, not on their order.
//
// It takes the most confident notes. To keep the wanted proportions of classes, each class has a price: a note of a class
// that would be too frequent must be more confident to be taken. See balance for how the prices are found.
//
// The number of notes taken does not depend on the proportions: it is min(K, candidates), of which notes without spans
// have their share. If a class has too few candidates, all of them are taken and the other classes keep their proportions
// to each other. A lower C_min never takes fewer notes.
func Final(records iter.Seq[Record], t Target) (Result, error) {
	t, err := t.checked()
	if err != nil {
		return Result{}, err
	}
	p := newPool(t)
	for r := range records {
		p.add(&r)
	}
	p.close()
	return p.choose(), nil
}

func (t Target) checked() (Target, error) {
	if t.Tolerance == 0 {
		t.Tolerance = 0.02
	}
	if t.MaxKept == 0 {
		t.MaxKept = 1_000_000
	}
	if t.K < 0 || t.MaxKept < 0 || len(t.Shares) > MaxClasses || len(t.Lengths) > MaxClasses {
		return t, fmt.Errorf("a target with a negative size or more than %d classes", MaxClasses)
	}
	if !(t.WithoutSpans >= 0 && t.WithoutSpans < 1 && t.Tolerance > 0) {
		return t, fmt.Errorf("a target with a share outside 0 to 1")
	}
	sum := 0.0
	for _, share := range t.Shares {
		if !(share >= 0) {
			return t, fmt.Errorf("a target with a negative share")
		}
		sum += share
	}
	if t.Shares != nil && !(math.Abs(sum-1) < 0.01) {
		return t, fmt.Errorf("the shares of the target add up to %.3f, not 1", sum)
	}
	shares := make([]float64, len(t.Shares))
	for c := range shares {
		shares[c] = t.Shares[c] / sum
	}
	if t.Shares != nil {
		t.Shares = shares
	}
	for _, length := range t.Lengths {
		if !(length >= 0) {
			return t, fmt.Errorf("a target with a negative length")
		}
	}
	return t, nil
}

// signature holds the counts that all notes of a stratum have in common. For the
// proportions they are exchangeable, so the surer is the better.
type signature struct{ spans, lengths [MaxClasses]uint8 }

// stratum holds the surest candidates that have one signature, at most pool.size of them.
type stratum struct {
	signature
	heap
	total   int // spans
	classes []int
}

// pool holds the candidates of a run in bounded memory: the most confident ones of each stratum. The largest number of
// candidates per stratum falls when strata are added and never rises, so what is kept in the end does not depend on the
// order in which candidates arrive.
type pool struct {
	Target
	strata     map[signature]*stratum
	sorted     []*stratum
	size       int // bound of a stratum
	kept       int // entries in all strata
	candidates int
	below      int
	lowest     Confidence
}

func newPool(t Target) *pool {
	return &pool{Target: t, strata: map[signature]*stratum{}, size: t.K, lowest: Round(t.MinConfidence)}
}

func (p *pool) add(r *Record) (kept bool) {
	if p.Floors != nil && !p.Floors.pass(r) || p.Floors == nil && r.Confidence < p.lowest {
		p.below++
		return false
	}
	if p.K == 0 || p.WithoutSpans == 0 && r.Spans == [MaxClasses]uint8{} {
		return false
	}
	p.candidates++
	return p.keep(signature{r.Spans, r.Lengths}, entry{key: r.Key, hash: r.Hash, confidence: r.Confidence})
}

// keep adds a candidate to its stratum, if it is sure enough to stay there.
func (p *pool) keep(key signature, e entry) (kept bool) {
	s := p.strata[key]
	if s == nil {
		s = newStratum(key)
		p.strata[key] = s
	}
	before := len(s.entries)
	kept = s.add(e, p.size)
	if len(s.entries) > before {
		p.kept++
		p.bound()
	}
	return kept
}

// maxStrata is how many strata stay; twice as many may be there for a while.
func (p *pool) maxStrata() int { return max(p.MaxKept/8, 1) }

// bound limits the memory after an entry was added. First it halves the largest number of entries that all strata may
// have; halving makes this rare. If there are still too many strata, each has only its most confident note left, and of
// these notes the most confident ones stay. A note that was dropped had enough more confident notes in other strata, and
// notes that arrive later cannot change that.
func (p *pool) bound() {
	for p.size > 1 && (p.kept > p.MaxKept || len(p.strata) > p.maxStrata()) {
		p.size = (p.size + 1) / 2
		p.kept = 0
		for _, s := range p.strata {
			s.shrink(p.size)
			p.kept += len(s.entries)
		}
	}
	if len(p.strata) > 2*p.maxStrata() {
		p.prune()
	}
}

// prune drops the strata whose note is least sure until maxStrata are left.
func (p *pool) prune() {
	strata := slices.Collect(maps.Values(p.strata))
	slices.SortFunc(strata, func(a, b *stratum) int { return a.entries[0].surer(&b.entries[0]) })
	for _, s := range strata[min(p.maxStrata(), len(strata)):] {
		p.kept -= len(s.entries)
		delete(p.strata, s.signature)
	}
}

func newStratum(key signature) *stratum {
	s := &stratum{signature: key, heap: heap{order: (*entry).surer}}
	for c, n := range key.spans {
		if n > 0 {
			s.classes = append(s.classes, c)
			s.total += int(n)
		}
	}
	return s
}

// close is called when all candidates were seen: it sorts the strata and their entries, the surest first.
func (p *pool) close() {
	if len(p.strata) > p.maxStrata() {
		p.prune()
	}
	for _, s := range p.strata {
		p.sorted = append(p.sorted, s)
		slices.SortFunc(s.entries, func(a, b entry) int { return a.surer(&b) })
	}
	slices.SortFunc(p.sorted, func(a, b *stratum) int {
		if c := bytes.Compare(a.spans[:], b.spans[:]); c != 0 {
			return c
		}
		return bytes.Compare(a.lengths[:], b.lengths[:])
	})
}

// choose finds how many notes to take of every stratum: with the wanted
// lengths if the shares hold then, else without regard to lengths.
func (p *pool) choose() Result {
	b := newBalance(p)
	full, empty := p.sizes()
	take := b.take(full, empty, true)
	if !p.met(take) {
		if other := b.take(full, empty, false); p.met(other) || p.distance(other) < p.distance(take) {
			take = other
		}
	}
	if p.met(take) {
		return p.result(take, -1)
	}
	return p.result(take, p.scarcest(take))
}

// sizes returns how many notes with spans to take, and how many without: at
// most K together, of those without at most their share. Neither sinks when
// there are more candidates of either sort.
func (p *pool) sizes() (full, empty int) {
	there := p.sums(p.all())
	without := min(there.empty, int(p.WithoutSpans*float64(p.K)))
	full = min(there.notes-there.empty, p.K-without)
	empty = min(without, int(p.WithoutSpans/(1-p.WithoutSpans)*float64(full)+0.5))
	return full, empty
}

// attainable returns the shares that n notes with spans can have: a class of
// whose spans there are too few has all that there are, and the others keep
// their proportions to each other; nil if no shares are wanted.
func (p *pool) attainable(n int) []float64 {
	if p.Shares == nil {
		return nil
	}
	there := p.sums(p.all())
	spans := float64(there.spans) * float64(n) / float64(max(there.notes-there.empty, 1))
	shares, scarce := slices.Clone(p.Shares), make([]bool, len(p.Shares))
	for {
		left, open := 1.0, 0.0
		for c := range shares {
			if scarce[c] {
				left -= shares[c]
			} else {
				open += p.Shares[c]
			}
		}
		more := false
		for c := range shares {
			if scarce[c] {
				continue
			}
			if shares[c] = 0; open > 0 {
				shares[c] = max(left, 0) * p.Shares[c] / open
			}
			if most := float64(there.class[c]) / max(spans, 1); shares[c] > most {
				shares[c], scarce[c], more = most, true, true
			}
		}
		if !more {
			return shares
		}
	}
}

// all returns a selection with every candidate that was kept, as numbers of notes by stratum.
func (p *pool) all() []int {
	take := make([]int, len(p.sorted))
	for i, s := range p.sorted {
		take[i] = len(s.entries)
	}
	return take
}

// sums adds up the notes of a selection.
type sums struct {
	notes, empty  int
	spans         int
	class, length [MaxClasses]int
}

func (p *pool) sums(take []int) (t sums) {
	for i, s := range p.sorted {
		n := take[i]
		t.notes += n
		if s.total == 0 {
			t.empty += n
		}
		t.spans += n * s.total
		for _, c := range s.classes {
			t.class[c] += n * int(s.spans[c])
			t.length[c] += n * int(s.lengths[c])
		}
	}
	return t
}

// distance returns how far the categories' shares of a selection are from the wanted ones: the largest difference.
func (p *pool) distance(take []int) float64 { return p.off(p.sums(take)) }

func (p *pool) off(t sums) float64 {
	far := math.Abs(ratio(t.empty, t.notes) - p.WithoutSpans)
	for c, share := range p.Shares {
		far = max(far, math.Abs(ratio(t.class[c], t.spans)-share))
	}
	for c := len(p.Shares); p.Shares != nil && c < MaxClasses; c++ {
		far = max(far, ratio(t.class[c], t.spans)) // classes that nobody asked for
	}
	return far
}

func (p *pool) met(take []int) bool {
	t := p.sums(take)
	return (t.notes > 0 || p.K == 0) && p.off(t) <= p.Tolerance+1e-9
}

// scarcest returns the class of which most of the candidates were taken and
// that has less than its share; -1 if there is none.
func (p *pool) scarcest(take []int) int {
	taken, there := p.sums(take), p.sums(p.all())
	short, worst := -1, 0.0
	for c, share := range p.Shares {
		used := 1.0
		if there.class[c] > 0 {
			used = float64(taken.class[c]) / float64(there.class[c])
		}
		if ratio(taken.class[c], taken.spans) < share && used > worst {
			short, worst = c, used
		}
	}
	return short
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// result takes the surest entries of every stratum.
func (p *pool) result(take []int, short int) Result {
	t := p.sums(take)
	classes := max(len(p.Shares), len(p.Lengths))
	for c, n := range t.class {
		if n > 0 {
			classes = max(classes, c+1)
		}
	}
	r := Result{
		Candidates: p.candidates, Below: p.below, Met: p.met(take), Short: short,
		Shares: make([]float64, classes), Lengths: make([]float64, classes),
		WithoutSpans: ratio(t.empty, t.notes), Lowest: 10_000,
	}
	for c := range r.Shares {
		r.Shares[c] = ratio(t.class[c], t.spans)
	}
	for c := range r.Lengths {
		r.Lengths[c] = ratio(t.length[c], t.class[c])
	}
	for i, s := range p.sorted {
		for _, e := range s.entries[:take[i]] {
			r.Keys = append(r.Keys, e.key)
			r.Lowest = min(r.Lowest, e.confidence)
		}
	}
	slices.SortFunc(r.Keys, Key.Compare)
	return r
}

// Lowest keeps the records of lowest confidence, which teach most when a curator corrects them (BOOT §4.4).
type Lowest struct {
	heap
	most int
}

// NewLowest returns a Lowest for at most n records.
func NewLowest(n int) *Lowest {
	return &Lowest{most: n, heap: heap{order: func(a, b *entry) int {
		if a.confidence != b.confidence {
			return int(a.confidence) - int(b.confidence)
		}
		return a.surer(b)
	}}}
}

// Add considers a record, and reports whether it is among the lowest so far.
func (l *Lowest) Add(r *Record) (kept bool) {
	return l.add(entry{key: r.Key, hash: r.Hash, confidence: r.Confidence}, l.most)
}

// Keys returns the keys of the lowest records so far, by unit and row.
func (l *Lowest) Keys() []Key {
	keys := make([]Key, 0, len(l.entries))
	for _, e := range l.entries {
		keys = append(keys, e.key)
	}
	slices.SortFunc(keys, Key.Compare)
	return keys
}

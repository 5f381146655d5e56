package choose

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/pipeline"
)

// Question is a note that a person could be asked to correct.
type Question struct {
	Record
	Sketch uint64 // simhash of the words: for notes with nearly the same words it differs in few bits (Charikar 2002)
	Shape  uint64 // hash of the tags, where a run of one tag counts once
}

// Asking holds the options for choosing the notes that a person should correct.
type Asking struct {
	N      int
	Random float64 // share that is drawn at random, to find what the model is certain of and wrong about
	Seed   uint64
	// Classes is the wanted share of every class, in the order of TagSet.Categories. About each class with at least one
	// in a hundred something is asked, if the model found any.
	Classes []float64
}

// Asked is a chosen note with the reason for its choice.
type Asked struct {
	Key
	Confidence Confidence
	Why        Why
	Class      int // for AskedForClass
}

// Why is the reason for which a note was chosen.
type Why uint8

const (
	AskedUnsure   Why = iota // the model is unsure, and of its kind the least sure
	AskedForClass            // one with a class, in which the model found most for its length
	AskedByChance
)

// String returns the name used in files.
func (w Why) String() string { return [...]string{"unsure", "category", "random"}[w] }

const (
	// mainClass is the share from which on questions about a class are guaranteed.
	mainClass = 0.01
	// alike is the number of bits, of 64, in which the sketches of two notes may differ so that one of the notes is
	// enough.
	alike = 8
	// formBits is how many bits of the sketch divide notes into groups: 16 groups.
	formBits = 4
)

// Ask chooses the notes to correct, and returns them by key. The result depends on the set of questions and not on
// their order. A share is drawn at random. Half of the rest is divided among the main classes: each gets the notes with
// the most spans of that class for their length. The other places go in turn to the kinds of notes, starting with the
// kind that has the least confident note for its length. A kind is the notes of one shape and one group of words, so
// that a single template of the archive cannot fill all places. No two chosen notes are nearly equal.
func Ask(questions []Question, a Asking) []Asked {
	p := asking{Asking: a, sorted: slices.Clone(questions), taken: map[Key]bool{}}
	slices.SortFunc(p.sorted, func(x, y Question) int {
		return cmp.Or(cmp.Compare(x.Confidence, y.Confidence), cmp.Compare(x.Hash, y.Hash), x.Key.Compare(y.Key))
	})
	p.random()
	p.classes()
	p.byLength()
	p.kinds()
	slices.SortFunc(p.picked, func(x, y Asked) int { return x.Key.Compare(y.Key) })
	return p.picked
}

// byLength ranks notes by how unsure they are among notes of about the same length (the same power of two). The
// confidence of a note is that of its least sure token, so without this long notes, which may all be of one kind, would
// take all places.
func (a *asking) byLength() {
	var size, seen [33]int // by length
	for i := range a.sorted {
		size[bits.Len32(a.sorted[i].Tokens)]++
	}
	rank := make(map[Key]float64, len(a.sorted))
	for i := range a.sorted {
		band := bits.Len32(a.sorted[i].Tokens)
		rank[a.sorted[i].Key] = float64(seen[band]) / float64(size[band])
		seen[band]++
	}
	slices.SortStableFunc(a.sorted, func(x, y Question) int { return cmp.Compare(rank[x.Key], rank[y.Key]) })
}

type asking struct {
	Asking
	sorted   []Question // least sure first, then of those of its length
	taken    map[Key]bool
	sketches []uint64
	picked   []Asked
}

// take picks a question unless one like it was picked.
func (p *asking) take(q *Question, why Why, class int) bool {
	if len(p.picked) >= p.N || p.taken[q.Key] || slices.ContainsFunc(p.sketches,
		func(s uint64) bool { return bits.OnesCount64(s^q.Sketch) <= alike }) {
		return false
	}
	p.taken[q.Key] = true
	p.sketches = append(p.sketches, q.Sketch)
	p.picked = append(p.picked, Asked{q.Key, q.Confidence, why, class})
	return true
}

// random draws by a hash under the seed.
func (p *asking) random() {
	n := int(math.Round(p.Random * float64(p.N)))
	if n == 0 {
		return
	}
	draw := func(q *Question) uint64 {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], q.Hash)
		return xxh3.HashSeed(b[:], p.Seed)
	}
	drawn := slices.Clone(p.sorted)
	slices.SortFunc(drawn, func(x, y Question) int {
		return cmp.Or(cmp.Compare(draw(&x), draw(&y)), x.Key.Compare(y.Key))
	})
	for i := range drawn {
		if len(p.picked) == n {
			return
		}
		p.take(&drawn[i], AskedByChance, 0)
	}
}

// byDensity sorts by how much was found, least sure first among equals: f(d) of ATN §2.3, the sum of N_i(d) over categories i,
// by the square root of the tokens. The sum alone takes long notes, the sum by the tokens the shortest. ATN's weights
// (1 - F1(i)) (1 - p_i) chose no better notes and are left out.
func (a *asking) byDensity() []Question {
	found := func(q *Question) (n uint64) {
		for _, spans := range q.Spans {
			n += uint64(spans)
		}
		return n * n
	}
	list := slices.Clone(a.sorted)
	slices.SortStableFunc(list, func(x, y Question) int {
		return cmp.Compare(found(&y)*uint64(max(x.Tokens, 1)), found(&x)*uint64(max(y.Tokens, 1)))
	})
	return list
}

// classes gives every main class its part of half of the places.
func (p *asking) classes() {
	main := 0
	for _, share := range p.Classes {
		if share >= mainClass {
			main++
		}
	}
	if main == 0 {
		return
	}
	each := max(1, (p.N-len(p.picked))/2/main)
	dense := p.byDensity()
	for class, share := range p.Classes {
		if share < mainClass {
			continue
		}
		left := each
		for i := range dense {
			if q := &dense[i]; left > 0 && q.Spans[class] > 0 && p.take(q, AskedForClass, class) {
				left--
			}
		}
	}
}

// kinds takes the least sure note of every kind, then the next one of every
// kind, until all places are taken.
func (p *asking) kinds() {
	type kind struct{ shape, words uint64 }
	var order []kind
	members := map[kind][]*Question{}
	for i := range p.sorted {
		q := &p.sorted[i]
		k := kind{q.Shape, q.Sketch >> (64 - formBits)}
		if members[k] == nil {
			order = append(order, k)
		}
		members[k] = append(members[k], q)
	}
	for len(order) > 0 && len(p.picked) < p.N {
		left := order[:0]
		for _, k := range order {
			list := members[k]
			for len(list) > 0 && !p.take(list[0], AskedUnsure, 0) {
				list = list[1:]
			}
			if len(list) > 1 {
				members[k] = list[1:]
				left = append(left, k)
			}
		}
		order = left
	}
}

// Questioner makes questions from notes. It has scratch space, so each worker needs its own.
type Questioner struct {
	Recorder
	sums  [64]int
	word  []byte
	shape xxh3.Hasher
}

// Question returns the question for note i of b.
func (q *Questioner) Question(b *pipeline.Batch, i int, unit uint32) (Question, error) {
	r, err := q.Record(b, i, unit)
	if err != nil {
		return Question{}, err
	}
	return Question{r, q.sketch(b.Text.At(i), b.Tokens.At(i)), q.shapeOf(b.TagsOf(i))}, nil
}

// sketch is the simhash of the words, lower-cased, digits all alike.
func (q *Questioner) sketch(text []byte, tokens []pipeline.Token) (s uint64) {
	q.sums = [64]int{}
	for _, t := range tokens {
		q.word = q.word[:0]
		for at := text[t.Start:t.End]; len(at) > 0; {
			r, size := utf8.DecodeRune(at)
			at = at[size:]
			if unicode.IsDigit(r) {
				r = '0'
			}
			q.word = utf8.AppendRune(q.word, unicode.ToLower(r))
		}
		h := xxh3.Hash(q.word)
		for k := range q.sums {
			q.sums[k] += int(h>>k&1)*2 - 1
		}
	}
	for k, sum := range q.sums {
		if sum > 0 {
			s |= 1 << k
		}
	}
	return s
}

func (q *Questioner) shapeOf(tags []pipeline.Tag) uint64 {
	q.shape.Reset()
	last := -1
	for _, t := range tags {
		if int(t) != last {
			q.word = append(q.word[:0], byte(t))
			_, _ = q.shape.Write(q.word) // never fails
			last = int(t)
		}
	}
	return q.shape.Sum64()
}

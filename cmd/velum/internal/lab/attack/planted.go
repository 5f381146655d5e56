package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/read/input"
)

// planted is masked notes as the attacker sees them. The attacker is assumed to know where names are, as with a perfect
// tagger.
type planted struct {
	Notes []note
}

// words yields the words of all mentions.
func (e *planted) words(yield func(string) bool) {
	for i := range e.Notes {
		for k := range e.Notes[i].Mentions {
			for _, w := range e.Notes[i].Mentions[k].Words {
				if !yield(string(w)) {
					return
				}
			}
		}
	}
}

// note is a masked one.
type note struct {
	Row      int   // of the sample
	Patient  int   // number of its owner
	Time     int64 // of its column, in the column's unit; 0: it has none
	Judged   bool  // what was left in it is known
	Text     []byte
	Mentions []mention // of names, in order
}

// mention is a mention of a name, or of a part of one.
type mention struct {
	Start, End int32
	Words      [][]byte // folded, of three letters or more
	Left       bool     // it is what stood there; the attacker does not know
	Was        [][]byte // the words of what stood there, of extracts of the attacker's own
}

// planter masks the sample repeatedly, each time with other names missed and other replacements.
type planter struct {
	*sample
	Patients map[string]int // their numbers, by owner
	options  *mask.Options
}

// planter returns the planter for the sample, which is read once. It refuses options that would mask differently from
// the extract.
func (a *attacker) planter(ctx context.Context) (*planter, error) {
	if a.planted != nil {
		return a.planted, nil
	}
	s, err := a.read(ctx)
	if err != nil {
		return nil, err
	}
	p := &planter{sample: s, Patients: map[string]int{}}
	for _, owner := range s.Owner {
		if _, ok := p.Patients[owner]; !ok {
			p.Patients[owner] = len(p.Patients)
		}
	}
	if p.options, err = flow.With(a.config, nil).MaskOptions(); err != nil {
		return nil, err
	}
	if len(p.options.Shuffled()) > 0 {
		return nil, flow.ErrShuffled
	}
	if err := p.check(ctx, a.Dir); err != nil {
		return nil, err
	}
	a.planted = p
	return p, nil
}

// natural returns the extract with the names that were really missed, which are known where people labelled the notes.
func (p *planter) natural(ctx context.Context) (*planted, error) {
	return p.masked(ctx, *p.options, func(i int, _ *rand.Rand) (found, left []pipeline.Span) {
		found = p.Notes.Spans.At(i)
		return found, without(p.Notes.Text.At(i), p.Notes.Gold.At(i), found)
	}, 0)
}

// plant makes an extract in which a share of the names is left unmasked: half of them in all notes of a patient, half
// at single places, because taggers miss names in both ways.
func (p *planter) plant(ctx context.Context, share float64, round int, seed uint64) (*planted, error) {
	o := *p.options
	o.Purpose = fmt.Sprintf("attack %d %d %g", seed, round, share)
	salt := xxh3.HashString(o.Purpose)
	return p.masked(ctx, o, func(i int, rng *rand.Rand) (found, left []pipeline.Span) {
		text := p.Notes.Text.At(i)
		for _, s := range p.found(i) {
			key := append([]byte(p.Owner[i]), 0)
			if words := nameWords(text[s.Start:s.End]); len(words) > 0 {
				key = append(key, words[len(words)-1]...)
			}
			byName := float64(xxh3.HashSeed(key, salt)) < share/2*math.MaxUint64
			if s.Category.Kind() == pipeline.NameKind && (byName || rng.Float64() < share/2) {
				left = append(left, s)
			} else {
				found = append(found, s)
			}
		}
		return found, left
	}, salt)
}

// found returns the spans in which names are planted: the labelled spans of a note that people have marked, otherwise
// the spans that velum found.
func (p *planter) found(i int) []pipeline.Span {
	if p.gold[i] {
		return p.Notes.Gold.At(i)
	}
	return p.Notes.Spans.At(i)
}

// masked masks the sample: split decides which spans are replaced, and the others are the missed names.
func (p *planter) masked(ctx context.Context, o mask.Options, split func(i int, rng *rand.Rand) (found, left []pipeline.Span),
	salt uint64) (*planted, error) {
	src := &sampleSource{planter: p, left: make([][]pipeline.Span, p.Notes.Len())}
	rng := rand.New(rand.NewPCG(salt, 5))
	for i := range p.Notes.Len() {
		found, left := split(i, rng)
		src.found.Append(found...)
		src.left[i] = left
	}
	step, err := mask.New(o)
	if errors.Is(err, mask.ErrNoKey) {
		err = exit.With(exit.Key, err, "name its file with key.file")
	}
	if err != nil {
		return nil, err
	}
	e := new(planted)
	return e, pipeline.Run(ctx, src, []pipeline.Step{step}, pipeline.SinkFunc(func(b *pipeline.Batch) error {
		for i := range b.Sound() {
			at := int(b.First) + i
			n := note{Row: at, Patient: p.Patients[p.Owner[at]], Judged: p.gold[at] || p.Judged == 0, Text: bytes.Clone(b.Masked.At(i))}
			if c := b.ExtraNamed(input.DateColumn); c != nil && c.Valid[i] && len(c.Fixed) > 0 {
				n.Time = int64(c.Fixed[i])
			}
			n.Mentions = mentionsOf(b.Text.At(i), n.Text, b.Spans.At(i), b.Places.At(i), src.left[at])
			e.Notes = append(e.Notes, n)
		}
		return nil
	}), nil)
}

// source gives the notes of the sample out again, without spans.
func (p *planter) source() pipeline.Source {
	s := &sampleSource{planter: p, left: make([][]pipeline.Span, p.Notes.Len())}
	for range p.Notes.Len() {
		s.found.Append()
	}
	return s
}

// sampleSource gives the notes of a sample out again, with other spans.
type sampleSource struct {
	*planter
	found pipeline.List[pipeline.Span]
	left  [][]pipeline.Span
	next  int
}

// Next implements pipeline.Source.
func (s *sampleSource) Next(b *pipeline.Batch) error {
	const most = 1024
	if s.next == s.Notes.Len() {
		return io.EOF
	}
	b.First = int64(s.next)
	for ; s.next < s.Notes.Len() && b.Len() < most; s.next++ {
		i := s.next
		b.AppendRead(&s.Notes, i)
		b.Spans.Append(s.found.At(i)...)
		b.Language = append(b.Language, s.Notes.Language[i])
	}
	return nil
}

// mentionsOf returns the names in a masked note, replaced or missed. Placeholders are not names.
func mentionsOf(text, masked []byte, spans, places, left []pipeline.Span) (all []mention) {
	add := func(s, was pipeline.Span, left bool) {
		if m := (mention{Start: s.Start, End: s.End, Left: left,
			Was: nameWords(text[was.Start:was.End])}); s.Category.Kind() == pipeline.NameKind && s.End > s.Start {
			if name := masked[s.Start:s.End]; name[0] != '[' && name[0] != '*' {
				m.Words = nameWords(name)
				all = append(all, m)
			}
		}
	}
	moved := int32(0) // how far behind the last place is from where it was
	for k := 0; k < len(spans) || len(left) > 0; {
		if k == len(spans) || len(left) > 0 && left[0].Start < spans[k].Start {
			s := left[0]
			s.Start, s.End = s.Start+moved, s.End+moved
			add(s, left[0], true)
			left = left[1:]
			continue
		}
		add(places[k], spans[k], false)
		moved = places[k].End - spans[k].End
		k++
	}
	return all
}

// without returns the parts of labelled names that no found span covers.
func without(text []byte, gold, found []pipeline.Span) (left []pipeline.Span) {
	for _, g := range gold {
		if g.Category.Kind() != pipeline.NameKind {
			continue
		}
		add := func(from, to int32) {
			if s := trim(text, pipeline.Span{Start: from, End: to, Category: g.Category}); s.End-s.Start > 1 {
				left = append(left, s)
			}
		}
		at := g.Start
		for _, f := range found {
			if f.End <= at || f.Start >= g.End {
				continue
			}
			add(at, max(f.Start, at))
			at = f.End
		}
		if at < g.End {
			add(at, g.End)
		}
	}
	return left
}

// nameWords returns the identifying words of a name: those of three letters or more.
func nameWords(name []byte) (words [][]byte) {
	cut := func(r rune) bool { return r == ' ' || r == '\n' || r == ',' || r == '.' || r == '-' }
	for _, w := range bytes.FieldsFunc(gazetteer.Fold(nil, name), cut) {
		if len(w) > 2 {
			words = append(words, w)
		}
	}
	return words
}

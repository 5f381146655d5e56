package plant

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/read/input"
)

// Extract is masked notes as the attacker has them. Where names stand is granted:
// a perfect tagger, more than anybody has.
type Extract struct {
	Notes []Note
}

// Note is a masked one.
type Note struct {
	Row      int   // of the sample
	Patient  int   // number of its owner
	Time     int64 // of its column, in the column's unit; 0: it has none
	Judged   bool  // what was left in it is known
	Text     []byte
	Mentions []Mention // of names, in order
}

// Mention is one of a name, or of what is left of one.
type Mention struct {
	Start, End int32
	Words      [][]byte // folded, of three letters or more
	Left       bool     // it is what stood there; the attacker does not know
}

// Planter masks the sample again and again, each time with other names left and
// other replacements.
type Planter struct {
	*Sample
	Patients map[string]int // their numbers, by owner
	options  *mask.Options
}

// New returns a planter of a sample. Without a key in the configuration one is made
// of the seed.
func New(s *Sample, c *option.Config, seed uint64) (*Planter, error) {
	p := &Planter{Sample: s, Patients: map[string]int{}}
	for _, owner := range s.Owner {
		if _, ok := p.Patients[owner]; !ok {
			p.Patients[owner] = len(p.Patients)
		}
	}
	var err error
	if p.options, err = flow.With(c, nil).MaskOptions(); err != nil {
		return nil, err
	}
	if len(p.options.Shuffled()) > 0 {
		return nil, flow.ErrShuffled
	}
	if p.options.Key == nil {
		p.options.Key, err = keyOf(seed)
	}
	return p, err
}

// keyOf makes a key of a seed.
func keyOf(seed uint64) (*secret.Key, error) {
	dir, err := os.MkdirTemp("", "velum-attack")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	sum := sha256.Sum256(fmt.Appendf(nil, "velum attack %d", seed))
	path := filepath.Join(dir, "key")
	if err := os.WriteFile(path, sum[:], 0o400); err != nil {
		return nil, err
	}
	return secret.Load(path)
}

// Natural is the extract as it is: what was not found is left, and known where
// people marked the notes.
func (p *Planter) Natural(ctx context.Context) (*Extract, error) {
	return p.masked(ctx, *p.options, func(i int, _ *rand.Rand) (found, left []pipeline.Span) {
		found = p.Notes.Spans.At(i)
		return found, without(p.Notes.Text.At(i), p.Notes.Gold.At(i), found)
	}, 0)
}

// Planted is an extract of its own, in which a share of the names is left: half of
// them by name, in all notes of a patient, half one by one, for taggers miss both ways.
func (p *Planter) Planted(ctx context.Context, share float64, round int, seed uint64) (*Extract, error) {
	o := *p.options
	o.Purpose = fmt.Sprintf("attack %d %d %g", seed, round, share)
	salt := xxh3.HashString(o.Purpose)
	return p.masked(ctx, o, func(i int, rng *rand.Rand) (found, left []pipeline.Span) {
		text := p.Notes.Text.At(i)
		for _, s := range p.found(i) {
			key := append([]byte(p.Owner[i]), 0)
			if words := Words(text[s.Start:s.End]); len(words) > 0 {
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

// found are the spans in which names are planted: those that people marked, where
// nobody but the model could say otherwise.
func (p *Planter) found(i int) []pipeline.Span {
	if p.gold[i] {
		return p.Notes.Gold.At(i)
	}
	return p.Notes.Spans.At(i)
}

// masked masks the sample: what split says that was found is replaced, and what is
// left is known.
func (p *Planter) masked(ctx context.Context, o mask.Options, split func(i int, rng *rand.Rand) (found, left []pipeline.Span), salt uint64) (*Extract, error) {
	src := &sampleSource{Planter: p, left: make([][]pipeline.Span, p.Notes.Len())}
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
	to := &extractSink{sampleSource: src, Extract: new(Extract)}
	return to.Extract, pipeline.Run(ctx, src, []pipeline.Step{step}, to, nil)
}

// Source gives the notes of the sample out again, without spans.
func (p *Planter) Source() pipeline.Source {
	s := &sampleSource{Planter: p, left: make([][]pipeline.Span, p.Notes.Len())}
	for range p.Notes.Len() {
		s.found.Append()
	}
	return s
}

// sampleSource gives the notes of a sample out again, with other spans.
type sampleSource struct {
	*Planter
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
	if len(b.Extra) == 0 {
		for _, c := range s.Notes.Extra {
			b.Extra = append(b.Extra, pipeline.Column{Name: c.Name, Kind: c.Kind, Type: c.Type, Width: c.Width})
		}
	}
	for ; s.next < s.Notes.Len() && b.Len() < most; s.next++ {
		i := s.next
		b.ID.Append(s.Notes.ID.At(i))
		b.Text.Append(s.Notes.Text.At(i))
		b.Spans.Append(s.found.At(i)...)
		b.Reason = append(b.Reason, pipeline.Sound)
		b.Language = append(b.Language, s.Notes.Language[i])
		for k := range s.Notes.Extra {
			b.Extra[k].Append(&s.Notes.Extra[k], i)
		}
	}
	return nil
}

// extractSink takes the masked notes in as the attacker has them.
type extractSink struct {
	*sampleSource
	*Extract
}

// Put implements pipeline.Sink.
func (e *extractSink) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			continue
		}
		at := int(b.First) + i
		n := Note{Row: at, Patient: e.Patients[e.Owner[at]], Judged: e.gold[at] || e.Judged == 0, Text: bytes.Clone(b.Masked.At(i))}
		if c := b.ExtraNamed(input.DateColumn); c != nil && c.Valid[i] && len(c.Fixed) > 0 {
			n.Time = int64(c.Fixed[i])
		}
		n.Mentions = mentionsOf(n.Text, b.Spans.At(i), b.Places.At(i), e.left[at])
		e.Extract.Notes = append(e.Extract.Notes, n)
	}
	return nil
}

// mentionsOf finds the names of a masked note: replacements, and what was left. A
// placeholder is no name to anybody.
func mentionsOf(masked []byte, spans, places, left []pipeline.Span) (all []Mention) {
	add := func(s pipeline.Span, left bool) {
		if m := (Mention{Start: s.Start, End: s.End, Left: left}); s.Category.Kind() == pipeline.NameKind && s.End > s.Start {
			if name := masked[s.Start:s.End]; name[0] != '[' && name[0] != '*' {
				m.Words = Words(name)
				all = append(all, m)
			}
		}
	}
	moved := int32(0) // how far behind the last place is from where it was
	for k := 0; k < len(spans) || len(left) > 0; {
		if k == len(spans) || len(left) > 0 && left[0].Start < spans[k].Start {
			s := left[0]
			s.Start, s.End = s.Start+moved, s.End+moved
			add(s, true)
			left = left[1:]
			continue
		}
		add(places[k], false)
		moved = places[k].End - spans[k].End
		k++
	}
	return all
}

// without returns what of names that people marked lies in no span that was found.
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

// Words returns the words of a name that tell: three letters or more.
func Words(name []byte) (words [][]byte) {
	cut := func(r rune) bool { return r == ' ' || r == '\n' || r == ',' || r == '.' || r == '-' }
	for _, w := range bytes.FieldsFunc(gazetteer.Fold(nil, name), cut) {
		if len(w) > 2 {
			words = append(words, w)
		}
	}
	return words
}

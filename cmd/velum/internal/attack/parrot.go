package attack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/mask"
)

// ParrotOptions are those of the attack on surrogates.
type ParrotOptions struct {
	Gold    []string // labelled notes; none: no such attack
	Misses  []float64
	AtMost  float64 // share of what consistent surrogates give away that markov may; 0: nothing is refused
	Mention int     // least mentions of names in a note that counts
}

// parrotFigures are those of one strategy at one share of misses.
type parrotFigures struct {
	Strategy  string  `json:"strategy"`
	Misses    float64 `json:"misses"`    // share of mentions that were left
	Mentions  int     `json:"mentions"`  // of names, in notes that count
	Left      int     `json:"left"`      // originals among them
	Pointed   int     `json:"pointed"`   // mentions that the attacker takes for originals, as many as there are
	Right     int     `json:"right"`     // of them
	Recall    float64 `json:"recall"`    // right of left
	Precision float64 `json:"precision"` // right of pointed
	Chance    float64 `json:"chance"`    // of one mention that is pointed at blindly
}

// parrot leaves some names of labelled notes as they are, as a tagger that misses
// would, writes surrogates for all others, and lets an attacker point at what was
// left: so many mentions as there are originals. The attacker has the extract and
// nothing else; where names stand is granted (a perfect tagger, more than anybody
// has). It trains a CRF on the surrogates of one half of the notes (parrottagger.go)
// and asks it about the other: what it takes for a surrogate of its note least is
// pointed at (Carrell et al., JAMIA 2019).
func (a *attacker) parrot(ctx context.Context) (*finding, error) {
	notes, err := a.parrotNotes()
	if err != nil {
		return nil, err
	}
	key, err := a.workKey()
	if err != nil {
		return nil, err
	}
	var all []parrotFigures
	for _, misses := range a.Parrot.Misses {
		for _, strategy := range []string{"consistent", "random", "markov"} {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			f, err := a.parrotOnce(notes, key, strategy, misses)
			if err != nil {
				return nil, err
			}
			all = append(all, *f)
		}
	}
	return a.parrotFinding(all), nil
}

// parrotFinding compares the strategies at each share of misses.
func (a *attacker) parrotFinding(all []parrotFigures) *finding {
	f := &finding{Passed: true, Figures: all, remedy: "leave fewer names: raise tag.recall; or take placeholders"}
	f.table = func(w io.Writer) {
		fmt.Fprint(w, "strategy\tmisses\tmentions\tleft\tpointed\tright\trecall\tprecision\tby chance\t\n")
		for _, r := range all {
			fmt.Fprintf(w, "%s\t%.4g\t%d\t%d\t%d\t%d\t%.4f\t%.4f\t%.4f\t\n", r.Strategy, r.Misses, r.Mentions, r.Left, r.Pointed, r.Right, r.Recall, r.Precision, r.Chance)
		}
	}
	worst := 0.0
	for i := 0; i+2 < len(all); i += 3 {
		if c := all[i].Recall; c > 0 {
			worst = max(worst, all[i+2].Recall/c)
		}
	}
	f.Sentence = fmt.Sprintf("markov surrogates give away at most %.2f of the originals that consistent ones do", worst)
	f.Passed = a.Parrot.AtMost == 0 || worst <= a.Parrot.AtMost
	return f
}

// goldNote is a labelled note.
type goldNote struct {
	id, text []byte
	spans    []pipeline.Span
}

func (a *attacker) parrotNotes() (notes []goldNote, err error) {
	n := flow.Labelled{Paths: a.Parrot.Gold, Config: a.config}
	err = n.Each(func(src pipeline.Source) error {
		b := new(pipeline.Batch)
		for {
			b.Reset()
			if err := src.Next(b); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			for i := range b.Len() {
				notes = append(notes, goldNote{bytes.Clone(b.ID.At(i)), bytes.Clone(b.Text.At(i)), slices.Clone(b.Gold.At(i))})
			}
		}
	})
	if err == nil && len(notes) == 0 {
		err = exit.Errorf(exit.Config, "give labelled notes with --gold", "no notes to attack")
	}
	return notes, err
}

// workKey makes a key of the seed, in the working folder.
func (a *attacker) workKey() (*secret.Key, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "velum parrot %d", a.Seed))
	path := filepath.Join(a.Work, "key")
	if err := os.WriteFile(path, sum[:], 0o400); err != nil {
		return nil, err
	}
	return secret.Load(path)
}

// maskedNote is a note of the extract, as the attacker has it.
type maskedNote struct {
	text     []byte
	mentions []mention // of names, in order
}

// mention is one of a name in a masked note.
type mention struct {
	start, end int32
	words      [][]byte // folded
	original   bool     // it was left; the attacker does not know
}

func (a *attacker) parrotOnce(notes []goldNote, key *secret.Key, strategy string, misses float64) (*parrotFigures, error) {
	chain, err := mask.ParseChain("surrogate scope=note strategy=" + strategy)
	if err != nil {
		return nil, err
	}
	m, err := mask.NewMasker(mask.Options{Default: chain, Key: key})
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(a.Seed, math.Float64bits(misses)))
	var extract []maskedNote
	for i := range notes {
		of := maskWithMisses(m, &notes[i], misses, rng)
		if len(of.mentions) >= max(a.Parrot.Mention, 1) {
			extract = append(extract, of)
		}
	}
	r := &parrotFigures{Strategy: strategy, Misses: misses}
	return r, a.judge(r, extract)
}

// maskWithMisses masks a note but for some names.
func maskWithMisses(m *mask.Masker, n *goldNote, misses float64, rng *rand.Rand) (of maskedNote) {
	var spans []pipeline.Span
	var left []bool // by span of the note: it is a name and stays
	for _, s := range n.spans {
		miss := s.Category.Kind() == pipeline.NameKind && rng.Float64() < misses
		if left = append(left, miss); !miss {
			spans = append(spans, s)
		}
	}
	masked, places, ok := m.Mask(nil, nil, mask.NewNote(n.id, n.text, spans))
	if !ok {
		return maskedNote{}
	}
	of.text = masked
	moved, next := int32(0), 0 // how far behind the last place is from where it was
	for k, s := range n.spans {
		at := mention{start: s.Start + moved, end: s.End + moved, original: left[k]}
		if !left[k] {
			p := places[next]
			next++
			at.start, at.end = p.Start, p.End
			moved = p.End - s.End
		}
		if s.Category.Kind() == pipeline.NameKind && at.end > at.start {
			at.words = folded(masked[at.start:at.end])
			of.mentions = append(of.mentions, at)
		}
	}
	return of
}

// folded returns the words of a name that tell: three letters or more.
func folded(name []byte) (words [][]byte) {
	for _, w := range bytes.FieldsFunc(gazetteer.Fold(nil, bytes.ReplaceAll(name, []byte(","), []byte(" "))), func(r rune) bool { return r == ' ' || r == '\n' }) {
		if len(w) > 2 {
			words = append(words, w)
		}
	}
	return words
}

// judge lets the attacker learn and point.
func (a *attacker) judge(r *parrotFigures, extract []maskedNote) error {
	scores, err := a.suspect(extract)
	if err != nil {
		return err
	}
	type point struct {
		score float64
		tie   uint64
		right bool
	}
	var points []point
	rng := rand.New(rand.NewPCG(a.Seed, 3))
	for i := range extract {
		for k, m := range extract[i].mentions {
			points = append(points, point{scores[i][k], rng.Uint64(), m.original})
			if m.original {
				r.Left++
			}
		}
	}
	slices.SortFunc(points, func(x, y point) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.tie, y.tie)) })
	r.Mentions, r.Pointed = len(points), r.Left
	for _, p := range points[:r.Pointed] {
		if p.right {
			r.Right++
		}
	}
	if r.Left > 0 {
		r.Recall, r.Precision = float64(r.Right)/float64(r.Left), float64(r.Right)/float64(r.Pointed)
		r.Chance = float64(r.Left) / float64(r.Mentions)
	}
	return nil
}

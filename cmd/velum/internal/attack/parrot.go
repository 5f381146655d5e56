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
	"github.com/velum-health/velum/models/gazetteer"
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
// nothing else; that it finds all mentions of names is granted (a perfect tagger,
// more than anybody has). It learns from the surrogates themselves: a mention
// that is exchanged for one of another note looks as an original does, so a
// logistic regression tells exchanged ones from others by how names come again in
// their note, and is then asked about all (Carrell et al., JAMIA 2019, whose
// attacker trains a tagger on surrogates).
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

// seen is a mention of a name in a masked note.
type seen struct {
	note     int
	words    [][]byte // folded
	original bool
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
	var mentions []seen
	for i := range notes {
		of := maskWithMisses(m, &notes[i], i, misses, rng)
		if len(of) >= max(a.Parrot.Mention, 1) {
			mentions = append(mentions, of...)
		}
	}
	return a.judge(mentions, strategy, misses), nil
}

// maskWithMisses masks a note but for some names, and returns all of its mentions
// of names.
func maskWithMisses(m *mask.Masker, n *goldNote, note int, misses float64, rng *rand.Rand) (all []seen) {
	var spans []pipeline.Span
	for _, s := range n.spans {
		name := s.Category.Kind() == pipeline.NameKind
		if name && rng.Float64() < misses {
			all = append(all, seen{note, folded(n.text[s.Start:s.End]), true})
			continue
		}
		spans = append(spans, s)
	}
	masked, places, ok := m.Mask(nil, nil, mask.NewNote(n.id, n.text, spans))
	if !ok {
		return nil
	}
	for _, p := range places {
		if p.Category.Kind() == pipeline.NameKind && p.End > p.Start {
			all = append(all, seen{note, folded(masked[p.Start:p.End]), false})
		}
	}
	return all
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

// features of a mention: what an attacker sees of how names come again.
type features [6]float64

// featuresOf looks at mention k of a note.
func featuresOf(of []seen, k int) (f features) {
	again, most := float64(0), float64(0) // mentions that share a word with it; the most that another has
	alone := float64(0)
	for i := range of {
		shares := float64(0)
		for j := range of {
			if i != j && shareWord(&of[i], &of[j]) {
				shares++
			}
		}
		switch {
		case i == k:
			again = shares
		default:
			most = max(most, shares)
		}
		if shares == 0 {
			alone++
		}
	}
	n := float64(len(of))
	f = features{1, min(again, 3), min(most, 5), alone / n, math.Log(n), 0}
	if again == 0 && most > 0 {
		f[5] = 1 // the odd one out
	}
	return f
}

func shareWord(a, b *seen) bool {
	for _, x := range a.words {
		for _, y := range b.words {
			if bytes.Equal(x, y) {
				return true
			}
		}
	}
	return false
}

// judge lets the attacker learn and point.
func (a *attacker) judge(mentions []seen, strategy string, misses float64) *parrotFigures {
	r := &parrotFigures{Strategy: strategy, Misses: misses, Mentions: len(mentions)}
	var notes [][]seen
	for i := 0; i < len(mentions); {
		j := i
		for j < len(mentions) && mentions[j].note == mentions[i].note {
			j++
		}
		notes = append(notes, mentions[i:j])
		i = j
	}
	weights := a.learnExchanges(notes)
	type point struct {
		score float64
		tie   uint64
		right bool
	}
	var points []point
	rng := rand.New(rand.NewPCG(a.Seed, 3))
	for _, of := range notes {
		for k := range of {
			points = append(points, point{weights.score(featuresOf(of, k)), rng.Uint64(), of[k].original})
			if of[k].original {
				r.Left++
			}
		}
	}
	slices.SortFunc(points, func(x, y point) int { return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.tie, y.tie)) })
	r.Pointed = r.Left
	for _, p := range points[:r.Pointed] {
		if p.right {
			r.Right++
		}
	}
	if r.Left > 0 {
		r.Recall, r.Precision = float64(r.Right)/float64(r.Left), float64(r.Right)/float64(r.Pointed)
		r.Chance = float64(r.Left) / float64(r.Mentions)
	}
	return r
}

// learnExchanges makes examples of the extract itself, a mention of each note
// exchanged for one of another note, and fits a logistic regression to them.
func (a *attacker) learnExchanges(notes [][]seen) (w features) {
	rng := rand.New(rand.NewPCG(a.Seed, 7))
	var examples []features
	var exchanged []float64
	for i, of := range notes {
		if len(notes) < 2 {
			break
		}
		k := rng.IntN(len(of))
		other := notes[(i+1+rng.IntN(len(notes)-1))%len(notes)]
		with := slices.Clone(of)
		with[k] = other[rng.IntN(len(other))]
		for j := range with {
			label := 0.0
			if j == k {
				label = 1
			}
			examples, exchanged = append(examples, featuresOf(with, j)), append(exchanged, label)
		}
	}
	for range 300 { // the problem is convex and small: plain steps will do
		var gradient features
		for i := range examples {
			miss := exchanged[i] - 1/(1+math.Exp(-w.score(examples[i])))
			for d := range gradient {
				gradient[d] += miss * examples[i][d]
			}
		}
		for d := range w {
			w[d] += 0.5 * gradient[d] / float64(max(len(examples), 1))
		}
	}
	return w
}

func (w *features) score(f features) (s float64) {
	for d := range w {
		s += w[d] * f[d]
	}
	return s
}

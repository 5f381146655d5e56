package pack

import (
	"context"
	"maps"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/pipeline"
)

// bench is two files of rules and what each of their networks finds in labelled
// notes, so that any choice of networks is scored without looking again.
type bench struct {
	packs              [2]*rules.Pack // as they were, as they are
	corpus, validation []foundNote    // validation: nil for none
}

// foundNote is a labelled note and what the networks of both files find in it.
type foundNote struct {
	id    string
	gold  []pipeline.Span
	finds [2][]rules.Find
}

// choice says which networks are in use, by name, and of which file.
type choice map[string]int

func newBench(before, after *rules.Pack) *bench { return &bench{packs: [2]*rules.Pack{before, after}} }

// read runs all networks over labelled notes.
func (b *bench) read(ctx context.Context, cfg *option.Config, path string) (notes []foundNote, err error) {
	machines := [2]*rules.Machine{b.packs[0].NewMachine(), b.packs[1].NewMachine()}
	err = eachNote(ctx, cfg, path, func(batch *pipeline.Batch, i int) error {
		n := foundNote{id: string(batch.ID.At(i)), gold: slices.Clone(batch.Gold.At(i))}
		for k, m := range machines {
			n.finds[k] = slices.Clone(m.Finds(batch.Text.At(i), batch.Tokens.At(i)))
		}
		notes = append(notes, n)
		return nil
	})
	return notes, err
}

// score is what a choice of networks comes to. The categories of both files
// count.
func (b *bench) score(notes []foundNote, chosen choice) *networkScores {
	s := &networkScores{total: map[pipeline.Category]*right{}}
	for _, p := range b.packs {
		for _, category := range p.Categories() {
			s.total[category] = &right{}
		}
	}
	names := [2][]string{b.packs[0].Networks(), b.packs[1].Networks()}
	var finds []rules.Find
	for i := range notes {
		n := &notes[i]
		finds = finds[:0]
		for k := range n.finds {
			for _, f := range n.finds[k] {
				if file, ok := chosen[names[k][f.Network]]; ok && file == k {
					finds = append(finds, f)
				}
			}
		}
		s.notes++
		s.found = rules.Disjoint(s.found[:0], finds)
		s.together(n.id, n.gold)
	}
	return s
}

// judge compares the files as wholes, and judges each network that is new, finds
// something else than it did, or is gone.
func (b *bench) judge() (all judgement, each []judgement) {
	was, is := choice{}, choice{}
	for _, name := range b.packs[0].Networks() {
		was[name] = 0
	}
	for _, name := range b.packs[1].Networks() {
		is[name] = 1
	}
	all = b.compare(was, is)
	base := maps.Clone(was)
	try := func(name, how string, next choice) {
		j := b.compare(base, next)
		j.Rule, j.How = name, how
		if how == "gone" && j.Corpus.New >= j.Corpus.Old && (j.Validation == nil || j.Validation.New >= j.Validation.Old) {
			j.Accepted, j.Advice = true, "" // a rule that did no good need not mend errors by going
		}
		if j.Accepted {
			base = next
		}
		each = append(each, j)
	}
	for _, name := range b.packs[1].Networks() {
		how := "new"
		if _, had := was[name]; had {
			how = "changed"
			if b.same(name) {
				continue
			}
		}
		next := maps.Clone(base)
		next[name] = 1
		try(name, how, next)
	}
	for _, name := range b.packs[0].Networks() {
		if _, has := is[name]; !has {
			next := maps.Clone(base)
			delete(next, name)
			try(name, "gone", next)
		}
	}
	return all, each
}

// compare is the judgement on what stands between two choices.
func (b *bench) compare(old, fresh choice) (j judgement) {
	before, after := b.score(b.corpus, old), b.score(b.corpus, fresh)
	first, second := before.all(), after.all()
	j.Corpus = tried(before, after)
	v := onCorpus(&first, &second, j.Corpus.Mended)
	if b.validation != nil {
		before, after = b.score(b.validation, old), b.score(b.validation, fresh)
		first, second = before.all(), after.all()
		t := tried(before, after)
		j.Validation = &t
		if v.accepted {
			v = onValidation(&first, &second)
		}
	}
	j.Accepted, j.Advice = v.accepted, v.advice
	return j
}

// same tells whether a network of both files finds the same in all notes.
func (b *bench) same(name string) bool {
	var at [2]int32
	for k, p := range b.packs {
		at[k] = int32(slices.Index(p.Networks(), name))
	}
	of := func(n *foundNote, k int) (all []rules.Find) {
		for _, f := range n.finds[k] {
			if f.Network == at[k] {
				f.Network = 0
				all = append(all, f)
			}
		}
		return all
	}
	for _, notes := range [][]foundNote{b.corpus, b.validation} {
		for i := range notes {
			if !slices.Equal(of(&notes[i], 0), of(&notes[i], 1)) {
				return false
			}
		}
	}
	return true
}

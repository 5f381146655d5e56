package flow

import (
	"slices"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
)

// Given holds the spans that other programs have found, by note id (option resolve.spans).
type Given struct {
	notes map[string]*givenNote
	met   atomic.Int64
}

type givenNote struct {
	text  uint64 // hash of the text that the spans are of
	spans []pipeline.Span
	met   atomic.Bool
}

func openGiven(c *option.Config) (*Given, error) {
	g := &Given{notes: map[string]*givenNote{}}
	twice := false
	listed := Labelled{Flag: "spans", Paths: []string{c.Resolve.Spans}, Config: c}
	err := listed.notes(func(b *pipeline.Batch, i int) {
		id := string(b.ID.At(i))
		twice = twice || g.notes[id] != nil
		g.notes[id] = &givenNote{text: xxh3.Hash(b.Text.At(i)), spans: slices.Clone(b.Gold.At(i))}
	})
	if err == nil && twice {
		err = exit.Misconfiguredf("give each note once, with all its spans", "resolve.spans: an id comes twice")
	}
	return g, err
}

// given returns the step that looks up the spans found by other programs; none if resolve.spans is empty.
func (p *People) given() []pipeline.Step {
	if p == nil || p.Given == nil {
		return nil
	}
	return []pipeline.Step{{Name: "given", New: func() func(*pipeline.Batch) error { return p.Given.give }}}
}

func (g *Given) give(b *pipeline.Batch) error {
	for i := range b.Len() {
		note := g.notes[string(b.ID.At(i))]
		if note == nil {
			b.Given.End()
			continue
		}
		if note.text != xxh3.Hash(b.Text.At(i)) {
			b.Quarantine(i, pipeline.BadTags)
		}
		b.Given.Append(note.spans...)
		if !note.met.Swap(true) {
			g.met.Add(1)
		}
	}
	return nil
}

// Unmet returns how many notes of the file resolve.spans did not occur in the archive.
func (p *People) Unmet() int {
	if p == nil || p.Given == nil {
		return 0
	}
	return len(p.Given.notes) - int(p.Given.met.Load())
}

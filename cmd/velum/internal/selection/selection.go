// Package selection makes the selection set (notes for training) and the curators' list of an archive from the
// candidates of all its units, and writes files of the selected notes. run and learn both use it, since both select in
// the same way.
package selection

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/choose"
	"github.com/velum-health/velum/stages/read/tagged"
	"github.com/velum-health/velum/stages/write/unit"
)

// Selector makes the selection set and the curators' list out of the candidates of all units, because the wanted
// proportions hold for the whole archive.
//
//	summaries of units ─> choose.Choice       ─> keys
//	candidates parts   ─> notes of those keys ─> selected/, review/
//	selected/, review/ of the last commit  ─^   (before.go: most are the same)
//
// The memory is that of choose.Target.MaxKept and of the notes of a few units.
type Selector struct {
	set      *pipeline.TagSet
	Target   choose.Target
	review   int // notes for a curator
	rowGroup int
	workers  int
}

// NewSelector returns a Selector for the configuration. Shares and lengths that it leaves open are taken from the
// model's training set.
func NewSelector(c *option.Config, set *pipeline.TagSet, training tagger.Training, workers int) (*Selector, error) {
	h := &c.Choose
	s := &Selector{
		set: set, review: h.Review, rowGroup: c.Write.RowGroupRows, workers: workers,
		Target: choose.Target{K: h.K, MinConfidence: h.MinConfidence, Tolerance: shareTolerance},
	}
	if len(s.set.Categories) > choose.MaxClasses {
		return nil, exit.Misconfiguredf("set choose.use to false", "the model has more than %d categories to choose by", choose.MaxClasses)
	}
	if len(h.Classes) == 0 {
		s.Target.Shares = s.proportions(func(c string) float64 { return float64(training.Spans[c]) })
	} else {
		s.Target.Shares = s.proportions(func(c string) float64 { return h.Classes[c] })
		for _, name := range slices.Sorted(maps.Keys(h.Classes)) {
			c, err := pipeline.ParseCategory(name)
			if err != nil || !slices.Contains(s.set.Categories, c) {
				return nil, exit.Misconfiguredf("name categories of the model", "choose.classes: the model has no category %s", name)
			}
		}
	}
	if len(training.Spans) > 0 {
		for _, c := range s.set.Categories {
			name := c.String()
			s.Target.Lengths = append(s.Target.Lengths, float64(training.SpanTokens[name])/float64(max(training.Spans[name], 1)))
		}
	}
	return s, nil
}

// shareTolerance is how far a share may be from the target: two points.
const shareTolerance = 0.02

// proportions returns the shares of weights by category, in the order of the
// tag set; nil if there is no weight.
func (s *Selector) proportions(weight func(string) float64) []float64 {
	shares, sum := make([]float64, len(s.set.Categories)), 0.0
	for k, c := range s.set.Categories {
		shares[k] = weight(c.String())
		sum += shares[k]
	}
	if sum == 0 {
		return nil
	}
	for k := range shares {
		shares[k] /= sum
	}
	return shares
}

// Proportions counts the spans of the records and their tokens by category, and returns the share of notes without
// spans.
func Proportions(records []choose.Record, set *pipeline.TagSet) (t tagger.Training, without float64) {
	t = tagger.Training{Spans: map[string]int{}, SpanTokens: map[string]int{}}
	empty := 0
	for i := range records {
		r, spans := &records[i], 0
		for k, c := range set.Categories {
			if n := int(r.Spans[k]); n > 0 {
				spans += n
				t.Spans[c.String()] += n
				t.SpanTokens[c.String()] += int(r.Lengths[k])
			}
		}
		if spans == 0 {
			empty++
		}
	}
	return t, float64(empty) / float64(max(len(records), 1))
}

// Shortlist returns an empty shortlist for the candidates of one unit.
func Shortlist(c *option.Config) *choose.Shortlist {
	h := &c.Choose
	return choose.NewShortlist(choose.Target{K: h.K, MinConfidence: h.MinConfidence}, h.Review)
}

// Choose starts the choice among the shortlists of the units.
func (s *Selector) Choose() (*choose.Choice, error) { return choose.NewChoice(s.Target, s.review) }

// Finish completes the choice and writes the selected notes and the curators' list. A part without notes is not
// written.
func (s *Selector) Finish(ctx context.Context, f *commit.Final, among *choose.Choice) (*report.Selection, error) {
	parts := candidateParts(f)
	result, review := among.Result()
	if err := s.write(ctx, f, parts, "selected", result.Keys); err != nil {
		return nil, fmt.Errorf("selected: %w", err)
	}
	if err := s.write(ctx, f, parts, "review", review); err != nil {
		return nil, fmt.Errorf("review: %w", err)
	}
	return s.Report(&result, len(review)), nil
}

// candidatePart is the candidates of a unit.
type candidatePart struct {
	unit   uint32
	mark   string // of the unit
	record commit.PartRecord
}

func candidateParts(f *commit.Final) (parts []candidatePart) {
	for i, u := range f.Manifest.Units {
		for _, p := range u.Parts {
			if p.Kind == "candidates" {
				parts = append(parts, candidatePart{uint32(i), u.Mark, p})
			}
		}
	}
	return parts
}

// NoteRow returns the input row of note i in a batch of tagged notes.
func NoteRow(b *pipeline.Batch, i int) int64 { return int64(b.Extra[0].Fixed[i]) }

// each reads the part batch by batch.
func (p *candidatePart) each(f *commit.Final, o tagged.Options, b *pipeline.Batch, do func(*pipeline.Batch) error) error {
	file, err := f.Open(p.record)
	if err != nil {
		return err
	}
	r, err := tagged.New(file, p.record.Bytes, p.record.Path, o)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	for err == nil {
		b.Reset()
		if err = r.Next(b); err == nil {
			err = do(b)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, r.Close(), file.Close())
}

// write makes the part of a kind out of the notes of some keys, which are
// sorted.
func (s *Selector) write(ctx context.Context, f *commit.Final, parts []candidatePart, kind string, keys []choose.Key) error {
	if len(keys) == 0 {
		return nil
	}
	before, err := chosenBefore(f, kind)
	if err != nil {
		return err
	}
	picks := picksOf(parts, keys, before)
	places, err := placesOf(picks)
	if err != nil {
		return err
	}
	file, err := f.Create(kind, kind+"/"+finalName(f.Manifest)+".parquet", true)
	if err != nil {
		return err
	}
	w := unit.NewChosen(file, s.set, s.rowGroup, placesKey, places)
	err = pipeline.Each(ctx, len(picks), s.workers, func() func(int) (*pipeline.Batch, error) {
		var notes, fresh pipeline.Batch
		return func(k int) (*pipeline.Batch, error) {
			b := new(pipeline.Batch)
			return b, picks[k].pick(f, &notes, &fresh, b)
		}
	}, func(_ int, b *pipeline.Batch) error { return w.Put(b) })
	if err != nil {
		return err
	}
	file.Rows, file.Digest, err = w.Close()
	if err == nil && file.Rows != int64(len(keys)) {
		err = &durable.IntegrityError{Cause: fmt.Sprintf("%d notes were chosen and %d found", len(keys), file.Rows)}
	}
	return err
}

// picks is the notes that are taken from a part, by their places in it, rising.
type picks struct {
	candidatePart
	notes []choose.Key
	had   map[int64]int   // of places in the part, the numbers of the notes in before
	from  *pipeline.Batch // before
}

func picksOf(parts []candidatePart, keys []choose.Key, before *before) (all []picks) {
	for _, part := range parts {
		n := 0
		for n < len(keys) && keys[n].Unit == part.unit {
			n++
		}
		if n > 0 {
			all = append(all, picks{part, keys[:n], before.places[part.record.Path], &before.notes})
		}
		keys = keys[n:]
	}
	return all
}

// pick copies the notes into b. Those that were not chosen before are read into fresh.
func (p *picks) pick(f *commit.Final, notes, fresh, b *pipeline.Batch) error {
	var left []int64
	for _, k := range p.notes {
		if _, had := p.had[k.Row]; !had {
			left = append(left, k.Row)
		}
	}
	fresh.Reset()
	if len(left) > 0 {
		wanted := func(note int64) bool {
			if len(left) == 0 || note != left[0] {
				return false
			}
			left = left[1:]
			return true
		}
		err := p.each(f, tagged.Options{Wanted: wanted}, notes, func(notes *pipeline.Batch) error {
			for i := range notes.Len() {
				fresh.AppendTagged(notes, i)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	b.Extra = []pipeline.Column{{Name: pipeline.RowColumn, Kind: pipeline.Int64Column}, {Name: pipeline.PartColumn, Kind: pipeline.BytesColumn}}
	mark, read := b.ExtraNamed(pipeline.PartColumn), 0
	for _, k := range p.notes {
		if at, had := p.had[k.Row]; had {
			b.AppendTagged(p.from, at)
		} else if read < fresh.Len() {
			b.AppendTagged(fresh, read)
			read++
		}
		mark.Valid = append(mark.Valid, true)
		mark.Bytes.Append([]byte(p.mark))
	}
	return nil
}

// finalName names a part of the last step by its inputs, so that it never overwrites a part that a manifest still
// lists.
func finalName(m *commit.Manifest) string {
	h := sha256.New()
	fmt.Fprintf(h, "velum last step 1\n%s %s %q %q\n", m.Config, m.Model, m.Key, m.LastStep)
	for _, u := range m.Units {
		fmt.Fprintln(h, u.Name)
		if u.Unread {
			fmt.Fprintln(h, "unread")
		}
	}
	return fmt.Sprintf("part-%x", h.Sum(nil)[:10])
}

// Report returns the result of the choice for the report of the run.
func (s *Selector) Report(r *choose.Result, review int) *report.Selection {
	rep := &report.Selection{
		MinConfidence: s.Target.MinConfidence, Wanted: s.Target.K, Notes: len(r.Keys), Candidates: r.Candidates,
		Lowest: r.Lowest.Float(), Met: r.Met, Tolerance: s.Target.Tolerance,
		WithoutSpans: report.WantedGot{Wanted: &s.Target.WithoutSpans, Got: report.Rounded(r.WithoutSpans)},
		ReviewBelow:  choose.ReviewBelow, ReviewWanted: s.review, ReviewNotes: review, Classes: []report.SelectionClass{},
	}
	if len(r.Keys) == 0 {
		rep.Lowest = 0
	}
	if r.Short >= 0 {
		rep.Short = s.set.Categories[r.Short].String()
	}
	for k := range r.Shares {
		c := report.SelectionClass{Category: s.set.Categories[k].String(), Share: report.WantedGot{Wanted: wanted(s.Target.Shares, k), Got: report.Rounded(r.Shares[k])}}
		if s.Target.Floors != nil {
			least := s.Target.Floors.Class[k].Float()
			c.MinConfidence = &least
		}
		if len(s.Target.Lengths) > 0 {
			c.Length = &report.WantedGot{Wanted: wanted(s.Target.Lengths, k), Got: report.Rounded(r.Lengths[k])}
		}
		rep.Classes = append(rep.Classes, c)
	}
	return rep
}

func wanted(target []float64, k int) *float64 {
	if k >= len(target) {
		return nil
	}
	v := report.Rounded(target[k])
	return &v
}

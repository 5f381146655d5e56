package train

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
)

// offersHeld is the share of the labelled notes that clusterings are compared
// on, as in learn.holdout.
const offersHeld = 0.2

// Choose compares the clusterings on a part of the labelled notes, drawn by
// the hash of their ids under the seed, and leaves only the best one: ∀wc of
// BOOT §3.4. Each, and none, is trained on what teach makes of the other
// notes, with the rest of the template as it is, and scored by strict F1. Of
// equals the first stays: none, then the one with the fewest clusters. Trials
// begin cold: a model to begin with may have learned from the held-out notes,
// and leans towards the clusters that it had.
func (t *Training) Choose(ctx context.Context, gold flow.Labelled, seed int, teach func(*Training, *flow.Labelled) error) error {
	ids, err := gold.IDs()
	if err != nil {
		return err
	}
	ids = flow.ByHash(ids, seed)
	if len(ids) < 2 {
		return exit.Errorf(exit.Config, "give more, or one clustering", "too few labelled notes to compare clusterings on")
	}
	n := max(1, int(offersHeld*float64(len(ids))+0.5))
	held, rest := gold, gold
	held.Keep, rest.Keep = flow.SetOf(ids[:n]), flow.SetOf(ids[n:])

	best := 0
	texts := t.Options.Lookups.offered()
	t.Offers = make([]tagger.Offer, len(texts))
	for i, text := range texts {
		options := *t.Options
		options.Lookups, options.Stop = t.Options.Lookups.take(text), false
		trial := New(t.Console, t.cfg, &options)
		trial.cold = true
		f1, err := trial.try(ctx, &held, &rest, teach)
		if err != nil {
			return err
		}
		t.Offers[i] = tagger.Offer{Clusters: shown(text), StrictF1: report.Rounded(f1)}
		if t.Offers[i].StrictF1 > t.Offers[best].StrictF1 {
			best = i
		}
	}
	t.Offers[best].Taken = true
	options := *t.Options
	options.Lookups = t.Options.Lookups.take(texts[best])
	t.Options = &options
	return t.Prepare()
}

// try trains on the notes of rest and returns the strict F1 on those of held.
func (t *Training) try(ctx context.Context, held, rest *flow.Labelled, teach func(*Training, *flow.Labelled) error) (float64, error) {
	if err := t.Prepare(); err != nil {
		return 0, err
	}
	if err := teach(t, rest); err != nil {
		return 0, err
	}
	m, err := t.Fit(ctx)
	if err != nil {
		return 0, err
	}
	return t.strictF1(ctx, m.Model, held)
}

// offered are the clusterings, the simplest first: none is "".
func (l *Lookups) offered() []string {
	texts := append([]string{""}, l.Clusters...)
	slices.SortStableFunc(texts, func(a, b string) int {
		_, _, k := flow.CutClusters(a)
		_, _, l := flow.CutClusters(b)
		return cmp.Compare(k, l)
	})
	return texts
}

// take leaves one clustering, none for "", and has the groups of the others
// taken out of the template.
func (l *Lookups) take(text string) Lookups {
	one := Lookups{Morph: l.Morph}
	if text != "" {
		one.Clusters = []string{text}
	}
	for _, other := range l.Clusters {
		if g := clusterGroup(other); g != clusterGroup(text) {
			one.Without = append(one.Without, g)
		}
	}
	return one
}

// narrow takes the groups out of a template that a choice left out.
func (l *Lookups) narrow(t *features.Template) (*features.Template, error) {
	if len(l.Without) == 0 {
		return t, nil
	}
	n := *t
	n.Groups = slices.DeleteFunc(slices.Clone(t.Groups), func(g features.Group) bool { return slices.Contains(l.Without, g.Name) })
	return features.Parse(n.String()) // the window may be smaller
}

// shown is how an offer stands in a model: without the folder of its file.
func shown(text string) string {
	name, file, ok := strings.Cut(text, "=")
	if !ok {
		return "none"
	}
	return name + "=" + filepath.Base(file)
}

func printOffers(w io.Writer, offers []tagger.Offer) error {
	for _, o := range offers {
		taken := ""
		if o.Taken {
			taken = "  taken"
		}
		if _, err := fmt.Fprintf(w, "  clusters %-26s strict F1 %.4f on held-out notes%s\n", o.Clusters, o.StrictF1, taken); err != nil {
			return err
		}
	}
	return nil
}

// Groups are the names of the groups of the template that a training with these options
// goes by, in their order; none for a kind without a template.
func Groups(cfg *option.Config, o *Options) (names []string, err error) {
	t := New(nil, cfg, o)
	var ok bool
	if t.kind, ok = flow.KindNamed(o.Kind); !ok || !t.kind.Template {
		return nil, nil
	}
	text, err := t.templateText()
	if err != nil {
		return nil, exit.With(exit.Config, err, "")
	}
	parsed, err := features.Parse(text)
	if err != nil {
		return nil, exit.With(exit.Config, fmt.Errorf("template: %w", err), "")
	}
	for _, g := range parsed.Groups {
		names = append(names, g.Name)
	}
	return names, nil
}

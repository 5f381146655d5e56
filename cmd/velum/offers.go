package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/crf"
	"github.com/velum-health/velum/models/features"
)

// offersHeld is the share of the labelled notes that clusterings are compared
// on, as in learn.holdout.
const offersHeld = 0.2

// choose compares the clusterings on a part of the labelled notes, drawn by
// the hash of their ids under the seed, and leaves only the best one: ∀wc of
// METHODS §3. Each, and none, is trained on what teach makes of the other
// notes, with the rest of the template as it is, and scored by strict F1. Of
// equals the first stays: none, then the one with the fewest clusters. Trials
// begin cold: a model to begin with may have learned from the held-out notes,
// and leans towards the clusters that it had.
func (t *training) choose(ctx context.Context, gold labelled, seed int, teach func(*training, *labelled) error) error {
	ids, err := gold.ids()
	if err != nil {
		return err
	}
	ids = byHash(ids, seed)
	if len(ids) < 2 {
		return exitf(exitConfig, "give more, or one clustering", "too few labelled notes to compare clusterings on")
	}
	n := max(1, int(offersHeld*float64(len(ids))+0.5))
	held, rest := gold, gold
	held.keep, rest.keep = setOf(ids[:n]), setOf(ids[n:])

	best := 0
	texts := t.flags.lookups.offered()
	t.offers = make([]crf.Offer, len(texts))
	for i, text := range texts {
		flags := *t.flags
		flags.lookups, flags.stop = t.flags.lookups.take(text), false
		trial := &training{app: t.app, cfg: t.cfg, flags: &flags, cold: true}
		f1, err := trial.try(ctx, &held, &rest, teach)
		if err != nil {
			return err
		}
		t.offers[i] = crf.Offer{Clusters: shown(text), StrictF1: rounded(f1)}
		if t.offers[i].StrictF1 > t.offers[best].StrictF1 {
			best = i
		}
	}
	t.offers[best].Taken = true
	flags := *t.flags
	flags.lookups = t.flags.lookups.take(texts[best])
	t.flags = &flags
	return t.prepare()
}

// try trains on the notes of rest and returns the strict F1 on those of held.
func (t *training) try(ctx context.Context, held, rest *labelled, teach func(*training, *labelled) error) (float64, error) {
	if err := t.prepare(); err != nil {
		return 0, err
	}
	if err := teach(t, rest); err != nil {
		return 0, err
	}
	m, err := t.fit(ctx)
	if err != nil {
		return 0, err
	}
	return t.strictF1(ctx, m.crf, held)
}

// offered are the clusterings, the simplest first: none is "".
func (l *lookupFlags) offered() []string {
	texts := append([]string{""}, l.clusters...)
	slices.SortStableFunc(texts, func(a, b string) int {
		_, _, k := cutClusters(a)
		_, _, l := cutClusters(b)
		return cmp.Compare(k, l)
	})
	return texts
}

// take leaves one clustering, none for "", and has the groups of the others
// taken out of the template.
func (l *lookupFlags) take(text string) lookupFlags {
	one := lookupFlags{morph: l.morph}
	if text != "" {
		one.clusters = []string{text}
	}
	for _, other := range l.clusters {
		if g := clusterGroup(other); g != clusterGroup(text) {
			one.without = append(one.without, g)
		}
	}
	return one
}

// narrow takes the groups out of a template that a choice left out.
func (l *lookupFlags) narrow(t *features.Template) (*features.Template, error) {
	if len(l.without) == 0 {
		return t, nil
	}
	n := *t
	n.Groups = slices.DeleteFunc(slices.Clone(t.Groups), func(g features.Group) bool { return slices.Contains(l.without, g.Name) })
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

func printOffers(w io.Writer, offers []crf.Offer) error {
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

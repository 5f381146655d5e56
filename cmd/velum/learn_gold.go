package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/crf"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/teach"
)

// labelled is labelled notes: files of any format, and which of their notes.
type labelled struct {
	paths  []string
	keep   map[string]bool // by id; nil keeps all
	digest string          // of ids, texts and spans
}

// each calls do for every file.
func (n *labelled) each(do func(pipeline.Source) error) error {
	for _, path := range n.paths {
		text, err := openNotes("from", "", path, read.TextOptions{})
		if err != nil {
			return err
		}
		var src pipeline.Source = text
		if n.keep != nil {
			src = read.NewKeep(text, func(id []byte) bool { return n.keep[string(id)] })
		}
		if err := errors.Join(inputError(do(src)), text.Close()); err != nil {
			return err
		}
	}
	return nil
}

// ids returns the ids of the notes and sets the digest.
func (n *labelled) ids() (ids []string, err error) {
	h := sha256.New()
	err = n.each(func(src pipeline.Source) error {
		b := new(pipeline.Batch)
		for {
			b.Reset()
			if err := src.Next(b); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			for i := range b.Len() {
				ids = append(ids, string(b.ID.At(i)))
				fmt.Fprintf(h, "%q %x", b.ID.At(i), sha256.Sum256(b.Text.At(i)))
				for _, s := range b.Gold.At(i) {
					fmt.Fprintf(h, " %d-%d %v", s.Start, s.End, s.Category)
				}
			}
		}
	})
	n.digest = hex.EncodeToString(h.Sum(nil)[:10])
	return ids, err
}

// splitGold finds out which labelled notes are for what. Held-out notes and
// the notes of a learning curve are drawn by the hash of their id under the
// seed: the first ones are held out, the next ones are learned from, so that
// more notes are always the same ones and others.
func (l *learning) splitGold() error {
	g := &l.Learn
	l.gold, l.dev = labelled{paths: g.Gold}, labelled{paths: g.Dev}
	l.gate, l.oracle = labelled{paths: g.Gate}, labelled{paths: g.Oracle}
	l.known = map[string]bool{}
	drawn := []string(nil)
	for _, set := range []*labelled{&l.gold, &l.dev, &l.gate, &l.oracle} {
		ids, err := set.ids()
		if err != nil {
			return err
		}
		if set == &l.oracle {
			break // its notes are in the archive to be asked about
		}
		for _, id := range ids {
			l.known[id] = true
		}
		if set == &l.gold {
			drawn = ids
		}
	}
	l.draw(drawn)
	if len(g.Gate) == 0 {
		l.gate = l.dev
	}
	return nil
}

// draw splits the ids of the labelled notes.
func (l *learning) draw(ids []string) {
	g := &l.Learn
	if len(g.Dev) > 0 && g.Labelled == 0 {
		return
	}
	ids = byHash(ids, g.Seed)
	if len(g.Dev) == 0 {
		held := max(1, int(g.Holdout*float64(len(ids))+0.5))
		l.dev = labelled{paths: g.Gold, keep: setOf(ids[:min(held, len(ids))])}
		ids = ids[min(held, len(ids)):]
	}
	if g.Labelled > 0 {
		ids = ids[:min(g.Labelled, len(ids))]
	}
	l.gold.keep = setOf(ids)
}

// byHash sorts ids by their hash under a seed, each once.
func byHash(ids []string, seed int) []string {
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(xxh3.HashStringSeed(a, uint64(seed)), xxh3.HashStringSeed(b, uint64(seed))), cmp.Compare(a, b))
	})
	return slices.Compact(ids)
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// count counts the spans of the validation notes: what is chosen keeps their
// proportions (BOOT §3.2.1).
func (l *learning) count(ctx context.Context) error {
	c := spanCount{set: l.tagSet, Training: crf.Training{Spans: map[string]int{}, SpanTokens: map[string]int{}}}
	s := teach.New(teach.Options{TagSet: l.tagSet, Corpus: &c, Map: l.toSet})
	err := l.dev.each(func(src pipeline.Source) error { return pipeline.Run(ctx, src, teachPlan(l.Config), s, nil) })
	l.target = c.Training
	if err == nil && s.Spans == 0 {
		err = exitf(exitConfig, "look at --dev and --labels", "the validation notes have no spans")
	}
	return err
}

// spanCount is a teach.Corpus that counts.
type spanCount struct {
	set *pipeline.TagSet
	crf.Training
}

func (c *spanCount) Add(_ []byte, _ []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag, _ float64) error {
	for _, t := range tags {
		if t == pipeline.O {
			continue
		}
		name := c.set.Category(t).String()
		c.SpanTokens[name]++
		if c.set.Starts(t) {
			c.Spans[name]++
		}
	}
	return nil
}

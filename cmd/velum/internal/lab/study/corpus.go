package study

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
)

// set names the argument by which a note was given.
type set uint8

const (
	goldSet set = iota // --gold
	withSet            // --with
	devSet             // --dev: scored on and never learned from
)

// note is a labelled note as a study knows it: no text.
type note struct {
	id, group string
	drawn     string // what intervals and tests draw: the group, but of a source the note
	set       set
	spans     int
	digest    [sha256.Size]byte // of id, text and spans
}

// corpus is all labelled notes of a study, in the order in which they are read.
type corpus struct {
	cfg   *option.Config
	paths [3][]string // by set
	notes []note
	index map[string]int // by id

	bySource bool
}

// documentOf takes the last number off an id: ward-12-3 and S0004-1 are of ward-12 and
// S0004.
const documentOf = `^(.*?)[^0-9A-Za-z]?[0-9]*$`

// grouping returns what tells the group of a note by its id and file: notes of one
// group are never on both sides of a fold.
func (o *Options) grouping() (func(id, path string) string, error) {
	text := o.Group
	switch {
	case o.By == "note" && text == "":
		return func(id, _ string) string { return id }, nil
	case o.By == "source" && text == "":
		return func(_, path string) string { return filepath.Base(filepath.Clean(path)) }, nil
	case o.By == "document" && text == "":
		text = documentOf
	case o.By == "patient" && text == "":
		return nil, exit.Misconfiguredf(`name the patient's part of an id, as in --group '^([^|]+)\|'`,
			"--by patient: labelled notes have ids alone")
	case o.By == "note":
		return nil, exit.Misconfiguredf("say --by document, patient or source", "--group: with --by note every note is a group")
	case !slices.Contains(Groupings, o.By):
		return nil, exit.Misconfiguredf(exit.Suggest(o.By, Groupings), "--by: unknown grouping %q", o.By)
	}
	by, err := regexp.Compile(text)
	if err != nil || by.NumSubexp() == 0 {
		return nil, exit.Misconfiguredf("write an expression of RE2 with a group, as '^([a-z]+)-'",
			"--group is no regular expression with a group")
	}
	return func(id, _ string) string {
		if found := by.FindStringSubmatch(id); found != nil {
			return cmp.Or(strings.Join(found[1:], "\x00"), id)
		}
		return id
	}, nil
}

// Groupings lists the values of --by: what keeps notes together in one fold.
var Groupings = []string{"note", "document", "patient", "source"}

// readCorpus reads which notes there are.
func readCorpus(ctx context.Context, cfg *option.Config, o *Options) (*corpus, error) {
	groupOf, err := o.grouping()
	if err != nil {
		return nil, err
	}
	c := &corpus{cfg: cfg, paths: [3][]string{o.Gold, o.With, o.Dev}, index: map[string]int{}, bySource: o.By == "source"}
	for s, paths := range c.paths {
		for _, path := range paths {
			gold := flow.Labelled{Paths: []string{path}, Config: cfg}
			if err := gold.Each(func(src pipeline.Source) error { return c.read(ctx, src, set(s), path, groupOf) }); err != nil {
				return nil, err
			}
		}
		if len(paths) > 0 && len(c.of(set(s))) == 0 {
			return nil, exit.Errorf(exit.Nothing, "look at the paths", "%s: no notes", strings.Join(paths, ", "))
		}
	}
	learned := map[string]bool{}
	for i := range c.notes {
		learned[c.notes[i].group] = learned[c.notes[i].group] || c.notes[i].set != devSet
	}
	for i := range c.notes {
		if n := &c.notes[i]; n.set == devSet && learned[n.group] && o.By != "source" {
			return nil, exit.Misconfiguredf("take it out of one of them, leave --dev out for folds, or say --by note",
				"--dev: %s %q has notes in --gold or --with too", o.By, n.group)
		}
	}
	return c, nil
}

func (c *corpus) read(ctx context.Context, src pipeline.Source, s set, path string, groupOf func(id, path string) string) error {
	return pipeline.Run(ctx, src, nil, pipeline.SinkFunc(func(b *pipeline.Batch) error {
		for i := range b.Sound() {
			id := string(b.ID.At(i))
			if _, again := c.index[id]; again {
				return exit.Misconfiguredf("give each note an id of its own, or name each file once", "%s: id %q comes twice", path, id)
			}
			h := sha256.New()
			flow.Digest(h, b, i)
			c.index[id] = len(c.notes)
			n := note{id: id, group: groupOf(id, path), set: s, spans: len(b.Gold.At(i)), digest: [sha256.Size]byte(h.Sum(nil))}
			if n.drawn = n.group; c.bySource {
				n.drawn = id
			}
			c.notes = append(c.notes, n)
		}
		return nil
	}), nil)
}

// of returns the notes of a set.
func (c *corpus) of(s set) (all []int) {
	for i := range c.notes {
		if c.notes[i].set == s {
			all = append(all, i)
		}
	}
	return all
}

// groups returns the groups of some notes by their hash under a seed, with their
// notes in order.
func (c *corpus) groups(notes []int, seed int) (all [][]int) {
	of := map[string][]int{}
	var names []string
	for _, i := range notes {
		g := c.notes[i].group
		names = append(names, g)
		of[g] = append(of[g], i)
	}
	for _, g := range flow.ByHash(names, seed) {
		all = append(all, of[g])
	}
	return all
}

// folds deals notes out to k folds, groups whole; each fold is sorted as the notes are.
func (c *corpus) folds(notes []int, k, seed int) [][]int {
	var groups []string
	for _, i := range notes {
		groups = append(groups, c.notes[i].group)
	}
	of, folds := flow.Folds(groups, k, seed), make([][]int, k)
	for j, i := range notes {
		folds[of[groups[j]]] = append(folds[of[groups[j]]], i)
	}
	return folds
}

// without returns the notes that are not in some others; both are sorted.
func without(notes, others []int) (rest []int) {
	for _, i := range notes {
		if _, there := slices.BinarySearch(others, i); !there {
			rest = append(rest, i)
		}
	}
	return rest
}

// first returns whole groups in their order until at least n notes are there, sorted.
func first(groups [][]int, n int) (notes []int) {
	for _, g := range groups {
		if len(notes) >= n {
			break
		}
		notes = append(notes, g...)
	}
	slices.Sort(notes)
	return notes
}

// labelled is some notes of the corpus, to be read again.
func (c *corpus) labelled(notes []int) *flow.Labelled {
	l := &flow.Labelled{Config: c.cfg, Keep: make(map[string]bool, len(notes))}
	var sets [3]bool
	for _, i := range notes {
		l.Keep[c.notes[i].id] = true
		sets[c.notes[i].set] = true
	}
	for s, paths := range c.paths {
		if sets[s] {
			l.Paths = append(l.Paths, paths...)
		}
	}
	return l
}

// digest is that of all notes.
func (c *corpus) digest() string {
	h := sha256.New()
	for i := range c.notes {
		h.Write(c.notes[i].digest[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:10])
}

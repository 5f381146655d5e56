package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// lab is where experiments are done.
type lab struct {
	velum, data, out, template string
	more                       []string
	draws, seed, clinical      int
	tables                     bool

	train []note // MEDDOCAN train
	pool  []note // documents of other sources
	short []note // the lines of train
}

// note is a line of JSONL; offsets of spans count code points.
type note struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Spans []span `json:"spans,omitempty"`
}

type span struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Label string `json:"label"`
}

// part says which part of a labelled document is used.
type part string

const (
	all        part = "all"
	headers    part = "headers"
	bodies     part = "bodies"
	shortNotes part = "lines"
)

func (l *lab) file(name string) string { return filepath.Join(l.out, name) }

// context is the template of the second model: forms in a wide window and
// shapes, without affixes and lists.
func (l *lab) context() string { return filepath.Join("scripts", "experiments", "context.txt") }

// open reads the corpora. The pool is without the bodies of dev documents.
func (l *lab) open() (err error) {
	if err := os.MkdirAll(l.out, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(l.file("train.jsonl")); err != nil {
		if err := l.do("convert", "--quiet", "--in", filepath.Join(l.data, "meddocan", "train"), "--from", "brat", "--out", l.file("train.jsonl")); err != nil {
			return err
		}
	}
	if l.train, err = notes(l.file("train.jsonl")); err != nil {
		return err
	}
	for _, n := range l.train {
		l.short = append(l.short, lines(n)...)
	}
	if err := write(l.file("short.jsonl"), l.short); err != nil {
		return err
	}
	headed, err := notes(filepath.Join(l.data, "unlabelled-es-phi", "meddocan-background-clean.jsonl.gz"))
	if err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(l.data, "unlabelled-es-clinical", "*.jsonl.gz"))
	if err != nil {
		return err
	}
	var clinical []note
	for _, path := range paths {
		more, err := notes(path)
		if err != nil {
			return err
		}
		clinical = append(clinical, more...)
	}
	shuffle(clinical, 1)
	l.pool = append(headed, clinical[:min(l.clinical, len(clinical))]...)
	for i := range l.pool {
		l.pool[i].ID = fmt.Sprintf("pool-%d", i)
	}
	return nil
}

// notes reads a file of JSON lines, without the bodies of dev documents.
func notes(path string) (all []note, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = bufio.NewReader(f)
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, err
		}
	}
	for d := json.NewDecoder(r); ; {
		var n struct {
			note
			Meddocan string `json:"meddocan"`
		}
		if err := d.Decode(&n); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: line %d is no note", path, len(all)+1)
		}
		if !strings.HasPrefix(n.Meddocan, "dev:") {
			all = append(all, n.note)
		}
	}
}

func write(path string, all []note) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range all {
		if err := e.Encode(&all[i]); err != nil {
			return err
		}
	}
	if err := os.WriteFile(path+".new", b.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func shuffle(all []note, seed int) {
	r := rand.New(rand.NewPCG(uint64(seed), 2026))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}

// lines cuts a document into its lines, each a note.
func lines(n note) (all []note) {
	at := 0
	for k, text := range strings.Split(n.Text, "\n") {
		size := len([]rune(text))
		one := note{ID: fmt.Sprintf("%s:%d", n.ID, k), Text: text}
		for _, s := range n.Spans {
			if s.Start >= at && s.End <= at+size {
				one.Spans = append(one.Spans, span{s.Start - at, s.End - at, s.Label})
			}
		}
		if strings.TrimSpace(text) != "" {
			all = append(all, one)
		}
		at += size + 1
	}
	return all
}

// lastField is the last line of the header of every document of MEDDOCAN: the
// physician's.
var lastField = regexp.MustCompile(`(?m)^\s*M[eé]dico.*\n`)

// only keeps the header of a document, or what is below it.
func only(n note, kind part) note {
	cut := 0
	if at := lastField.FindStringIndex(n.Text); at != nil {
		cut = at[1]
	}
	runes := len([]rune(n.Text[:cut]))
	one := note{ID: n.ID, Text: n.Text[:cut]}
	shift := 0
	if kind == bodies {
		one.Text, shift = n.Text[cut:], runes
	}
	for _, s := range n.Spans {
		if s.Start >= runes == (kind == bodies) {
			one.Spans = append(one.Spans, span{s.Start - shift, s.End - shift, s.Label})
		}
	}
	return one
}

// corpus is a draw: labelled documents, a slice of validation documents and
// the rest as pool.
type corpus struct {
	name                 string
	draw                 int
	gold, dev, archive   []note
	goldAt, devAt, where string
}

// held is the number of documents of train in the validation slice.
const held = 50

// draw draws n labelled documents with seed l.seed+d. More documents of one
// seed are always the same ones and others.
func (l *lab) draw(d, n int, kind part) *corpus {
	train := slices.Clone(l.train)
	shuffle(train, l.seed+d)
	c := &corpus{name: fmt.Sprintf("%s-%d-seed%d", kind, n, l.seed+d), draw: l.seed + d, dev: train[:held], gold: train[held:][:n]}
	rest := train[held+n:]
	switch kind {
	case headers, bodies:
		c.gold = slices.Clone(c.gold)
		for i := range c.gold {
			c.gold[i] = only(c.gold[i], kind)
		}
	case shortNotes:
		for _, n := range rest {
			c.archive = append(c.archive, lines(n)...)
		}
		shuffle(c.archive, d)
	}
	if kind != shortNotes {
		c.archive = append(slices.Clone(rest), l.pool...)
	}
	c.archive = slices.Clone(c.archive)
	for i := range c.archive {
		c.archive[i].Spans = nil
	}
	return c
}

// save writes the files of a draw.
func (l *lab) save(c *corpus) error {
	c.where = l.file(c.name)
	c.goldAt, c.devAt = filepath.Join(c.where, "gold.jsonl"), filepath.Join(c.where, "validation.jsonl")
	archive := filepath.Join(c.where, "archive")
	if _, err := os.Stat(archive); err == nil {
		return nil
	}
	if err := os.MkdirAll(c.where, 0o700); err != nil {
		return err
	}
	text := filepath.Join(c.where, "pool.jsonl")
	if err := errors.Join(write(c.goldAt, c.gold), write(c.devAt, c.dev), write(text, c.archive), os.MkdirAll(archive+".new", 0o700)); err != nil {
		return err
	}
	if err := l.do("convert", "--quiet", "--in", text, "--out", filepath.Join(archive+".new", "pool.parquet"), "--to", "parquet"); err != nil {
		return err
	}
	return os.Rename(archive+".new", archive)
}

// do calls velum.
func (l *lab) do(args ...string) error {
	_, err := l.output(args...)
	return err
}

// output calls velum and returns what it says.
func (l *lab) output(args ...string) ([]byte, error) {
	c := exec.Command(l.velum, args...)
	var out, trouble bytes.Buffer
	c.Stdout, c.Stderr = &out, &trouble
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("velum %s: %w\n%s", args[0], err, trouble.Bytes())
	}
	return out.Bytes(), nil
}

// measured is strict F1 on MEDDOCAN dev by turn, and which turn the validation
// slice chose.
type measured struct {
	Run    string    `json:"run"`
	Best   int       `json:"best"`
	Strict []figures `json:"strict"`
}

type figures struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// learn runs `velum learn` on a draw and scores every turn on MEDDOCAN dev. It
// returns nil for a run that is not to be done.
func (l *lab) learn(c *corpus, set []string) (*measured, error) {
	name := fmt.Sprintf("%s-%x", c.name, sha256.Sum256([]byte(strings.Join(set, "\n"))))[:len(c.name)+11]
	known := filepath.Join(l.out, name+".json")
	m := new(measured)
	if data, err := os.ReadFile(known); err == nil {
		return m, json.Unmarshal(data, m)
	}
	if l.tables {
		return nil, nil
	}
	if err := l.save(c); err != nil {
		return nil, err
	}
	out := l.file(name)
	args := []string{"learn", "--quiet", "--json", "--in", filepath.Join(c.where, "archive"), "--gold", c.goldAt, "--dev", c.devAt, "--out", out,
		"--labels", "meddocan", "--seed", fmt.Sprint(c.draw), "--set", "profile=meddocan"}
	for _, s := range set {
		args = append(args, "--set", s)
	}
	data, err := l.output(args...)
	if err != nil {
		return nil, err
	}
	var summary struct {
		Best int `json:"best_turn"`
	}
	if err := json.Unmarshal(data, &summary); err != nil {
		return nil, err
	}
	*m = measured{Run: name + " " + strings.Join(set, " "), Best: summary.Best}
	turns, err := filepath.Glob(filepath.Join(out, "turn-*", "model.velum"))
	if err != nil {
		return nil, err
	}
	for _, model := range turns {
		f, err := l.score(model)
		if err != nil {
			return nil, err
		}
		m.Strict = append(m.Strict, f)
	}
	if data, err = json.Marshal(m); err != nil {
		return nil, err
	}
	return m, os.WriteFile(known, append(data, '\n'), 0o600)
}

// score measures a model on MEDDOCAN dev, with the rules, as `velum run` tags.
func (l *lab) score(model string) (f figures, err error) {
	data, err := l.output("evaluate", "--quiet", "--json", "--gold", filepath.Join(l.data, "meddocan", "dev"), "--model", model, "--draws", "-1")
	if err != nil {
		return f, err
	}
	var report struct {
		Measures []struct {
			Name string `json:"name"`
			figures
		} `json:"measures"`
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return f, err
	}
	for _, m := range report.Measures {
		if m.Name == "strict" {
			return m.figures, nil
		}
	}
	return f, errors.New("no strict F1 in the report")
}

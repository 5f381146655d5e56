package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/guard"

	"github.com/velum-health/velum/stages/tag"
)

// A fault is a failure that is put into one place of a run. It hits the note
// of row victim, or the whole run.
type fault struct {
	name  string
	spoil func(l *commit.Line)
	flags []string
	want  string // reasons of the victim, or "exit N"
}

const (
	faultNotes = 40
	victim     = 17
)

// rewire replaces the function of the step of that name.
func rewire(name string, by func(old func(*pipeline.Batch) error) func(*pipeline.Batch) error) func(*commit.Line) {
	return func(l *commit.Line) {
		for k := range l.Steps {
			if l.Steps[k].Name == name {
				old := l.Steps[k].New
				l.Steps[k].New = func() func(*pipeline.Batch) error { return by(old()) }
			}
		}
	}
}

// before and after change the batch at a step.
func before(name string, do func(b *pipeline.Batch)) func(*commit.Line) {
	return rewire(name, func(old func(*pipeline.Batch) error) func(*pipeline.Batch) error {
		return func(b *pipeline.Batch) error { do(b); return old(b) }
	})
}

func after(name string, do func(b *pipeline.Batch)) func(*commit.Line) {
	return rewire(name, func(old func(*pipeline.Batch) error) func(*pipeline.Batch) error {
		return func(b *pipeline.Batch) error { err := old(b); do(b); return err }
	})
}

// wild are panics whose values quote the note.
var wild = map[string]func(text []byte){
	"string":  func(text []byte) { panic(string(text)) },
	"error":   func(text []byte) { panic(errors.New(string(text))) },
	"bytes":   func(text []byte) { panic(bytes.Clone(text)) },
	"runtime": func(text []byte) { _ = text[len(text)+len(os.Args)] },
}

func faults() (all []fault) {
	add := func(name string, spoil func(*commit.Line), want string, flags ...string) {
		all = append(all, fault{name, spoil, flags, want})
	}
	for _, step := range []string{"tokenize", "tag", "resolve", "mask", "verify", "choose"} {
		for _, kind := range []string{"string", "runtime"} {
			do := wild[kind]
			add(step+": panic of a whole stage, "+kind, before(step, func(b *pipeline.Batch) { do(b.Text.At(victim)) }), "exit 1")
		}
		add(step+": error", rewire(step, func(func(*pipeline.Batch) error) func(*pipeline.Batch) error {
			return func(*pipeline.Batch) error { return errors.New("planted") }
		}), "exit 1")
		add(step+": missing", func(l *commit.Line) {
			l.Steps = slices.DeleteFunc(l.Steps, func(s pipeline.Step) bool { return s.Name == step })
		}, map[string]string{"tokenize": "exit 1", "tag": "exit 1 strict_finding surviving_value", "resolve": "exit 1", "mask": "exit 1",
			"verify": "exit 15", "choose": "masked"}[step])
	}
	return slices.Concat(all, readFaults(), tagFaults(), batchFaults(), writeFaults())
}

// source is a Source of which a test makes something else.
type source struct {
	pipeline.Source
	next func(old pipeline.Source, b *pipeline.Batch) error
}

func (s *source) Next(b *pipeline.Batch) error { return s.next(s.Source, b) }

func (s *source) Close() error { return s.Source.(interface{ Close() error }).Close() }

func readFaults() []fault {
	as := func(next func(old pipeline.Source, b *pipeline.Batch) error) func(*commit.Line) {
		return func(l *commit.Line) { l.Source = &source{l.Source, next} }
	}
	return []fault{
		{"read: panic", as(func(old pipeline.Source, b *pipeline.Batch) error {
			_ = old.Next(b)
			panic(string(b.Text.Data))
		}), nil, "exit 1"},
		{"read: error", as(func(pipeline.Source, *pipeline.Batch) error { return syscall.EIO }), nil, "exit 1"},
		{"read: damage", as(func(pipeline.Source, *pipeline.Batch) error {
			return &commit.DamageError{Path: "x", RowGroup: 0, Cause: "planted"}
		}), nil, "bad_unit"},
		{"read: a note too few", as(func(old pipeline.Source, b *pipeline.Batch) error {
			err := old.Next(b)
			if b.Len() > 0 {
				b.Text.Offsets = b.Text.Offsets[:b.Len()]
				b.ID.Offsets = b.ID.Offsets[:len(b.ID.Offsets)-1]
				b.Reason = b.Reason[:len(b.Reason)-1]
			}
			return err
		}), nil, "exit 13"},
		{"read: text without id", as(func(old pipeline.Source, b *pipeline.Batch) error {
			err := old.Next(b)
			b.ID.Reset()
			return err
		}), nil, "exit 1"},
		{"read: bad UTF-8 that read lets through", as(func(old pipeline.Source, b *pipeline.Batch) error {
			err := old.Next(b)
			if b.Len() > victim {
				b.Text.At(victim)[3] = 0xFF
			}
			return err
		}), nil, "bad_encoding"},
		{"read: NUL", as(func(old pipeline.Source, b *pipeline.Batch) error {
			err := old.Next(b)
			if b.Len() > victim {
				b.Text.At(victim)[3] = 0
			}
			return err
		}), nil, "control_text"},
	}
}

// faulty is a labeller and finder that goes wrong on the victim.
type faulty struct {
	victim []byte
	label  func(text []byte, tags []pipeline.Tag) float32
	match  func(text []byte) pipeline.Match
}

func (f *faulty) Label(text []byte, _ []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag) float32 {
	if f.label == nil || !bytes.Contains(text, f.victim) {
		return 0.9
	}
	return f.label(text, tags)
}

func (f *faulty) Find(dst []pipeline.Match, text []byte) []pipeline.Match {
	if f.match == nil || !bytes.Contains(text, f.victim) {
		return dst
	}
	return append(dst, f.match(text))
}

// tagFaults replace the tagger. It finds nothing in the other notes, which
// verify has to catch as well.
func tagFaults() (all []fault) {
	broken := func(name, want string, f faulty, flags ...string) {
		all = append(all, fault{"tag: " + name, func(l *commit.Line) {
			for k := range l.Steps {
				if l.Steps[k].Name != "tag" {
					continue
				}
				set, err := pipeline.Labels("primary-care")
				if err != nil {
					panic("label set")
				}
				f.victim = []byte(victimMark)
				l.Steps[k] = tag.New(tag.Options{
					TagSet:      &pipeline.TagSet{Categories: set.Categories},
					NewLabeller: func() tagger.Labeller { return &f }, Patterns: &f, NoteTimeout: 10 * time.Millisecond,
				})
			}
		}, slices.Concat([]string{"--set", "write.max_quarantined=1"}, flags), want})
	}
	for kind, do := range wild {
		broken("panic, "+kind, "panicked", faulty{label: func(text []byte, _ []pipeline.Tag) float32 { do(text); return 1 }})
		broken("panic in a pattern, "+kind, "panicked", faulty{match: func(text []byte) pipeline.Match { do(text); return pipeline.Match{} }})
	}
	for name, conf := range map[string]float32{"NaN": float32(math.NaN()), "infinite": float32(math.Inf(1)), "negative": -1, "above 1": 2} {
		broken("confidence "+name, "bad_tags", faulty{label: func([]byte, []pipeline.Tag) float32 { return conf }})
	}
	for name, m := range map[string]pipeline.Match{
		"behind the end": {Start: 0, End: 1 << 20, Score: 1}, "before the start": {Start: -5, End: 3, Score: 1},
		"empty": {Start: 3, End: 3, Score: 1}, "inside out": {Start: 9, End: 3, Score: 1},
		"score NaN": {Start: 0, End: 3, Score: float32(math.NaN())}, "unknown category": {Start: 0, End: 3, Category: 250},
	} {
		broken("match "+name, "bad_tags", faulty{match: func([]byte) pipeline.Match { return m }})
	}
	broken("number of no tag", "bad_tags", faulty{label: func(_ []byte, tags []pipeline.Tag) float32 { tags[0] = 200; return 1 }})
	broken("slow", "timed_out", faulty{label: func([]byte, []pipeline.Tag) float32 { sha256.Sum256(make([]byte, 64<<20)); return 1 }}, "long")
	broken("finds nothing", "strict_finding surviving_value", faulty{})
	all = append(all, fault{"tag: no model", func(l *commit.Line) {
		for k := range l.Steps {
			if l.Steps[k].Name == "tag" {
				l.Steps[k] = tag.New(tag.Options{TagSet: &pipeline.TagSet{}, NewLabeller: func() tagger.Labeller { return nil }})
			}
		}
	}, nil, "exit 15"})
	return all
}

// operator is one that panics, or gives the value back.
type operator func(dst, value []byte) []byte

// put replaces the masked text of the victim.
func put(b *pipeline.Batch, text []byte) {
	var m pipeline.Bytes
	for i := range b.Masked.Len() {
		if i == victim {
			m.Append(text)
		} else {
			m.Append(b.Masked.At(i))
		}
	}
	b.Masked = m
}

func setSpans(b *pipeline.Batch, spans ...pipeline.Span) {
	var l pipeline.List[pipeline.Span]
	for i := range b.Spans.Len() {
		if i == victim {
			l.Append(spans...)
		} else {
			l.Append(b.Spans.At(i)...)
		}
	}
	b.Spans = l
}

// batchFaults change what a stage gave.
func batchFaults() (all []fault) {
	add := func(name, step, want string, do func(b *pipeline.Batch)) {
		all = append(all, fault{step + ": " + name, after(step, do), nil, want})
	}
	add("a token lost", "tokenize", "bad_tags", func(b *pipeline.Batch) { t := b.Tokens.At(victim); t[3] = t[2] })
	add("a token outside", "tokenize", "bad_tags", func(b *pipeline.Batch) { t := b.Tokens.At(victim); t[len(t)-1].End += 1000 })
	add("tokens out of order", "tokenize", "bad_tags", func(b *pipeline.Batch) { t := b.Tokens.At(victim); t[0], t[1] = t[1], t[0] })
	add("number of no tag", "tag", "panicked", func(b *pipeline.Batch) { b.TagsOf(victim)[1] = 250 })
	add("span outside", "resolve", "panicked", func(b *pipeline.Batch) { s := b.Spans.At(victim); s[len(s)-1].End = 1 << 20 })
	add("negative span", "resolve", "panicked", func(b *pipeline.Batch) { b.Spans.At(victim)[0].Start = -1 })
	add("empty span", "resolve", "panicked", func(b *pipeline.Batch) { s := b.Spans.At(victim); s[0].End = s[0].Start })
	add("spans out of order", "resolve", "panicked", func(b *pipeline.Batch) { s := b.Spans.At(victim); s[0], s[1] = s[1], s[0] })
	add("spans lost", "resolve", "strict_finding", func(b *pipeline.Batch) { setSpans(b) })
	add("category of nothing", "resolve", "bad_tags", func(b *pipeline.Batch) { b.Spans.At(victim)[0].Category = 250 })
	add("source of nothing", "resolve", "bad_tags", func(b *pipeline.Batch) { b.Spans.At(victim)[0].Source = 250 })
	add("text as it was", "mask", "surviving_value strict_finding", func(b *pipeline.Batch) { put(b, b.Text.At(victim)) })
	add("empty", "mask", "changed_text", func(b *pipeline.Batch) { put(b, nil) })
	add("cut", "mask", "changed_text", func(b *pipeline.Batch) { put(b, b.Masked.At(victim)[:9]) })
	add("of another note", "mask", "changed_text surviving_value strict_finding", func(b *pipeline.Batch) { put(b, b.Text.At(victim+1)) })
	add("one text too few", "mask", "exit 1", func(b *pipeline.Batch) { b.Masked.Offsets = b.Masked.Offsets[:b.Len()] })
	add("offsets mixed up", "mask", "changed_text surviving_value strict_finding panicked", func(b *pipeline.Batch) { b.Masked.Offsets[victim] += 5 })
	for kind, do := range wild {
		add("operator panics, "+kind, "resolve", "panicked", func(b *pipeline.Batch) {})
		op := operator(func(dst, value []byte) []byte {
			do(value)
			return dst
		})
		all[len(all)-1].name = "mask: operator panics, " + kind
		all[len(all)-1].spoil = operatorOnVictim(op)
	}
	all = append(all, fault{"mask: operator that gives the value back", operatorOnVictim(func(dst, value []byte) []byte { return append(dst, value...) }), nil, "surviving_value strict_finding"})
	add("text put back", "verify", "unsealed", func(b *pipeline.Batch) { put(b, b.Text.At(victim)) })
	add("a byte changed", "verify", "unsealed", func(b *pipeline.Batch) { b.Masked.At(victim)[0] ^= 1 })
	add("seal lost", "verify", "unsealed", func(b *pipeline.Batch) { b.Seals[victim] = 0 })
	add("reason forgotten", "verify", "unsealed", func(b *pipeline.Batch) { b.Seals[victim], b.Reason[victim] = 0, pipeline.Sound })
	add("text put back", "choose", "unsealed", func(b *pipeline.Batch) { put(b, b.Text.At(victim)) })
	return all
}

// operatorOnVictim masks the victim with op, as the stage would, and all others with the stage.
func operatorOnVictim(op operator) func(*commit.Line) {
	return rewire("mask", func(old func(*pipeline.Batch) error) func(*pipeline.Batch) error {
		return func(b *pipeline.Batch) error {
			var masked []byte
			panicked := guard.Note(func() {
				text, at := b.Text.At(victim), int32(0)
				for _, s := range b.Spans.At(victim) {
					masked = op(append(masked, text[at:s.Start]...), text[s.Start:s.End])
					at = s.End
				}
				masked = append(masked, text[at:]...)
			})
			err := old(b)
			if put(b, masked); panicked {
				put(b, nil)
				b.Quarantine(victim, pipeline.Panicked)
			}
			return err
		}
	})
}

// sink is a UnitSink of which a test makes something else.
type sink struct {
	commit.UnitSink
	put   func(b *pipeline.Batch) error
	close func(c commit.Counts, err error) (commit.Counts, error)
}

func (s *sink) Put(b *pipeline.Batch) error {
	if s.put != nil {
		if err := s.put(b); err != nil {
			return err
		}
	}
	return s.UnitSink.Put(b)
}

func (s *sink) Close() (commit.Counts, error) {
	c, err := s.UnitSink.Close()
	if s.close != nil {
		return s.close(c, err)
	}
	return c, err
}

func writeFaults() (all []fault) {
	for kind, do := range wild {
		all = append(all, fault{"write: panic, " + kind, func(l *commit.Line) {
			l.Sink = &sink{UnitSink: l.Sink, put: func(b *pipeline.Batch) error { do(b.Text.At(victim)); return nil }}
		}, nil, "exit 1"})
	}
	for name, err := range map[string]error{"exit 14": syscall.ENOSPC, "exit 14 ": syscall.EDQUOT, "exit 1": syscall.EIO, "exit 1 ": syscall.EROFS} {
		all = append(all, fault{"write: " + err.Error(), func(l *commit.Line) {
			l.Sink = &sink{UnitSink: l.Sink, put: func(*pipeline.Batch) error { return &os.PathError{Op: "write", Path: "part", Err: err} }}
		}, nil, name})
	}
	for name, change := range map[string]func(c *commit.Counts){
		"a note too few": func(c *commit.Counts) { c.Rows--; c.Masked-- },
		"a note twice":   func(c *commit.Counts) { c.Masked++ },
		"a wrong reason": func(c *commit.Counts) { c.Reasons = map[string]int64{"too_long": 1} },
	} {
		all = append(all, fault{"write: counts " + name, func(l *commit.Line) {
			l.Sink = &sink{UnitSink: l.Sink, close: func(c commit.Counts, err error) (commit.Counts, error) { change(&c); return c, err }}
		}, nil, "exit 13"})
	}
	return all
}

// victimMark is in the text of the victim only.
const victimMark = "sigue igual y espera"

// canaryArchive writes an archive of notes full of canaries. The victim can be
// told by its text.
func canaryArchive(t *testing.T, name string, seed uint64, n int, long bool) (*canarySet, []canaryNote) {
	t.Helper()
	set, notes := canaryNotes(rand.New(rand.NewPCG(seed, 1)), n)
	notes[victim].Text = strings.Replace(notes[victim].Text, "sigue igual", victimMark, 1)
	if long {
		notes[victim].Text += strings.Repeat(" Sigue con tos.", 2000)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(name, notes); err != nil {
		t.Fatal(err)
	}
	return set, notes
}

// TestFaults puts every fault into a run from the command line with the debug
// log on: the victim ends in quarantine for a reason, or the run stops with the
// right exit code and commits nothing; and no canary is in anything that was
// written outside the input and the private tree.
func TestFaults(t *testing.T) {
	all := faults()
	if len(all) < 60 {
		t.Errorf("only %d faults", len(all))
	}
	dir := t.TempDir()
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	count := 0
	for i, f := range all {
		in, out := filepath.Join(dir, "in", fmt.Sprint(i), "a.parquet"), filepath.Join(dir, "out", fmt.Sprint(i))
		set, notes := canaryArchive(t, in, uint64(i), faultNotes, slices.Contains(f.flags, "long"))
		count += set.Len()
		flags := slices.DeleteFunc(slices.Clone(f.flags), func(s string) bool { return s == "long" })
		var stdout, stderr bytes.Buffer
		a := newApp(&stdout, &stderr, nil)
		a.spoil = f.spoil
		code := a.run(append([]string{"run", "--in", in, "--out", out, "-v", "--json"}, flags...))
		f.check(t, code, out, notes[victim].ID)
		for name, data := range map[string][]byte{"stdout": stdout.Bytes(), "stderr": stderr.Bytes()} {
			if hits := set.In(data); hits != [4]int{} {
				t.Errorf("%s: canaries in %s: %v", f.name, name, hits)
			}
		}
		searchFor(t, f.name, set, out)
		searchFor(t, f.name, set, tmp)
	}
	t.Logf("%d faults, %d canaries", len(all), count)
}

func searchFor(t *testing.T, name string, set *canarySet, dir string) {
	t.Helper()
	finds, _, err := set.Below(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s: %v", name, err)
	}
	for _, f := range finds {
		t.Errorf("%s: canaries in %s: %v", name, filepath.Base(f.Path), f.Hits)
	}
}

// check compares what became of the run with what the fault wants.
func (f *fault) check(t *testing.T, code exit.Code, out, id string) {
	t.Helper()
	tree, err := readTree(out)
	if code != exit.Done && code != exit.Quarantined {
		if !slices.Contains(strings.Split(strings.TrimSpace(f.want), " "), fmt.Sprint(int(code))) || !strings.HasPrefix(f.want, "exit") {
			t.Errorf("%s: exit code %d, want %s", f.name, code, f.want)
		}
		if err == nil {
			t.Errorf("%s: exit code %d, and yet committed", f.name, code)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", f.name, err)
		return
	}
	if tree.rows != faultNotes || tree.masked+tree.quarantined != tree.rows || tree.maskedRows != tree.masked {
		t.Errorf("%s: %d rows, %d masked (%d written), %d in quarantine", f.name, tree.rows, tree.masked, tree.maskedRows, tree.quarantined)
	}
	_, masked := tree.text[id]
	switch {
	case f.want == "masked":
		if !masked {
			t.Errorf("%s: the victim is not masked", f.name)
		}
	case f.want == "bad_unit":
		if tree.masked != 0 {
			t.Errorf("%s: notes of a unit that was lost are masked", f.name)
		}
	case masked || !slices.Contains(strings.Fields(f.want), tree.reason[id]):
		t.Errorf("%s: the victim is masked: %v, reason %q, want %s", f.name, masked, tree.reason[id], f.want)
	}
}

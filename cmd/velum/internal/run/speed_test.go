package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/unix"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/resolve"
	"github.com/velum-health/velum/stages/synth"
)

// BenchmarkSteps passes notes through the row of `velum run`, in one goroutine,
// and prints what each step costs a note in processor time: the least of all
// passes behind the first, batch by batch, so that figures hold on a busy machine, and
// a digest of the spans and masked texts. The notes are invented, or of an archive:
//
//	VELUM_ARCHIVE=$PWD/out/archive go test ./cmd/velum/internal/run -run '^$' -bench Steps -benchtime 5x
func BenchmarkSteps(b *testing.B) {
	r := newRow(b, "primary-care")
	notes := invented(b, 20_000)
	if in := os.Getenv("VELUM_ARCHIVE"); in != "" {
		notes = archived(b, in)
	}
	r.pass(b, notes) // caches are filled
	var least []time.Duration
	for b.Loop() {
		least = fewest(least, r.pass(b, notes))
	}
	count := 0
	for _, n := range notes {
		count += n.Len()
	}
	for i, s := range r.steps {
		took := time.Duration(0)
		for at := i; at < len(least); at += len(r.steps) {
			took += least[at]
		}
		b.ReportMetric(float64(took.Nanoseconds())/float64(count), s.Name+"-ns/note")
	}
	b.Logf("%d notes, digest %016x", count, digest(notes))
}

// TestLookUps counts what resolve asks the lists: each question is a wait for
// memory, and nearly all that a rule costs. A rule that asks of every word shows
// here, on any machine; it should look at class and shape of the word first, or
// keep the answer with the word.
func TestLookUps(t *testing.T) {
	const most = 4.0 // a note; 2.9 on 2026-11-22
	r, notes := newRow(t, "primary-care"), invented(t, 3000)
	o, err := r.flow.Resolving()
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	o.Lexicons = counted(o.Lexicons, &asked)
	step, err := resolve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	do, before := step.New(), r.before(step.Name)
	for pass := range 2 { // the first fills what is kept of words
		asked = 0
		for _, b := range notes {
			if pass == 0 {
				before(t, b)
			}
			b.Spans.Reset()
			if err := do(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if a := float64(asked) / 3000; !(a > 0 && a < most) {
		t.Errorf("resolve asks the lists %.2f times a note, %.1f at most", a, most)
	}
}

// counted are the lists, with each question counted.
func counted(l resolve.Lexicons, asked *int) resolve.Lexicons {
	for _, one := range []*resolve.Lexicon{&l.GivenNames, &l.Surnames, &l.Common} {
		*one = counter{*one, asked}
	}
	l.Never = slices.Clone(l.Never)
	for i := range l.Never {
		l.Never[i].Lexicon = counter{l.Never[i].Lexicon, asked}
	}
	return l
}

type counter struct {
	resolve.Lexicon
	asked *int
}

func (c counter) Contains(phrase []byte) bool {
	*c.asked++
	return c.Lexicon.Contains(phrase)
}

// row is the steps of a run, each with one worker.
type row struct {
	flow  *flow.Flow
	steps []pipeline.Step
	do    []func(*pipeline.Batch) error
}

func newRow(t testing.TB, profile string) *row {
	t.Helper()
	c, err := option.Load(option.Sources{Env: []string{"VELUM_PROFILE=" + profile}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := flow.New(c)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := f.RunSteps(nil, new(flow.Found))
	if err != nil {
		t.Fatal(err)
	}
	r := &row{flow: f, steps: steps}
	for _, s := range steps {
		r.do = append(r.do, s.New())
	}
	return r
}

// before does the steps before one to a batch.
func (r *row) before(name string) func(testing.TB, *pipeline.Batch) {
	return func(t testing.TB, b *pipeline.Batch) {
		t.Helper()
		again(b)
		for i := 0; r.steps[i].Name != name; i++ {
			if err := r.do[i](b); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// pass sends the batches through all steps and returns the processor time of
// each: [batches][steps].
func (r *row) pass(t testing.TB, notes []*pipeline.Batch) []time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []time.Duration
	for _, b := range notes {
		again(b)
		at := processor(t)
		for _, do := range r.do {
			if err := do(b); err != nil {
				t.Fatal(err)
			}
			now := processor(t)
			took = append(took, now-at)
			at = now
		}
	}
	return took
}

// again empties what the steps fill.
func again(b *pipeline.Batch) {
	b.Language, b.Tags, b.Conf, b.Seals, b.Chosen = b.Language[:0], b.Tags[:0], b.Conf[:0], b.Seals[:0], b.Chosen[:0]
	for _, column := range []interface{ Reset() }{&b.Tokens, &b.View, &b.ViewFrom, &b.Matches, &b.SpanProbs, &b.Known, &b.Avoid, &b.Spans, &b.Masked, &b.Places} {
		column.Reset()
	}
	for i := range b.Reason {
		b.Reason[i] = pipeline.Sound
	}
}

// processor returns the processor time that this thread took so far.
func processor(t testing.TB) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		t.Fatal(err)
	}
	return time.Duration(now.Nano())
}

// fewest takes the lesser time of each step.
func fewest(a, b []time.Duration) []time.Duration {
	if a == nil {
		return b
	}
	for i := range a {
		a[i] = min(a[i], b[i])
	}
	return a
}

// digest is of all that the steps say of the notes.
func digest(notes []*pipeline.Batch) uint64 {
	h := xxh3.New()
	for _, b := range notes {
		fmt.Fprint(h, b.Masked.Data, b.Masked.Offsets, b.Spans.Offsets, b.Spans.Items, b.Reason, b.Tags, b.Conf, b.SpanProbs.Items, b.Chosen)
	}
	return h.Sum64()
}

func invented(t testing.TB, n int64) (notes []*pipeline.Batch) {
	t.Helper()
	return batches(t, nil, synth.New(synth.Options{Notes: n, Seed: 7}))
}

// archived reads the notes of an archive into batches that stay.
func archived(t testing.TB, in string) (notes []*pipeline.Batch) {
	t.Helper()
	archive, err := archive.Scan(context.Background(), []string{in}, input.Options{ID: []string{"note_id"}, Text: "text"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range archive.Units {
		src, err := archive.Open(&archive.Units[i])
		if err != nil {
			t.Fatal(err)
		}
		notes = batches(t, notes, src)
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return notes
}

func batches(t testing.TB, notes []*pipeline.Batch, src pipeline.Source) []*pipeline.Batch {
	t.Helper()
	for {
		b := new(pipeline.Batch)
		err := src.Next(b)
		switch {
		case errors.Is(err, io.EOF):
			return slices.Clip(notes)
		case err != nil:
			t.Fatal(err)
		}
		notes = append(notes, b)
	}
}

package console

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// clocked returns a progress whose clock the test moves.
func clocked(asJSON bool) (p *Progress, out *bytes.Buffer, tick func(time.Duration)) {
	out = &bytes.Buffer{}
	a := &Console{Errs: out, JSON: asJSON}
	p = a.NewProgress("mask", "notes", 4000)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p.begin, p.last, p.now = now, now, func() time.Time { return now }
	return p, out, func(d time.Duration) { now = now.Add(d) }
}

func TestProgressLines(t *testing.T) {
	p, out, tick := clocked(false)
	for range 30 {
		tick(time.Second)
		p.Add(100)
	}
	p.Say("cache %d %%", 97)
	p.End()
	want := "mask: 1000 of 4000 notes, 100/s, 30s left\n" +
		"mask: 2000 of 4000 notes, 100/s, 20s left\n" +
		"mask: 3000 of 4000 notes, 100/s, 10s left\n" +
		"mask: 3000 of 4000 notes, 100/s, 10s left, cache 97 %\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

// What a training had done before it was resumed counts, but not as speed.
func TestProgressResumed(t *testing.T) {
	p, out, tick := clocked(false)
	p.Skip(3000)
	tick(5 * time.Second)
	p.Add(500)
	p.End()
	if got, want := out.String(), "mask: 3500 of 4000 notes, 100/s, 5s left\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A total that is passed was an estimate.
func TestProgressPastTotal(t *testing.T) {
	p, out, tick := clocked(false)
	tick(time.Second)
	p.Add(5000)
	p.End()
	if got, want := out.String(), "mask: 5000 notes, 5000/s\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProgressJSON(t *testing.T) {
	p, out, tick := clocked(true)
	tick(20 * time.Second)
	p.Add(50)
	var got struct {
		Kind      string `json:"message_type"`
		Name      string
		Unit      string
		Done      int64
		Total     int64
		PerSecond float64 `json:"per_second"`
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "status" || got.Name != "mask" || got.Done != 50 || got.Total != 4000 || got.PerSecond != 2.5 {
		t.Errorf("got %+v", got)
	}
}

func TestNilProgress(t *testing.T) {
	p := (&Console{Quiet: true}).NewProgress("mask", "notes", 1)
	if p != nil {
		t.Fatal("--quiet makes a progress")
	}
	p.Add(1)
	p.Say("x")
	p.End()
}

// The bar of a terminal, drawn into memory, ends whether all, some or more of
// what was announced was done.
func TestBarEnds(t *testing.T) {
	for _, done := range []int64{0, 1500, 4000, 4001} {
		p, out, _ := clocked(false)
		p.startBar(out)
		p.Add(done)
		p.Say("done")
		ended := make(chan struct{})
		time.AfterFunc(0, func() {
			p.End()
			close(ended)
		})
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatalf("%d of 4000: the bar did not end", done)
		}
	}
}

// A bar without a total ends as well.
func TestBarWithoutTotalEnds(t *testing.T) {
	p, out, _ := clocked(false)
	p.total = 0
	p.startBar(out)
	p.Add(7)
	p.End()
}

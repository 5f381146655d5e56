package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// clocked returns a progress whose clock the test moves.
func clocked(asJSON bool) (p *progress, out *bytes.Buffer, tick func(time.Duration)) {
	out = &bytes.Buffer{}
	a := &app{errs: out, json: asJSON}
	p = a.newProgress("mask", "notes", 4000)
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
	p := (&app{quiet: true}).newProgress("mask", "notes", 1)
	if p != nil {
		t.Fatal("--quiet makes a progress")
	}
	p.Add(1)
	p.Say("x")
	p.End()
}

// The bar of a terminal, drawn into memory.
func TestBar(t *testing.T) {
	p, out, _ := clocked(false)
	p.startBar(out)
	p.Add(4000)
	p.Say("done")
	p.End()
}

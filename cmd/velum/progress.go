package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress tells how far a piece of work is: a bar on a terminal, a line every
// ten seconds elsewhere, JSON lines with --json. A nil *progress tells
// nothing, so that callers never ask. Its methods may be called from several
// goroutines.
//
// It starts no goroutine of its own: a line is due when work arrives ten
// seconds after the last.
type progress struct {
	mu    sync.Mutex
	name  string
	unit  string
	total int64
	done  int64
	said  string // what Say said last
	begin time.Time
	last  time.Time
	now   func() time.Time
	out   io.Writer
	json  bool

	bars *mpb.Progress
	bar  *mpb.Bar
}

// every is how often a line is written where nobody watches a bar.
const every = 10 * time.Second

// newProgress starts a piece of work of total units (0: not known), as in
// ("mask", "notes", 3000). It returns nil with --quiet.
func (a *app) newProgress(name, unit string, total int64) *progress {
	if a.quiet {
		return nil
	}
	p := &progress{name: name, unit: unit, total: total, now: time.Now, out: a.errs, json: a.json}
	p.begin = p.now()
	p.last = p.begin
	if terminal(a.errs) && !a.json && a.getenv("TERM") != "dumb" {
		p.startBar(a.errs)
	}
	return p
}

func (p *progress) startBar(out io.Writer) {
	p.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(48))
	p.bar = p.bars.AddBar(p.total,
		mpb.PrependDecorators(decor.Name(p.name+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.words()
		})))
}

// Add counts n more units.
func (p *progress) Add(n int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.done += n
	bar, done := p.bar, p.done
	if bar == nil {
		p.lineIfDue()
	}
	p.mu.Unlock()
	if bar != nil { // without the lock, which the bar's own goroutine takes
		bar.SetCurrent(done)
	}
}

// Say sets what is told beside the count, as "objective 1034.2, F1 0.961". It
// holds no text of a note.
func (p *progress) Say(format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = fmt.Sprintf(format, args...)
	if p.bar == nil {
		p.lineIfDue()
	}
}

// End tells the last state.
func (p *progress) End() {
	if p == nil {
		return
	}
	if p.bar != nil {
		p.bar.SetTotal(-1, true)
		p.bars.Wait()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line()
}

func (p *progress) lineIfDue() {
	if p.now().Sub(p.last) >= every {
		p.line()
	}
}

func (p *progress) line() {
	p.last = p.now()
	if !p.json {
		fmt.Fprintf(p.out, "%s: %s\n", p.name, oneLine(p.words()))
		return
	}
	_ = json.NewEncoder(p.out).Encode(struct {
		Kind      string  `json:"message_type"`
		Name      string  `json:"name"`
		Unit      string  `json:"unit"`
		Done      int64   `json:"done"`
		Total     int64   `json:"total,omitempty"`
		Seconds   float64 `json:"seconds"`
		PerSecond float64 `json:"per_second"`
		Text      string  `json:"text,omitempty"`
	}{"status", p.name, p.unit, p.done, p.total, p.last.Sub(p.begin).Seconds(), p.rate(), oneLine(p.said)})
}

// words says count, share, speed and time left.
func (p *progress) words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", p.done)
	if p.total > 0 {
		fmt.Fprintf(&b, " of %d", p.total)
	}
	fmt.Fprintf(&b, " %s", p.unit)
	if rate := p.rate(); rate > 0 {
		digits := 0
		if rate < 10 {
			digits = 2
		}
		fmt.Fprintf(&b, ", %.*f/s", digits, rate)
		if p.total > p.done {
			left := time.Duration(float64(p.total-p.done) / rate * float64(time.Second))
			fmt.Fprintf(&b, ", %v left", left.Round(time.Second))
		}
	}
	if p.said != "" {
		b.WriteString(", " + p.said)
	}
	return b.String()
}

func (p *progress) rate() float64 {
	seconds := p.now().Sub(p.begin).Seconds()
	if seconds <= 0 {
		return 0
	}
	return float64(p.done) / seconds
}

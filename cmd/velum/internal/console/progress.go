package console

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// Progress tells how far a piece of work is: a bar on a terminal, a line every
// ten seconds elsewhere, JSON lines with --json. A nil *progress tells
// nothing, so that callers never ask. Its methods may be called from several
// goroutines.
//
// It starts no goroutine of its own: a line is due when work arrives ten
// seconds after the last.
type Progress struct {
	mu    sync.Mutex
	name  string
	unit  string
	total int64
	done  int64
	ahead int64  // of these, number that were done before it began
	said  string // last text of Say
	begin time.Time
	last  time.Time
	now   func() time.Time
	out   io.Writer
	json  bool

	bars *mpb.Progress
	bar  *mpb.Bar
}

// every is the interval between progress lines where there is no bar.
const every = 10 * time.Second

// NewProgress starts a piece of work of total units (0: not known), as in
// ("mask", "notes", 3000). It returns nil with --quiet.
func (c *Console) NewProgress(name, unit string, total int64) *Progress {
	if c.Quiet {
		return nil
	}
	p := &Progress{name: name, unit: unit, total: total, now: time.Now, out: c.Errs, json: c.JSON}
	p.begin = p.now()
	p.last = p.begin
	if terminal(c.Errs) && !c.JSON && c.getenv("TERM") != "dumb" && wide(c.Errs) {
		p.startBar(c.Errs)
	}
	return p
}

// wide reports whether a terminal reports its width. One that does not, such as that of the program script, gets no
// bar.
func wide(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	return err == nil && columns > 0
}

func (p *Progress) startBar(out io.Writer) {
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
func (p *Progress) Add(n int64) {
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

// Skip counts n units that an earlier run has finished. They count towards the total but not towards the speed, from
// which the remaining time is estimated.
func (p *Progress) Skip(n int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.ahead += n
	p.mu.Unlock()
	p.Add(n)
}

// Say sets the text beside the count, such as "objective 1034.2, F1 0.961". The text must not quote a note.
func (p *Progress) Say(format string, args ...any) {
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

// End tells the last state. The bar is aborted and not set to its total: mpb
// ignores SetTotal of a bar that began with a total, and Wait would wait for
// the rest, which never comes from a search that stopped early, a unit that
// was damaged, or after SIGINT.
func (p *Progress) End() {
	if p == nil {
		return
	}
	if p.bar != nil {
		p.bar.Abort(false)
		p.bars.Wait()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line()
}

func (p *Progress) lineIfDue() {
	if p.now().Sub(p.last) >= every {
		p.line()
	}
}

func (p *Progress) line() {
	p.last = p.now()
	if !p.json {
		fmt.Fprintf(p.out, "%s: %s\n", p.name, exit.OneLine(p.words()))
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
	}{"status", p.name, p.unit, p.done, p.total, p.last.Sub(p.begin).Seconds(), p.rate(), exit.OneLine(p.said)})
}

// words formats count, share, speed and remaining time.
func (p *Progress) words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", p.done)
	if p.total >= p.done && p.total > 0 { // else it was an estimate
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

func (p *Progress) rate() float64 {
	seconds := p.now().Sub(p.begin).Seconds()
	if seconds <= 0 {
		return 0
	}
	return float64(p.done-p.ahead) / seconds
}

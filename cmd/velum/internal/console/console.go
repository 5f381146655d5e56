// Package console wraps the process around a verb: standard streams, log, progress bar, memory limits, protection
// against core dumps and readable files, and a hard exit for a command that hangs. It knows nothing of notes.
package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// Console gives the verbs the standard streams of the process, the flags that all verbs share (--json, --quiet), and
// the log.
type Console struct {
	In        io.Reader // nil: nothing
	Out, Errs io.Writer
	Env       []string
	Version   string // of velum

	JSON    bool // JSON for machines, on both streams
	Quiet   bool // no progress, no summary, and of the log warnings alone
	NoColor bool
	Verbose bool
	Log     *slog.Logger // made by StartLog

	Grace time.Duration // time before EndHard ends the process; 0: endGrace
	hung  atomic.Bool   // EndHard ends the process
}

// WriteJSON writes v as a line of JSON to standard output.
func (c *Console) WriteJSON(v any) error { return json.NewEncoder(c.Out).Encode(v) }

// terminal reports whether w is a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Asks reports whether standard input and output are terminals, so that a person can be asked.
func (c *Console) Asks() bool {
	in, ok := c.In.(*os.File)
	return ok && term.IsTerminal(int(in.Fd())) && terminal(c.Out)
}

// Paint colours s for w: with ANSI colour n on a terminal that wants it.
func (c *Console) Paint(w io.Writer, n int, s string) string {
	if !terminal(w) || c.NoColor || c.getenv("NO_COLOR") != "" || c.getenv("TERM") == "dumb" {
		return s
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", n, s)
}

// Language is the language of the terminal by its environment (POSIX: LC_ALL, LC_MESSAGES, LANG): "es" of es_ES.UTF-8, "" of C and of none.
func (c *Console) Language() string {
	name := cmp.Or(c.getenv("LC_ALL"), c.getenv("LC_MESSAGES"), c.getenv("LANG"))
	if name, _, _ = strings.Cut(name, "_"); len(name) != 2 {
		return ""
	}
	return name
}

func (c *Console) getenv(name string) string {
	for _, e := range c.Env {
		if k, v, _ := strings.Cut(e, "="); k == name {
			return v
		}
	}
	return ""
}

// Printf prints for people, on stdout. Names of files, columns and models come
// from outside and may hold escape sequences: of every argument that is text, an
// error or prints itself, what a terminal would obey is left out. Bytes are ours,
// as JSON is, and stay. All verbs print names through this.
func (c *Console) Printf(format string, args ...any) (int, error) {
	return fmt.Fprintf(c.Out, format, printable(args)...)
}

func printable(args []any) []any {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = exit.Printable(arg)
		case error:
			args[i] = exit.Printable(arg.Error())
		case fmt.Stringer:
			args[i] = exit.Printable(arg.String())
		}
	}
	return args
}

// StartLog creates the logger on stderr: JSON lines with --json, text otherwise; warnings only with --quiet.
func (c *Console) StartLog() {
	level := slog.LevelInfo
	switch {
	case c.Quiet:
		level = slog.LevelWarn
	case c.Verbose:
		level = slog.LevelDebug
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: dropTime(terminal(c.Errs))}
	if c.JSON {
		c.Log = slog.New(slog.NewJSONHandler(c.Errs, o).WithAttrs([]slog.Attr{slog.String("message_type", "log")}))
	} else {
		c.Log = slog.New(slog.NewTextHandler(c.Errs, o))
	}
}

// dropTime removes the time from log lines on a terminal.
func dropTime(drop bool) func([]string, slog.Attr) slog.Attr {
	return func(groups []string, at slog.Attr) slog.Attr {
		if drop && len(groups) == 0 && at.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return at
	}
}

// SetMemory sets the soft limit of the heap.
func (c *Console) SetMemory(limit int64) {
	if limit == 0 && c.getenv("GOMEMLIMIT") == "" {
		if cgroup := CgroupMemory(); cgroup > 0 {
			limit = cgroup / 10 * 9
		}
	}
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// gcPercent is GOGC in the long part of a run. The caches of forms are outside of the heap, and the live heap is some
// 60 MB of buffers and lists. At 25 %, garbage collection took 5 % of a run's processor time on real notes; 50 % takes
// 10 to 20 MB more. Go's default of 100 % would let the heap grow to twice the live data.
const gcPercent = 50

// SteadyMemory sets a low GOGC for the long part of a run, so that the heap stays flat. It does nothing if the
// environment sets GOGC. While models and caches are being made, a low GOGC would only cost time.
func (c *Console) SteadyMemory() {
	if c.getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

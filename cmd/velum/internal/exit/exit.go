// Package exit defines how a command ends: its exit code, the error and its remedy. Packages below cmd/velum return
// errors made here, or errors of other packages that the table of causes maps to a code. main prints the last error and
// ends the process.
package exit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"unicode"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/read/input"
)

// A Code is what the process returns. The numbers are promised: cron,
// Kubernetes and Airflow branch on them. 2 is left to the Go runtime, which
// uses it when a program crashes.
type Code int

// The exit codes.
const (
	Done        Code = 0
	Failed      Code = 1
	Quarantined Code = 3   // done, with more quarantined than allowed
	Nothing     Code = 4   // nothing to do
	Config      Code = 10  // configuration or command line
	Locked      Code = 11  // another run holds the output
	Key         Code = 12  // key missing, unreadable or of the wrong kind
	Integrity   Code = 13  // a file is not what it was
	DiskFull    Code = 14  // no space or quota left
	Privacy     Code = 15  // a privacy gate is shut
	HungUp      Code = 129 // SIGHUP
	Interrupted Code = 130 // SIGINT
	Terminated  Code = 143 // SIGTERM
)

// Codes lists all exit codes in ascending order.
var Codes = []Code{
	Done, Failed, Quarantined, Nothing, Config, Locked, Key,
	Integrity, DiskFull, Privacy, HungUp, Interrupted, Terminated,
}

var names = map[Code]string{
	Done: "done", Failed: "failed", Quarantined: "quarantined", Nothing: "nothing_to_do",
	Config: "configuration", Locked: "locked", Key: "key", Integrity: "integrity",
	DiskFull: "disk_full", Privacy: "privacy", HungUp: "hung_up", Interrupted: "interrupted", Terminated: "terminated",
}

// String returns the name used in JSON.
func (c Code) String() string { return names[c] }

// A failure is an error with an exit code and a remedy.
type failure struct {
	code   Code
	err    error
	remedy string // "" when there is none to give
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// With wraps err with its exit code and a remedy. The remedy tells the user what to do now, in the imperative ("free
// some space and start again").
func With(code Code, err error, remedy string) error {
	return &failure{code: code, err: err, remedy: remedy}
}

// Errorf is With for an error that is formatted from a text.
func Errorf(code Code, remedy, format string, args ...any) error {
	return With(code, fmt.Errorf(format, args...), remedy)
}

// Misconfigured wraps err as a mistake in the configuration or on the command line (exit code Config).
func Misconfigured(err error, remedy string) error { return With(Config, err, remedy) }

// Misconfiguredf is Misconfigured for an error that is formatted from a text.
func Misconfiguredf(remedy, format string, args ...any) error {
	return With(Config, fmt.Errorf(format, args...), remedy)
}

// Errors for what stops a command from outside: a signal or the deadline.
var (
	ErrInterrupted = errors.New("stopped by SIGINT")
	ErrTerminated  = errors.New("stopped by SIGTERM")
	ErrHungUp      = errors.New("stopped by SIGHUP")
	ErrDeadline    = errors.New("stopped at run.deadline")
)

// causes maps errors of other packages to exit codes and remedies ("" when the error has its own). The first match
// counts; a failure takes precedence over all of them.
var causes = []struct {
	matches func(error) bool
	code    Code
	remedy  string
}{
	{is(ErrInterrupted), Interrupted, ""},
	{is(ErrHungUp), HungUp, "nohup or systemd-run keep it going without a terminal"},
	{is(ErrTerminated), Terminated, ""},
	{is(syscall.ENOSPC), DiskFull, "free some space, then start again"},
	{is(syscall.EDQUOT), DiskFull, "raise the quota, then start again"},
	{is(syscall.ENOTDIR), Config, "a file stands where a folder should be: name another path"},
	{as[*durable.LockedError], Locked, "wait until it ends, or write elsewhere"},
	{as[*commit.OutputError], Config, ""},
	{as[*commit.ChangedError], Integrity, ""},
	{as[*commit.PlanError], Integrity, ""},
	{as[*secret.Error], Key, ""},
	{as[*durable.IntegrityError], Integrity, "put the file back as it was, or start over"},
	{durable.DiskFailed, Failed, "look at the disk, then start again"},
	{as[*commit.DamageError], Integrity, "fetch the file again"},
	{is(pipeline.ErrCategory), Integrity, "name the file of your own labels with read.categories; if there is none, fetch the file again"},
	{is(modelfile.ErrDamaged), Integrity, "fetch the model again"},
	{is(modelfile.ErrNotAModel), Config, "name a model file, or an embedded model"},
	{is(modelfile.ErrPacked), Config, "name it by its name, as `velum model list` does"},
	{is(modelfile.ErrVersion), Config, "install a newer velum"},
	{as[*features.SyntaxError], Config, "correct the feature template"},
	{as[*input.SchemaError], Config, ""},
	{is(fs.ErrPermission), Failed, "let this user read and write there, or name another path"},
	{is(ErrDeadline), Failed, "raise run.deadline, or start again: it goes on where it stopped"},
	{is(context.DeadlineExceeded), Failed, "raise run.deadline, or start again: it goes on where it stopped"},
}

// GoesOn adds to an error of a signal that the same command continues where this one stopped. It returns other errors
// unchanged.
func GoesOn(err error) error {
	code, remedy := Explain(err)
	switch code {
	case Interrupted, HungUp, Terminated:
		return With(code, err, strings.TrimSuffix("the same command goes on where this one stopped; "+remedy, "; "))
	}
	return err
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// Explain returns the exit code and the remedy of err; Failed and "" if no code is known.
func Explain(err error) (Code, string) {
	if err == nil {
		return Done, ""
	}
	var e *failure
	if errors.As(err, &e) {
		return e.code, e.remedy
	}
	for _, c := range causes {
		if c.matches(err) {
			return c.code, c.remedy
		}
	}
	return Failed, ""
}

// CodeOf returns the exit code for err.
func CodeOf(err error) Code {
	code, _ := Explain(err)
	return code
}

// Print writes the final error of a command to w: each mistake of a configuration on a line, then one line with the
// error, its place and its remedy. With asJSON it writes one JSON line instead.
func Print(w io.Writer, err error, asJSON bool) {
	if err == nil {
		return
	}
	code, remedy := Explain(err)
	var c *ConfigError
	errors.As(err, &c)
	if asJSON {
		printJSON(w, code, err, remedy, c)
		return
	}
	if c != nil {
		for _, m := range c.Mistakes {
			fmt.Fprintln(w, m)
		}
	}
	line := "velum: " + OneLine(err.Error())
	if remedy != "" {
		line += "; " + remedy
	}
	fmt.Fprintln(w, line)
}

func printJSON(w io.Writer, code Code, err error, remedy string, c *ConfigError) {
	out := struct {
		Kind     string    `json:"message_type"`
		Code     Code      `json:"code"`
		Name     string    `json:"name"`
		Error    string    `json:"error"`
		Remedy   string    `json:"remedy,omitempty"`
		Mistakes []Mistake `json:"mistakes,omitempty"`
	}{Kind: "exit_error", Code: code, Name: code.String(), Error: OneLine(err.Error()), Remedy: remedy}
	if c != nil {
		out.Mistakes = c.Mistakes
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(out) // nobody is left to tell if stderr is gone
}

// OneLine keeps a message on its line: no file name or library error may
// break the line or move the cursor.
func OneLine(s string) string { return Printable(strings.TrimSpace(s)) }

// Printable replaces every character that a terminal obeys but does not show by a blank: control characters (C0, C1),
// line separators and bidirectional marks. Bytes that are not UTF-8 become U+FFFD.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
}

// Quoted quotes a word for a POSIX shell.
func Quoted(word string) string {
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r))
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

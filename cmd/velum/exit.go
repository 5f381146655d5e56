package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/velum-health/velum/models/features"
	"github.com/velum-health/velum/models/modelfile"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
)

// An exitCode is what the process returns. The numbers are promised: cron,
// Kubernetes and Airflow branch on them. 2 is left to the Go runtime, which
// uses it when a program crashes.
type exitCode int

const (
	exitDone        exitCode = 0
	exitFailed      exitCode = 1
	exitQuarantined exitCode = 3   // done, with more quarantined than allowed
	exitNothing     exitCode = 4   // nothing to do
	exitConfig      exitCode = 10  // configuration or command line
	exitLocked      exitCode = 11  // another run holds the output
	exitKey         exitCode = 12  // key missing, unreadable or of the wrong kind
	exitIntegrity   exitCode = 13  // a file is not what it was
	exitDiskFull    exitCode = 14  // no space or quota left
	exitPrivacy     exitCode = 15  // a privacy gate is shut
	exitInterrupted exitCode = 130 // SIGINT
	exitTerminated  exitCode = 143 // SIGTERM
)

// exitCodes lists all of them, in order.
var exitCodes = []exitCode{
	exitDone, exitFailed, exitQuarantined, exitNothing, exitConfig, exitLocked, exitKey,
	exitIntegrity, exitDiskFull, exitPrivacy, exitInterrupted, exitTerminated,
}

var exitNames = map[exitCode]string{
	exitDone: "done", exitFailed: "failed", exitQuarantined: "quarantined", exitNothing: "nothing_to_do",
	exitConfig: "configuration", exitLocked: "locked", exitKey: "key", exitIntegrity: "integrity",
	exitDiskFull: "disk_full", exitPrivacy: "privacy", exitInterrupted: "interrupted", exitTerminated: "terminated",
}

// String returns the name used in JSON.
func (c exitCode) String() string { return exitNames[c] }

// An exitError is an error that knows how the process ends and what the
// reader can do about it.
type exitError struct {
	code   exitCode
	err    error
	remedy string // "" when there is none to give
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// exit returns err with its exit code and a remedy: what to do now, as an
// order ("free some space and start again").
func exit(code exitCode, err error, remedy string) error {
	return &exitError{code: code, err: err, remedy: remedy}
}

// exitf is exit with the error's text in place.
func exitf(code exitCode, remedy, format string, args ...any) error {
	return exit(code, fmt.Errorf(format, args...), remedy)
}

var (
	errInterrupted = errors.New("stopped by SIGINT")
	errTerminated  = errors.New("stopped by SIGTERM")
)

// exitCauses maps errors of other packages to exit codes and remedies ("" when
// the error gives its own). The first that matches counts; an exitError goes
// before all of them.
var exitCauses = []struct {
	matches func(error) bool
	code    exitCode
	remedy  string
}{
	{is(errInterrupted), exitInterrupted, "the same command goes on where this one stopped"},
	{is(errTerminated), exitTerminated, "the same command goes on where this one stopped"},
	{is(syscall.ENOSPC), exitDiskFull, "free some space, then start again"},
	{is(syscall.EDQUOT), exitDiskFull, "raise the quota, then start again"},
	{as[*pipeline.LockedError], exitLocked, "wait until it ends, or write elsewhere"},
	{as[*pipeline.KeyError], exitKey, ""},
	{as[*pipeline.IntegrityError], exitIntegrity, "put the file back as it was, or start over"},
	{pipeline.DiskFailed, exitFailed, "look at the disk, then start again: it goes on where it stopped"},
	{as[*pipeline.DamageError], exitIntegrity, "fetch the file again"},
	{is(modelfile.ErrDamaged), exitIntegrity, "fetch the model again"},
	{is(modelfile.ErrNotAModel), exitConfig, "name a model file, or an embedded model"},
	{is(modelfile.ErrVersion), exitConfig, "install a newer velum"},
	{as[*features.SyntaxError], exitConfig, "correct the feature template"},
	{as[*read.SchemaError], exitConfig, ""},
	{is(errDeadline), exitFailed, "raise run.deadline, or start again: it goes on where it stopped"},
	{is(context.DeadlineExceeded), exitFailed, "raise run.deadline, or start again: it goes on where it stopped"},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// explain returns the code and the remedy of an error.
func explain(err error) (exitCode, string) {
	if err == nil {
		return exitDone, ""
	}
	var e *exitError
	if errors.As(err, &e) {
		return e.code, e.remedy
	}
	for _, c := range exitCauses {
		if c.matches(err) {
			return c.code, c.remedy
		}
	}
	return exitFailed, ""
}

// exitCodeOf returns the code that the process ends with.
func exitCodeOf(err error) exitCode {
	code, _ := explain(err)
	return code
}

// printExit writes the last words of a run: the mistakes of a configuration,
// a line each, then one line that says what, where and what to do. With asJSON
// it is one JSON line, the last on stderr.
func printExit(w io.Writer, err error, asJSON bool) {
	if err == nil {
		return
	}
	code, remedy := explain(err)
	var c *configError
	errors.As(err, &c)
	if asJSON {
		printExitJSON(w, code, err, remedy, c)
		return
	}
	if c != nil {
		for _, m := range c.mistakes {
			fmt.Fprintln(w, m)
		}
	}
	line := "velum: " + oneLine(err.Error())
	if remedy != "" {
		line += "; " + remedy
	}
	fmt.Fprintln(w, line)
}

func printExitJSON(w io.Writer, code exitCode, err error, remedy string, c *configError) {
	out := struct {
		Kind     string    `json:"message_type"`
		Code     exitCode  `json:"code"`
		Name     string    `json:"name"`
		Error    string    `json:"error"`
		Remedy   string    `json:"remedy,omitempty"`
		Mistakes []mistake `json:"mistakes,omitempty"`
	}{Kind: "exit_error", Code: code, Name: code.String(), Error: oneLine(err.Error()), Remedy: remedy}
	if c != nil {
		out.Mistakes = c.mistakes
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(out) // nobody is left to tell if stderr is gone
}

// oneLine keeps a message on its line: no file name or library error may
// break the line or move the cursor.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
}

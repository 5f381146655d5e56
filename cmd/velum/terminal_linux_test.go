package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a pseudo-terminal of 40 columns.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here")
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 40}))
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	return master, slave
}

// screen keeps what a program wrote on a terminal.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	some chan struct{} // closed with the first byte
	keys io.Writer     // what is typed
}

func (s *screen) read(from io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		s.mu.Lock()
		if n > 0 && s.text.Len() == 0 {
			close(s.some)
		}
		s.text.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return // EIO: the other end is closed
		}
	}
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// onTerminal begins velum in a folder with a terminal for all three streams.
func onTerminal(t *testing.T, dir, term string, args ...string) (*exec.Cmd, *screen, chan error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	master, slave := openTerminal(t)
	c := velumCommand(self, args...)
	c.Dir, c.Env = dir, append(c.Env, "TERM="+term)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	seen := &screen{some: make(chan struct{}), keys: master}
	t.Cleanup(func() { _ = c.Process.Kill() })
	go seen.read(master)
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	return c, seen, done
}

// terminalFiles makes what the verbs work on. All notes are invented.
func terminalFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{
		{"teach", "synth", "--notes", "300", "--seed", "3", "--split", "train", "--density", "5", "--out", "train.jsonl", "--quiet"},
		{"teach", "synth", "--notes", "400", "--seed", "1", "--out", "archive", "--to", "archive", "--quiet"},
		{"teach", "synth", "--notes", "30000", "--seed", "2", "--out", "large", "--to", "archive", "--quiet"},
	} {
		c := exec.CommandContext(t.Context(), "/proc/self/exe")
		c.Args, c.Dir, c.Env = append([]string{"velum"}, args...), dir, append(os.Environ(), "VELUM_CONFIG=")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", args[0], err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "archive", "damaged.parquet"), []byte("PAR1 cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTerminal runs every verb with progress on a terminal: what only ran
// through pipes hung for users, since the end of a bar waited for its total.
func TestTerminal(t *testing.T) {
	dir := terminalFiles(t)
	few := []string{"--set", "train.iterations=5000"} // far fewer than the bar was told
	for _, tt := range []struct {
		name string
		code int
		args []string
	}{
		{"train", 0, append([]string{"teach", "train", "--train", "train.jsonl", "--dev", "train.jsonl", "--out", "tiny.velum"}, few...)},
		{"run beside a damaged file", 3, []string{"run", "--in", "archive", "--out", "masked"}},
		{"tag", 0, []string{"model", "tag", "--in", "train.jsonl", "--out", "tagged.jsonl"}},
		{"evaluate", 0, []string{"prove", "evaluate", "--gold", "train.jsonl", "--model", "primary-care", "--draws", "-1"}},
		{"convert", 0, []string{"teach", "convert", "--in", "train.jsonl", "--out", "train.csv"}},
		{"synth", 0, []string{"teach", "synth", "--notes", "200", "--seed", "5", "--out", "more.jsonl"}},
		{"embed", 0, []string{"teach", "embed", "--in", "train.jsonl", "--out", "words.velum", "--min-notes", "1", "--set", "run.workers=1"}},
		{"learn", 0, append([]string{"teach", "learn", "--in", "large", "--gold", "train.jsonl", "--out", "learned", "--set", "learn.turns=1", "--set", "learn.slice=1000"}, few...)},
	} {
		for _, term := range []string{"xterm-256color", "dumb"} {
			if term == "dumb" && tt.name != "train" {
				continue
			}
			t.Run(tt.name+" "+term, func(t *testing.T) {
				c, seen, done := onTerminal(t, dir, term, tt.args...)
				select {
				case <-done:
				case <-time.After(2 * time.Minute):
					t.Fatal("does not end on a terminal")
				}
				if got := c.ProcessState.ExitCode(); got != tt.code {
					t.Errorf("exit code %d, want %d: %s", got, tt.code, seen)
				}
				if term == "dumb" && strings.Contains(seen.String(), "\x1b") {
					t.Error("escape sequences on a terminal that knows none")
				}
			})
		}
	}
}

// TestTerminalInterrupt wants Ctrl-C to end a verb at once, in the middle of
// its bar: 2 s, and some for a machine that does other things.
func TestTerminalInterrupt(t *testing.T) {
	dir := terminalFiles(t)
	for _, args := range [][]string{
		{"run", "--in", "large", "--out", "stopped", "--workers", "1"},
		{"teach", "train", "--train", "train.jsonl", "--out", "stopped.velum", "--set", "train.iterations=100000"},
		{"model", "explain", "-"},
		{"start", "--in", "large", "--out", "first", "--workers", "1"},
		{"teach", "study", "folds", "--gold", "train.jsonl", "--out", "compared", "--kinds", "crf", "--labels", "primary-care", "--set", "train.iterations=100000"},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			c, seen, done := onTerminal(t, dir, "xterm-256color", args...)
			select {
			case <-seen.some:
			case err := <-done:
				t.Fatalf("ended before its progress began: %v: %s", err, seen)
			case <-time.After(time.Minute):
				t.Fatal("no progress on a terminal")
			}
			asked := time.Now()
			if err := c.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			select {
			case <-done:
			case <-time.After(30 * time.Second):
				t.Fatal("does not end on SIGINT")
			}
			if took := time.Since(asked); took > 5*time.Second {
				t.Errorf("took %v to end", took)
			}
			if code := c.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit code %d: %s", code, seen)
			}
		})
	}
}

// TestInitAsks answers what velum init asks on a terminal: Enter takes what is proposed, a
// column that there is not is asked for again, - is none. Ctrl-C ends it, and nothing is written.
func TestInitAsks(t *testing.T) {
	const table = "NHC;FECHA;CURSO;OBSERVACIONES;CLAVE\n1;01/02/2026;Acude por tos y fiebre;La hija pide un informe;k1\n2;02/02/2026;Dolor de espalda desde ayer;Se avisa a la familia;k2\n"
	for _, tt := range []struct {
		name, keys string
		code       int
		want       []string // lines of the configuration
	}{
		{"enter", "\n\n\n\n", 0, []string{"text: CURSO", "id: [CLAVE]", "patient: NHC", "date: FECHA"}},
		{"others", "nota\nOBSERVACIONES\n\n-\n-\n", 0, []string{"text: OBSERVACIONES", "id: [CLAVE]"}},
		{"interrupted", "\x03", 130, nil},
		{"no more", "\n\x04", 10, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "evol.csv"), []byte(table), 0o600); err != nil {
				t.Fatal(err)
			}
			c, seen, done := onTerminal(t, dir, "xterm-256color", "init", "evol.csv")
			if tt.code == 130 { // the keyboard of no session sends no signals
				for !strings.Contains(seen.String(), "text column") {
					time.Sleep(10 * time.Millisecond)
				}
				if err := c.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			} else if _, err := io.WriteString(seen.keys, tt.keys); err != nil {
				t.Fatal(err)
			}
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatalf("does not end: %s", seen)
			}
			if code := c.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("exit code %d, want %d: %s", code, tt.code, seen)
			}
			written, err := os.ReadFile(filepath.Join(dir, "velum.yaml"))
			if (err == nil) != (tt.code == 0) {
				t.Errorf("velum.yaml: %v", err)
			}
			for _, line := range tt.want {
				if !strings.Contains(string(written), "    "+line+" ") {
					t.Errorf("no %q in:\n%s", line, written)
				}
			}
			if tt.name == "others" && strings.Contains(string(written), "patient:") {
				t.Error("a patient that was refused")
			}
		})
	}
}

// TestInterview answers what velum evidence asks on a terminal: what is said is kept for the house, Enter leaves a question open, what
// is no answer is asked again, and a second interview asks only what is open.
func TestInterview(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.csv"), []byte("id,text\n1,Acude por tos\n2,Acude por fiebre\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	interview := func(keys string) string {
		t.Helper()
		c, seen, done := onTerminal(t, dir, "xterm-256color", "evidence", "out", "--interview")
		if _, err := io.WriteString(seen.keys, keys); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatalf("does not end: %s", seen)
		}
		if code := c.ProcessState.ExitCode(); code != 0 {
			t.Fatalf("exit code %d: %s", code, seen)
		}
		return seen.String()
	}
	c, seen, done := onTerminal(t, dir, "xterm-256color", "run", "--in", "notes.csv", "--out", "out", "--id-column", "id", "--text-column", "text")
	if err := <-done; err != nil {
		t.Fatalf("%v %v: %s", c.Args, err, seen)
	}
	first := interview("the study of falls\n\nHospital: \"A\"\n\x04")
	file := filepath.Join(dir, "house.yaml")
	want := []string{"purpose: \"the study of falls\"\n", "\nrecipients:\n", `controller: "Hospital: \"A\""` + "\n"}
	said, err := os.ReadFile(file)
	for _, line := range want {
		if err != nil || !strings.Contains(string(said), line) {
			t.Errorf("%v, no %q in:\n%s\n%s", err, line, said, first)
		}
	}
	second := interview("institute A\n\x04")
	if said, _ := os.ReadFile(file); strings.Count(second, "> ") != 2 || !strings.Contains(string(said), "recipients: \"institute A\"\n") || !strings.Contains(string(said), want[0]) {
		t.Errorf("%s\n%s", second, said)
	}
}

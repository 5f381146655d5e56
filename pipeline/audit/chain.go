package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
)

// chain follows a log line by line.
type chain struct {
	report Report

	at   int // number in the file of the last line that is where it belongs; 0 before the first
	n    int64
	hash [32]byte // of that line

	broken    []brokenLine // lines that are not whole, just before
	torn      hash.Hash    // of their bytes
	tornBytes int64
}

type brokenLine struct{ sealed, ended bool } // it ends as a whole line does, right or not; in a newline

// Verify reads a log and reports every line that was changed, removed or inserted; a moved line is removed in one place
// and inserted in another. If head is not empty, the log must contain a line with that hash, as noted elsewhere. The
// error is from reading the log.
func Verify(r io.Reader, head string) (*Report, error) {
	c := chain{report: Report{Recovered: []int{}, Findings: []Finding{}}, torn: sha256.New()}
	lines, noted := newAuditScanner(r), 0
	for lines.Scan() {
		c.report.Lines++
		line := lines.Bytes()
		l, whole := parseAuditLine(line)
		if whole {
			if c.line(&l, sha256.Sum256(line)); strings.EqualFold(c.report.Head, head) {
				noted = c.report.Lines
			}
			continue
		}
		c.broken = append(c.broken, brokenLine{hasSum(line), line[len(line)-1] == '\n'})
		c.torn.Write(line)
		c.tornBytes += int64(len(line))
	}
	c.end()
	if c.report.Behind = c.report.Lines - noted; head == "" {
		c.report.Behind = 0
	} else if noted == 0 {
		c.note(c.report.Lines+1, "removed", "the noted head is the hash of no line: lines were cut off, or all were written anew")
	}
	slices.SortStableFunc(c.report.Findings, func(a, b Finding) int { return a.Line - b.Line })
	return &c.report, lines.Err()
}

func newAuditScanner(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), 2*maxAuditLine)
	lines.Split(auditLines)
	return lines
}

// auditLines splits behind every newline, and where a line is too long to be
// one.
func auditLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if len(data) > 0 && (atEOF || len(data) >= maxAuditLine) {
		return len(data), data, nil
	}
	return 0, nil, nil
}

func (c *chain) note(line int, kind, format string, args ...any) {
	c.report.Findings = append(c.report.Findings, Finding{line, kind, fmt.Sprintf(format, args...)})
}

// line takes a whole line. Those that are not whole before it may be what a crash has torn, if it says so.
func (c *chain) line(l *auditLine, hash [32]byte) {
	now, n, broken := c.report.Lines, c.n+1, c.broken
	follows := l.N == n && l.Prev == hex.EncodeToString(c.hash[:])
	names := l.Torn != nil && l.Torn.Bytes == c.tornBytes && l.Torn.SHA256 == hex.EncodeToString(c.torn.Sum(nil))
	c.report.Head = hex.EncodeToString(hash[:])
	c.broken, c.tornBytes = nil, 0
	c.torn.Reset()
	sealed := false
	for _, b := range broken {
		sealed = sealed || b.sealed
	}
	recovers := len(broken) > 0 && names && !sealed && follows
	for k := range broken {
		if !recovers {
			c.changed(now - len(broken) + k)
		}
	}
	switch {
	case recovers:
		c.report.Recovered = append(c.report.Recovered, now)
	case len(broken) > 0 && l.N == n+int64(len(broken)): // its link leads to a line that was changed
	case follows && l.Event == recovered && !names:
		c.note(now, "removed", "the torn line that it records is gone or changed")
	case follows:
	case l.N == n+1:
		c.note(now, "removed", "line %d, which stood before it, is gone", n)
	case l.N > n:
		c.note(now, "removed", "lines %d to %d, which stood before it, are gone", n, l.N-1)
	case l.N < n:
		c.note(now, "inserted", "the lines around it have its number, or a higher one")
		return
	case c.at > 0:
		c.note(c.at, "changed", "line %d was written behind another line than this", now)
	default:
		c.note(now, "changed", "it is the first line and names one before it")
	}
	c.at, c.n, c.hash = now, l.N, hash
}

// end takes the lines at the end that are not whole.
func (c *chain) end() {
	for k, b := range c.broken {
		if at := c.report.Lines - len(c.broken) + 1 + k; b.ended || b.sealed {
			c.changed(at)
		} else {
			c.note(at, "torn", "a run was killed while it wrote this line; the next one will record it")
		}
	}
}

func (c *chain) changed(line int) { c.note(line, "changed", "its own sum is wrong") }

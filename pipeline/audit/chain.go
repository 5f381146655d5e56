package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
)

// auditLink holds the fields of a line of a log that the check reads.
type auditLink struct {
	hash, prev [32]byte
	n          int64
	event      string
	whole      bool // its own sum is right
	sealed     bool // it ends as a whole line does, right or not
	ended      bool // it ends in a newline
	names      bool // it records the torn bytes that stand before it, as they are
	skipped    bool // it is not where it belongs
}

// auditChain is a log that is being checked. A line has at most some hundred
// bytes here, so a log of many years fits into memory.
type auditChain struct {
	links  []auditLink
	byHash map[[32]byte]int
	byN    map[int64]int // last line with that number
	report Report

	at int // the last line that is where it belongs; -1 before the first
}

// readChain reads all lines.
func readChain(r io.Reader) (*auditChain, error) {
	c := &auditChain{byHash: map[[32]byte]int{}, byN: map[int64]int{}, at: -1}
	c.report = Report{Recovered: []int{}, Findings: []Finding{}}
	lines := newAuditScanner(r)
	torn, tornBytes := sha256.New(), int64(0)
	for lines.Scan() {
		link := newAuditLink(lines.Bytes(), torn, tornBytes)
		if link.whole {
			torn.Reset()
			tornBytes = 0
		} else {
			torn.Write(lines.Bytes())
			tornBytes += int64(len(lines.Bytes()))
		}
		c.add(link)
	}
	c.report.Lines = len(c.links)
	return c, lines.Err()
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

func newAuditLink(line []byte, torn hash.Hash, tornBytes int64) auditLink {
	l, whole := parseAuditLine(line)
	link := auditLink{
		hash: sha256.Sum256(line), n: l.N, event: l.Event, whole: whole,
		sealed: hasSum(line), ended: line[len(line)-1] == '\n',
	}
	prev, err := hex.DecodeString(l.Prev)
	if err != nil || len(prev) != sha256.Size {
		link.whole = false
	}
	copy(link.prev[:], prev)
	if l.Torn != nil {
		link.names = l.Torn.Bytes == tornBytes && l.Torn.SHA256 == hex.EncodeToString(torn.Sum(nil))
	}
	return link
}

func (c *auditChain) add(link auditLink) {
	i := len(c.links)
	c.links = append(c.links, link)
	if !link.whole {
		return
	}
	if _, twice := c.byHash[link.hash]; !twice {
		c.byHash[link.hash] = i
	}
	c.byN[link.n] = i
	c.report.Head = hex.EncodeToString(link.hash[:])
}

func (c *auditChain) note(i int, kind, format string, args ...any) {
	c.report.Findings = append(c.report.Findings, Finding{i + 1, kind, fmt.Sprintf(format, args...)})
}

// last returns number and hash of the last line that is where it belongs.
func (c *auditChain) last() (n int64, hash [32]byte) {
	if c.at < 0 {
		return 0, hash
	}
	return c.links[c.at].n, c.links[c.at].hash
}

// walk goes through the lines and notes what is wrong.
func (c *auditChain) walk() {
	broken := 0 // lines that are not whole, just before
	for i := range c.links {
		if !c.links[i].whole {
			broken++
			continue
		}
		if broken > 0 {
			c.afterBroken(i, broken)
		} else {
			c.follow(i)
		}
		broken = 0
	}
	for i := len(c.links) - broken; i < len(c.links); i++ {
		if l := &c.links[i]; !l.ended && !l.sealed {
			c.note(i, "torn", "a run was killed while it wrote this line; the next one will record it")
		} else {
			c.changed(i)
		}
	}
	slices.SortStableFunc(c.report.Findings, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
}

func (c *auditChain) changed(i int) { c.note(i, "changed", "its own sum is wrong") }

// afterBroken takes the whole line i behind some that are not. They may be
// what a crash has torn, if line i says so.
func (c *auditChain) afterBroken(i, broken int) {
	l := &c.links[i]
	n, hash := c.last()
	sealed := slices.ContainsFunc(c.links[i-broken:i], func(l auditLink) bool { return l.sealed })
	if l.names && !sealed && l.n == n+1 && l.prev == hash {
		c.report.Recovered = append(c.report.Recovered, i+1)
		c.at = i
		return
	}
	for k := i - broken; k < i; k++ {
		c.changed(k)
	}
	if l.n == n+1+int64(broken) {
		c.at = i // its link leads to a line that was changed
		return
	}
	c.follow(i)
}

// follow takes line i behind the last that is where it belongs.
func (c *auditChain) follow(i int) {
	l := &c.links[i]
	n, hash := c.last()
	switch {
	case l.n == n+1 && l.prev == hash:
		if l.event == recovered && !l.names {
			c.note(i, "removed", "the torn line that it records is gone or changed")
		}
		c.at = i
	case l.n > n+1:
		c.ahead(i)
	case l.n <= n:
		c.behind(i)
	case c.at >= 0:
		c.note(c.at, "changed", "line %d was written behind another line than this", i+1)
		c.at = i
	default:
		c.note(i, "changed", "it is the first line and names one before it")
		c.at = i
	}
}

// ahead takes a line whose number is too high.
func (c *auditChain) ahead(i int) {
	l := &c.links[i]
	n, _ := c.last()
	from, known := c.byHash[l.prev]
	if later, ok := c.byN[n+1]; ok && later > i {
		c.note(i, "reordered", "it was line %d; line %d stands behind it", l.n, n+1)
		l.skipped = true
		return
	}
	switch {
	case known && from < i && c.links[from].skipped: // goes on behind lines that were moved
	case l.n == n+2:
		c.note(i, "removed", "line %d, which stood before it, is gone", n+1)
	default:
		c.note(i, "removed", "lines %d to %d, which stood before it, are gone", n+1, l.n-1)
	}
	c.at = i
}

// behind takes a line whose number was there already: it, or the lines
// between it and the one that it follows, were inserted.
func (c *auditChain) behind(i int) {
	l := &c.links[i]
	_, hash := c.last()
	first := c.byHash[l.hash]
	from, known := c.byHash[l.prev]
	goesOn := i+1 < len(c.links) && c.links[i+1].prev == hash // the next line does not need this one
	switch {
	case first < i:
		c.note(i, "inserted", "it is a copy of line %d", first+1)
		l.skipped = true
	case known && from < i && !goesOn:
		for k := from + 1; k < i; k++ {
			c.note(k, "inserted", "line %d goes on behind line %d", i+1, from+1)
		}
		c.at = i
	default:
		c.note(i, "inserted", "the lines around it follow each other without it")
		l.skipped = true
	}
}

// findHead looks for a line by its noted hash.
func (c *auditChain) findHead(head string) {
	if head == "" {
		return
	}
	var want [32]byte
	if raw, err := hex.DecodeString(head); err == nil && len(raw) == len(want) {
		copy(want[:], raw)
	}
	if i, ok := c.byHash[want]; ok {
		c.report.Behind = len(c.links) - 1 - i
		return
	}
	c.note(len(c.links), "removed", "the noted head is the hash of no line: lines were cut off, or all were written anew")
}

// Command identifiers counts in how many lines of notes without identifiers
// models/patterns finds one: false positives, by category. Dates and ages are
// left out, which such notes have.
//
//	go run ./scripts/bench/identifiers ../shared/data/unlabelled-es-clinical/{cantemist,codiesp}.jsonl.gz
//
// In come JSONL files, packed with gzip or not, with a field text. It prints
// counts and line numbers, no text.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/velum-health/velum/models/patterns"
	"github.com/velum-health/velum/models/view"
	"github.com/velum-health/velum/pipeline"
)

func main() {
	for _, path := range os.Args[1:] {
		c := counter{matcher: patterns.New(patterns.Options{}), by: map[string]int{}}
		if err := c.file(path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d lines, %d with an identifier (%.3f %%) %v\n", path, c.lines, c.hit, 100*float64(c.hit)/float64(max(c.lines, 1)), c.by)
	}
}

// counter counts the lines of a file.
type counter struct {
	matcher    *patterns.Matcher
	lines, hit int
	by         map[string]int // matches by category
	found      []pipeline.Match
}

func (c *counter) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	rows := bufio.NewScanner(in)
	rows.Buffer(nil, 1<<26)
	for n := 1; rows.Scan(); n++ {
		var note struct{ Text string }
		if json.Unmarshal(rows.Bytes(), &note) != nil {
			return fmt.Errorf("row %d is no JSON object with a text", n)
		}
		for line := range bytes.Lines([]byte(note.Text)) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				c.line(line)
			}
		}
	}
	return rows.Err()
}

func (c *counter) line(text []byte) {
	if !view.Plain(text) {
		text, _ = view.Append(nil, nil, text)
	}
	c.found = c.matcher.Find(c.found[:0], text)
	hit := false
	for i := range c.found {
		if k := c.found[i].Category.Kind(); !c.found[i].Hint() && k != pipeline.DateKind && k != pipeline.AgeKind {
			hit = true
			c.by[c.found[i].Category.String()]++
		}
	}
	c.lines++
	if hit {
		c.hit++
	}
}

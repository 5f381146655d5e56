// Command borders measures how many gold spans of brat folders start and end
// at a token border. A span that does not can never be found exactly.
//
//	go run ./scripts/experiments/borders DIR...
//
// It prints a line a folder and, for every span that misses, document, id of
// the span and offsets; never text.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
	"github.com/velum-health/velum/stages/tokenize"
)

func main() {
	atLeast := flag.Float64("at-least", 0, "exit with 1 if a folder's share is lower (0.999)")
	flag.Parse()
	low := false
	for _, dir := range flag.Args() {
		f, err := measure(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "borders:", err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d of %d spans at token borders (%.3f %%), %d documents, %d tokens, %.1f ns a token\n",
			dir, f.hits, f.spans, 100*f.share(), f.documents, f.tokens, float64(f.spent)/float64(max(f.tokens, 1)))
		low = low || f.share() < *atLeast
	}
	if low {
		os.Exit(1)
	}
}

// figures of a folder.
type figures struct {
	documents, tokens, spans, hits int
	spent                          time.Duration
}

func (f figures) share() float64 { return float64(f.hits) / float64(max(f.spans, 1)) }

func measure(dir string) (f figures, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(names) == 0 {
		return f, fmt.Errorf("no .txt files in %s", dir)
	}
	for _, name := range names {
		if err := f.add(name); err != nil {
			return f, err
		}
	}
	return f, nil
}

// add counts the spans of one document.
func (f *figures) add(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	gold, err := os.ReadFile(strings.TrimSuffix(name, ".txt") + ".ann")
	if err != nil {
		return err
	}
	begin := time.Now()
	tokens := new(tokenize.Tokenizer).Tokens(nil, text)
	f.spent += time.Since(begin)
	f.documents++
	f.tokens += len(tokens)
	starts, ends := borders(tokens)
	var points offset.Index
	points.Reset(text, offset.CodePoints)
	for line := range bytes.Lines(gold) {
		if line[0] != 'T' {
			continue
		}
		id, start, end, err := span(string(line))
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		f.spans++
		first, ok1 := points.ToByte(start)
		last, ok2 := points.ToByte(end)
		if !ok1 || !ok2 {
			return fmt.Errorf("%s: %s lies outside the text", filepath.Base(name), id)
		}
		if starts[first] && ends[last] {
			f.hits++
			continue
		}
		fmt.Printf("miss: %s %s %d-%d\n", filepath.Base(name), id, start, end)
	}
	return nil
}

// borders returns the bytes at which tokens start and end.
func borders(tokens []pipeline.Token) (starts, ends map[int]bool) {
	starts, ends = map[int]bool{}, map[int]bool{}
	for _, t := range tokens {
		starts[int(t.Start)] = true
		ends[int(t.End)] = true
	}
	return starts, ends
}

// span reads a line such as "T1<tab>FECHAS 215 225<tab>words"; of a span in
// pieces, from the first to the last.
func span(line string) (id string, start, end int, err error) {
	columns := strings.Split(line, "\t")
	if len(columns) < 3 {
		return "", 0, 0, fmt.Errorf("a T line has fewer than three columns")
	}
	id = columns[0]
	places := strings.FieldsFunc(columns[1], func(r rune) bool { return r == ' ' || r == ';' })
	if len(places) < 3 {
		return id, 0, 0, fmt.Errorf("%s has no offsets", id)
	}
	start, err1 := strconv.Atoi(places[1])
	end, err2 := strconv.Atoi(places[len(places)-1])
	if err1 != nil || err2 != nil {
		return id, 0, 0, fmt.Errorf("%s has an offset that is no number", id)
	}
	return id, start, end, nil
}

// Command dates measures the reader of dates alone, without a tagger, on notes
// whose dates people have marked. In: JSONL files with id, text and spans as
// tools/nubes_phi.py and the labelled folders have them. Out: a table of recall
// and precision by part: of matches, and of matches and hints together, whole
// spans and spans that are touched. What was developed on and what judges is
// told apart by writer or document: those of an odd hash are held back.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/patterns"
	"github.com/velum-health/velum/pipeline"
)

type note struct {
	ID    string
	Text  string
	Spans []struct {
		Start, End int
		Label      string
	}
}

// source returns the writer or document of a note.
func source(id string) string {
	_, rest, _ := strings.Cut(id, ":")
	switch {
	case !strings.HasPrefix(id, "voice:"):
		return strings.SplitN(id, ":", 3)[min(1, strings.Count(id, ":")-1)]
	case strings.Contains(rest, "-"):
		return rest[:strings.Index(rest, "-")]
	}
	return rest[:len(rest)-3]
}

// score counts the dates of one part.
type score struct{ gold, whole, touched, seen, found, right, hints int }

func (s score) String() string {
	share := func(a, b int) float64 { return float64(a) / float64(max(b, 1)) }
	return fmt.Sprintf("%5d %6.3f %6.3f %6.3f %6d %6.3f %6d", s.gold, share(s.whole, s.gold), share(s.touched, s.gold), share(s.seen, s.gold),
		s.found, share(s.right, s.found), s.hints)
}

func main() {
	kinds := flag.Bool("kinds", false, "a row for each writer or kind of document")
	show := flag.String("show", "", "print what is missed or wrong in this half: developed or held (for training notes on one's own terminal)")
	flag.Parse()
	m := patterns.New(patterns.Options{Categories: []pipeline.Category{mustDate()}})
	rows := map[string]*score{}
	for _, path := range flag.Args() {
		if err := read(path, func(n *note) {
			src := source(n.ID)
			h := fnv.New32()
			h.Write([]byte(src))
			half := [2]string{"developed", "held"}[h.Sum32()>>7&1]
			part := strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".jsonl") + " " + half
			if strings.HasPrefix(n.ID, "voice:") {
				part = "voices " + half
			} else if strings.HasPrefix(n.ID, "ca:") {
				part = "ca " + half
			}
			if *kinds {
				part += " " + kind(src)
			}
			if rows[part] == nil {
				rows[part] = new(score)
			}
			rows[part].add(m, n, *show == half)
		}); err != nil {
			fmt.Fprintln(os.Stderr, "dates:", err)
			os.Exit(1)
		}
	}
	names := make([]string, 0, len(rows))
	for name := range rows {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Printf("%-40s %5s %6s %6s %6s %6s %6s %6s\n", "part", "gold", "whole", "touch", "seen", "found", "right", "hints")
	for _, name := range names {
		fmt.Printf("%-40s %v\n", name, rows[name])
	}
}

// kind returns the department of a document, or the writer.
func kind(src string) string {
	if f := strings.Split(src, "."); len(f) > 1 {
		return f[1]
	}
	return src
}

func mustDate() pipeline.Category {
	c, err := pipeline.ParseCategory("DATE")
	if err != nil {
		panic(err) // the registry of pipeline is fixed when the program is built
	}
	return c
}

func read(path string, each func(*note)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for k := 1; lines.Scan(); k++ {
		var n note
		if json.Unmarshal(lines.Bytes(), &n) != nil {
			return fmt.Errorf("%s:%d: no note in JSON", path, k)
		}
		each(&n)
	}
	return lines.Err()
}

// add counts one note. Seen is what a hint touches, too.
func (s *score) add(m *patterns.Matcher, n *note, show bool) {
	text := []byte(n.Text)
	found := m.Find(nil, text)
	used := make([]bool, len(found))
	for _, g := range n.Spans {
		if g.Label != "DATE" {
			continue
		}
		start, end := byteOf(n.Text, g.Start), byteOf(n.Text, g.End)
		whole, touched, seen := false, false, false
		for k, f := range found {
			if f.Start < end && start < f.End {
				seen = true
				if !f.Hint() {
					touched, used[k] = true, true
					whole = whole || f.Start == start && f.End == end
				}
			}
		}
		s.gold++
		s.whole += count(whole)
		s.touched += count(touched)
		s.seen += count(seen)
		if show && !whole {
			fmt.Printf("%s touched=%v seen=%v %s\n", n.ID, touched, seen, around(text, start, end))
		}
	}
	for k, f := range found {
		if f.Hint() {
			s.hints++
			continue
		}
		s.found++
		s.right += count(used[k])
		if show && !used[k] {
			fmt.Printf("%s false %s\n", n.ID, around(text, f.Start, f.End))
		}
	}
}

// byteOf returns where character k of text begins.
func byteOf(text string, k int) int32 {
	for i := range text {
		if k == 0 {
			return int32(i)
		}
		k--
	}
	return int32(len(text))
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func around(text []byte, i, j int32) string {
	return string(text[max(i-30, 0):i]) + "[" + string(text[i:j]) + "]" + string(text[j:min(int(j)+20, len(text))])
}

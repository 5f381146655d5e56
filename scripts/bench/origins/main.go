// Command origins prints how many names of people of thirty origins are
// masked: `make origins`. Every origin has 96 names in notes of templates that
// `velum synth` does not use, six in ten as given name and surname, the others
// surname first, with a comma, in small letters, with an initial. A name is
// masked when all its words are. It fails when an origin lies under the floor
// or further than five points (-behind) under Spanish; -draws takes more names.
//
//	go run ./scripts/bench/origins -velum bin/velum -model primary-care
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/models/gazetteer"
)

//go:embed names.txt
var namesText string

//go:embed templates.txt
var templatesText string

const (
	each  = 96   // names an origin and draw
	floor = 0.90 // share masked
)

// origin is a line of names.txt and what became of its names.
type origin struct {
	name            string
	given, surnames []string
	names           int
	masked, listed  int // listed: the surname stands in a list
	lower, lowerOf  int
	comma, commaOf  int
}

// note is a note with a name.
type note struct {
	ID         string `json:"id"`
	Text       string `json:"text"`
	origin     int
	form       int
	start, end int // of the name, in characters
}

// Forms of a name.
const (
	plain = iota
	twoSurnames
	surnameFirst
	withComma
	smallLetters
	withInitial
	numForms
)

// forms of a name by its number.
var forms = [12]int{plain, plain, twoSurnames, plain, withComma, twoSurnames, smallLetters, plain, surnameFirst, twoSurnames, withComma, withInitial}

func main() {
	velum := flag.String("velum", "bin/velum", "binary")
	model := flag.String("model", "primary-care", "model, embedded or a file")
	profile := flag.String("profile", "primary-care", "profile")
	seed := flag.Uint64("seed", 1, "of what is drawn")
	draws := flag.Uint64("draws", 1, "draws of 96 names an origin, of this seed and the next ones")
	behind := flag.Float64("behind", 0.05, "how far an origin may lie behind the first, Spanish")
	misses := flag.Bool("misses", false, "print the names that were missed; they are invented")
	flag.Parse()
	if err := run(*velum, *model, *profile, *seed, *draws, *behind, *misses); err != nil {
		fmt.Fprintln(os.Stderr, "origins:", err)
		os.Exit(1)
	}
}

func run(velum, model, profile string, seed, draws uint64, behind float64, misses bool) error {
	origins, err := readOrigins()
	if err != nil {
		return err
	}
	var notes []note
	for d := range draws {
		notes = write(notes, origins, rand.New(rand.NewPCG(seed+d, 30)))
	}
	spans, err := tag(velum, model, profile, notes)
	if err != nil {
		return err
	}
	count(origins, notes, spans, misses)
	return judge(origins, behind)
}

func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

func readOrigins() (all []origin, err error) {
	for _, line := range lines(namesText) {
		parts := strings.Split(line, "|")
		if len(parts) != 3 {
			return nil, errors.New("names.txt: a line is origin | given names | surnames")
		}
		all = append(all, origin{name: strings.TrimSpace(parts[0]), given: words(parts[1]), surnames: words(parts[2])})
	}
	return all, nil
}

// words splits a list; a hyphen stands for the blank within a name.
func words(list string) []string {
	all := strings.Fields(list)
	for i, w := range all {
		all[i] = strings.ReplaceAll(w, "-", " ")
	}
	return all
}

// write adds the notes of a draw.
func write(notes []note, origins []origin, r *rand.Rand) []note {
	lists := gazetteer.Default()
	templates := lines(templatesText)
	for o := range origins {
		origins[o].names += each
		for k := range each {
			form := forms[k%len(forms)]
			given, surname, second := pick(r, origins[o].given), pick(r, origins[o].surnames), pick(r, origins[o].surnames)
			if lists.Classes([]byte(surname))&gazetteer.Surname != 0 {
				origins[o].listed++
			}
			before, behind, _ := strings.Cut(templates[(k+o)%len(templates)], "*")
			name := spell(form, given, surname, second)
			notes = append(notes, note{
				ID: fmt.Sprint("n", len(notes)), Text: before + name + behind, origin: o, form: form,
				start: utf8.RuneCountInString(before), end: utf8.RuneCountInString(before + name),
			})
		}
	}
	return notes
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func spell(form int, given, surname, second string) string {
	switch form {
	case twoSurnames:
		return given + " " + surname + " " + second
	case surnameFirst:
		return surname + " " + given
	case withComma:
		return surname + ", " + given
	case smallLetters:
		return strings.ToLower(given + " " + surname)
	case withInitial:
		return string([]rune(given)[:1]) + ". " + surname
	}
	return given + " " + surname
}

type span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// tag runs velum over the notes and returns the spans of each.
func tag(velum, model, profile string, notes []note) (map[string][]span, error) {
	dir, err := os.MkdirTemp("", "velum-origins-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out.jsonl")
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	for _, n := range notes {
		if err := e.Encode(n); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(in, text.Bytes(), 0o600); err != nil {
		return nil, err
	}
	c := exec.Command(velum, "tag", "--quiet", "--in", in, "--from", "jsonl", "--out", out, "--to", "jsonl", "--profile", profile, "--model", model)
	if said, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	f, err := os.Open(out)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	spans := map[string][]span{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		var row struct {
			ID    string `json:"id"`
			Spans []span `json:"spans"`
		}
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			return nil, errors.New("a row of the output is no JSON")
		}
		spans[row.ID] = row.Spans
	}
	return spans, s.Err()
}

func count(origins []origin, notes []note, spans map[string][]span, misses bool) {
	for i := range notes {
		n := &notes[i]
		o := &origins[n.origin]
		hidden := masked(n, spans[n.ID])
		switch n.form {
		case smallLetters:
			o.lowerOf++
			o.lower += hidden
		case withComma:
			o.commaOf++
			o.comma += hidden
		}
		o.masked += hidden
		if misses && hidden == 0 {
			fmt.Printf("missed, %s: %s\n", o.name, n.Text)
		}
	}
}

// masked returns 1 if every letter of the name lies in a span.
func masked(n *note, spans []span) int {
	at, text := n.start, []rune(n.Text)
	for _, s := range spans {
		if s.End > at && s.Start <= at {
			at = s.End
		}
		for at < n.end && strings.ContainsRune(" ,.", text[at]) {
			at++
		}
	}
	if at >= n.end {
		return 1
	}
	return 0
}

func judge(origins []origin, behind float64) error {
	share := func(n, of int) float64 { return float64(n) / float64(of) }
	fmt.Printf("%-22s %8s %14s %13s %15s\n", "origin", "masked", "Surname, Given", "small letters", "surname listed")
	var under []string
	all, names := 0, 0
	for _, o := range origins {
		all, names = all+o.masked, names+o.names
		fmt.Printf("%-22s %8.3f %14.2f %13.2f %15.2f\n", o.name, share(o.masked, o.names), share(o.comma, o.commaOf), share(o.lower, o.lowerOf), share(o.listed, o.names))
		if share(o.masked, o.names) < floor || share(o.masked, o.names) < share(origins[0].masked, origins[0].names)-behind {
			under = append(under, o.name)
		}
	}
	fmt.Printf("%-22s %8.3f\n", "all", share(all, names))
	if len(under) > 0 {
		return fmt.Errorf("under %.2f or %.0f points under Spanish: %s", floor, 100*behind, strings.Join(under, ", "))
	}
	return nil
}

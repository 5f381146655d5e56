// Command known measures how known people are found: `make known`. Every note of
// `velum synth` has its names of persons replaced by those of people who are in a
// table: the note's patient, a relative, a member of staff, each in one of the
// spellings of spellings.go; a third of the notes also get a date of birth, a
// telephone, a number or an address. All people are invented: names are drawn from
// the lists of models/gazetteer.
//
// A mention is found when all of its letters and digits lie in what was found; a
// false token is one that was found and is part of no mention. No model takes
// part. The program fails under 0.995 or over 0.001.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/models/people"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/recognize"
	"github.com/velum-health/velum/stages/synth"
	"github.com/velum-health/velum/stages/tokenize"
)

const (
	leastFound = 0.995
	mostFalse  = 0.001
	staffSize  = 500
)

// person is somebody invented.
type person struct {
	given, surname, second        string
	born                          time.Time
	telephone, id, street, number string
}

// mention is a place where a person was written.
type mention struct {
	start, end int
	form       string
}

// note is a note with its mentions.
type note struct {
	patient  string
	text     []byte
	mentions []mention
}

// maker makes people and notes.
type maker struct {
	rng              *rand.Rand
	givens, surnames []string
	staff            []person
}

func main() {
	notes := flag.Int("notes", 10_000, "how many notes")
	seed := flag.Uint64("seed", 1, "of everything that is drawn")
	missed := flag.Bool("missed", false, "print what was not found and what was in vain: all of it is invented")
	flag.Parse()
	log.SetFlags(0)
	if err := run(*notes, *seed, *missed); err != nil {
		log.Fatal(err)
	}
}

func run(n int, seed uint64, missed bool) error {
	m := newMaker(seed)
	file, err := os.CreateTemp("", "known-*")
	if err != nil {
		return err
	}
	defer file.Close()
	if err := os.Remove(file.Name()); err != nil {
		return err
	}
	b := people.NewBuilder(file)
	for i := range m.staff {
		if err := b.Add(append(m.staff[i].row(), people.Value{Field: people.RoleField, Text: "staff"})); err != nil {
			return err
		}
	}
	all, err := m.notes(n, seed, b)
	if err != nil {
		return err
	}
	table, err := b.Table(file)
	if err != nil {
		return err
	}
	c, err := look(all, table, missed)
	if err != nil {
		return err
	}
	return c.print(table)
}

func newMaker(seed uint64) *maker {
	m := &maker{rng: rand.New(rand.NewPCG(seed, 14))}
	for e, err := range gazetteer.Entries(gazetteer.Shipped()) {
		if err != nil {
			log.Fatal(err)
		}
		switch {
		case e.Class&gazetteer.GivenName != 0 && len(e.Form) > 2:
			m.givens = append(m.givens, e.Form)
		case e.Class&gazetteer.Surname != 0 && len(e.Form) > 2:
			m.surnames = append(m.surnames, e.Form)
		}
	}
	for range staffSize {
		m.staff = append(m.staff, m.person())
	}
	return m
}

func (m *maker) pick(list []string) string { return list[m.rng.IntN(len(list))] }

func (m *maker) digits(n int) string {
	b := []byte{}
	for range n {
		b = append(b, byte('0'+m.rng.IntN(10)))
	}
	return string(b)
}

func (m *maker) person() person {
	id := m.digits(8)
	k, _ := strconv.Atoi(id)
	return person{
		given: title(m.pick(m.givens)), surname: title(m.pick(m.surnames)), second: title(m.pick(m.surnames)),
		born:      time.Date(1920+m.rng.IntN(100), time.Month(1+m.rng.IntN(12)), 1+m.rng.IntN(28), 0, 0, 0, 0, time.UTC),
		telephone: "6" + m.digits(8), id: id + string("TRWAGMYFPDXBNJZSQVHLCKE"[k%23]),
		street: title(m.pick(m.surnames)), number: strconv.Itoa(1 + m.rng.IntN(300)),
	}
}

// row is the person's row of the table.
func (p *person) row() []people.Value {
	return []people.Value{
		{Field: people.Given, Text: p.given}, {Field: people.Surname, Text: p.surname}, {Field: people.Surname, Text: p.second},
		{Field: people.Birth, Text: p.born.Format(time.DateOnly)}, {Field: people.Telephone, Text: "+34 " + p.telephone},
		{Field: people.Identifier, Text: p.id}, {Field: people.Address, Text: "Calle " + p.street + ", " + p.number},
	}
}

// notes makes the notes, and puts their people into the table.
func (m *maker) notes(n int, seed uint64, b *people.Builder) (all []note, err error) {
	src := synth.New(synth.Options{Notes: int64(n), Seed: seed, Split: synth.Test, Density: 8})
	batch := new(pipeline.Batch)
	for {
		batch.Reset()
		if err := src.Next(batch); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		for i := range batch.Len() {
			patient := person{}
			relative := person{}
			patient, relative = m.person(), m.person()
			id := "P" + strconv.Itoa(len(all))
			for _, p := range []struct {
				person
				role string
			}{{patient, "patient"}, {relative, "relative"}} {
				row := append(p.row(), people.Value{Field: people.Patient, Text: id}, people.Value{Field: people.RoleField, Text: p.role})
				if err := b.Add(row); err != nil {
					return nil, err
				}
			}
			all = append(all, m.note(id, batch.Text.At(i), batch.Gold.At(i), &patient, &relative))
		}
	}
}

// note writes a note with people of the table for those that it had.
func (m *maker) note(id string, text []byte, gold []pipeline.Span, patient, relative *person) note {
	n := note{patient: id}
	at := 0
	for _, s := range gold {
		if s.Category.Kind() != pipeline.NameKind {
			continue
		}
		n.text = append(n.text, text[at:s.Start]...)
		switch k := m.rng.IntN(20); {
		case k < 14:
			m.write(&n, patient, spellings)
		case k < 17:
			m.write(&n, relative, spellings)
		default:
			m.write(&n, &m.staff[m.rng.IntN(len(m.staff))], staffSpellings)
		}
		at = int(s.End)
	}
	n.text = append(n.text, text[at:]...)
	if m.rng.IntN(3) == 0 {
		m.write(&n, patient, facts)
	}
	return n
}

// write appends a person in one of the spellings.
func (m *maker) write(n *note, p *person, forms []spelling) {
	f := forms[m.rng.IntN(len(forms))]
	n.text = append(n.text, f.before...)
	start := len(n.text)
	n.text = append(n.text, f.write(m, p)...)
	n.mentions = append(n.mentions, mention{start, len(n.text), f.name})
}

// counts are the figures.
type counts struct {
	forms           map[string]*[2]int // found, all
	tokens, falsely int
	mentions, found int
	seconds         float64
	notes           int
}

// look runs the stage over the notes.
func look(all []note, table *people.Table, missed bool) (*counts, error) {
	set, err := pipeline.Labels("primary-care")
	if err != nil {
		return nil, err
	}
	cut := tokenize.New(tokenize.Options{}).New()
	find := recognize.New(recognize.Options{People: table, PatientColumn: "patient_id", Labels: set}).New()
	c := &counts{forms: map[string]*[2]int{}, notes: len(all)}
	for part := range slices.Chunk(all, 2048) {
		b := &pipeline.Batch{Extra: []pipeline.Column{{Name: "patient_id"}}}
		for i := range part {
			b.ID.Append([]byte(part[i].patient))
			b.Text.Append(part[i].text)
			b.Reason = append(b.Reason, pipeline.Sound)
			b.Extra[0].Valid = append(b.Extra[0].Valid, true)
			b.Extra[0].Bytes.Append([]byte(part[i].patient))
		}
		if err := cut(b); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := find(b); err != nil {
			return nil, err
		}
		c.seconds += time.Since(began).Seconds()
		for i := range part {
			c.note(&part[i], b.Tokens.At(i), b.Known.At(i), missed)
		}
	}
	return c, nil
}

// note counts one note.
func (c *counts) note(n *note, tokens []pipeline.Token, known []pipeline.Span, missed bool) {
	covered := make([]bool, len(n.text))
	for _, s := range known {
		for i := s.Start; i < s.End; i++ {
			covered[i] = true
		}
	}
	mine := make([]bool, len(n.text))
	for _, m := range n.mentions {
		whole := true
		for i := m.start; i < m.end; i++ {
			mine[i] = true
			ch := n.text[i]
			if !covered[i] && (ch >= 0x80 || ch >= '0' && ch <= '9' || ch|0x20 >= 'a' && ch|0x20 <= 'z') {
				whole = false
			}
		}
		if c.forms[m.form] == nil {
			c.forms[m.form] = new([2]int)
		}
		c.forms[m.form][1]++
		c.mentions++
		if whole {
			c.forms[m.form][0]++
			c.found++
		} else if missed {
			fmt.Printf("missed %s: %s\n", m.form, n.text[max(0, m.start-20):min(len(n.text), m.end+20)])
		}
	}
	for _, t := range tokens {
		c.tokens++
		if slices.Contains(covered[t.Start:t.End], true) && !slices.Contains(mine[t.Start:t.End], true) {
			c.falsely++
			if missed {
				fmt.Printf("in vain: %s\n", n.text[max(0, int(t.Start)-20):min(len(n.text), int(t.End)+20)])
			}
		}
	}
}

func (c *counts) print(table *people.Table) error {
	names := make([]string, 0, len(c.forms))
	for name := range c.forms {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f := c.forms[name]
		fmt.Printf("%-34s %6d of %6d  %.4f\n", name, f[0], f[1], float64(f[0])/float64(f[1]))
	}
	recall, vain := float64(c.found)/float64(c.mentions), float64(c.falsely)/float64(c.tokens)
	fmt.Printf("%d notes, %d people of patients, %d of staff: %d of %d mentions found (%.4f), %d of %d tokens in vain (%.5f), %.1f µs a note\n",
		c.notes, table.Rows(), table.Staff(), c.found, c.mentions, recall, c.falsely, c.tokens, vain, 1e6*c.seconds/float64(c.notes))
	if recall < leastFound || vain > mostFalse {
		return fmt.Errorf("want at least %v found and at most %v in vain", leastFound, mostFalse)
	}
	return nil
}

// Package synth generates invented clinical notes with gold spans.
//
// From a seed it makes batches of short primary-care notes and optionally longer reports, in Spanish, in Catalan or in
// a mixture of both, with the spans of all personal health information in them. All templates were written for velum;
// nothing comes from a real note. Names of people and places are drawn from the lists of models/word/gazetteer or made
// up; names of hospitals are public.
//
// The notes have the proportions that the papers BOOT (appendix B) and ATN (§3; both are listed in ARCHITECTURE.md) report of real
// archives: 19 words a note on average with a heavy tail, 1.27 Spanish notes for each Catalan one, personal information
// in about one note in nine, names of persons as 0.28 % and places as 1.12 % of the tokens. They have misspellings,
// missing accents, glued words and random letter case, and many traps: words that look like names and are none
// (Parkinson, abril, Reyes), doses that look like dates, and numbers that look like ids.
//
// The categories are defined in pipeline/category_kind.go, for patterns, rules, models and these notes alike.
//
// Each note depends only on the seed and its number, so that several workers can each make a part of an archive. Training
// and test material share no template of a sentence and no name: see Split.
package synth

import (
	"io"
	"strconv"

	"github.com/velum-health/velum/pipeline"
)

// Options says which notes to generate. The zero value of each field except Notes is a sensible default.
type Options struct {
	Notes int64  // how many
	First int64  // number of the first one; a part of an archive is [First, First+Notes)
	Seed  uint64 // of the archive
	Split Split  // whose templates and names to use

	Spanish, Catalan, Mixed float64 // weights of the languages; all 0: 0.50, 0.39, 0.11

	Density float64 // of personal information, as a multiple of BOOT's archive; 0 is 1. Training wants more
	Reports float64 // share of notes that are reports of about 3 kB

	Batch   int  // notes a batch; 0 is 2048
	Columns bool // fill Extra: patient_id, date, center, language
}

// Split is one of the two halves, training and test, which share no template and no name.
type Split uint8

const (
	Train Split = iota
	Test
	numSplits
)

// String returns the name used in flags and file names.
func (s Split) String() string {
	if s == Test {
		return "test"
	}
	return "train"
}

const (
	spanish = iota
	catalan
	numLanguages
)

var languageNames = [numLanguages]string{"es", "ca"}

// The notes are of 2013, the year of BOOT's archive.
const (
	firstDay = 15706 // days since 1970-01-01
	days     = 365
)

// New returns a source of notes.
func New(o Options) pipeline.Source {
	if o.Spanish+o.Catalan+o.Mixed == 0 {
		o.Spanish, o.Catalan, o.Mixed = 0.50, 0.39, 0.11
	}
	if o.Density == 0 {
		o.Density = 1
	}
	if o.Batch <= 0 {
		o.Batch = 2048
	}
	return &generator{o: o, m: newMaker(&o), next: o.First}
}

type generator struct {
	o    Options
	m    *maker
	next int64
}

// Next fills b with the following notes.
func (g *generator) Next(b *pipeline.Batch) error {
	end := min(g.next+int64(g.o.Batch), g.o.First+g.o.Notes)
	if g.next >= end {
		return io.EOF
	}
	b.First = g.next
	if g.o.Columns {
		b.Extra = columns(b.Extra)
	}
	for ; g.next < end; g.next++ {
		g.m.make(uint64(g.next))
		b.ID.Append(g.m.id)
		b.Text.Append(g.m.out)
		b.Gold.Append(g.m.gold...)
		b.Reason = append(b.Reason, pipeline.Sound)
		if g.o.Columns {
			g.m.extra(b.Extra)
		}
	}
	return nil
}

// columns returns the four extra columns, empty, in the memory of old.
func columns(old []pipeline.Column) []pipeline.Column {
	if len(old) == 4 {
		return old
	}
	return []pipeline.Column{
		{Name: "patient_id", Kind: pipeline.Int64Column},
		{Name: "date", Kind: pipeline.DateColumn},
		{Name: "center", Kind: pipeline.BytesColumn},
		{Name: "language", Kind: pipeline.BytesColumn},
	}
}

// extra appends the note's values to the extra columns.
func (m *maker) extra(columns []pipeline.Column) {
	for i := range columns {
		columns[i].Valid = append(columns[i].Valid, true)
	}
	columns[0].Fixed = append(columns[0].Fixed, m.patientID)
	columns[1].Fixed = append(columns[1].Fixed, uint64(int64(m.day)))
	columns[2].Bytes.Append(strconv.AppendUint([]byte("center-"), m.center, 10))
	columns[3].Bytes.Append([]byte(m.language.String()))
}

// Package omop writes the tables NOTE and NOTE_NLP of the OMOP Common Data Model 5.4 for masked notes. It reads the
// columns of a NOTE table in Extra, and Masked and Places. Both tables are public: a row says nothing of a masked value
// except its category and its place in the masked text.
package omop

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/secret"
)

// Columns of NOTE with a meaning for velum, and the title, which is free text.
const (
	ID, Text, Patient, Day, title = "note_id", "note_text", "person_id", "note_date", "note_title"
	source                        = "note_source_value"
	moment                        = "note_datetime"
)

// order lists the columns of the table NOTE in the order of the OMOP specification.
var order = []string{ID, Patient, Day, moment, "note_type_concept_id", "note_class_concept_id", title, Text, "encoding_concept_id",
	"language_concept_id",
	"provider_id", "visit_occurrence_id", "visit_detail_id", source, "note_event_id", "note_event_field_concept_id"}

// NLPColumns lists the columns of NOTE_NLP, in the order of the specification.
var NLPColumns = []string{"note_nlp_id", ID, "section_concept_id", "snippet", "offset", "lexical_variant", "note_nlp_concept_id",
	"note_nlp_source_concept_id",
	"nlp_system", "nlp_date", "nlp_datetime", "term_exists", "term_temporal", "term_modifiers"}

// Kept returns the columns of NOTE that are copied to the output. Titles and source values are not, because they are
// text that has not been examined.
func Kept() (all []string) {
	for _, name := range order {
		if name != ID && name != Text && name != title && name != source {
			all = append(all, name)
		}
	}
	return all
}

// ids are columns whose values name somebody, or a record of somebody.
var ids = []string{ID, Patient, "provider_id", "visit_occurrence_id", "visit_detail_id", "note_event_id"}

// Options holds the options of the tables.
type Options struct {
	System   string      // nlp_system: velum, its version and model
	Key      *secret.Key // nil: ids stay
	Refuse   IDRefusal
	Imitated []pipeline.Category // categories of which no places may be told
	Times    map[string]int64    // columns of dates and times: the length of a day in their unit
	Years    bool                // only the year of dates stays
	Moved    bool                // dates were moved, except in columns of text
}

// IDRefusal makes the error for an id that the tables cannot hold, by the row of the unit and its column.
type IDRefusal func(row int64, column string) error

// Tables converts the notes of a batch to rows of both tables.
type Tables struct {
	o       Options
	columns [][]byte // of NOTE, of the current row
	numbers map[string]*secret.Numbers
	spans   int64 // that have a row
}

// NewTables returns the Tables of one unit or stream.
func NewTables(o Options) *Tables {
	t := &Tables{o: o, columns: make([][]byte, len(order)), numbers: map[string]*secret.Numbers{}}
	for _, name := range ids {
		if o.Key != nil && name != ID { // which is keyed as it is read
			t.numbers[name] = o.Key.Numbers("omop " + name)
		}
	}
	return t
}

// NoteColumns returns the columns of NOTE, in the order of the specification.
func NoteColumns() []string { return slices.Clone(order) }

// Note returns the values of note i in the order of NoteColumns; a missing value is nil. The slices are valid until the
// next call. The error is from Options.Refuse, for the first id that is no integer.
func (t *Tables) Note(b *pipeline.Batch, i int) ([][]byte, error) {
	for k, name := range order {
		value := t.columns[k][:0]
		switch name {
		case ID:
			value = append(value, b.ID.At(i)...)
		case Text:
			value = append(value, b.Masked.At(i)...)
		default:
			value = t.column(value, name, b, i)
		}
		if slices.Contains(ids, name) && len(value) > 0 {
			fits := false
			if value, fits = t.id(value, name); !fits {
				return nil, t.o.Refuse(b.First+int64(i), name)
			}
		}
		t.columns[k] = value
	}
	return t.columns, nil
}

// column appends the value of a column that goes along.
func (t *Tables) column(dst []byte, name string, b *pipeline.Batch, i int) []byte {
	at := slices.IndexFunc(b.Extra, func(c pipeline.Column) bool { return c.Name == name })
	if at < 0 || i >= len(b.Extra[at].Valid) || !b.Extra[at].Valid[i] {
		return dst
	}
	c := &b.Extra[at]
	switch {
	case name == Day || name == moment:
		return t.time(dst, name, c, i)
	}
	return appendValue(dst, c, i)
}

// appendValue appends a value as CSV has it; floats that are whole as whole numbers.
func appendValue(dst []byte, c *pipeline.Column, i int) []byte {
	switch c.Kind {
	case pipeline.BytesColumn:
		if c.Width > 0 {
			return dst // no text
		}
		return append(dst, c.Bytes.At(i)...)
	case pipeline.Int32Column, pipeline.DateColumn, pipeline.Int64Column, pipeline.TimestampColumn:
		return strconv.AppendInt(dst, c.Int(i), 10)
	case pipeline.DoubleColumn:
		return appendFloat(dst, math.Float64frombits(c.Fixed[i]))
	case pipeline.FloatColumn:
		return appendFloat(dst, float64(math.Float32frombits(uint32(c.Fixed[i]))))
	}
	return dst
}

func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) {
		return dst
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// time appends a date or a time.
func (t *Tables) time(dst []byte, name string, c *pipeline.Column, i int) []byte {
	layout := time.DateOnly
	if name == moment {
		layout = time.DateTime
	}
	day, known := t.o.Times[name]
	switch {
	case !known && t.o.Moved || known && day == 0 || t.o.Years && name == moment:
		return dst
	case !known && t.o.Years:
		if text := c.Bytes.At(i); len(text) >= 4 {
			return append(append(dst, text[:4]...), "-01-01"...)
		}
		return dst
	case !known:
		return appendValue(dst, c, i)
	}
	days, rest := c.Day(i, day)
	const seconds = 24 * 60 * 60
	at := time.Unix(days*seconds+rest/max(day/seconds, 1), 0).UTC()
	if t.o.Years {
		at = time.Date(at.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return at.AppendFormat(dst, layout)
}

// id returns an id as the tables have it: with a key a whole number that stands for it, the same in every table of that key and
// column. It is false for what is no whole number.
func (t *Tables) id(id []byte, column string) ([]byte, bool) {
	if n := t.numbers[column]; n != nil {
		return n.Append(id[:0], id)
	}
	id = bytes.TrimSuffix(id, []byte(".0"))
	_, err := strconv.ParseInt(string(id), 10, 64)
	return id, err == nil
}

// around is the number of characters of masked text on either side of a span in NOTE_NLP's snippet.
const around = 60

// EachSpan calls do for every span of note i that may be published, with the values of its row in NOTE_NLP. Row ids
// count from 1 in each unit or stream. note is the result of Note.
func (t *Tables) EachSpan(b *pipeline.Batch, i int, note [][]byte, do func(row []string) error) error {
	masked := b.Masked.At(i)
	at, chars := 0, 0
	for _, p := range b.Places.At(i) {
		if slices.Contains(t.o.Imitated, p.Category) {
			continue
		}
		chars += utf8.RuneCount(masked[at:p.Start])
		at = int(p.Start)
		t.spans++
		err := do([]string{
			strconv.FormatInt(t.spans, 10), string(note[0]), "0", string(snippet(masked, int(p.Start), int(p.End))), strconv.Itoa(chars),
			string(masked[p.Start:p.End]), "0", "0", t.o.System, string(note[slices.Index(order, Day)]), string(note[slices.Index(order, moment)]),
			"Y", "", "category=" + p.Category.String(),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// snippet is masked text around a span, in one line.
func snippet(text []byte, from, to int) []byte {
	for range around {
		_, size := utf8.DecodeLastRune(text[:from])
		from -= size
	}
	for range around {
		_, size := utf8.DecodeRune(text[to:])
		to += size
	}
	return bytes.Join(bytes.Fields(text[from:to]), []byte(" "))
}

// Sink writes both tables beside the other parts of a unit, as CSV with a header:
//
//	note/      the rows of the masked part
//	note_nlp/  a row a span
type Sink struct {
	commit.UnitSink
	tables    *Tables
	note, nlp *commit.Part
	notes     *csv.Writer
	spans     *csv.Writer
	row       []string
}

// NewSink wraps the sink of a unit.
func NewSink(unit commit.UnitSink, parts *commit.Parts, o Options) (s *Sink, err error) {
	s = &Sink{UnitSink: unit, tables: NewTables(o)}
	if s.note, err = parts.Create("note", ".csv", false); err != nil {
		return nil, err
	}
	if s.nlp, err = parts.Create("note_nlp", ".csv", false); err != nil {
		return nil, err
	}
	s.notes, s.spans = csv.NewWriter(s.note), csv.NewWriter(s.nlp)
	if err = s.notes.Write(order); err == nil {
		err = s.spans.Write(NLPColumns)
	}
	return s, err
}

// Put implements pipeline.Sink. It calls the unit's sink first, which rejects notes that are not sealed.
func (s *Sink) Put(b *pipeline.Batch) error {
	if err := s.UnitSink.Put(b); err != nil {
		return err
	}
	for i, r := range b.Reason {
		if r != pipeline.Sound {
			continue
		}
		note, err := s.tables.Note(b, i)
		if err != nil {
			return err
		}
		s.row = s.row[:0]
		for _, value := range note {
			s.row = append(s.row, string(value))
		}
		s.note.Rows++
		if err := s.notes.Write(s.row); err != nil {
			return err
		}
		err = s.tables.EachSpan(b, i, note, func(row []string) error {
			s.nlp.Rows++
			return s.spans.Write(row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Close implements commit.UnitSink.
func (s *Sink) Close() (commit.Counts, error) {
	for _, w := range []*csv.Writer{s.notes, s.spans} {
		if w.Flush(); w.Error() != nil {
			return commit.Counts{}, w.Error()
		}
	}
	return s.UnitSink.Close()
}

// Spellings maps the usual spellings of NOTE's column names (lower case, upper case and so on) to the names.
func Spellings() map[string]string {
	all := map[string]string{}
	for _, name := range order {
		all[name], all[strings.ToUpper(name)] = name, name
		words := strings.Split(name, "_")
		for k := range words {
			words[k] = strings.ToUpper(words[k][:1]) + words[k][1:]
		}
		all[strings.Join(words, "_")], all[strings.Join(words, "")] = name, name
	}
	return all
}

package pipeline

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"strconv"
	"strings"
)

// Token is a piece of a note. Offsets count bytes of the note's text, half
// open; the tokens of a note are in order, disjoint, non-empty, and everything
// between two of them is white space, control characters or without width.
type Token struct {
	Start, End int32
	Flags      TokenFlags
}

// TokenFlags describes the position of a token in its line and the kinds of its characters.
type TokenFlags uint32

const (
	LineStart     TokenFlags = 1 << iota // first token of a line
	SentenceStart                        // first token of a sentence; set with every LineStart
	Glued                                // no white space between this token and the one before
	Letters                              // ASCII letters alone, capitals before small ones, as the note is looked at (Batch.Seen)
	Figures                              // ASCII digits alone
)

// Place returns the flags that files of tagged notes store. Letters and Figures are not stored; they only spare stages
// another look at the bytes.
func (f TokenFlags) Place() TokenFlags { return f & (LineStart | SentenceStart | Glued) }

// Span is a piece of a note with a category. Offsets count bytes of the
// note's text, half open. The spans of a note are sorted and disjoint.
type Span struct {
	Start, End int32
	Score      float32 // confidence of the source, in [0, 1]
	Category   Category
	Source     SpanSource
}

// ByStart compares spans by where they begin, for sorting.
func ByStart(a, b Span) int { return cmp.Compare(a.Start, b.Start) }

// SpanSource is the stage or method that found a span.
type SpanSource uint8

const (
	FromModel   SpanSource = iota // a tagger's tags
	FromPattern                   // models/form/patterns
	FromRepeat                    // same words as a span found elsewhere in the note
	FromList                      // always-mask list of the configuration
	FromGold                      // a person, or the generator
	FromRule                      // a rule of stages/resolve
	FromKnown                     // a table of known people, or somebody who gave the span
	numSources
)

var sourceNames = [numSources]string{"model", "pattern", "repeat", "list", "gold", "rule", "known"}

// String returns the name used in files and reports.
func (s SpanSource) String() string { return nameOf(sourceNames[:], int(s)) }

// SpanSources returns how many sources there are, for counting by source.
func SpanSources() int { return int(numSources) }

// ParseSpanSource returns the source of that name.
func ParseSpanSource(name string) (SpanSource, bool) {
	for s, have := range sourceNames {
		if have == name {
			return SpanSource(s), true
		}
	}
	return 0, false
}

// Match is a match of a pattern, a candidate that stages/resolve accepts or rejects. Matches of a note may overlap.
type Match struct {
	Start, End int32
	Score      float32
	Category   Category // one of the pattern categories, see LabelSet "pattern"
	Checked    bool     // the check digit is correct
}

// HintScore is the score of a match that is only a feature for taggers and no candidate for a span. No other match has
// exactly this score.
const HintScore = 0.2

// Hint reports whether the match is only a feature for taggers.
func (m *Match) Hint() bool { return m.Score == HintScore }

// Language is the language of a note.
type Language uint8

const (
	UnknownLanguage Language = iota
	Spanish
	Catalan
	English
	MixedLanguage
)

// MaxLanguages is the largest number of languages, including unknown and mixed.
const MaxLanguages = 16

// languageNames are the codes of the languages; AddLanguage adds others.
var languageNames = []string{"", "es", "ca", "en", "mixed"}

// String returns the code used in files and reports.
func (l Language) String() string { return nameOf(languageNames, int(l)) }

// AddLanguage returns the language with that code, adding it if it is new. It must be called at program start.
func AddLanguage(code string) (Language, error) {
	if l, ok := ParseLanguage(code); ok {
		return l, nil
	}
	if len(languageNames) == MaxLanguages || len(code) != 2 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz") != "" {
		return UnknownLanguage,
			errors.New("a language has a code of ISO 639, two small letters, and there is room for 11 beside the built-in ones")
	}
	languageNames = append(languageNames, code)
	return Language(len(languageNames) - 1), nil
}

// Languages is a set of languages, one bit each: those of a model's training notes. The empty set means Spanish and
// Catalan.
type Languages uint16

// Home reports whether the set contains Spanish or Catalan, the languages with lists of common words.
func (s Languages) Home() bool { return s == 0 || s&(1<<Spanish|1<<Catalan) != 0 }

// Foreign reports whether a note is in none of these languages, or is no running text, judged by its language and its
// words.
func (s Languages) Foreign(l Language, w Words) bool {
	if s == 0 {
		s = 1<<Spanish | 1<<Catalan
	}
	if s.Home() {
		s |= 1 << MixedLanguage
	}
	if l == UnknownLanguage || s.Home() && w.Foreign() {
		return w.Foreign()
	}
	return s>>l&1 == 0
}

// Words counts the words of a note that language detection looked at, and those that no known language has.
type Words struct{ Seen, Unknown uint8 }

// Foreign reports whether most of at least four words are unknown: the note is in another language, or is no text.
func (w Words) Foreign() bool { return w.Seen >= 4 && 2*w.Unknown > w.Seen }

// ParseLanguage returns the language of that code.
func ParseLanguage(code string) (Language, bool) {
	for l, have := range languageNames {
		if have == code {
			return Language(l), true
		}
	}
	return 0, false
}

// Batch is the unit of exchange between stages: some thousand notes as columns. Each filled column has one value per
// note; Tags has one per token. See the package comment for ownership.
type Batch struct {
	Seq   int     // number of the batch in its unit, from 0
	First int64   // row of note 0 in the input file
	Rows  []int64 // row of each note, if they leave in another order than they came; otherwise they follow each other from First
	Keyed []int64 // numbers by which the key calls these in the output, rising; none: their rows are them

	// read
	ID     Bytes    // row id as it may be written out; the only field that may be logged
	Text   Bytes    // the notes as read
	Extra  []Column // pass-through columns
	Gold   List[Span]
	Given  List[Span] // spans that others have found: curators, other programs; empty if there are none
	Reason []Reason   // why a note goes to quarantine; Sound if it does not

	// apart, behind read; empty of notes that are no documents, and of batches without one
	Cells Bytes // the document that stood in place of a note's text, and of which Text is now what is to be looked at

	// tokenize
	Tokens   List[Token]
	Language []Language
	Words    []Words     // counts of the words that language detection looked at
	View     Bytes       // the normalized view of a note that has one; read it through Seen
	ViewFrom List[int32] // for every byte of View, and for its end: the offset in Text that it comes from

	// tag
	TagSet  *TagSet // what the numbers in Tags mean
	Matches List[Match]
	Tags    []Tag     // one tag a token, parallel to Tokens.Items
	Conf    []float32 // one confidence a note
	// probability of each span that Tags write (TagSet.Decode), if the tagger
	// says it; else none of that note
	SpanProbs List[float32]

	// recognize; empty without a table of known people
	Known List[Span] // of people who are known, and those given, sorted; they may overlap
	Avoid Bytes      // folded words of known people's names, each followed by a blank: no surrogate may be one of them

	// resolve
	Spans List[Span]

	// rare; empty where nobody looked
	Rare List[Span] // what singles somebody out and is no span; Score is its public rarity

	// mask
	Masked Bytes
	Places List[Span] // where the replacement of each span is in Masked; it may be empty
	Lifted []Bytes    // for each category that is moved from the text into a column: the replacement of the note's first value

	// verify
	Seals []uint64 // of notes whose masked text may be written, see Seal

	// choose
	Chosen []Choice // candidates for the selection set or for a curator
}

// Choice says whether a note was selected for training or for a curator.
type Choice uint8

const (
	NotChosen Choice = iota
	Candidate        // for the selection set
	ToReview         // for a curator
	numChoices
)

var choiceNames = [numChoices]string{"", "candidate", "review"}

// String returns the name used in files and reports.
func (c Choice) String() string { return nameOf(choiceNames[:], int(c)) }

// ParseChoice returns the choice of that name.
func ParseChoice(name string) (Choice, bool) {
	for c, have := range choiceNames {
		if have == name {
			return Choice(c), true
		}
	}
	return 0, false
}

// Len returns the number of notes.
func (b *Batch) Len() int { return b.Text.Len() }

// Sound goes over the notes that are sound.
func (b *Batch) Sound() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, reason := range b.Reason {
			if reason == Sound && !yield(i) {
				return
			}
		}
	}
}

// Seen returns the text of note i that the stages analyse (see models/word/view): the text itself and nil, or its
// normalized view and, for every byte of the view and its end, the offset in the text. Offsets of tokens, matches and
// spans refer to the text in both cases.
func (b *Batch) Seen(i int) (text []byte, from []int32) {
	if b.ViewFrom.Len() == b.Len() {
		if from = b.ViewFrom.At(i); len(from) > 0 {
			return b.View.At(i), from
		}
	}
	return b.Text.At(i), nil
}

// TagsOf returns the tags of note i, one for each of b.Tokens.At(i).
func (b *Batch) TagsOf(i int) []Tag {
	return b.Tags[b.Tokens.Offsets[i]:b.Tokens.Offsets[i+1]]
}

// Quarantine sets the reason of note i unless it has one.
func (b *Batch) Quarantine(i int, r Reason) {
	if b.Reason[i] == Sound {
		b.Reason[i] = r
	}
}

// AppendRead appends note i of another batch as its reader filled it: id, text, reason and the columns of Extra. If b
// has no Extra, it gets the columns of the other batch.
func (b *Batch) AppendRead(from *Batch, i int) {
	if len(b.Extra) == 0 {
		for _, c := range from.Extra {
			b.Extra = append(b.Extra, Column{Name: c.Name, Kind: c.Kind, Type: c.Type, Width: c.Width})
		}
	}
	b.ID.Append(from.ID.At(i))
	b.Text.Append(from.Text.At(i))
	b.Reason = append(b.Reason, from.Reason[i])
	for k := range from.Extra {
		b.Extra[k].Append(&from.Extra[k], i)
	}
}

// AppendTagged appends note i of another batch with the columns that training needs: tokens, tags, confidence, language
// and choice, and its row as column RowColumn.
func (b *Batch) AppendTagged(from *Batch, i int) {
	row := uint64(from.Number(i))
	if rows := from.ExtraNamed(RowColumn); rows != nil && rows.Kind == Int64Column {
		row = rows.Fixed[i]
	}
	if b.Len() == 0 && b.ExtraNamed(RowColumn) == nil {
		b.Extra = append(b.Extra, Column{Name: RowColumn, Kind: Int64Column})
	}
	rows := b.ExtraNamed(RowColumn)
	rows.Valid, rows.Fixed = append(rows.Valid, true), append(rows.Fixed, row)
	b.TagSet = from.TagSet
	b.ID.Append(from.ID.At(i))
	b.Text.Append(from.Text.At(i))
	b.Reason = append(b.Reason, from.Reason[i])
	b.Tokens.Append(from.Tokens.At(i)...)
	b.Tags = append(b.Tags, from.TagsOf(i)...)
	b.Conf = append(b.Conf, from.Conf[i])
	b.Language = append(b.Language, from.Language[i])
	b.Chosen = append(b.Chosen, from.Chosen[i])
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.Seq, b.First, b.Rows, b.Keyed = 0, 0, b.Rows[:0], b.Keyed[:0]
	b.ID.Reset()
	b.Text.Reset()
	for i := range b.Extra {
		b.Extra[i].Reset()
	}
	b.Gold.Reset()
	b.Given.Reset()
	b.Reason = b.Reason[:0]
	b.Cells.Reset()
	b.Tokens.Reset()
	b.Language = b.Language[:0]
	b.Words = b.Words[:0]
	b.View.Reset()
	b.ViewFrom.Reset()
	b.TagSet = nil
	b.Matches.Reset()
	b.Tags = b.Tags[:0]
	b.Conf = b.Conf[:0]
	b.SpanProbs.Reset()
	b.Known.Reset()
	b.Avoid.Reset()
	b.Spans.Reset()
	b.Rare.Reset()
	b.Masked.Reset()
	b.Places.Reset()
	for i := range b.Lifted {
		b.Lifted[i].Reset()
	}
	b.Seals = b.Seals[:0]
	b.Chosen = b.Chosen[:0]
}

// Row returns the row of note i in the input file.
func (b *Batch) Row(i int) int64 {
	if len(b.Rows) > 0 {
		return b.Rows[i]
	}
	return b.First + int64(i)
}

// Number returns what note i is called by in the parts of its unit: the column row.
func (b *Batch) Number(i int) int64 {
	if len(b.Keyed) > 0 {
		return b.Keyed[i]
	}
	return b.First + int64(i)
}

// RowColumn is the name of the Extra column (Int64Column) with the rows of notes that are not consecutive from First.
const RowColumn = "row"

// SourceColumn is the name of the column with the row in the input file, in an output whose rows are mixed.
const SourceColumn = "source_row"

// PartColumn is the name of the column that identifies the part of an output that a row belongs to; in Extra
// (BytesColumn) if a batch has notes of several parts.
const PartColumn = "part"

// Column is a column of the input that is passed through to the output.
type Column struct {
	Name string
	Kind ColumnKind
	// Type is the Parquet type of a column that is written as it was read: a FileMetaData in Thrift's compact form,
	// whose schema is this column without a root. Its metadata has under "duration" the unit (s, ms, us, ns) of a type
	// that Arrow has and Parquet lacks. If Type is empty, Kind says everything.
	Type  string
	Valid []bool   // one a note; false means null
	Fixed []uint64 // bits of the values, for every kind but BytesColumn and NestedColumn
	Bytes Bytes    // for BytesColumn
	Width int      // length of every value of Bytes; 0: any

	Leaves []Leaf // for NestedColumn, whose Valid, Fixed and Bytes are empty
}

// ExtraNamed returns the first Extra column with that name; nil if there is none.
func (b *Batch) ExtraNamed(name string) *Column {
	for i := range b.Extra {
		if name != "" && b.Extra[i].Name == name && b.Extra[i].Type == "" {
			return &b.Extra[i]
		}
	}
	return nil
}

// AppendText appends value i as text without surrounding blanks, numbers in decimal. It appends nothing for null and
// for kinds that cannot be an id.
func (c *Column) AppendText(dst []byte, i int) []byte {
	if c == nil || i >= len(c.Valid) || !c.Valid[i] {
		return dst
	}
	switch c.Kind {
	case BytesColumn:
		return append(dst, bytes.TrimSpace(c.Bytes.At(i))...)
	case Int32Column, Int64Column:
		return strconv.AppendInt(dst, c.Int(i), 10)
	}
	return dst
}

// Int returns value i of a column of integers, dates or timestamps.
func (c *Column) Int(i int) int64 {
	if c.Kind == Int32Column || c.Kind == DateColumn {
		return int64(int32(c.Fixed[i]))
	}
	return int64(c.Fixed[i])
}

// Day returns the day of value i since 1970-01-01, and the time of the day in the column's unit; day is the length of a
// day in that unit.
func (c *Column) Day(i int, day int64) (days, rest int64) {
	v := c.Int(i)
	if days = v / day; v%day < 0 {
		days--
	}
	return days, v - days*day
}

// ColumnKind is the type of the values of a pass-through column in memory.
type ColumnKind uint8

const (
	BytesColumn ColumnKind = iota // byte strings; UTF-8 text if there is no Type
	Int32Column
	Int64Column
	FloatColumn
	DoubleColumn
	BoolColumn
	DateColumn      // days since 1970-01-01
	TimestampColumn // microseconds since 1970-01-01 UTC
	NestedColumn    // lists, maps, structs; has a Type
)

// Leaf holds the values of a leaf of a nested column with their repetition and definition levels as in Parquet. The
// levels of note i are [Rows[i], Rows[i+1]), and its first non-null value has index Starts[i].
type Leaf struct {
	Full         byte // definition level of a value that is not null
	Width        int  // length of every value; 0: any
	Rows, Starts []int32
	Rep, Def     []byte
	Values       Bytes // that are not null: byte strings as they are, numbers in little endian, a byte a boolean
}

// End ends the levels of the current note.
func (l *Leaf) End() {
	if len(l.Rows) == 0 {
		l.Rows, l.Starts = append(l.Rows, 0), append(l.Starts, 0)
	}
	l.Rows, l.Starts = append(l.Rows, int32(len(l.Rep))), append(l.Starts, int32(l.Values.Len()))
}

// Reset empties the leaf and keeps its memory.
func (l *Leaf) Reset() {
	l.Rows, l.Starts, l.Rep, l.Def = l.Rows[:0], l.Starts[:0], l.Rep[:0], l.Def[:0]
	l.Values.Reset()
}

// Reset empties the column and keeps its memory, name and kind.
func (c *Column) Reset() {
	c.Valid = c.Valid[:0]
	c.Fixed = c.Fixed[:0]
	c.Bytes.Reset()
	for i := range c.Leaves {
		c.Leaves[i].Reset()
	}
}

// Append appends value i of a column of the same kind.
func (c *Column) Append(from *Column, i int) {
	for k := range c.Leaves {
		c.Leaves[k].append(&from.Leaves[k], i)
	}
	switch c.Kind {
	case NestedColumn:
		return
	case BytesColumn:
		c.Bytes.Append(from.Bytes.At(i))
	default:
		c.Fixed = append(c.Fixed, from.Fixed[i])
	}
	c.Valid = append(c.Valid, from.Valid[i])
}

// AppendNull appends a null.
func (c *Column) AppendNull() {
	for k := range c.Leaves {
		l := &c.Leaves[k]
		l.Rep, l.Def = append(l.Rep, 0), append(l.Def, 0)
		l.End()
	}
	switch c.Kind {
	case NestedColumn:
		return
	case BytesColumn:
		c.Bytes.End()
	default:
		c.Fixed = append(c.Fixed, 0)
	}
	c.Valid = append(c.Valid, false)
}

// append appends the levels and values of a note.
func (l *Leaf) append(from *Leaf, i int) {
	l.Rep = append(l.Rep, from.Rep[from.Rows[i]:from.Rows[i+1]]...)
	l.Def = append(l.Def, from.Def[from.Rows[i]:from.Rows[i+1]]...)
	for v := from.Starts[i]; v < from.Starts[i+1]; v++ {
		l.Values.Append(from.Values.At(int(v)))
	}
	l.End()
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "?"
}

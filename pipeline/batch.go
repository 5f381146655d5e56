package pipeline

// Token is a piece of a note. Offsets count bytes of the note's text, half
// open; the tokens of a note are in order, disjoint, non-empty, and everything
// between two of them is white space or control characters.
type Token struct {
	Start, End int32
	Flags      TokenFlags
}

// TokenFlags says where a token stands.
type TokenFlags uint32

const (
	LineStart     TokenFlags = 1 << iota // first token of a line
	SentenceStart                        // first token of a sentence; set with every LineStart
	Glued                                // no white space between this token and the one before
)

// Span is a piece of a note with a category. Offsets count bytes of the
// note's text, half open. The spans of a note are sorted and disjoint.
type Span struct {
	Start, End int32
	Score      float32 // in [0, 1]: how sure the source is
	Category   Category
	Source     SpanSource
}

// SpanSource says who found a span.
type SpanSource uint8

const (
	FromModel   SpanSource = iota // a tagger's tags
	FromPattern                   // models/patterns
	FromRepeat                    // same words as a span found elsewhere in the note
	FromList                      // always-mask list of the configuration
	FromGold                      // a person, or the generator
	FromRule                      // a rule of stages/resolve
	numSources
)

var sourceNames = [numSources]string{"model", "pattern", "repeat", "list", "gold", "rule"}

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

// Match is what a pattern found: a candidate, which resolve accepts or not.
// Matches of a note may overlap.
type Match struct {
	Start, End int32
	Score      float32
	Category   Category // one of the pattern categories, see LabelSet "pattern"
	Checked    bool     // the check digit is right
}

// Language of a note.
type Language uint8

const (
	UnknownLanguage Language = iota
	Spanish
	Catalan
	English
	MixedLanguage
	numLanguages
)

var languageNames = [numLanguages]string{"", "es", "ca", "en", "mixed"}

// String returns the code used in files and reports.
func (l Language) String() string { return nameOf(languageNames[:], int(l)) }

// ParseLanguage returns the language of that code.
func ParseLanguage(code string) (Language, bool) {
	for l, have := range languageNames {
		if have == code {
			return Language(l), true
		}
	}
	return 0, false
}

// Batch is the unit of exchange between stages: some thousand notes as
// columns. All columns that are filled have one value a note; Tags has one a
// token. See the package comment for ownership.
type Batch struct {
	Seq   int   // number of the batch in its unit, from 0
	First int64 // row of note 0 in the input file

	// read
	ID     Bytes    // row id as it may be written out; the only field that may be logged
	Text   Bytes    // as read
	Extra  []Column // pass-through columns
	Gold   List[Span]
	Reason []Reason  // why a note goes to quarantine; Sound if it does not
	Weight []float32 // what a note counts in training, in (0, 1]; empty: all count 1

	// tokenize
	Tokens   List[Token]
	Language []Language

	// tag
	TagSet  *TagSet // what the numbers in Tags mean
	Matches List[Match]
	Tags    []Tag     // one a token, in step with Tokens.Items
	Conf    []float32 // confidence a note

	// resolve
	Spans List[Span]

	// mask
	Masked Bytes

	// verify
	Seals []uint64 // of notes whose masked text may be written, see Seal

	// choose
	Chosen []Choice // candidates for the selection set or for a curator
}

// Choice says what choose wants of a note.
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

// TagsOf returns the tags of note i, in step with b.Tokens.At(i).
func (b *Batch) TagsOf(i int) []Tag {
	return b.Tags[b.Tokens.Offsets[i]:b.Tokens.Offsets[i+1]]
}

// WeightOf returns what note i counts in training.
func (b *Batch) WeightOf(i int) float32 {
	if len(b.Weight) == 0 {
		return 1
	}
	return b.Weight[i]
}

// Quarantine marks note i with a reason, unless it has one already.
func (b *Batch) Quarantine(i int, r Reason) {
	if b.Reason[i] == Sound {
		b.Reason[i] = r
	}
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.Seq, b.First = 0, 0
	b.ID.Reset()
	b.Text.Reset()
	for i := range b.Extra {
		b.Extra[i].Reset()
	}
	b.Gold.Reset()
	b.Reason = b.Reason[:0]
	b.Weight = b.Weight[:0]
	b.Tokens.Reset()
	b.Language = b.Language[:0]
	b.TagSet = nil
	b.Matches.Reset()
	b.Tags = b.Tags[:0]
	b.Conf = b.Conf[:0]
	b.Spans.Reset()
	b.Masked.Reset()
	b.Seals = b.Seals[:0]
	b.Chosen = b.Chosen[:0]
}

// RowColumn is the name of the Extra column (Int64Column) that has the rows of
// notes that do not follow each other from First.
const RowColumn = "row"

// Column is a pass-through column: read fills it, write copies it.
type Column struct {
	Name  string
	Kind  ColumnKind
	Valid []bool   // per note; false is null
	Fixed []uint64 // bits of the value, for every kind but BytesColumn
	Bytes Bytes    // for BytesColumn
}

// ColumnKind is the physical type of a pass-through column.
type ColumnKind uint8

const (
	BytesColumn ColumnKind = iota // UTF-8 text
	Int32Column
	Int64Column
	FloatColumn
	DoubleColumn
	BoolColumn
	DateColumn      // days since 1970-01-01
	TimestampColumn // microseconds since 1970-01-01 UTC
)

// Reset empties the column and keeps its memory, name and kind.
func (c *Column) Reset() {
	c.Valid = c.Valid[:0]
	c.Fixed = c.Fixed[:0]
	c.Bytes.Reset()
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "?"
}

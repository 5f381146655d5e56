// Package unit writes the parts of a unit from the batches that have passed all stages, see Unit. It also writes what has the
// form of a part: files of tagged notes (Tagged), and public tables of quasi-identifiers (Quasi).
package unit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/idset"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/pipeline/tally"
	"github.com/velum-health/velum/stages/write/summary"
	"github.com/velum-health/velum/stages/write/table"
)

// Options holds the options of the Parquet writer. The zero value works.
type Options struct {
	Model      string              // name of the model, written in every row
	Part       string              // value of the column part in the unit's rows; "": there is no such column
	Categories []pipeline.Category // that get a column of counts in the masked part; all others share n_other
	Pass       []pipeline.Column   // names and kinds of the columns of Batch.Extra that are written; no other ever is

	Quasi    []QuasiColumn // quasi-identifiers, which go to a private part for k-anonymity
	Patients string        // column of Batch.Extra with the patient's id, for Quasi and Batch.Rare; "": none

	// Imitated are the categories whose replacements look like real values. A missed value looks the same, so whoever
	// knew where the replacements are, or how many, would know what was missed: neither is public.
	Imitated []pipeline.Category

	NoSpans bool // no public part of spans; the private one is always written, since extracts are made from it
	IDs     bool // the summary has the ids of the notes

	Candidates Shortlist // for the selection set; nil: no part of candidates

	RowGroup int // rows of a row group; 0 means 100,000

	// Places are the names of the columns of Batch.Extra for the row's line and byte in its text file and for what
	// breaks its format. They are written to the quarantine. "": none.
	Places [3]string

	Heard   pipeline.Languages // languages the model was trained on: notes in others are counted
	Centers bool               // the column "center" of Batch.Extra is the centre of a note: it stands in the private part of notes, and they are counted by it
	Dates   string             // how dates were moved, for the metadata of public parts; "": they were not
	Mixed   bool               // notes come in the order of Batch.Keyed, and what is public of them waits in the private tree for Mix
}

// A Shortlist selects the chosen notes of a unit that are stored with their words.
type Shortlist interface {
	// Add examines the next candidate, note i of b. If it returns false the note need not be kept.
	Add(b *pipeline.Batch, i int) (listed bool, err error)
	// Settle returns the numbers, in rising order, of those added since the last call that are to be written.
	Settle() []int
	// AppendBinary appends the data from which the selection among all units is made.
	AppendBinary(dst []byte) []byte
}

// Unit writes the parts of one unit:
//
//	masked/      note_id, row, text, model, n_<category>..., n_other, pass-through columns; no counts of Imitated
//	spans/       note_id, row, start, end, start_char, end_char, category: where the replacements lie in the masked text; none of Imitated
//	quasi/       private: note_id, row, patient_hash, and the columns that k-anonymity is about, as they are
//	rare/        private: as original, of Batch.Rare, and hashes of the phrase and of whom the note is of; of masked notes
//	notes/       private: note_id, row, confidence, language; the centre, if there is one; source_row, where rows are mixed
//	original/    private: note_id, row, start, end, start_char, end_char, category, score, source: of the note as it was
//	candidates/  private: as Tagged writes it, those that Options.Candidates lists
//	summary/     private: what the last step of the run has to know of all notes, see summary.Summary
//	quarantine/  private: row, note_id, reason; of rows of text files line, byte (-1: not known), cause
//
// Each has a last column, part, which names the input file without saying what it
// is: part and row together are a key, in both trees, though ids may begin anew in
// every file (the summary has no rows). row is the number of the note in its input file, or, where rows are mixed, in the
// order in which they leave it: source_row of notes, and row of quarantine and rare, is that of the file. start and end count bytes,
// start_char and end_char code points. A part that would be empty is not made,
// except the masked one and notes. It is a commit.UnitSink.
//
// What is public says nothing of what it hides but its category and place: a
// confidence is a function of the hidden name under a model that everyone has,
// and with all its digits it told 20 of 20 names out of 1,600. So is the length
// of a span, who found it, and the language of a note of few words.
type Unit struct {
	parts *commit.Parts
	o     Options

	masked, spans, notes, original, candidates, quarantine, quasi, rare *table.Part

	open    []*table.Part // all of them that there are
	summary *commit.Part

	tagged *Tagged        // writes candidates
	held   pipeline.Batch // candidates of which it is not known yet whether they are selected
	ids    idset.Set

	source  int   // column of notes that has the row in the input file; none: row is that
	countOf []int // by category: its column of counts in the masked part; none: it is imitated
	counts  []int32
	extra   []*pipeline.Column

	done    commit.Counts
	reasons []int64
	counted counted

	pick   []int // notes of the batch that go to one of the parts
	texts  []byte
	values []byte
	places []pipeline.Span // of a note, those that are public
}

// datesKey is the key of the metadata under which a public part says that its
// dates were moved, and how; not by how much.
const datesKey = "velum.dates"

// Column numbers of the parts.
const (
	maskedID = iota
	maskedRow
	maskedText
	maskedModel
	maskedCounts // the first of them
)

// none is the column number of a column that the part does not have.
const none = -1

const (
	noteID = iota
	noteRow
	noteConfidence
	noteLanguage
	noteCenter
)

const (
	placeID = iota
	placeRow
	placeStart
	placeEnd
	placeStartChar
	placeEndChar
	placeCategory
	placeScore // of the original ones
	placeSource

	rarePhrase = placeSource // of rare ones
	rarePerson = placeSource + 1
)

var quarantineColumns = []column.Column{
	column.Int64("row"), column.Text("note_id"), column.Names("reason"), column.Int64("line"), column.Int64("byte"), column.Names("cause"),
}

const (
	quarantineRow = iota
	quarantineID
	quarantineReason
	quarantinePlaces // columns that say where rows stand
)

// Names as bytes, so that no row makes a string of one.
var (
	choiceNames = names[pipeline.Choice](int(pipeline.ToReview) + 1)
	sourceNames = names[pipeline.SpanSource](pipeline.SpanSources())
	reasonNames = names[pipeline.Reason](pipeline.Reasons())
)

// categoryNames are computed on first use, when user-defined label sets have been loaded.
var categoryNames = sync.OnceValue(func() [][]byte { return names[pipeline.Category](pipeline.Categories()) })

// languageNames are computed on first use, when the languages of the word files have been read.
var languageNames = sync.OnceValue(func() [][]byte { return names[pipeline.Language](pipeline.MaxLanguages) })

func names[T interface {
	~uint8
	String() string
}](n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = []byte(T(i).String())
	}
	return all
}

// New returns the sink that writes the parts of a unit.
func New(parts *commit.Parts, o Options) (*Unit, error) {
	u := &Unit{parts: parts, o: o, reasons: make([]int64, pipeline.Reasons()), counted: newCounted()}
	columns, err := u.maskedColumns()
	if err == nil {
		err = distinct(slices.Concat(columns, column.Part(u.o.Part)))
	}
	if err != nil {
		return nil, err
	}
	if err = u.begin(&u.masked, "masked", columns, o.Mixed); err == nil && len(o.Quasi) > 0 {
		columns := quasiColumns(o.Quasi)
		if err = distinct(slices.Concat(columns, column.Part(o.Part))); err == nil {
			err = u.begin(&u.quasi, "quasi", columns, true)
		}
	}
	if err != nil {
		return nil, err
	}
	noted := noteColumns
	if o.Centers {
		noted = slices.Concat(noted, []column.Column{column.Text("center")})
	}
	if u.source = none; o.Mixed {
		u.source = len(noted)
		noted = slices.Concat(noted, []column.Column{column.Int64(pipeline.SourceColumn)})
	}
	if err = u.begin(&u.notes, "notes", noted, true); err != nil {
		return nil, err
	}
	u.summary, err = parts.Create("summary", summary.Ext, true)
	return u, err
}

// maskedColumns lays out the masked part.
func (u *Unit) maskedColumns() ([]column.Column, error) {
	columns := []column.Column{
		column.Text("note_id"),
		column.Int64("row"),
		column.Text("text"),
		column.Names("model"),
	}
	u.countOf = make([]int, pipeline.Categories())
	for c := range u.countOf {
		u.countOf[c] = none
	}
	for _, c := range u.o.Categories {
		if !slices.Contains(u.o.Imitated, c) {
			u.countOf[c] = len(columns)
			columns = append(columns, column.Int32(countColumn(c)))
		}
	}
	for c := range u.countOf {
		if u.countOf[c] == none && !slices.Contains(u.o.Imitated, pipeline.Category(c)) {
			u.countOf[c] = len(columns) // n_other
		}
	}
	columns = append(columns, column.Int32("n_other"))
	u.counts = make([]int32, len(columns))
	u.extra = make([]*pipeline.Column, len(u.o.Pass))
	for _, c := range u.o.Pass {
		kept, err := column.Passed(&c)
		if err != nil {
			return nil, err
		}
		columns = append(columns, kept)
	}
	return columns, nil
}

// countColumn returns the name of the column that counts a category.
func countColumn(c pipeline.Category) string {
	return "n_" + strings.ReplaceAll(strings.ToLower(c.String()), "-", "_")
}

func distinct(columns []column.Column) error {
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c.Name] {
			return fmt.Errorf("pass-through column %q has the name of a column of ours; rename it or leave it out", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// begin begins a part, unless it is there.
func (u *Unit) begin(p **table.Part, kind string, columns []column.Column, private bool, metadata ...string) error {
	if *p != nil {
		return nil
	}
	file, err := u.parts.Create(kind, ".parquet", private)
	if err != nil {
		return err
	}
	rowGroup := u.o.RowGroup
	if kind == "masked" || kind == "spans" {
		if metadata = []string{datesKey, u.o.Dates}; u.o.Mixed {
			rowGroup = table.StagedRows
		}
	}
	*p = &table.Part{Table: table.New(file, slices.Concat(columns, column.Part(u.o.Part)), rowGroup, metadata...), File: file}
	u.open = append(u.open, *p)
	return nil
}

// Put implements pipeline.Sink.
func (u *Unit) Put(b *pipeline.Batch) error {
	if err := u.check(b); err != nil {
		return err
	}
	// A seal is valid for one text only: see pipeline.Batch.Seal.
	for i, r := range b.Reason {
		if r == pipeline.Sound && !b.Sealed(i) {
			b.Quarantine(i, pipeline.Unsealed)
		}
	}
	u.done.Rows += int64(b.Len())
	for i := 0; u.o.IDs && i < b.Len(); i++ {
		u.ids.Add(b.ID.At(i))
	}
	for _, put := range []func(*pipeline.Batch) error{u.putMasked, u.putNotes, u.putQuasi, u.putSpans, u.putRare, u.putCandidates, u.putQuarantine} {
		if err := put(b); err != nil {
			return err
		}
	}
	for _, p := range u.open { // their values point into the batch
		if err := p.Rest(); err != nil {
			return err
		}
	}
	return nil
}

// check makes sure that the stages before have filled the batch: a note that
// was not masked must never be written for want of a stage.
func (u *Unit) check(b *pipeline.Batch) error {
	n := b.Len()
	if len(b.Reason) != n || b.ID.Len() != n || b.Masked.Len() != n || b.Spans.Len() != n || b.Places.Len() != n {
		return fmt.Errorf("batch %d has %d notes, %d ids, %d reasons, %d lists of spans, %d masked texts, %d lists of places; a stage is missing",
			b.Seq, n, b.ID.Len(), len(b.Reason), b.Spans.Len(), b.Masked.Len(), b.Places.Len())
	}
	for k, want := range u.o.Pass {
		var err error
		if u.extra[k], err = announced(b, &want); err != nil {
			return err
		}
	}
	return nil
}

// announced is the column of a batch that is another one's twin.
func announced(b *pipeline.Batch, want *pipeline.Column) (*pipeline.Column, error) {
	for i := range b.Extra {
		if c := &b.Extra[i]; c.Name == want.Name && c.Type == want.Type && c.Kind == want.Kind {
			return c, nil
		}
	}
	return nil, fmt.Errorf("pass-through column %q is not in the batch as it was announced", want.Name)
}

func (u *Unit) putMasked(b *pipeline.Batch) error {
	u.pick = u.pick[:0]
	for i, r := range b.Reason {
		if r == pipeline.Sound {
			u.pick = append(u.pick, i)
		}
	}
	u.done.Masked += int64(len(u.pick))
	model := []byte(u.o.Model)
	t := u.masked
	return t.Each(u.pick, func(i int) {
		t.Columns[maskedID].Bytes(b.ID.At(i))
		t.Columns[maskedRow].Int64(b.Number(i))
		t.Columns[maskedText].Bytes(b.Masked.At(i))
		t.Columns[maskedModel].Bytes(model)
		u.countSpans(b.Spans.At(i))
		if len(bytes.TrimSpace(b.Masked.At(i))) == 0 {
			u.counted.empty++
		}
		for k := maskedCounts; k < len(u.counts); k++ {
			t.Columns[k].Int32(u.counts[k])
		}
		at := len(u.counts)
		for _, from := range u.extra {
			for k := range from.Leaves {
				t.Columns[at+k].CopyLeaf(&from.Leaves[k], i)
			}
			if at += len(from.Leaves); from.Kind != pipeline.NestedColumn {
				t.Columns[at].Copy(from, i)
				at++
			}
		}
	})
}

func (u *Unit) countSpans(spans []pipeline.Span) {
	clear(u.counts)
	for _, s := range spans {
		if at := u.countOf[s.Category]; at != none {
			u.counts[at]++
		}
		u.counted.spans[s.Category][s.Source]++
	}
	if len(spans) > 0 {
		u.counted.withSpans++
	}
}

var noteColumns = []column.Column{
	column.Text("note_id"), column.Int64("row"), column.Float("confidence"), column.Names("language"),
}

// putNotes writes what is known of the masked notes and not public.
func (u *Unit) putNotes(b *pipeline.Batch) error {
	t, centers := u.notes, b.ExtraNamed("center")
	u.values = u.values[:0] // the column keeps what it is given until it is flushed
	return t.Each(u.pick, func(i int) {
		conf, language := valueAt(b.Conf, i, 1), valueAt(b.Language, i, pipeline.UnknownLanguage)
		t.Columns[noteID].Bytes(b.ID.At(i))
		t.Columns[noteRow].Int64(b.Number(i))
		if u.source != none {
			t.Columns[u.source].Int64(b.Row(i))
		}
		t.Columns[noteConfidence].Float(conf)
		t.Columns[noteLanguage].Bytes(languageNames()[language])
		u.counted.language[language]++
		u.counted.parts.Note(tally.ByLanguage, languageNames()[language], conf)
		if u.o.Centers {
			at := len(u.values)
			u.values = centers.AppendText(u.values, i)
			t.Columns[noteCenter].Bytes(u.values[at:])
			u.counted.parts.Note(tally.ByCenter, u.values[at:], conf)
		}
		u.counted.confidence[tally.Bin(conf)]++
		words := valueAt(b.Words, i, pipeline.Words{})
		u.counted.risk.Note(conf, u.o.Heard.Foreign(language, words), words, 0) // spans are counted by category
	})
}

// originalColumns are those of the spans in the note as it was; the public
// ones have no score and no source.
var originalColumns = []column.Column{
	column.Text("note_id"), column.Int64("row"),
	column.Int32("start"), column.Int32("end"), column.Int32("start_char"), column.Int32("end_char"),
	column.Names("category"), column.Float("score"), column.Names("source"),
}

func (u *Unit) putSpans(b *pipeline.Batch) error {
	for i, r := range b.Reason {
		if r != pipeline.Sound || len(b.Spans.At(i)) == 0 {
			continue
		}
		if err := u.putPlaces(b, i); err != nil {
			return err
		}
		if err := u.begin(&u.original, "original", originalColumns, true); err != nil {
			return err
		}
		if err := putSpans(u.original, b, i, b.Number(i), b.Text.At(i), b.Spans.At(i), func(s pipeline.Span) {
			c := u.original.Columns
			c[placeScore].Float(s.Score)
			c[placeSource].Bytes(sourceNames[s.Source])
		}); err != nil {
			return err
		}
	}
	return nil
}

// rareColumns are those of what singles somebody out.
var rareColumns = slices.Concat(originalColumns[:placeSource], []column.Column{column.Int64("phrase"), column.Int64("person")})

// putRare writes the spans of package rare that were not masked to the private part. A note without a patient counts as
// a person of its own.
func (u *Unit) putRare(b *pipeline.Batch) error {
	patients := b.ExtraNamed(u.o.Patients)
	for i := 0; i < b.Rare.Len(); i++ {
		found := b.Rare.At(i)
		if b.Reason[i] != pipeline.Sound || len(found) == 0 {
			continue
		}
		if err := u.begin(&u.rare, "rare", rareColumns, true); err != nil {
			return err
		}
		text, c := b.Text.At(i), u.rare.Columns
		u.values = patients.AppendText(u.values[:0], i)
		person := xxh3.Hash(patientid.Key(u.values))
		if len(u.values) == 0 {
			person = xxh3.HashSeed(b.ID.At(i), uint64(b.Row(i)))
		}
		err := putSpans(u.rare, b, i, b.Row(i), text, found, func(s pipeline.Span) {
			c[placeScore].Float(s.Score)
			c[rarePhrase].Int64(int64(gazetteer.Hash(text[s.Start:s.End])))
			c[rarePerson].Int64(int64(person))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// putPlaces writes where the replacements of note i lie, those that may be told.
func (u *Unit) putPlaces(b *pipeline.Batch, i int) error {
	if u.o.NoSpans {
		return nil
	}
	places := b.Places.At(i)
	if len(u.o.Imitated) > 0 {
		u.places = u.places[:0]
		for _, p := range places {
			if u.countOf[p.Category] != none {
				u.places = append(u.places, p)
			}
		}
		places = u.places
	}
	if len(places) == 0 {
		return nil
	}
	if err := u.begin(&u.spans, "spans", originalColumns[:placeScore], u.o.Mixed); err != nil {
		return err
	}
	return putSpans(u.spans, b, i, b.Number(i), b.Masked.At(i), places, nil)
}

// putSpans writes the spans of note i, which lie in text; more, if there is more to say of each.
func putSpans(p *table.Part, b *pipeline.Batch, i int, row int64, text []byte, spans []pipeline.Span, more func(pipeline.Span)) error {
	at, chars := int32(0), int32(0) // of what is counted already
	for _, s := range spans {
		from := chars + int32(utf8.RuneCount(text[at:s.Start]))
		to := from + int32(utf8.RuneCount(text[s.Start:s.End]))
		at, chars = s.End, to
		p.Columns[placeID].Bytes(b.ID.At(i))
		p.Columns[placeRow].Int64(row)
		p.Columns[placeStart].Int32(s.Start)
		p.Columns[placeEnd].Int32(s.End)
		p.Columns[placeStartChar].Int32(from)
		p.Columns[placeEndChar].Int32(to)
		p.Columns[placeCategory].Bytes(categoryNames()[s.Category])
		if more != nil {
			more(s)
		}
		if err := p.Full(); err != nil {
			return err
		}
	}
	return nil
}

// heldBytes is how many bytes of candidates' text are kept in memory before the selection is known. A whole unit of
// short notes has less.
const heldBytes = 16 << 20

func (u *Unit) putCandidates(b *pipeline.Batch) error {
	if u.o.Candidates == nil || len(b.Chosen) == 0 {
		return nil
	}
	if err := checkTagged(b); err != nil {
		return err
	}
	for i, c := range b.Chosen {
		if c == pipeline.NotChosen || b.Reason[i] != pipeline.Sound {
			continue
		}
		u.counted.chosen[c]++
		listed, err := u.o.Candidates.Add(b, i)
		if err != nil {
			return err
		}
		if !listed {
			continue
		}
		u.held.AppendTagged(b, i)
		if len(u.held.Text.Data) >= heldBytes {
			if err := u.settleCandidates(); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleCandidates writes the candidates that are on the list so far.
func (u *Unit) settleCandidates() error {
	listed := u.o.Candidates.Settle()
	defer u.held.Reset()
	if len(listed) == 0 {
		return nil
	}
	if u.tagged == nil {
		if err := u.begin(&u.candidates, "candidates", column.Tagged, true, pipeline.TagSetKey, u.held.TagSet.String()); err != nil {
			return err
		}
		u.tagged = &Tagged{set: u.held.TagSet, Table: u.candidates.Table}
	}
	return u.tagged.PutNotes(&u.held, listed)
}

func (u *Unit) putQuarantine(b *pipeline.Batch) error {
	u.pick = u.pick[:0]
	for i, r := range b.Reason {
		if r != pipeline.Sound {
			u.pick = append(u.pick, i)
			u.reasons[r]++
		}
	}
	if len(u.pick) == 0 {
		return nil
	}
	u.done.Quarantined += int64(len(u.pick))
	if err := u.begin(&u.quarantine, "quarantine", quarantineColumns, true); err != nil {
		return err
	}
	t := u.quarantine
	return t.Each(u.pick, func(i int) {
		t.Columns[quarantineRow].Int64(b.Row(i))
		t.Columns[quarantineID].Bytes(b.ID.At(i))
		t.Columns[quarantineReason].Bytes(reasonNames[b.Reason[i]])
		for k, name := range u.o.Places {
			t.Columns[quarantinePlaces+k].Copy(b.ExtraNamed(name), i)
		}
	})
}

// Close implements commit.UnitSink.
func (u *Unit) Close() (commit.Counts, error) {
	if u.o.Candidates != nil {
		if err := u.settleCandidates(); err != nil {
			return commit.Counts{}, err
		}
	}
	s := summary.Summary{IDs: u.ids.AppendBinary(nil)}
	if u.o.Candidates != nil {
		s.Candidates = u.o.Candidates.AppendBinary(nil)
	}
	if _, err := u.summary.Write(s.Append(nil)); err != nil {
		return commit.Counts{}, err
	}
	for _, p := range u.open {
		if err := p.End(); err != nil {
			return commit.Counts{}, err
		}
	}
	for r, n := range u.reasons {
		if n > 0 {
			if u.done.Reasons == nil {
				u.done.Reasons = map[string]int64{}
			}
			u.done.Reasons[pipeline.Reason(r).String()] = n
		}
	}
	u.done.Tally = u.counted.named()
	return u.done, nil
}

// tally counts what reports show.
type counted struct {
	spans      [][]int64 // by category and source
	language   [pipeline.MaxLanguages]int64
	chosen     [3]int64
	confidence [tally.Bins]int64
	risk       calibrate.Source
	parts      calibrate.Parts // by name of tally.DoubtBy
	withSpans  int64
	empty      int64
}

func newCounted() counted {
	t := counted{spans: make([][]int64, pipeline.Categories()), parts: calibrate.Parts{}}
	for c := range t.spans {
		t.spans[c] = make([]int64, pipeline.SpanSources())
	}
	return t
}

// named returns the counts that are not 0, by name.
func (t *counted) named() (m tally.Counts) {
	for c, bySource := range t.spans {
		for s, n := range bySource {
			m.NoteSpans(pipeline.Category(c).String(), pipeline.SpanSource(s).String(), n)
		}
	}
	for l, n := range t.language {
		m.Note(tally.Language, cmp.Or(pipeline.Language(l).String(), "unknown"), n)
	}
	t.parts.Each(func(name, bin string, n int64) { m.Note(tally.DoubtBy, tally.Pair(name, bin), n) })
	for bin, n := range t.confidence {
		m.Note(tally.Confidence, tally.BinName(bin), n)
	}
	for bin, n := range t.risk.Notes {
		m.Note(tally.Doubt, calibrate.BinName(bin), n)
	}
	m.Note(tally.Words, "", t.risk.Words)
	m.Note(tally.Unknown, "", t.risk.Unknown)
	m.Note(tally.Foreign, "", t.risk.Foreign)
	for c, n := range t.chosen {
		m.Note(tally.Chosen, string(choiceNames[c]), n)
	}
	m.Note(tally.WithSpans, "", t.withSpans)
	m.Note(tally.Empty, "", t.empty)
	return m
}

package write

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/velum-health/velum/pipeline"
)

// UnitOptions are the choices of the Parquet writer. The zero value works.
type UnitOptions struct {
	Model      string              // name of the model, written in every row
	Categories []pipeline.Category // that get a column of counts in the masked part; all others share n_other
	Pass       []pipeline.Column   // names and kinds of the columns of Batch.Extra that are written; no other ever is

	NoSpans        bool // no part of spans
	NoCandidates   bool // no part of candidates for the selection set
	QuarantineText bool // write the text of quarantined notes, unmasked

	RowGroup int // rows of a row group; 0 means 100,000
}

// Unit writes the parts of one unit:
//
//	masked/      note_id, row, text, confidence, language, model, n_<category>..., n_other, pass-through columns
//	spans/       note_id, row, start, end, category, score, source: never the text
//	candidates/  private: as Tagged writes it
//	quarantine/  private: row, note_id, reason, and the text if the options say so
//
// row is the number of the note in its input file; start and end count bytes
// of the note as it was. A part that would be empty is not made, except the
// masked one. It is a pipeline.UnitSink.
type Unit struct {
	parts *pipeline.Parts
	o     UnitOptions

	masked, spans, candidates, quarantine *part
	tagged                                *Tagged // writes candidates

	countOf []int // column of the masked part that counts a category
	counts  []int32
	extra   []*pipeline.Column

	done    pipeline.Counts
	reasons []int64
	tally   tally
	pick    []int // notes of the batch that go to one of the parts
}

// part is a table and the file that it goes to.
type part struct {
	*table
	file *pipeline.Part
}

// Columns of the parts, by number.
const (
	maskedID = iota
	maskedRow
	maskedText
	maskedConfidence
	maskedLanguage
	maskedModel
	maskedCounts // the first of them
)

const (
	spanID = iota
	spanRow
	spanStart
	spanEnd
	spanCategory
	spanScore
	spanSource
)

const (
	quarantineRow = iota
	quarantineID
	quarantineReason
	quarantineText
)

// Names as bytes, so that no row makes a string of one.
var (
	choiceNames   = names[pipeline.Choice](int(pipeline.ToReview) + 1)
	languageNames = names[pipeline.Language](int(pipeline.MixedLanguage) + 1)
	categoryNames = names[pipeline.Category](pipeline.Categories())
	sourceNames   = names[pipeline.SpanSource](pipeline.SpanSources())
	reasonNames   = names[pipeline.Reason](pipeline.Reasons())
)

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

// NewUnit begins the parts of a unit.
func NewUnit(parts *pipeline.Parts, o UnitOptions) (*Unit, error) {
	u := &Unit{parts: parts, o: o, reasons: make([]int64, pipeline.Reasons()), tally: newTally()}
	columns := u.maskedColumns()
	if err := distinct(columns); err != nil {
		return nil, err
	}
	var err error
	u.masked, err = u.begin("masked", columns, false)
	return u, err
}

// maskedColumns lays out the masked part.
func (u *Unit) maskedColumns() []column {
	columns := []column{
		{name: "note_id"},
		{name: "row", kind: pipeline.Int64Column},
		{name: "text"},
		{name: "confidence", kind: pipeline.FloatColumn},
		{name: "language", dict: true},
		{name: "model", dict: true},
	}
	u.countOf = make([]int, pipeline.Categories())
	for c := range u.countOf {
		u.countOf[c] = maskedCounts + len(u.o.Categories) // n_other
	}
	for k, c := range u.o.Categories {
		u.countOf[c] = maskedCounts + k
		columns = append(columns, column{name: CountColumn(c), kind: pipeline.Int32Column})
	}
	columns = append(columns, column{name: "n_other", kind: pipeline.Int32Column})
	u.counts = make([]int32, len(columns))
	u.extra = make([]*pipeline.Column, len(u.o.Pass))
	for _, c := range u.o.Pass {
		columns = append(columns, column{name: c.Name, kind: c.Kind, optional: true})
	}
	return columns
}

// CountColumn returns the name of the column that counts a category.
func CountColumn(c pipeline.Category) string {
	return "n_" + strings.ReplaceAll(strings.ToLower(c.String()), "-", "_")
}

func distinct(columns []column) error {
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c.name] {
			return fmt.Errorf("pass-through column %q has the name of a column of ours; rename it or leave it out", c.name)
		}
		seen[c.name] = true
	}
	return nil
}

// end ends the file and says what is in it.
func (p *part) end() error {
	digest, err := p.close()
	p.file.Rows, p.file.Digest = p.rows, digest
	return err
}

func (u *Unit) begin(kind string, columns []column, private bool) (*part, error) {
	file, err := u.parts.Create(kind, ".parquet", private)
	if err != nil {
		return nil, err
	}
	return &part{newTable(file, columns, u.o.RowGroup), file}, nil
}

// Put implements pipeline.Sink.
func (u *Unit) Put(b *pipeline.Batch) error {
	if err := u.check(b); err != nil {
		return err
	}
	// A seal holds for one text only: see pipeline.Batch.Seal.
	for i, r := range b.Reason {
		if r == pipeline.Sound && !b.Sealed(i) {
			b.Quarantine(i, pipeline.Unsealed)
		}
	}
	u.done.Rows += int64(b.Len())
	for _, put := range []func(*pipeline.Batch) error{u.putMasked, u.putSpans, u.putCandidates, u.putQuarantine} {
		if err := put(b); err != nil {
			return err
		}
	}
	return nil
}

// check makes sure that the stages before have filled the batch: a note that
// was not masked must never be written for want of a stage.
func (u *Unit) check(b *pipeline.Batch) error {
	n := b.Len()
	if len(b.Reason) != n || b.ID.Len() != n || b.Masked.Len() != n || b.Spans.Len() != n {
		return fmt.Errorf("batch %d has %d notes, %d ids, %d reasons, %d lists of spans, %d masked texts; a stage is missing",
			b.Seq, n, b.ID.Len(), len(b.Reason), b.Spans.Len(), b.Masked.Len())
	}
	for k, want := range u.o.Pass {
		u.extra[k] = nil
		for i := range b.Extra {
			if b.Extra[i].Name == want.Name {
				u.extra[k] = &b.Extra[i]
			}
		}
		if u.extra[k] == nil || u.extra[k].Kind != want.Kind {
			return fmt.Errorf("pass-through column %q is not in the batch as it was announced", want.Name)
		}
	}
	return nil
}

// chunks calls put for every picked note, in chunks that fit the table.
func (t *table) chunks(pick []int, put func(i int)) error {
	for len(pick) > 0 {
		n := min(len(pick), t.room())
		for _, i := range pick[:n] {
			put(i)
		}
		if err := t.flush(n); err != nil {
			return err
		}
		pick = pick[n:]
	}
	return nil
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
	return t.chunks(u.pick, func(i int) {
		t.columns[maskedID].bytes(b.ID.At(i))
		t.columns[maskedRow].int64(b.First + int64(i))
		t.columns[maskedText].bytes(b.Masked.At(i))
		t.columns[maskedConfidence].float(confidence(b, i))
		language := language(b, i)
		t.columns[maskedLanguage].bytes(languageNames[language])
		t.columns[maskedModel].bytes(model)
		u.tally.language[language]++
		u.tally.confidence[confidenceBin(confidence(b, i))]++
		u.countSpans(b.Spans.At(i))
		last := len(t.columns) - len(u.extra)
		for k := maskedCounts; k < last; k++ {
			t.columns[k].int32(u.counts[k])
		}
		for k, from := range u.extra {
			t.columns[last+k].copy(from, i)
		}
	})
}

func (u *Unit) countSpans(spans []pipeline.Span) {
	clear(u.counts)
	for _, s := range spans {
		u.counts[u.countOf[s.Category]]++
		u.tally.spans[s.Category][s.Source]++
	}
	if len(spans) > 0 {
		u.tally.withSpans++
	}
}

func confidence(b *pipeline.Batch, i int) float32 {
	if i < len(b.Conf) {
		return b.Conf[i]
	}
	return 1 // no model, patterns only
}

func language(b *pipeline.Batch, i int) pipeline.Language {
	if i < len(b.Language) {
		return b.Language[i]
	}
	return pipeline.UnknownLanguage
}

var spanColumns = []column{
	{name: "note_id"}, {name: "row", kind: pipeline.Int64Column},
	{name: "start", kind: pipeline.Int32Column}, {name: "end", kind: pipeline.Int32Column},
	{name: "category", dict: true}, {name: "score", kind: pipeline.FloatColumn}, {name: "source", dict: true},
}

func (u *Unit) putSpans(b *pipeline.Batch) (err error) {
	if u.o.NoSpans {
		return nil
	}
	for i, r := range b.Reason {
		spans := b.Spans.At(i)
		if r != pipeline.Sound || len(spans) == 0 {
			continue
		}
		if u.spans == nil {
			u.spans, err = u.begin("spans", spanColumns, false)
			if err != nil {
				return err
			}
		}
		for _, s := range spans {
			if err := u.putSpan(b, i, s); err != nil {
				return err
			}
		}
	}
	if u.spans != nil && u.spans.pending() > 0 {
		return u.spans.flush(u.spans.pending())
	}
	return nil
}

func (u *Unit) putSpan(b *pipeline.Batch, i int, s pipeline.Span) error {
	t := u.spans
	t.columns[spanID].bytes(b.ID.At(i))
	t.columns[spanRow].int64(b.First + int64(i))
	t.columns[spanStart].int32(s.Start)
	t.columns[spanEnd].int32(s.End)
	t.columns[spanCategory].bytes(categoryNames[s.Category])
	t.columns[spanScore].float(s.Score)
	t.columns[spanSource].bytes(sourceNames[s.Source])
	if n := t.pending(); n == t.room() {
		return t.flush(n)
	}
	return nil
}

func (u *Unit) putCandidates(b *pipeline.Batch) error {
	if u.o.NoCandidates || len(b.Chosen) == 0 {
		return nil
	}
	u.pick = u.pick[:0]
	for i, c := range b.Chosen {
		if c != pipeline.NotChosen && b.Reason[i] == pipeline.Sound {
			u.pick = append(u.pick, i)
			u.tally.chosen[c]++
		}
	}
	if len(u.pick) == 0 {
		return nil
	}
	if u.candidates == nil {
		file, err := u.parts.Create("candidates", ".parquet", true)
		if err != nil {
			return err
		}
		if u.tagged, err = NewTagged(file, b.TagSet, u.o.RowGroup); err != nil {
			return err
		}
		u.candidates = &part{u.tagged.table, file}
	}
	return u.tagged.PutNotes(b, u.pick)
}

func (u *Unit) putQuarantine(b *pipeline.Batch) (err error) {
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
	if u.quarantine == nil {
		columns := []column{{name: "row", kind: pipeline.Int64Column}, {name: "note_id"}, {name: "reason", dict: true}}
		if u.o.QuarantineText {
			columns = append(columns, column{name: "text", binary: true})
		}
		if u.quarantine, err = u.begin("quarantine", columns, true); err != nil {
			return err
		}
	}
	t := u.quarantine
	return t.chunks(u.pick, func(i int) {
		t.columns[quarantineRow].int64(b.First + int64(i))
		t.columns[quarantineID].bytes(b.ID.At(i))
		t.columns[quarantineReason].bytes(reasonNames[b.Reason[i]])
		if u.o.QuarantineText {
			t.columns[quarantineText].bytes(b.Text.At(i))
		}
	})
}

// Close implements pipeline.UnitSink.
func (u *Unit) Close() (pipeline.Counts, error) {
	for _, p := range []*part{u.masked, u.spans, u.candidates, u.quarantine} {
		if p == nil {
			continue
		}
		if err := p.end(); err != nil {
			return pipeline.Counts{}, err
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
	u.done.Tally = u.tally.named()
	return u.done, nil
}

// tally counts what reports show.
type tally struct {
	spans      [][]int64 // by category and source
	language   [8]int64
	chosen     [3]int64
	confidence [confidenceBins]int64
	withSpans  int64
}

// confidenceBins is the number of equal bins of confidences. Twenty: C_min
// is a border of one.
const confidenceBins = 20

// confidenceBin returns the bin of a confidence, rounded to 1e-4 first, so
// that the last bit of a kernel decides nothing.
func confidenceBin(c float32) int {
	if !(c > 0) {
		return 0
	}
	rounded := int(math.Floor(min(float64(c), 1)*10_000 + 0.5))
	return min(rounded*confidenceBins/10_000, confidenceBins-1)
}

func newTally() tally {
	t := tally{spans: make([][]int64, pipeline.Categories())}
	for c := range t.spans {
		t.spans[c] = make([]int64, pipeline.SpanSources())
	}
	return t
}

// named returns the counts that are not 0: category/PERSON, source/pattern,
// span/PERSON/pattern, language/es, confidence/0.95 (the lower bound of the
// bin), chosen/candidate, chosen/review, notes_with_spans.
func (t *tally) named() map[string]int64 {
	m := map[string]int64{}
	note := func(name string, n int64) {
		if n > 0 {
			m[name] += n
		}
	}
	for c, bySource := range t.spans {
		for s, n := range bySource {
			category, source := pipeline.Category(c).String(), pipeline.SpanSource(s).String()
			note("category/"+category, n)
			note("source/"+source, n)
			note("span/"+category+"/"+source, n)
		}
	}
	for l, n := range t.language {
		note("language/"+cmp.Or(pipeline.Language(l).String(), "unknown"), n)
	}
	for bin, n := range t.confidence {
		note(fmt.Sprintf("confidence/%.2f", float64(bin)/confidenceBins), n)
	}
	for c, n := range t.chosen {
		note("chosen/"+string(choiceNames[c]), n)
	}
	note("notes_with_spans", t.withSpans)
	return m
}

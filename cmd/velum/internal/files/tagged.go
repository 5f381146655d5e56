package files

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/tally"
	"github.com/velum-health/velum/stages/read/tagged"
	"github.com/velum-health/velum/stages/recognize"
)

// Tagged holds the spans that an earlier run found in an archive, so that extracts can be made without tagging again.
// Spans are bound to an input file by its SHA-256 and its row groups, so they cannot be applied to another file.
type Tagged struct {
	Digest string // hash of the private manifest
	Made   string // hash of the configuration and model that made the spans
	dir    string
	units  map[Key]taggedFile
}

// taggedFile is a file, or a piece of one, and the unit that has it.
type taggedFile struct {
	of    *commit.UnitRecord
	first int64 // row of the unit that the first note of the file has
}

// Key is a file of an archive, or a piece of one, whatever it is called now.
type Key struct {
	SHA256   string
	From, To int64
}

// KeyOf is that of a unit.
func KeyOf(u *commit.Unit) Key { return Key{hex.EncodeToString(u.SHA256[:]), u.From, u.To} }

// KeyIn is that of a file of a manifest.
func KeyIn(f *commit.UnitRecord) Key { return Key{f.SHA256, f.From, f.To} }

// OpenTagged opens the spans of the run that wrote the tree dir. model is the digest of the model in use now; it names
// the columns of counts.
func OpenTagged(dir string, model [32]byte) (*Tagged, error) {
	t := &Tagged{dir: filepath.Clean(dir) + ".private", units: map[Key]taggedFile{}}
	data, err := os.ReadFile(filepath.Join(t.dir, "manifest.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Misconfiguredf("name the output of `velum run`, with its private tree beside it", "%s has no manifest.json", t.dir)
	}
	if err != nil {
		return nil, err
	}
	m, err := commit.ParseManifest(data)
	if err != nil {
		return nil, err
	}
	if m.Model != hex.EncodeToString(model[:]) {
		return nil, exit.Misconfiguredf("name the same with --model", "the notes were tagged with another model")
	}
	t.Digest, t.Made = fmt.Sprintf("%x", sha256.Sum256(data)), m.Config+" "+m.Model
	for i := range m.Units {
		for _, f := range m.Units[i].Files() {
			t.units[KeyIn(&f)] = taggedFile{&m.Units[i], f.First}
		}
	}
	return t, nil
}

// Dir returns the private tree of the run.
func (t *Tagged) Dir() string { return t.dir }

// Check returns an error if the run did not process one of the units.
func (t *Tagged) Check(units []commit.Unit) error {
	for i := range units {
		if t.of(&units[i]).of == nil {
			return exit.Misconfiguredf("give the archive that was tagged, unchanged, with the same read.unit_notes",
				"%s: no spans were found for these notes", units[i].Input)
		}
	}
	return nil
}

func (t *Tagged) of(u *commit.Unit) taggedFile {
	return t.units[KeyOf(u)]
}

// TaggedUnit holds the spans of the notes of one unit, by row.
type TaggedUnit struct {
	first   int64
	offsets []int32 // [rows+1] into spans
	spans   []pipeline.Span
	reasons []pipeline.Reason
	conf    []float32
	lang    []pipeline.Language

	source func(row int64) int64 // row in its file of a row of the parts of the unit that is being loaded

	notes []int32 // while spans are loaded: the note of each
	moves []move  // ranges of rows that make up the unit that is being loaded
	alone bool    // that unit is of one file
}

// move maps a range of rows of an earlier unit to rows of the present unit.
type move struct {
	from, rows int64 // of the earlier one
	to         int   // note of the current unit
}

// Load reads the spans of a unit into g. It finds them by file and row, since the run may have divided the files into
// other units. It returns a *durable.IntegrityError if a part has changed since the run wrote it.
func (t *Tagged) Load(u *commit.Unit, g *TaggedUnit) error {
	n := int(u.Rows)
	*g = TaggedUnit{
		first: u.First, offsets: cleared(g.offsets, n+1), spans: g.spans[:0], notes: g.notes[:0], moves: g.moves[:0],
		reasons: cleared(g.reasons, n), conf: cleared(g.conf, n), lang: cleared(g.lang, n),
	}
	for i := range g.reasons { // what the run did not mask, and did not set aside, it could not read
		g.reasons[i] = pipeline.BadUnit
	}
	if len(u.Members) == 0 {
		f := t.of(u)
		g.moves = append(g.moves, move{f.first + u.First, u.Rows, 0})
		return errors.Join(t.load(f.of, g), g.settle())
	}
	byUnit, order := map[*commit.UnitRecord][]move{}, []*commit.UnitRecord(nil)
	for i := range u.Members {
		m := &u.Members[i]
		f := t.of(m)
		if byUnit[f.of] == nil {
			order = append(order, f.of)
		}
		byUnit[f.of] = append(byUnit[f.of], move{f.first, m.Rows, int(m.First)})
	}
	for _, of := range order {
		g.moves = byUnit[of]
		slices.SortFunc(g.moves, func(a, b move) int { return cmp.Compare(a.from, b.from) })
		if err := t.load(of, g); err != nil {
			return err
		}
	}
	return g.settle()
}

// load reads the results of one unit of the earlier run.
func (t *Tagged) load(record *commit.UnitRecord, g *TaggedUnit) error {
	there := int64(0)
	g.alone = len(record.Members) == 0
	var err error
	if g.source, err = tagged.Sources(record.Parts, t.part); err != nil {
		return err
	}
	for _, p := range record.Parts {
		data, err := t.part(&p)
		if err != nil {
			return err
		}
		switch p.Kind {
		case "original":
			there = p.Rows
			err = g.spansOf(p.Path, data)
		case "notes":
			err = g.notesOf(p.Path, data)
		case "quarantine":
			err = tagged.EachOf(p.Path, bytes.NewReader(data), []string{"row", "reason"}, func(r []tagged.PartValue) error {
				return g.moved(int64(r[0].Bits), func(i int) { g.reasons[i] = reasonOf(string(r[1].Bytes)) })
			})
		}
		if err != nil {
			return &durable.IntegrityError{Path: p.Path, Cause: "does not fit the notes of its unit"}
		}
	}
	found := int64(0)
	for _, n := range record.Tally.By(tally.Category) {
		found += n
	}
	if found != there { // a note without its spans would leave as it is
		return exit.Misconfiguredf("tag it again: an older velum wrote no spans with write.spans: false",
			"%s: the run found %d spans and wrote %d", record.Name, found, there)
	}
	return nil
}

// settle sorts the spans by note.
func (t *TaggedUnit) settle() error {
	for _, i := range t.notes {
		t.offsets[i+1]++
	}
	for i := range len(t.offsets) - 1 {
		t.offsets[i+1] += t.offsets[i]
	}
	if slices.IsSorted(t.notes) {
		return nil
	}
	next, sorted := slices.Clone(t.offsets), make([]pipeline.Span, len(t.spans))
	for k, i := range t.notes {
		sorted[next[i]] = t.spans[k]
		next[i]++
	}
	t.spans = sorted
	return nil
}

// part reads a part that Load needs; nil for others.
func (t *Tagged) part(p *commit.PartRecord) ([]byte, error) {
	if !p.Private || p.Kind != "original" && p.Kind != "notes" && p.Kind != "quarantine" {
		return nil, nil
	}
	return Part(t.dir, p)
}

// cleared returns n zeros, in the memory of old if there is room.
func cleared[T any](old []T, n int) []T {
	now := slices.Grow(old[:0], n)[:n]
	clear(now)
	return now
}

// notesOf reads the confidences and languages of the notes.
func (t *TaggedUnit) notesOf(path string, part []byte) error {
	return tagged.EachOf(path, bytes.NewReader(part), []string{"row", "confidence", "language"}, func(r []tagged.PartValue) error {
		lang, ok := pipeline.ParseLanguage(string(r[2].Bytes))
		if !ok {
			return errNotOfUnit
		}
		return t.moved(t.source(int64(r[0].Bits)), func(i int) {
			t.conf[i], t.lang[i], t.reasons[i] = math.Float32frombits(uint32(r[1].Bits)), lang, pipeline.Sound
		})
	})
}

// spansOf reads the spans of the notes.
func (t *TaggedUnit) spansOf(path string, part []byte) error {
	columns := []string{"row", "start", "end", "category", "score", "source"}
	return tagged.EachOf(path, bytes.NewReader(part), columns, func(r []tagged.PartValue) error {
		c, err := pipeline.ParseCategory(string(r[3].Bytes))
		source, ok := pipeline.ParseSpanSource(string(r[5].Bytes))
		if err != nil || !ok {
			return errNotOfUnit
		}
		return t.moved(t.source(int64(r[0].Bits)), func(i int) {
			t.notes = append(t.notes, int32(i))
			t.spans = append(t.spans, pipeline.Span{Start: int32(r[1].Bits), End: int32(r[2].Bits), Category: c,
				Score: math.Float32frombits(uint32(r[4].Bits)), Source: source})
		})
	})
}

// errNotOfUnit says that a part holds what no note of its unit can have.
var errNotOfUnit = errors.New("not of the unit")

// moved calls do with the index of the note in the present unit for a row of the earlier unit, if the note is in it.
func (t *TaggedUnit) moved(row int64, do func(i int)) error {
	k, found := slices.BinarySearchFunc(t.moves, row, func(m move, row int64) int { return cmp.Compare(m.from, row) })
	if !found {
		k--
	}
	if k < 0 || row >= t.moves[k].from+t.moves[k].rows {
		if t.alone {
			return errNotOfUnit
		}
		return nil
	}
	from := t.moves[k].from
	for k > 0 && t.moves[k-1].from == from {
		k--
	}
	for ; k < len(t.moves) && t.moves[k].from == from; k++ { // copies of a file
		do(t.moves[k].to + int(row-from))
	}
	return nil
}

// at calls do with the index of a row in the unit.
func (t *TaggedUnit) at(row int64, do func(i int)) error {
	i := row - t.first
	if i < 0 || i >= int64(len(t.reasons)) {
		return errNotOfUnit
	}
	do(int(i))
	return nil
}

func reasonOf(code string) pipeline.Reason {
	for r := range pipeline.Reasons() {
		if pipeline.Reason(r).String() == code {
			return pipeline.Reason(r)
		}
	}
	return pipeline.BadUnit // of a newer version: it stays in quarantine
}

// Languages appends the language of each note of the batch.
func (t *TaggedUnit) Languages(b *pipeline.Batch) {
	for i := range b.Len() {
		lang := pipeline.UnknownLanguage
		_ = t.at(b.Row(i), func(k int) { lang = t.lang[k] }) // Give says what does not fit
		b.Language = append(b.Language, lang)
	}
}

// Give fills in the spans, the confidence and the quarantine reason of each note of the batch.
func (t *TaggedUnit) Give(b *pipeline.Batch) error {
	for i := range b.Len() {
		conf := float32(0)
		err := t.at(b.Row(i), func(k int) {
			if t.reasons[k] != pipeline.Sound {
				b.Quarantine(i, t.reasons[k])
			}
			if b.Reason[i] == pipeline.Sound {
				spans := t.spans[t.offsets[k]:t.offsets[k+1]]
				if b.Known.Len() == b.Len() {
					b.Spans.Items = recognize.Join(b.Spans.Items, spans, b.Known.At(i))
				} else {
					b.Spans.Items = append(b.Spans.Items, spans...)
				}
			}
			conf = t.conf[k]
		})
		if err != nil {
			b.Quarantine(i, pipeline.BadUnit)
		}
		b.Spans.End()
		b.Conf = append(b.Conf, conf)
	}
	return nil
}

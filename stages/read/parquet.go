package read

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/guard"
	"github.com/velum-health/velum/pipeline/limit"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/pipeline/secret"
)

// IDPolicy says what becomes of the ids of rows: they can identify people too.
type IDPolicy uint8

const (
	KeepIDs IDPolicy = iota
	KeyIDs           // HMAC-SHA-256 under Key, its first 128 bits in hexadecimal: the same id gives the same one
	DropIDs          // the number of the row in its file instead; in an archive with a mark of the file
)

// NullIDPolicy says what becomes of rows that have no id.
type NullIDPolicy uint8

const (
	QuarantineNullIDs NullIDPolicy = iota
	NumberNullIDs                  // they take the number of the row in its file
)

// ParquetOptions are the choices of the Parquet and dump readers. The zero
// value works for files with columns note_id and text.
type ParquetOptions struct {
	ID   []string // column of the id, or several that are joined with bars; nil means note_id
	Text string   // column of the text; "" means text

	// Columns that later stages may need, read into Batch.Extra under the
	// names patient_id, date and center; "" means none.
	PatientID, Date, Center string
	Pass                    []string        // columns to keep as they are, read into Batch.Extra under their own names
	Patients                patientid.Rules // by which ids of patients get their form
	RawPatients             bool            // they are read as they stand instead

	IDs     IDPolicy
	Key     *secret.Key // for KeyIDs and opaque folders
	NullIDs NullIDPolicy
	MaxText int // bytes of a note above which it is TooLong and its text is not kept; 0 means limit.NoteBytes

	// A batch is full at so many bytes of text or so many notes; 0 means
	// limit.BatchBytes and BatchNotes.
	BatchBytes, BatchNotes int

	// What files are, when their names do not say it (one of ArchiveFormats;
	// "" means auto), and how files of text are written.
	Format   string
	Encoding Encoding
	Comma    rune // CSV; 0: see TextOptions

	UnitNotes int64           // notes after which a unit is full; 0 means UnitNotes
	Opaque    bool            // folders get opaque names, since real months would undo date shifting
	Checksums string          // file of SHA-256 sums beside the archive, as sha256sum writes it; "" means none
	Twice     string          // second copy or second export of the archive, a folder or a file, for files that have no checksums; "" means none
	Only      map[string]bool // files of folders that are read, by their paths with links followed; nil: all
	Fence     *Fence          // decodes Parquet for Scan and Archive.Open; nil: they do it themselves

	file   string           // fileMark of the unit at hand
	shapes map[string]shape // of the columns of Batch.Extra in the archive, by wanted.key, for files that lack one
}

// UnitNotes is after how many notes a unit is full unless options say otherwise:
// some seconds of work.
const UnitNotes = 1 << 18

// defaultID is the column of the ids. Tables of text may call it id as well.
const defaultID = "note_id"

func (o ParquetOptions) withDefaults() ParquetOptions {
	if len(o.ID) == 0 {
		o.ID = []string{defaultID}
	}
	o.Text = cmp.Or(o.Text, "text")
	o.MaxText = cmp.Or(o.MaxText, limit.NoteBytes)
	o.BatchBytes = cmp.Or(o.BatchBytes, limit.BatchBytes)
	o.BatchNotes = cmp.Or(o.BatchNotes, limit.BatchNotes)
	o.UnitNotes = cmp.Or(o.UnitNotes, UnitNotes)
	return o
}

// check tells what is wrong with the options.
func (o *ParquetOptions) check() error {
	if o.IDs == KeyIDs && o.Key == nil {
		return &secret.Error{Path: "(none)", Cause: "keyed ids need a key; name the file of one in the configuration"}
	}
	if o.Opaque && o.Key == nil {
		return &secret.Error{Path: "(none)", Cause: "opaque folders need a key; name the file of one in the configuration"}
	}
	return nil
}

// Names in Batch.Extra of the columns that stages work with, whatever they are
// called in the files. That of patients has forms of package patientid.
const (
	PatientColumn = "patient_id"
	DateColumn    = "date"
)

// extras lists the columns that go to Batch.Extra.
func (o *ParquetOptions) extras() []wanted {
	var all []wanted
	for _, c := range []wanted{{name: o.PatientID, as: PatientColumn, patient: true}, {name: o.Date, as: DateColumn}, {name: o.Center, as: "center"}} {
		if c.name != "" {
			all = append(all, c)
		}
	}
	for _, name := range o.Pass {
		all = append(all, wanted{name: name, as: name, kept: true})
	}
	return all
}

// maxID is the most bytes of an id. Ids are logged; a column of texts that
// was named as the id by mistake must not be.
const maxID = 200

// Parquet reads the notes of a range of row groups. It is a pipeline.Source.
type Parquet struct {
	path    string
	o       ParquetOptions
	file    *os.File
	disk    durable.Witness // of file
	text    cursor
	ids     []cursor
	signed  []bool
	extra   []extraReader
	columns []pipeline.Column // of extra, without values

	first   int64 // row of the first note in the file
	rows    int64 // notes in the range, by the footer
	done    int64
	scratch []pipeline.Bytes // ids as read, a column each
	naming  naming

	stays func(*os.File) error // checks that the file is what was hashed; nil: nobody hashed it
}

// NewParquet opens the row groups [from, to) of a file; to < 0 means all. It
// checks the schema and the footer before any row is read. Errors:
// *SchemaError if a column is not what the options say,
// *commit.DamageError if the file is no sound Parquet file.
func NewParquet(path string, from, to int, o ParquetOptions) (*Parquet, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &Parquet{path: path, o: o, file: f, naming: newNaming(&o)}
	err = p.fence(func() error { return p.open(from, to) })
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

func (p *Parquet) open(from, to int) error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	f, err := readFooter(p.path, p.disk.Watch(p.file), info.Size())
	if err != nil {
		return err
	}
	b, err := f.bind(&p.o)
	if err != nil {
		return err
	}
	groups := f.meta.RowGroups
	if to < 0 {
		to = len(groups)
	}
	if from < 0 || from > to || to > len(groups) {
		return fmt.Errorf("%s: row groups %d to %d of %d", p.path, from, to, len(groups))
	}
	for i := range groups[:to] {
		if i < from {
			p.first += groups[i].NumRows
		} else {
			p.rows += groups[i].NumRows
		}
	}
	if err := f.checkChunks(from, to, b.columns()); err != nil {
		return err
	}
	return p.cursors(f, &b, from, to)
}

func (p *Parquet) cursors(f *footer, b *bindings, from, to int) error {
	file, err := f.open(b.columns(), from, to)
	if err != nil {
		return err
	}
	p.text = f.cursor(b.text.column, 0, file, from, to)
	for _, id := range b.ids {
		p.ids, p.signed = append(p.ids, f.cursor(id.column, 0, file, from, to)), append(p.signed, id.signed)
	}
	for _, x := range b.extra {
		column, err := newColumn(x.as, x.shape)
		if err != nil {
			return &SchemaError{p.path, x.name, "is of a type that cannot be kept", "name another column"}
		}
		p.columns = append(p.columns, column)
		p.extra = append(p.extra, f.extraReader(x, file, from, to))
	}
	p.scratch = make([]pipeline.Bytes, len(p.ids))
	return nil
}

// groupRows returns the rows of each row group of the range, by the footer.
func (p *Parquet) groupRows() []int64 {
	rows := make([]int64, 0, len(p.text.groups))
	for _, g := range p.text.groups {
		rows = append(rows, g.NumRows())
	}
	return rows
}

// Close closes the file.
func (p *Parquet) Close() error {
	err := p.fence(func() error {
		err := p.text.close()
		for i := range p.ids {
			err = errors.Join(err, p.ids[i].close())
		}
		for i := range p.extra {
			for k := range p.extra[i].leaves {
				err = errors.Join(err, p.extra[i].leaves[k].close())
			}
		}
		return err
	})
	return errors.Join(err, p.file.Close())
}

// Next implements pipeline.Source. Errors are *commit.DamageError.
func (p *Parquet) Next(b *pipeline.Batch) error {
	err := p.fence(func() error { return p.fill(b) })
	if err == io.EOF && p.stays != nil {
		return cmp.Or(p.stays(p.file), err)
	}
	return err
}

// fence is fence, and finds out whether it is the file that is damaged or the
// system that could not read it.
func (p *Parquet) fence(do func() error) error {
	err := fence(p.path, do)
	said := p.disk.Err()
	// Go itself refuses places before the file, which a broken footer may ask
	// for: only what the system says counts.
	if _, system := errors.AsType[syscall.Errno](said); err == nil || err == io.EOF || !system {
		return err
	}
	unread := &commit.DamageError{Path: p.path, RowGroup: -1, Cause: "cannot be read: " + inputCause(said), Unread: true}
	if damage, ok := errors.AsType[*commit.DamageError](err); ok {
		unread.RowGroup, unread.Column = damage.RowGroup, damage.Column
	}
	return unread
}

func (p *Parquet) fill(b *pipeline.Batch) error {
	b.First = p.first + p.done
	if err := p.decode(b); err != nil {
		return err
	}
	p.naming.name(b, p.scratch)
	return nil
}

// decode fills all but the ids, whose columns it puts into scratch.
func (p *Parquet) decode(b *pipeline.Batch) error {
	if err := p.texts(b); err != nil {
		return err
	}
	n := b.Len()
	if n == 0 {
		return p.end()
	}
	for i := range p.ids {
		p.scratch[i].Reset()
		if err := p.ids[i].idBytes(&p.scratch[i], p.signed[i], n); err != nil {
			return err
		}
	}
	readyColumns(b, p.columns)
	for i := range p.extra {
		if err := p.extra[i].read(&b.Extra[i], n); err != nil {
			return err
		}
	}
	p.done += int64(n)
	return nil
}

// end checks that all columns end together and that no row is missing.
func (p *Parquet) end() error {
	if p.done != p.rows {
		return &commit.DamageError{RowGroup: -1, Cause: fmt.Sprintf("%d rows read, the footer says %d", p.done, p.rows)}
	}
	all := [][]cursor{p.ids}
	for i := range p.extra {
		all = append(all, p.extra[i].leaves)
	}
	for _, cursors := range all {
		for i := range cursors {
			if err := cursors[i].load(); err != io.EOF {
				return cmp.Or[error](err, cursors[i].damage("has more values than the text"))
			}
		}
	}
	return io.EOF
}

// readyColumns gives a batch the columns, if this source has not filled it
// before.
func readyColumns(b *pipeline.Batch, columns []pipeline.Column) {
	same := len(b.Extra) == len(columns)
	for i := 0; same && i < len(b.Extra); i++ {
		same = b.Extra[i].Name == columns[i].Name && b.Extra[i].Kind == columns[i].Kind && b.Extra[i].Type == columns[i].Type
	}
	if same {
		return
	}
	b.Extra = b.Extra[:0]
	for _, c := range columns {
		c.Leaves = slices.Clone(c.Leaves) // a batch's own
		b.Extra = append(b.Extra, c)
	}
}

// texts appends notes until the batch is full.
func (p *Parquet) texts(b *pipeline.Batch) error {
	c := &p.text
	for b.Len() < p.o.BatchNotes && len(b.Text.Data) < p.o.BatchBytes {
		if err := c.load(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for c.n > 0 && b.Len() < p.o.BatchNotes && len(b.Text.Data) < p.o.BatchBytes {
			at := c.step()
			if at < 0 {
				b.Text.End()
				b.Reason = append(b.Reason, pipeline.NullText)
				continue
			}
			appendText(b, c.bytes(at), p.o.MaxText)
		}
	}
	return nil
}

// appendText appends a note and says whether it can be vouched for. The text
// of a note that is too long is not kept: it would be dragged through every
// stage.
func appendText(b *pipeline.Batch, text []byte, most int) {
	reason := soundness(text, most)
	if reason == pipeline.TooLong {
		text = nil
	}
	b.Text.Append(text)
	b.Reason = append(b.Reason, reason)
}

// soundness says whether a text that is not null can be vouched for.
func soundness(text []byte, most int) pipeline.Reason {
	switch {
	case len(text) > most:
		return pipeline.TooLong
	case !valid(text):
		return pipeline.BadEncoding
	case bytes.IndexByte(text, 0) >= 0:
		return pipeline.ControlText
	}
	return pipeline.Sound
}

// valid is utf8.Valid, which skips ASCII eight bytes at a time only until the
// first accent; Spanish has one every forty bytes.
func valid(text []byte) bool {
	for len(text) > 0 {
		if len(text) >= 8 {
			word := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
				uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
			if word&0x8080808080808080 == 0 {
				text = text[8:]
				continue
			}
		}
		if text[0] < utf8.RuneSelf {
			text = text[1:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size <= 1 {
			return false
		}
		text = text[size:]
	}
	return true
}

// naming makes the ids of notes.
type naming struct {
	policy  IDPolicy
	null    NullIDPolicy
	file    string // before numbers of rows
	mac     hash.Hash
	scratch []byte
	sum     [sha256.Size]byte
}

func newNaming(o *ParquetOptions) naming {
	n := naming{policy: o.IDs, null: o.NullIDs, file: o.file}
	if o.IDs == KeyIDs {
		n.mac = hmac.New(sha256.New, o.Key.Derive("note id"))
	}
	return n
}

// name fills the ids of a batch from the columns of its source: several are
// joined with bars, and bars within them get a backslash, so that no two notes
// have one id. An id that is null, empty, too long or no clean text does not
// count as one.
func (s *naming) name(b *pipeline.Batch, columns []pipeline.Bytes) {
	for i := range b.Len() {
		row := b.First + int64(i)
		id := s.scratch[:0]
		sound := true
		for k := range columns {
			if k > 0 {
				id = append(id, '|')
			}
			part := columns[k].At(i)
			sound = sound && cleanID(part)
			switch {
			case len(part) > maxID:
			case len(columns) > 1:
				id = appendEscaped(id, part)
			default:
				id = append(id, part...)
			}
		}
		s.scratch = id
		switch {
		case s.policy == DropIDs:
			s.number(b, row)
		case sound:
			s.append(b, id)
		case s.null == NumberNullIDs:
			s.number(b, row)
		default:
			b.Quarantine(i, pipeline.NullID)
		}
		b.ID.End()
	}
}

// appendEscaped appends part of an id, with a backslash before bars and
// backslashes.
func appendEscaped(id, part []byte) []byte {
	for _, c := range part {
		if c == '|' || c == '\\' {
			id = append(id, '\\')
		}
		id = append(id, c)
	}
	return id
}

// number makes an id of the number of a row.
func (s *naming) number(b *pipeline.Batch, row int64) {
	b.ID.Data = append(b.ID.Data, s.file...)
	b.ID.Data = strconv.AppendInt(b.ID.Data, row, 10)
}

func (s *naming) append(b *pipeline.Batch, id []byte) {
	if s.policy == KeepIDs {
		b.ID.Data = append(b.ID.Data, id...)
		return
	}
	s.mac.Reset()
	s.mac.Write(id)
	b.ID.Data = hex.AppendEncode(b.ID.Data, s.mac.Sum(s.sum[:0])[:16])
}

func cleanID(id []byte) bool {
	if len(id) == 0 || len(id) > maxID {
		return false
	}
	ascii := true
	for _, c := range id {
		if c < ' ' || c == 0x7F {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(id)
}

// fence calls do, which calls the library, and turns a panic into damage:
// Parquet readers panic on about one damaged file in a hundred.
func fence(path string, do func() error) error {
	var err error
	if guard.Note(func() { err = do() }) {
		err = &commit.DamageError{RowGroup: -1, Cause: "the Parquet library panicked on it"}
	}
	if damage, ok := errors.AsType[*commit.DamageError](err); ok && damage.Path == "" {
		damage.Path = path
	}
	return err
}

package read

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"syscall"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
)

// IDPolicy says what becomes of the ids of rows: they can identify people too.
type IDPolicy uint8

const (
	KeepIDs IDPolicy = iota
	KeyIDs           // HMAC-SHA-256 under Key, its first 128 bits in hexadecimal: the same id gives the same one
	DropIDs          // the number of the row in its file instead
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
	Pass                    []string // other columns to read into Batch.Extra, under their own names

	IDs     IDPolicy
	Key     *pipeline.Key // for KeyIDs and opaque folders
	NullIDs NullIDPolicy
	MaxText int // bytes of a note above which it is TooLong and its text is not kept; 0 means 1 MiB

	// A batch is full at so many bytes of text or so many notes; 0 means
	// 256 KiB and 4096: it stays in the second-level cache, and a hand-off
	// between stages costs nothing beside it.
	BatchBytes, BatchNotes int

	UnitNotes int64  // notes after which a unit is full; 0 means 262144: some seconds of work
	Opaque    bool   // folders get opaque names, since real months would undo date shifting
	Checksums string // file of SHA-256 sums beside the archive, as sha256sum writes it; "" means none
	Fence     *Fence // decodes Parquet for Scan and Archive.Open; nil: they do it themselves

	kinds map[string]pipeline.ColumnKind // kinds of Pass columns in the archive, for files that lack one
}

func (o ParquetOptions) withDefaults() ParquetOptions {
	if len(o.ID) == 0 {
		o.ID = []string{"note_id"}
	}
	o.Text = cmp.Or(o.Text, "text")
	o.MaxText = cmp.Or(o.MaxText, 1<<20)
	o.BatchBytes = cmp.Or(o.BatchBytes, 256<<10)
	o.BatchNotes = cmp.Or(o.BatchNotes, 4096)
	o.UnitNotes = cmp.Or(o.UnitNotes, 1<<18)
	return o
}

// check tells what is wrong with the options.
func (o *ParquetOptions) check() error {
	if o.IDs == KeyIDs && o.Key == nil {
		return &pipeline.KeyError{Path: "(none)", Cause: "keyed ids need a key; name the file of one in the configuration"}
	}
	return nil
}

// extras lists the columns that go to Batch.Extra.
func (o *ParquetOptions) extras() []binding {
	var all []binding
	for _, c := range []binding{{name: o.PatientID, as: "patient_id"}, {name: o.Date, as: "date"}, {name: o.Center, as: "center"}} {
		if c.name != "" {
			all = append(all, c)
		}
	}
	for _, name := range o.Pass {
		all = append(all, binding{name: name, as: name})
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
	disk    pipeline.Witness // of file
	text    cursor
	ids     []cursor
	signed  []bool
	extra   []cursor
	binding []binding // of extra

	first   int64 // row of the first note in the file
	rows    int64 // notes in the range, by the footer
	done    int64
	scratch []pipeline.Bytes // ids as read, a column each
	naming  naming
}

// NewParquet opens the row groups [from, to) of a file; to < 0 means all. It
// checks the schema and the footer before any row is read. Errors:
// *SchemaError if a column is not what the options say,
// *pipeline.DamageError if the file is no sound Parquet file.
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
	pf, err := openFooterAt(p.path, p.disk.Watch(p.file), info.Size())
	if err != nil {
		return err
	}
	ids, text, extra, err := bind(p.path, pf.Schema(), &p.o)
	if err != nil {
		return err
	}
	groups := pf.RowGroups()
	if to < 0 {
		to = len(groups)
	}
	if from < 0 || from > to || to > len(groups) {
		return fmt.Errorf("%s: row groups %d to %d of %d", p.path, from, to, len(groups))
	}
	for i, g := range groups[:to] {
		if i < from {
			p.first += g.NumRows()
		} else {
			p.rows += g.NumRows()
		}
	}
	open := func(b binding) cursor {
		return cursor{name: b.name, leaf: b.leaf, groups: groups[from:to], base: from}
	}
	p.text, p.binding = open(text), extra
	leaves := []int{text.leaf}
	for _, id := range ids {
		p.ids, p.signed = append(p.ids, open(id)), append(p.signed, id.signed)
		leaves = append(leaves, id.leaf)
	}
	for _, x := range extra {
		p.extra = append(p.extra, open(x))
		leaves = append(leaves, x.leaf)
	}
	p.scratch = make([]pipeline.Bytes, len(p.ids))
	return checkChunks(p.path, pf, from, to, leaves)
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
			err = errors.Join(err, p.extra[i].close())
		}
		return err
	})
	return errors.Join(err, p.file.Close())
}

// Next implements pipeline.Source. Errors are *pipeline.DamageError.
func (p *Parquet) Next(b *pipeline.Batch) error {
	return p.fence(func() error { return p.fill(b) })
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
	unread := &pipeline.DamageError{Path: p.path, RowGroup: -1, Cause: "cannot be read: " + inputCause(said), Unread: true}
	if damage, ok := errors.AsType[*pipeline.DamageError](err); ok {
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
	p.columns(b)
	for i := range p.extra {
		if err := p.extra[i].extra(&b.Extra[i], p.binding[i].convert, n); err != nil {
			return err
		}
	}
	p.done += int64(n)
	return nil
}

// end checks that all columns end together and that no row is missing.
func (p *Parquet) end() error {
	if p.done != p.rows {
		return &pipeline.DamageError{RowGroup: -1, Cause: fmt.Sprintf("%d rows read, the footer says %d", p.done, p.rows)}
	}
	for _, cursors := range [][]cursor{p.ids, p.extra} {
		for i := range cursors {
			if err := cursors[i].load(); err != io.EOF {
				return cmp.Or[error](err, cursors[i].damage("has more values than the text"))
			}
		}
	}
	return io.EOF
}

// columns readies the pass-through columns of a batch that this source has
// not filled before.
func (p *Parquet) columns(b *pipeline.Batch) {
	same := len(b.Extra) == len(p.binding)
	for i := 0; same && i < len(b.Extra); i++ {
		same = b.Extra[i].Name == p.binding[i].as && b.Extra[i].Kind == p.binding[i].kind
	}
	if same {
		return
	}
	b.Extra = b.Extra[:0]
	for _, x := range p.binding {
		b.Extra = append(b.Extra, pipeline.Column{Name: x.as, Kind: x.kind})
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
	mac     hash.Hash
	scratch []byte
	sum     [sha256.Size]byte
}

func newNaming(o *ParquetOptions) naming {
	n := naming{policy: o.IDs, null: o.NullIDs}
	if o.IDs == KeyIDs {
		n.mac = hmac.New(sha256.New, o.Key.Derive("note id"))
	}
	return n
}

// name fills the ids of a batch from the columns of its source: several are
// joined with bars. An id that is null, empty, too long or no clean text does
// not count as one.
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
			if len(part) <= maxID {
				id = append(id, part...)
			}
		}
		s.scratch = id
		switch {
		case s.policy == DropIDs:
			b.ID.Data = strconv.AppendInt(b.ID.Data, row, 10)
		case sound:
			s.append(b, id)
		case s.null == NumberNullIDs:
			b.ID.Data = strconv.AppendInt(b.ID.Data, row, 10)
		default:
			b.Quarantine(i, pipeline.NullID)
		}
		b.ID.End()
	}
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
	if pipeline.Guard(func() { err = do() }) {
		err = &pipeline.DamageError{RowGroup: -1, Cause: "the Parquet library panicked on it"}
	}
	if damage, ok := errors.AsType[*pipeline.DamageError](err); ok && damage.Path == "" {
		damage.Path = path
	}
	return err
}

// openFooter reads the footer of a Parquet file and checks it against itself.
func openFooter(path string, f *os.File) (*parquet.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return openFooterAt(path, f, info.Size())
}

func openFooterAt(path string, f io.ReaderAt, size int64) (*parquet.File, error) {
	bad := func(cause string) error { return &pipeline.DamageError{Path: path, RowGroup: -1, Cause: cause} }
	var head [4]byte
	var tail [8]byte // length of the footer, magic
	switch {
	case size == 0:
		return nil, bad("the file is empty")
	case size < 12:
		return nil, bad("is no Parquet file")
	default:
		if _, err := f.ReadAt(head[:], 0); err != nil {
			return nil, err
		}
		if _, err := f.ReadAt(tail[:], size-8); err != nil {
			return nil, err
		}
	}
	switch {
	case string(head[:]) == "PARE" || string(tail[4:]) == "PARE":
		return nil, bad("is an encrypted Parquet file; decrypt it first")
	case string(head[:]) != "PAR1":
		return nil, bad("is no Parquet file")
	case string(tail[4:]) != "PAR1":
		return nil, bad("is truncated: it begins as a Parquet file and does not end as one")
	case int64(binary.LittleEndian.Uint32(tail[:])) > size-12:
		return nil, bad("its footer is longer than the file") // the library would take the memory for it first
	}
	pf, err := parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(int(min(size, 1<<20))))
	if err != nil {
		return nil, bad("its footer cannot be read")
	}
	rows := int64(0)
	for _, g := range pf.RowGroups() {
		rows += g.NumRows()
	}
	if rows != pf.NumRows() {
		return nil, bad(fmt.Sprintf("its footer says %d rows, its row groups %d", pf.NumRows(), rows))
	}
	if err := checkFooter(path, pf, size-8-int64(binary.LittleEndian.Uint32(tail[:]))); err != nil {
		return nil, err
	}
	return pf, nil
}

// checkChunks checks what the footer says of the columns that are read.
func checkChunks(path string, pf *parquet.File, from, to int, leaves []int) error {
	for g := from; g < to; g++ {
		for _, leaf := range leaves {
			if leaf < 0 {
				continue
			}
			if err := checkChunk(path, pf, g, leaf, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkChunk(path string, pf *parquet.File, g, leaf int, list bool) error {
	group := &pf.Metadata().RowGroups[g]
	if leaf >= len(group.Columns) {
		return &pipeline.DamageError{Path: path, RowGroup: g, Cause: "has fewer columns than the schema"}
	}
	meta := &group.Columns[leaf].MetaData
	damage := func(cause string) error {
		return &pipeline.DamageError{Path: path, RowGroup: g, Column: pf.Schema().Columns()[leaf][0], Cause: cause}
	}
	if !readable(meta.Codec) {
		return damage(fmt.Sprintf("is compressed with %s, which is not supported; write it with ZSTD, SNAPPY, GZIP or none", meta.Codec))
	}
	if meta.NumValues != group.NumRows && !(list && meta.NumValues > group.NumRows) {
		return damage(fmt.Sprintf("the footer says %d values in %d rows", meta.NumValues, group.NumRows))
	}
	if meta.DataPageOffset < 0 || meta.TotalCompressedSize < 0 || meta.DataPageOffset > pf.Size() || meta.TotalCompressedSize > pf.Size() {
		return damage("the footer says that it stands outside the file")
	}
	if list {
		return nil
	}
	column, ok := pf.Schema().Lookup(pf.Schema().Columns()[leaf]...)
	if cause := checkPages(pf, meta, ok && column.MaxDefinitionLevel > 0); cause != "" {
		return damage(cause)
	}
	return nil
}

func readable(c format.CompressionCodec) bool {
	switch c {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Zstd, format.Brotli:
		return true
	}
	return false
}

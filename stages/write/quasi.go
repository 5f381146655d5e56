package write

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/patientid"
)

// QuasiColumn is a quasi-identifier: a column of Batch.Extra, or a category whose values are extracted from the text.
type QuasiColumn struct {
	Name   string
	Column *pipeline.Column // as it is announced; nil: it was lifted
	Lifted int              // which of Batch.Lifted
	Day    int64            // a day in the unit of the column, if it holds times
}

const (
	quasiID = iota
	quasiRow
	quasiPatient
	quasiCombination
)

// quasiColumns are those of the private part: what of a note may single somebody out. patient is a hash of eight bytes, and
// empty if nobody knows; combination is the number of the values in the summary of the unit.
var quasiColumns = []column{{name: "note_id"}, {name: "row", kind: pipeline.Int64Column}, {name: "patient", binary: true}, {name: "combination", kind: pipeline.Int32Column}}

// combinations are the values that notes of a unit have in their quasi-identifiers, in the order in which they come first.
type combinations struct {
	number map[string]int32 // by key, see appendQuasi
	all    []combination
}

type combination struct {
	key      string
	notes    int64
	patients []uint64 // hashes, as often as they come
}

// appendQuasi appends a value to the key of a combination.
func appendQuasi(dst, value []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(value))), value...)
}

// add counts a note and returns the number of its values.
func (c *combinations) add(key, patient []byte) int32 {
	n, there := c.number[string(key)]
	if !there {
		if n = int32(len(c.all)); n == 0 {
			c.number = map[string]int32{}
		}
		c.all = append(c.all, combination{key: string(key)})
		c.number[c.all[n].key] = n
	}
	of := &c.all[n]
	of.notes++
	hash := uint64(0) // of a patient whom nobody knows
	if len(patient) > 0 {
		hash = binary.LittleEndian.Uint64(patient)
	}
	of.patients = append(of.patients, hash)
	return n
}

// appendBinary appends the combinations in the order of their numbers:
//
//	key, notes, patients, and of each patient the hash
func (c *combinations) appendBinary(dst []byte) []byte {
	for k := range c.all {
		of := &c.all[k]
		slices.Sort(of.patients)
		patients := slices.Compact(of.patients)
		dst = append(binary.AppendUvarint(dst, uint64(len(of.key))), of.key...)
		dst = binary.AppendUvarint(dst, uint64(of.notes))
		dst = binary.AppendUvarint(dst, uint64(len(patients)))
		for _, p := range patients {
			dst = binary.LittleEndian.AppendUint64(dst, p)
		}
	}
	return dst
}

// Combination is a combination of values of quasi-identifiers, one per column, in the notes of a unit.
type Combination struct {
	Key      []byte // of all values
	Values   []string
	Notes    int64
	Patients []byte // hashes of eight bytes, rising; one is 0 where notes have no patient
}

// EachCombination calls do for every combination in field Quasi of a summary, in ascending order; n is the number of
// values in each (-1: any). The argument is valid during the call.
func EachCombination(field []byte, n int, do func(c *Combination)) error {
	c := new(Combination)
	for len(field) > 0 {
		key, rest, ok := cutBytes(field)
		if !ok {
			return errSummary
		}
		c.Key, c.Values = key, c.Values[:0]
		for len(key) > 0 {
			var value []byte
			if value, key, ok = cutBytes(key); !ok {
				return errSummary
			}
			c.Values = append(c.Values, string(value))
		}
		notes, at := binary.Uvarint(rest)
		patients, size := binary.Uvarint(rest[max(at, 0):])
		if at <= 0 || size <= 0 || notes > math.MaxInt32 || patients > uint64(len(rest)-at-size)/patientBytes || n >= 0 && len(c.Values) != n {
			return errSummary
		}
		rest = rest[at+size:]
		c.Notes, c.Patients, field = int64(notes), rest[:patients*patientBytes], rest[patients*patientBytes:]
		do(c)
	}
	return nil
}

const patientBytes = 8

// cutBytes cuts what has its length before it.
func cutBytes(data []byte) (value, rest []byte, ok bool) {
	n, at := binary.Uvarint(data)
	if at <= 0 || n > uint64(len(data)-at) {
		return nil, nil, false
	}
	return data[at : at+int(n)], data[at+int(n):], true
}

// putQuasi writes the quasi-identifiers of the masked notes of u.pick.
func (u *Unit) putQuasi(b *pipeline.Batch) error {
	if u.quasi == nil {
		return nil
	}
	from := make([]*pipeline.Column, len(u.o.Quasi))
	for k, q := range u.o.Quasi {
		if q.Column == nil {
			if q.Lifted >= len(b.Lifted) || b.Lifted[q.Lifted].Len() != b.Len() {
				return fmt.Errorf("batch %d has no column of the values of %s; a stage is missing", b.Seq, q.Name)
			}
			continue
		}
		var err error
		if from[k], err = announced(b, q.Column); err != nil {
			return err
		}
	}
	patients := b.ExtraNamed(u.o.Patients)
	u.texts = u.texts[:0] // the table keeps no copy until it is flushed
	t := u.quasi
	return t.chunks(u.pick, func(i int) {
		t.columns[quasiID].bytes(b.ID.At(i))
		t.columns[quasiRow].int64(b.Number(i))
		start := len(u.texts)
		if u.texts = patients.AppendText(u.texts, i); len(u.texts) > start {
			u.texts = binary.LittleEndian.AppendUint64(u.texts[:start], xxh3.Hash(patientid.Key(u.texts[start:])))
		}
		patient := u.texts[start:]
		t.columns[quasiPatient].bytes(patient)
		u.values = u.values[:0]
		for k := range u.o.Quasi {
			start = len(u.texts)
			u.texts = u.o.Quasi[k].appendText(u.texts, b, from[k], i)
			u.values = appendQuasi(u.values, u.texts[start:])
		}
		t.columns[quasiCombination].int32(u.combined.add(u.values, patient))
	})
}

// appendText appends the value of note i as text.
func (q *QuasiColumn) appendText(dst []byte, b *pipeline.Batch, from *pipeline.Column, i int) []byte {
	switch {
	case q.Column == nil:
		return append(dst, b.Lifted[q.Lifted].At(i)...)
	case q.Day == 0 || !from.Valid[i]:
		return from.AppendText(dst, i)
	}
	day, _ := from.Day(i, q.Day)
	return time.Unix(day*24*60*60, 0).UTC().AppendFormat(dst, time.DateOnly)
}

// Quasi writes a public table of quasi-identifiers, row for row with a masked
// part: note_id, row, the columns by their names, and part, as in the masked one.
type Quasi struct {
	*table
	ids []byte // of rows that are not flushed
}

// NewQuasi begins a table; rowGroup is as in UnitOptions.
func NewQuasi(out io.Writer, names []string, rowGroup int, part string) (*Quasi, error) {
	columns := []column{{name: "note_id"}, {name: "row", kind: pipeline.Int64Column}}
	for _, name := range names {
		columns = append(columns, column{name: name, dict: true})
	}
	columns = append(columns, partColumn(part)...)
	return &Quasi{table: newTable(out, columns, rowGroup)}, distinct(columns)
}

// Add adds a row. The values must not change until Close.
func (q *Quasi) Add(id []byte, row int64, values [][]byte) error {
	at := len(q.ids)
	q.ids = append(q.ids, id...)
	q.columns[0].bytes(q.ids[at:])
	q.columns[1].int64(row)
	for k, v := range values {
		q.columns[2+k].bytes(v)
	}
	if q.pending() < q.room() {
		return nil
	}
	return q.rest()
}

// Close finishes the table and returns its number of rows and its digest.
func (q *Quasi) Close() (rows int64, digest string, err error) {
	if err := q.rest(); err != nil {
		return 0, "", err
	}
	digest, err = q.close()
	return q.rows, digest, err
}

func (q *Quasi) rest() error {
	defer func() { q.ids = q.ids[:0] }()
	return q.table.rest()
}

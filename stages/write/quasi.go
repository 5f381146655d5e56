package write

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/patientid"
)

// QuasiColumn is a quasi-identifier: a column of Batch.Extra, or a category that
// was lifted out of the text.
type QuasiColumn struct {
	Name   string
	Column *pipeline.Column // as it is announced; nil: it was lifted
	Lifted int              // which of Batch.Lifted
	Day    int64            // a day in the unit of the column, if it holds times
}

// QuasiRow is a row of the private part: what of a note may single somebody out.
type QuasiRow struct {
	ID      string `parquet:"note_id"`
	Row     int64  `parquet:"row"`
	Patient []byte `parquet:"patient"` // a hash of eight bytes; empty if nobody knows
	Q0      string `parquet:"q0,optional"`
	Q1      string `parquet:"q1,optional"`
	Q2      string `parquet:"q2,optional"`
	Q3      string `parquet:"q3,optional"`
	Q4      string `parquet:"q4,optional"`
	Q5      string `parquet:"q5,optional"`
	Q6      string `parquet:"q6,optional"`
	Q7      string `parquet:"q7,optional"`
}

// Values appends the first n values to dst.
func (r *QuasiRow) Values(dst []string, n int) []string {
	all := [...]string{r.Q0, r.Q1, r.Q2, r.Q3, r.Q4, r.Q5, r.Q6, r.Q7}
	return append(dst, all[:n]...)
}

const (
	quasiID = iota
	quasiRow
	quasiPatient
	quasiFirst
)

func quasiColumns(n int) []column {
	columns := []column{{name: "note_id"}, {name: "row", kind: pipeline.Int64Column}, {name: "patient", binary: true}}
	for k := range n {
		columns = append(columns, column{name: fmt.Sprintf("q%d", k), optional: true})
	}
	return columns
}

// combinations are the values that notes of a unit have in their quasi-identifiers,
// by appendValues; of each the notes, and hashes of the patients, as often as they come.
type combinations map[string]*combination

type combination struct {
	notes    int64
	patients []uint64
}

// add counts a note.
func (c *combinations) add(values, patient []byte) {
	if *c == nil {
		*c = combinations{}
	}
	of := (*c)[string(values)]
	if of == nil {
		of = new(combination)
		(*c)[string(values)] = of
	}
	of.notes++
	hash := uint64(0) // of a patient whom nobody knows
	if len(patient) > 0 {
		hash = binary.LittleEndian.Uint64(patient)
	}
	of.patients = append(of.patients, hash)
}

// appendBinary appends the combinations in the order of their values:
//
//	values, notes, patients, and of each patient the hash
func (c combinations) appendBinary(dst []byte) []byte {
	for _, values := range slices.Sorted(maps.Keys(c)) {
		of := c[values]
		slices.Sort(of.patients)
		patients := slices.Compact(of.patients)
		dst = append(binary.AppendUvarint(dst, uint64(len(values))), values...)
		dst = binary.AppendUvarint(dst, uint64(of.notes))
		dst = binary.AppendUvarint(dst, uint64(len(patients)))
		for _, p := range patients {
			dst = binary.LittleEndian.AppendUint64(dst, p)
		}
	}
	return dst
}

// Combination is values that notes of a unit have, one a quasi-identifier.
type Combination struct {
	Values   []string
	Notes    int64
	Patients []byte // hashes of eight bytes, rising; one is 0 where notes have no patient
}

// EachCombination calls do for every combination of a summary's field Quasi, of n values
// each. What it is given is good until it returns.
func EachCombination(field []byte, n int, do func(c *Combination) error) error {
	c := &Combination{Values: make([]string, n)}
	for len(field) > 0 {
		values, rest, ok := cutBytes(field)
		if !ok {
			return errSummary
		}
		for k := range c.Values {
			var value []byte
			if value, values, ok = cutBytes(values); !ok {
				return errSummary
			}
			c.Values[k] = string(value)
		}
		notes, at := binary.Uvarint(rest)
		patients, size := binary.Uvarint(rest[max(at, 0):])
		if at <= 0 || size <= 0 || notes > math.MaxInt32 || patients > uint64(len(rest)-at-size)/patientBytes || len(values) > 0 {
			return errSummary
		}
		rest = rest[at+size:]
		c.Notes, c.Patients, field = int64(notes), rest[:patients*patientBytes], rest[patients*patientBytes:]
		if err := do(c); err != nil {
			return err
		}
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
		for i := range b.Extra {
			if c := &b.Extra[i]; c.Name == q.Column.Name && c.Type == q.Column.Type && c.Kind == q.Column.Kind {
				from[k] = c
			}
		}
		if from[k] == nil {
			return fmt.Errorf("column %q is not in the batch as it was announced", q.Column.Name)
		}
	}
	patients := b.ExtraNamed(u.o.Patients)
	u.texts = u.texts[:0] // the table keeps no copy until it is flushed
	t := u.quasi
	return t.chunks(u.pick, func(i int) {
		t.columns[quasiID].bytes(b.ID.At(i))
		t.columns[quasiRow].int64(b.First + int64(i))
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
			if len(u.texts) == start {
				t.columns[quasiFirst+k].null()
			} else {
				t.columns[quasiFirst+k].bytes(u.texts[start:])
			}
			u.values = append(binary.AppendUvarint(u.values, uint64(len(u.texts)-start)), u.texts[start:]...)
		}
		u.combined.add(u.values, patient)
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
	v := int64(from.Fixed[i])
	if from.Kind == pipeline.Int32Column || from.Kind == pipeline.DateColumn {
		v = int64(int32(from.Fixed[i]))
	}
	day := v / q.Day
	if v%q.Day < 0 {
		day--
	}
	return time.Unix(day*24*60*60, 0).UTC().AppendFormat(dst, time.DateOnly)
}

// Quasi writes a public table of quasi-identifiers, row for row with a masked
// part: note_id, row, the columns by their names, and part, as in the masked one.
type Quasi struct{ *table }

// NewQuasi begins such a table; rowGroup as in UnitOptions.
func NewQuasi(out io.Writer, names []string, rowGroup int, part string) (*Quasi, error) {
	columns := []column{{name: "note_id"}, {name: "row", kind: pipeline.Int64Column}}
	for _, name := range names {
		columns = append(columns, column{name: name, dict: true})
	}
	columns = append(columns, partColumn(part)...)
	return &Quasi{newTable(out, columns, rowGroup)}, distinct(columns)
}

// Add adds a row.
func (q *Quasi) Add(id string, row int64, values []string) error {
	q.columns[0].bytes([]byte(id))
	q.columns[1].int64(row)
	for k, v := range values {
		q.columns[2+k].bytes([]byte(v))
	}
	if n := q.pending(); n == q.room() {
		return q.flush(n)
	}
	return nil
}

// Close ends the table and returns its rows and digest.
func (q *Quasi) Close() (rows int64, digest string, err error) {
	if n := q.pending(); n > 0 {
		if err := q.flush(n); err != nil {
			return 0, "", err
		}
	}
	digest, err = q.close()
	return q.rows, digest, err
}

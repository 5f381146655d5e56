package read

import (
	"context"
	"errors"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/patientid"
)

// The column of patients' ids is read as forms of package patientid, whatever type
// each file of an archive gives it: one writer's int64 is the next one's double
// with nulls. With ParquetOptions.RawPatients it is the text of the values, for who
// looks for what the forms may have missed.

// patientValue appends a value of a column of patients' ids; nothing if it is of
// nobody.
type patientValue func(dst []byte, c *cursor, at int) []byte

var patientTypes = purpose{"an id of a patient (string or number)", "name the column of patients in read.columns.patient", flatly(func(e *format.SchemaElement, b *binding) bool {
	b.Kind = pipeline.BytesColumn
	return patientText(e) != nil
})}

// patientOf returns how values of an element are read.
func (o *ParquetOptions) patientOf(e *format.SchemaElement) patientValue {
	text := patientText(e)
	isText := acceptText(e, new(binding))
	return func(dst []byte, c *cursor, at int) []byte {
		if isText {
			return o.patient(dst, c.bytes(at), false)
		}
		var scratch [64]byte
		return o.patient(dst, text(scratch[:0], c, at), true)
	}
}

// RawNumber stands before numbers where ids are read as they stand.
const RawNumber = 0

// patient appends the form of an id.
func (o *ParquetOptions) patient(dst, id []byte, number bool) []byte {
	switch {
	case o.RawPatients && number:
		return append(append(dst, RawNumber), id...)
	case o.RawPatients:
		return append(dst, id...)
	case number:
		return o.Patients.AppendNumber(dst, id)
	}
	return o.Patients.AppendText(dst, id)
}

// patientText returns how values of an element are written as text; nil for those
// of no type that an id has.
func patientText(e *format.SchemaElement) patientValue {
	var b binding
	scale := 0
	decimal, isDecimal := logical(e).(*format.DecimalType)
	if isDecimal {
		scale = int(decimal.Scale)
	}
	switch {
	case acceptText(e, &b):
		return func(dst []byte, c *cursor, at int) []byte { return append(dst, c.bytes(at)...) }
	case isDecimal && (e.Type.V == format.FixedLenByteArray || e.Type.V == format.ByteArray):
		return func(dst []byte, c *cursor, at int) []byte {
			return appendDecimal(dst, bigEndian(c.append(nil, at)).String(), scale)
		}
	case isDecimal && (e.Type.V == format.Int32 || e.Type.V == format.Int64), acceptID(e, &b):
		signed := isDecimal || b.signed
		return func(dst []byte, c *cursor, at int) []byte {
			return appendDecimal(dst, string(c.appendID(nil, at, signed)), scale)
		}
	case e.Type.V == format.Double && logical(e) == nil:
		return func(dst []byte, c *cursor, at int) []byte {
			return strconv.AppendFloat(dst, math.Float64frombits(c.fixed(at)), 'f', -1, 64)
		}
	case e.Type.V == format.Float && logical(e) == nil:
		return func(dst []byte, c *cursor, at int) []byte {
			return strconv.AppendFloat(dst, float64(math.Float32frombits(uint32(c.fixed(at)))), 'f', -1, 32)
		}
	case e.Type.V == format.Int32:
		if _, null := logical(e).(*format.NullType); null {
			return func(dst []byte, _ *cursor, _ int) []byte { return dst }
		}
	}
	return nil
}

// bigEndian reads a number in two's complement.
func bigEndian(value []byte) *big.Int {
	n := new(big.Int).SetBytes(value)
	if len(value) > 0 && value[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
	}
	return n
}

// maxScale is the most digits behind the point of a decimal.
const maxScale = 76

// appendDecimal appends digits with a point before the last scale ones, unless
// these are zeros.
func appendDecimal(dst []byte, digits string, scale int) []byte {
	if scale <= 0 || scale > maxScale {
		return append(dst, digits...)
	}
	digits, minus := strings.CutPrefix(digits, "-")
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	if minus {
		dst = append(dst, '-')
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	if part := strings.TrimRight(digits[len(digits)-scale:], "0"); part != "" {
		dst = append(append(dst, '.'), part...)
	}
	return dst
}

// patients appends the next n values to a column of patients' ids.
func (c *cursor) patients(to *pipeline.Column, value patientValue, n int) error {
	for n > 0 {
		if err := c.load(); err != nil {
			return c.early(err)
		}
		k := min(n, c.n)
		n -= k
		for range k {
			first := len(to.Bytes.Data)
			if at := c.step(); at >= 0 {
				to.Bytes.Data = value(to.Bytes.Data, c, at)
			}
			to.Valid = append(to.Valid, len(to.Bytes.Data) > first)
			to.Bytes.End()
		}
	}
	return nil
}

// PatientForm returns the form of a cell of a table beside the archive; number
// tells whether it was one there.
func PatientForm(r patientid.Rules, cell Cell) []byte {
	if cell.Number {
		return r.AppendNumber(nil, []byte(cell.Text))
	}
	return slices.Clip(r.AppendText(nil, []byte(cell.Text)))
}

// EachPatient calls do for every note of a unit with its row and the form of its
// patient's id; empty: it is nobody's. A unit that is damaged ends there: the run
// says so, and sets it aside.
func (a *Archive) EachPatient(ctx context.Context, u *commit.Unit, do func(row int64, patient []byte)) error {
	src, err := a.Open(u)
	if err != nil {
		return err
	}
	b := new(pipeline.Batch)
	var id []byte
	for {
		b.Reset()
		if err = src.Next(b); err != nil || ctx.Err() != nil {
			break
		}
		patients := b.ExtraNamed(PatientColumn)
		for i := range b.Len() {
			id = patients.AppendText(id[:0], i)
			do(b.First+int64(i), id)
		}
	}
	if _, damaged := errors.AsType[*commit.DamageError](err); damaged || errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, context.Cause(ctx), src.Close())
}

package parquet

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
)

// The column of patients' ids is read as forms of package patientid, whatever type
// each file of an archive gives it: one writer's int64 is the next one's double
// with nulls. With Options.RawPatients it is the text of the values, for who
// looks for what the forms may have missed.

// patientValue appends a value of a column of patients' ids; nothing if it is of
// nobody.
type patientValue func(dst []byte, c *Cursor, at int) []byte

var patientTypes = purpose{"an id of a patient (string or number)", "name the column of patients in read.columns.patient", flatly(func(e *format.SchemaElement, b *binding) bool {
	b.Kind = pipeline.BytesColumn
	return patientText(e) != nil
})}

// patientOf returns how values of an element are read.
func patientOf(o *input.Options, e *format.SchemaElement) patientValue {
	text := patientText(e)
	isText := acceptText(e, new(binding))
	return func(dst []byte, c *Cursor, at int) []byte {
		if isText {
			return o.Patient(dst, c.Bytes(at), false)
		}
		var scratch [64]byte
		return o.Patient(dst, text(scratch[:0], c, at), true)
	}
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
		return func(dst []byte, c *Cursor, at int) []byte { return append(dst, c.Bytes(at)...) }
	case isDecimal && (e.Type.V == format.FixedLenByteArray || e.Type.V == format.ByteArray):
		return func(dst []byte, c *Cursor, at int) []byte {
			return appendDecimal(dst, bigEndian(c.append(nil, at)).String(), scale)
		}
	case isDecimal && (e.Type.V == format.Int32 || e.Type.V == format.Int64), acceptID(e, &b):
		signed := isDecimal || b.signed
		return func(dst []byte, c *Cursor, at int) []byte {
			return appendDecimal(dst, string(c.appendID(nil, at, signed)), scale)
		}
	case e.Type.V == format.Double && logical(e) == nil:
		return func(dst []byte, c *Cursor, at int) []byte {
			return strconv.AppendFloat(dst, math.Float64frombits(c.Fixed(at)), 'f', -1, 64)
		}
	case e.Type.V == format.Float && logical(e) == nil:
		return func(dst []byte, c *Cursor, at int) []byte {
			return strconv.AppendFloat(dst, float64(math.Float32frombits(uint32(c.Fixed(at)))), 'f', -1, 32)
		}
	case e.Type.V == format.Int32:
		if _, null := logical(e).(*format.NullType); null {
			return func(dst []byte, _ *Cursor, _ int) []byte { return dst }
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
func (c *Cursor) patients(to *pipeline.Column, value patientValue, n int) error {
	for n > 0 {
		if err := c.Load(); err != nil {
			return c.Early(err)
		}
		k := min(n, c.N)
		n -= k
		for range k {
			first := len(to.Bytes.Data)
			if at := c.Step(); at >= 0 {
				to.Bytes.Data = value(to.Bytes.Data, c, at)
			}
			to.Valid = append(to.Valid, len(to.Bytes.Data) > first)
			to.Bytes.End()
		}
	}
	return nil
}

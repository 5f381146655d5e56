package parquet

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
)

// asText appends a value as text, given as it stands in a page (a boolean is a byte).
type asText func(dst, value []byte) []byte

// textOf returns how values of an element are written as text, wherever that is wanted of numbers and times: in ids of notes and
// of patients, in columns that are text in other files, in tables beside an archive. Times are those of RFC 3339 in UTC, dates
// their first ten characters.
func textOf(e *format.SchemaElement) asText {
	unit, isTime := dayIn(e)
	decimal, isDecimal := logical(e).(*format.DecimalType)
	whole, _ := logical(e).(*format.IntType)
	kind, null := e.Type.V, isNull(e)
	return func(dst, v []byte) []byte {
		switch {
		case null:
			return dst
		case isDecimal && (kind == format.ByteArray || kind == format.FixedLenByteArray):
			return appendDecimal(dst, bigEndian(v).String(), int(decimal.Scale))
		case isDecimal:
			return appendDecimal(dst, strconv.FormatInt(signed(v), 10), int(decimal.Scale))
		case kind == format.Boolean:
			return strconv.AppendBool(dst, v[0] != 0)
		case kind == format.Float:
			return strconv.AppendFloat(dst, float64(math.Float32frombits(uint32(signed(v)))), 'f', -1, 32)
		case kind == format.Double:
			return strconv.AppendFloat(dst, math.Float64frombits(uint64(signed(v))), 'f', -1, 64)
		case kind == format.Int96:
			return appendTime(dst, int96Micros(v), secondsADay*1e6)
		case isTime && unit > 0:
			return appendTime(dst, signed(v), unit)
		case whole != nil && !whole.IsSigned && len(v) == 4:
			return strconv.AppendUint(dst, uint64(uint32(signed(v))), 10)
		case whole != nil && !whole.IsSigned:
			return strconv.AppendUint(dst, uint64(signed(v)), 10)
		case kind == format.Int32 || kind == format.Int64:
			return strconv.AppendInt(dst, signed(v), 10)
		}
		return append(dst, v...)
	}
}

// signed reads a number of four or eight bytes.
func signed(v []byte) int64 {
	if len(v) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(v)))
	}
	return int64(binary.LittleEndian.Uint64(v))
}

// appendTime appends a time, or a date if it is counted in days.
func appendTime(dst []byte, n, day int64) []byte {
	days := floorDiv(n, day)
	if day == 1 {
		return time.Unix(days*secondsADay, 0).UTC().AppendFormat(dst, time.DateOnly)
	}
	return time.Unix(days*secondsADay+(n-days*day)/(day/secondsADay), 0).UTC().AppendFormat(dst, time.RFC3339)
}

// The column of patients' ids is read as forms of package patientid, whatever type
// each file of an archive gives it: one writer's int64 is the next one's double
// with nulls. With Options.RawPatients it is the text of the values, for who
// looks for what the forms may have missed.

var patientTypes = purpose{"an id of a patient (string or number)", "name the column of patients in read.columns.patient",
	flatly(func(e *format.SchemaElement, b *binding) bool {
		_, isDecimal := logical(e).(*format.DecimalType)
		fits := acceptID(e, b) || isDecimal || isNull(e) || logical(e) == nil && (e.Type.V == format.Float || e.Type.V == format.Double)
		b.Kind = pipeline.BytesColumn
		return fits
	})}

// isNull tells whether an element is of the type that has no values.
func isNull(e *format.SchemaElement) bool {
	_, null := logical(e).(*format.NullType)
	return null
}

// patientOf returns how values of an element are read.
func patientOf(o *input.Options, e *format.SchemaElement) asText {
	text := textOf(e)
	isText := acceptText(e, new(binding))
	return func(dst, v []byte) []byte {
		var scratch [64]byte
		if !isText {
			v = text(scratch[:0], v)
		}
		return o.Patient(dst, v, !isText)
	}
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

// texts appends the next n values to a column as text; of none that is longer more than most bytes. What is written as nothing is null.
func (c *Cursor) texts(to *pipeline.Bytes, valid *[]bool, write asText, most, n int) error {
	for n > 0 {
		if err := c.Load(); err != nil {
			return c.Early(err)
		}
		k := min(n, c.N)
		n -= k
		for range k {
			first := len(to.Data)
			if at := c.Step(); at >= 0 {
				v := c.value(at)
				to.Data = write(to.Data, v[:min(len(v), most)])
			}
			*valid = append(*valid, len(to.Data) > first)
			to.End()
		}
	}
	return nil
}

package write

import (
	"encoding/base64"
	"encoding/binary"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// arrowKey is the key of the metadata under which Arrow keeps what Parquet has no type for.
const arrowKey = "ARROW:schema"

// Numbers of Arrow's Schema.fbs and Message.fbs.
const (
	arrowV5       = 4 // version of the metadata
	arrowSchema   = 1 // kind of a message
	arrowNull     = 1 // kinds of a field
	arrowDuration = 18
)

var arrowUnits = []string{"s", "ms", "us", "ns"}

// durationKey is the key of the unit in pipeline.Column.Type.
const durationKey = "duration"

// arrowHint returns a schema of Arrow that says which columns are durations; ""
// if none is. Readers (Arrow, pandas, Polars) take the types of all others from
// Parquet's own schema, since here they are null; it knows their number only. Beside
// columns of several leaves there is none: arrow-rs wants these alike in both.
func arrowHint(columns []column) string {
	nested := func(c column) bool { return c.list || c.shape != nil && len(c.shape.elements) > 1 }
	if !slices.ContainsFunc(columns, func(c column) bool { return c.duration() != "" }) || slices.ContainsFunc(columns, nested) {
		return ""
	}
	b := flatbuffers.NewBuilder(1 << 10)
	fields := make([]flatbuffers.UOffsetT, len(columns))
	for i := range columns {
		fields[i] = arrowField(b, &columns[i])
	}
	b.StartVector(4, len(fields), 4)
	for _, f := range slices.Backward(fields) {
		b.PrependUOffsetT(f)
	}
	vector := b.EndVector(len(fields))
	b.StartObject(4) // Schema: endianness, fields, metadata, features
	b.PrependUOffsetTSlot(1, vector, 0)
	schema := b.EndObject()
	b.StartObject(5) // Message: version, kind, header, length of the body, metadata
	b.PrependInt16Slot(0, arrowV5, 0)
	b.PrependByteSlot(1, arrowSchema, 0)
	b.PrependUOffsetTSlot(2, schema, 0)
	b.Finish(b.EndObject())

	message := b.FinishedBytes()
	message = append(message, make([]byte, -len(message)&7)...)
	framed := binary.LittleEndian.AppendUint32([]byte{0xFF, 0xFF, 0xFF, 0xFF}, uint32(len(message)))
	return base64.StdEncoding.EncodeToString(append(framed, message...))
}

// arrowField writes the Field of a column.
func arrowField(b *flatbuffers.Builder, c *column) flatbuffers.UOffsetT {
	name := b.CreateString(c.name)
	kind := byte(arrowNull)
	b.StartObject(1)
	if unit := slices.Index(arrowUnits, c.duration()); unit >= 0 {
		kind = arrowDuration
		b.PrependInt16Slot(0, int16(unit), 1)
	}
	what := b.EndObject()
	b.StartVector(4, 0, 4)
	children := b.EndVector(0)
	b.StartObject(7) // name, nullable, kind, type, dictionary, children, metadata
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependBoolSlot(1, c.optional, false)
	b.PrependByteSlot(2, kind, 0)
	b.PrependUOffsetTSlot(3, what, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	return b.EndObject()
}

// duration returns the unit of a duration; "" if the column is none.
func (c *column) duration() string {
	if c.shape == nil {
		return ""
	}
	return c.shape.duration
}

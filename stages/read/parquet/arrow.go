package parquet

import (
	"encoding/base64"
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/parquet-go/parquet-go/format"
)

// Parquet has no type for durations: Arrow writes a number, and says in the
// metadata of the file (ARROW:schema, a message of Arrow's IPC format in
// base64) that it is one. Of that schema this one word is read and no more.

// Places in the tables of Arrow's Message.fbs and Schema.fbs.
const (
	arrowHeader   = 8 // Message
	arrowFields   = 6 // Schema
	arrowName     = 4 // Field
	arrowKind     = 8
	arrowType     = 10
	arrowUnit     = 4  // Duration
	arrowDuration = 18 // kind of a Field
)

// arrowUnits are the units of a duration, by their number in Schema.fbs.
var arrowUnits = [...]string{"s", "ms", "us", "ns"}

// durationKey is the key of the unit in pipeline.Column.Type.
const durationKey = "duration"

// durations marks the columns that are durations of Arrow. A schema that
// cannot be read marks none: their numbers are whole without it.
func (f *Footer) durations() {
	said, ok := f.Lookup("ARROW:schema")
	if !ok {
		return
	}
	defer func() { _ = recover() }() // flatbuffers panics at offsets that lead out of its bytes
	message, err := base64.StdEncoding.DecodeString(said)
	if err != nil || len(message) < 12 {
		return
	}
	if binary.LittleEndian.Uint32(message) == 0xFFFFFFFF { // since Arrow 0.15
		message = message[4:]
	}
	message = message[4:] // its length
	schema, ok := arrowTable(message, flatbuffers.GetUOffsetT(message), arrowHeader)
	if !ok {
		return
	}
	at := flatbuffers.UOffsetT(schema.Offset(arrowFields))
	if at == 0 || schema.VectorLen(at) != len(f.Columns) {
		return
	}
	fields := schema.Vector(at)
	for i := range f.Columns {
		field := flatbuffers.Table{Bytes: message, Pos: schema.Indirect(fields + flatbuffers.UOffsetT(4*i))}
		f.Columns[i].duration = durationUnit(&field, &f.Columns[i])
	}
}

// arrowTable follows a slot of the table at pos.
func arrowTable(message []byte, pos flatbuffers.UOffsetT, slot flatbuffers.VOffsetT) (flatbuffers.Table, bool) {
	t := flatbuffers.Table{Bytes: message, Pos: pos}
	at := flatbuffers.UOffsetT(t.Offset(slot))
	if at == 0 {
		return t, false
	}
	return flatbuffers.Table{Bytes: message, Pos: t.Indirect(at + t.Pos)}, true
}

// durationUnit returns the unit of a column that its field says is a duration;
// "" if it is none, or no number of eight bytes.
func durationUnit(field *flatbuffers.Table, c *fileColumn) string {
	e := &c.elements[0]
	if !c.Flat() || e.Type.V != format.Int64 || logical(e) != nil || field.GetByteSlot(arrowKind, 0) != arrowDuration {
		return ""
	}
	name := flatbuffers.UOffsetT(field.Offset(arrowName))
	kind, ok := arrowTable(field.Bytes, field.Pos, arrowType)
	if !ok || name == 0 || field.String(name+field.Pos) != c.name {
		return ""
	}
	unit := kind.GetInt16Slot(arrowUnit, 1)
	if unit < 0 || int(unit) >= len(arrowUnits) {
		return ""
	}
	return arrowUnits[unit]
}

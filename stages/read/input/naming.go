package input

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
)

// Naming makes the ids of notes.
type Naming struct {
	policy  IDPolicy
	null    NullIDPolicy
	file    string // stands before numbers of rows in ids
	mac     hash.Hash
	order   hash.Hash       // hash that takes the place of row numbers where rows are mixed; otherwise nil
	numbers *secret.Numbers // makes ids whole numbers; nil: it does not
	scratch []byte
	sum     [sha256.Size]byte
}

func NewNaming(o *Options) Naming {
	n := Naming{policy: o.IDs, null: o.NullIDs, file: o.File}
	if o.IDs == KeyIDs {
		n.mac = hmac.New(sha256.New, o.Key.Derive("note id"))
		if o.Numbers {
			n.numbers = o.Key.Numbers("note id number")
		}
	}
	if o.Mixed && o.Key != nil {
		n.order = hmac.New(sha256.New, o.Key.Derive("row"))
	}
	return n
}

// Name sets the ids of a batch from the id columns of its source. Several columns are joined with bars, and bars inside
// of them are escaped by a backslash, so that different rows have different ids. An id that is null, empty, too long or
// not clean text counts as missing.
func (n *Naming) Name(b *pipeline.Batch, columns []pipeline.Bytes) {
	for i := range b.Len() {
		row := b.First + int64(i)
		id := n.scratch[:0]
		sound := true
		for k := range columns {
			if k > 0 {
				id = append(id, '|')
			}
			part := columns[k].At(i)
			sound = sound && CleanID(part)
			switch {
			case len(part) > MaxID:
			case len(columns) > 1:
				id = appendEscaped(id, part)
			default:
				id = append(id, part...)
			}
		}
		n.scratch = id
		switch {
		case n.policy == DropIDs:
			n.number(b, row)
		case sound:
			n.append(b, id)
		case n.null == NumberNullIDs:
			n.number(b, row)
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
func (n *Naming) number(b *pipeline.Batch, row int64) {
	b.ID.Data = append(b.ID.Data, n.file...)
	at := len(b.ID.Data)
	b.ID.Data = strconv.AppendInt(b.ID.Data, row, 10)
	if n.order != nil { // the number would say where the note stood
		n.order.Reset()
		n.order.Write(b.ID.Data)
		n.scratch = n.order.Sum(n.scratch[:0])
		b.ID.Data = hex.AppendEncode(b.ID.Data[:at-len(n.file)], n.scratch[:8])
	}
}

func (n *Naming) append(b *pipeline.Batch, id []byte) {
	if n.policy == KeepIDs {
		b.ID.Data = append(b.ID.Data, id...)
		return
	}
	if n.numbers != nil {
		var is bool
		if b.ID.Data, is = n.numbers.Append(b.ID.Data, id); is {
			return
		}
	}
	n.mac.Reset()
	n.mac.Write(id)
	b.ID.Data = hex.AppendEncode(b.ID.Data, n.mac.Sum(n.sum[:0])[:16])
}

func CleanID(id []byte) bool {
	if len(id) == 0 || len(id) > MaxID {
		return false
	}
	for _, c := range id {
		if c < ' ' || c == 0x7F {
			return false
		}
	}
	return utf8.Valid(id)
}

// MaxID is the largest number of bytes in an id. Ids are logged; the limit keeps a column of notes, named as the id by
// mistake, out of logs.
const MaxID = 200

// AppendText appends a note and sets its reason. The text of a note that is too long is dropped, so that it does not
// pass through all stages.
func AppendText(b *pipeline.Batch, text []byte, most int) {
	reason := Soundness(text, most)
	if reason == pipeline.TooLong {
		text = nil
	}
	b.Text.Append(text)
	b.Reason = append(b.Reason, reason)
}

// Soundness returns the reason to quarantine a text that is not null, or Sound.
func Soundness(text []byte, most int) pipeline.Reason {
	switch {
	case len(text) > most:
		return pipeline.TooLong
	case !utf8.Valid(text):
		return pipeline.BadEncoding
	case bytes.IndexByte(text, 0) >= 0:
		return pipeline.ControlText
	}
	return pipeline.Sound
}

// ReadyColumns sets the Extra columns of a batch, unless they are set already by the same source.
func ReadyColumns(b *pipeline.Batch, columns []pipeline.Column) {
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

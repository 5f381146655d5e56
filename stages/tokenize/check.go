package tokenize

import "github.com/velum-health/velum/pipeline"

// NewCheck returns the step for notes that were tagged before, whose tokens nobody needs. It quarantines notes with the
// same reasons as New, and sets Language from o.Languages; Tokens and View stay empty.
func NewCheck(o Options) pipeline.Step {
	o = o.withDefaults()
	return pipeline.Step{Name: "check", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		return o.check
	}}
}

func (o Options) check(b *pipeline.Batch) error {
	for i := range b.Len() {
		if text := b.Text.At(i); b.Reason[i] == pipeline.Sound && !(len(text) <= o.MaxBytes && len(text) <= o.MaxTokens && plainlySound(text)) {
			o.guarded(b, i)
			b.Tokens.Items, b.View.Data, b.ViewFrom.Items = b.Tokens.Items[:0], b.View.Data[:0], b.ViewFrom.Items[:0]
		}
		b.Tokens.End()
		b.View.End()
		b.ViewFrom.End()
	}
	if o.Languages == nil {
		b.Language = append(b.Language, make([]pipeline.Language, b.Len())...)
	} else {
		o.Languages(b)
	}
	return nil
}

// Classes of bytes for a quick check of a note.
const (
	oddByte   = iota
	soundByte // ASCII that is no control character but a blank of any kind
	leadByte  // 0xC3: a letter of Latin-1 begins
	signByte  // 0xC2: one of its signs, or a control character
)

var plainBytes = func() (table [256]uint8) {
	for c := range 0x7F {
		if class, _ := classAt([]byte{byte(c)}, 0); class != control {
			table[c] = soundByte
		}
	}
	table[0xC2], table[0xC3] = signByte, leadByte
	return table
}()

// plainlySound tells of most notes at a glance that New would find nothing wrong:
// they are ASCII, letters and signs of Latin-1. Of others it says nothing.
func plainlySound(text []byte) bool {
	for i := 0; i < len(text); i++ {
		switch plainBytes[text[i]] {
		case soundByte:
		case leadByte:
			if i++; i == len(text) || text[i]&0xC0 != 0x80 {
				return false
			}
		case signByte: // but for the no-break space and the soft hyphen, which views leave out
			if i++; i == len(text) || text[i] <= 0xA0 || text[i] > 0xBF || text[i] == 0xAD {
				return false
			}
		default:
			return false
		}
	}
	return true
}

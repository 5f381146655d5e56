package inverse

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/word/gazetteer"
)

// WordsKind identifies files of common words.
const WordsKind = "words"

// WordsHeader is the header of a file of common words.
type WordsHeader struct {
	Kind     string `json:"kind"`
	Name     string `json:"name,omitempty"`
	Tokens   uint64 `json:"tokens"`    // number of counted tokens, of letters only
	Patients uint64 `json:"patients"`  // number of patients whose notes were counted; number of notes if patients are unknown
	MinCount int    `json:"min_count"` // lowest count in small letters of a common word
	MinNotes int    `json:"min_notes"` // lowest number of patients with a common word
	Words    int    `json:"words"`
}

// Words holds the common words of an archive (INV §4.3.3, "common words"): those that are frequent in lower case and
// occur in the notes of several patients. A name of one patient is not among them, however often it is written. Only
// hashes of folded forms are stored. It is shared and never changed.
//
// It is also a features.Stored, the slot cluster/common, whose value is how common a form is, in powers of four, and
// how often it is capitalized.
type Words struct {
	header WordsHeader
	slots  []uint64
	bands  []byte // by slot: see Band
	data   []byte
}

// Classes of the share of capitalized occurrences within sentences.
const (
	mostlySmall = iota // one in ten has a capital at the most
	both
	mostlyCapital
	shares
)

// Band encodes a word's count in lower case, in powers of four, and its share of capitalized occurrences within
// sentences, as a number from 1.
func Band(small, capital uint32) byte {
	share := both
	switch all := small + capital; {
	case capital*10 <= all:
		share = mostlySmall
	case capital*2 > all:
		share = mostlyCapital
	}
	return byte(1 + bits.Len32(small)/2*shares + share)
}

// OpenWords opens a file of common words. data must not change while the words are used.
func OpenWords(data []byte) (*Words, error) {
	f, err := modelfile.Parse(data)
	if err != nil {
		return nil, err
	}
	w := &Words{data: data}
	if err := f.Header(&w.header); err != nil {
		return nil, err
	}
	if w.header.Kind != WordsKind {
		return nil, fmt.Errorf("file is of kind %q, not %q", w.header.Kind, WordsKind)
	}
	slots, err := f.Section("slot")
	if err != nil {
		return nil, err
	}
	if w.bands, err = f.Section("band"); err != nil {
		return nil, err
	}
	if w.slots, err = modelfile.View[uint64](slots); err != nil {
		return nil, err
	}
	if len(w.bands) != len(w.slots) || !slices.Contains(w.slots, 0) {
		return nil, fmt.Errorf("%w: section \"band\" does not fit the other", modelfile.ErrDamaged)
	}
	return w, nil
}

// Header returns the header of the file.
func (w *Words) Header() WordsHeader { return w.header }

// MarshalHeader returns the header as indented JSON.
func (w *Words) MarshalHeader() ([]byte, error) { return json.MarshalIndent(w.header, "", "  ") }

// find returns the band of a form, 0 if it is not common.
func (w *Words) find(form []byte) byte {
	if w == nil {
		return 0
	}
	key, n := gazetteer.Hash(form), uint64(len(w.slots))
	if key == 0 {
		return 0
	}
	i, _ := bits.Mul64(key<<1, n)
	for {
		switch w.slots[i] {
		case key:
			return w.bands[i]
		case 0:
			return 0
		}
		if i++; i == n {
			i = 0
		}
	}
}

// Common reports whether a form is a common word that is mostly written in lower case within sentences.
func (w *Words) Common(form []byte) bool {
	b := w.find(form)
	return b > 0 && (b-1)%shares != mostlyCapital
}

// Value implements features.Slot.
func (w *Words) Value(dst, form []byte) []byte {
	if b := w.find(form); b > 0 {
		dst = append(dst, 'a'+(b-1)/shares, '0'+(b-1)%shares)
	}
	return dst
}

// Kind implements features.Stored.
func (w *Words) Kind() string { return WordsKind }

// Data implements features.Stored.
func (w *Words) Data() []byte { return w.data }

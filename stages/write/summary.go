package write

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// SummaryExt is the extension of the summary part of a unit.
const SummaryExt = ".bin"

// Summary holds what the last step of a run needs of the notes of a unit beside
// their counts, so that it need not read what earlier nights wrote:
//
//	IDs         hashes of the ids, as idset.Set has them
//	Candidates  the notes that may be chosen, as UnitOptions.Candidates has them
//	Quasi       how often notes have which quasi-identifiers, see EachCombination
//
// It holds no word of a note but those that are quasi-identifiers, no id and no row.
type Summary struct{ IDs, Candidates, Quasi []byte }

// summaryMagic begins each summary; each field has its length before it.
const summaryMagic = "velum.summary/1\n"

func (u *Unit) summarize() error {
	s := Summary{IDs: u.ids.AppendBinary(nil)}
	if u.o.Candidates != nil {
		s.Candidates = u.o.Candidates.AppendBinary(nil)
	}
	s.Quasi = u.combined.appendBinary(nil)
	_, err := u.summary.Write(s.append(nil))
	return err
}

func (s *Summary) append(dst []byte) []byte {
	dst = append(dst, summaryMagic...)
	for _, field := range [][]byte{s.IDs, s.Candidates, s.Quasi} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(len(field)))
		dst = append(dst, field...)
	}
	return dst
}

var errSummary = errors.New("is no summary of a unit")

// SummaryIDs returns the hashes of ids in a summary stored in a file.
func SummaryIDs(file io.ReaderAt) (*io.SectionReader, error) {
	const head = len(summaryMagic) + 8
	var begin [head]byte
	if _, err := file.ReadAt(begin[:], 0); err != nil {
		return nil, err
	}
	return io.NewSectionReader(file, int64(head), int64(binary.LittleEndian.Uint64(begin[len(summaryMagic):]))), nil
}

// ParseSummary decodes a summary; its fields alias data.
func ParseSummary(data []byte) (s Summary, err error) {
	rest, ok := bytes.CutPrefix(data, []byte(summaryMagic))
	if !ok {
		return s, errSummary
	}
	for _, field := range []*[]byte{&s.IDs, &s.Candidates, &s.Quasi} {
		if len(rest) < 8 {
			return s, errSummary
		}
		n := binary.LittleEndian.Uint64(rest)
		if rest = rest[8:]; n > uint64(len(rest)) {
			return s, errSummary
		}
		*field, rest = rest[:n], rest[n:]
	}
	if len(rest) > 0 {
		return s, errSummary
	}
	return s, nil
}

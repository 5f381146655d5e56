// Package summary encodes what the last step of a run needs of the notes of a unit, and decodes it.
package summary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// Ext is the extension of the summary part of a unit.
const Ext = ".bin"

// Summary holds what the last step of a run needs of the notes of a unit beside
// their counts, so that it need not read what earlier nights wrote:
//
//	IDs         hashes of the ids, as idset.Set has them
//	Candidates  the notes that may be chosen, as unit.Shortlist has them
//
// It holds no word of a note, no id and no row.
type Summary struct{ IDs, Candidates []byte }

// magic begins each summary; each field has its length before it.
const magic = "velum.summary/1\n"

func (s *Summary) Append(dst []byte) []byte {
	dst = append(dst, magic...)
	for _, field := range [][]byte{s.IDs, s.Candidates} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(len(field)))
		dst = append(dst, field...)
	}
	return dst
}

var ErrSummary = errors.New("is no summary of a unit")

// IDs returns the hashes of ids in a summary stored in a file.
func IDs(file io.ReaderAt) (*io.SectionReader, error) {
	const head = len(magic) + 8
	var begin [head]byte
	if _, err := file.ReadAt(begin[:], 0); err != nil {
		return nil, err
	}
	return io.NewSectionReader(file, int64(head), int64(binary.LittleEndian.Uint64(begin[len(magic):]))), nil
}

// Parse decodes a summary; its fields alias data. What stands behind them an earlier version of velum wrote.
func Parse(data []byte) (s Summary, err error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return s, ErrSummary
	}
	for _, field := range []*[]byte{&s.IDs, &s.Candidates} {
		if len(rest) < 8 {
			return s, ErrSummary
		}
		n := binary.LittleEndian.Uint64(rest)
		if rest = rest[8:]; n > uint64(len(rest)) {
			return s, ErrSummary
		}
		*field, rest = rest[:n], rest[n:]
	}
	return s, nil
}

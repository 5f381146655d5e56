// Package canary makes invented identifiers that occur nowhere else, puts them
// into notes, and searches whatever a program has written for them. All
// canaries have nine bytes: a DNI with its check letter, a telephone, the local
// part of an e-mail address, a surname.
package canary

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// size is the length of every canary.
const size = 9

// Kind of a canary.
type Kind uint8

const (
	DNI Kind = iota
	Telephone
	Mail
	Surname
	kinds
)

// Set is canaries by what they are.
type Set struct {
	of    map[[size]byte]Kind
	first [256]bool // bytes that a canary begins with
}

// Note is a note full of canaries.
type Note struct {
	ID   string `parquet:"note_id"`
	Text string `parquet:"text"`
}

// Notes makes n notes with four canaries each.
func Notes(rng *rand.Rand, n int) (*Set, []Note) {
	s := &Set{of: make(map[[size]byte]Kind, 4*n)}
	notes := make([]Note, n)
	for i := range notes {
		var c [kinds]string
		for k := range kinds {
			c[k] = s.new(rng, k)
		}
		notes[i] = Note{fmt.Sprint("n", i), fmt.Sprintf(
			"Acude la Sra. Montserrat %s, DNI %s, tel. %s, email: %s@ejemplo.es. Control de TA 130/80, sigue igual.",
			c[Surname], c[DNI], c[Telephone], c[Mail])}
	}
	return s, notes
}

// new draws a canary that is not in the set yet.
func (s *Set) new(rng *rand.Rand, k Kind) string {
	for {
		var c [size]byte
		copy(c[:], draw(rng, k))
		if _, known := s.of[c]; !known {
			s.of[c] = k
			s.first[c[0]] = true
			return string(c[:])
		}
	}
}

func draw(rng *rand.Rand, k Kind) string {
	switch k {
	case DNI:
		n := 10_000_000 + rng.IntN(89_999_999)
		return fmt.Sprintf("%08d%c", n, "TRWAGMYFPDXBNJZSQVHLCKE"[n%23])
	case Telephone:
		return fmt.Sprint(600_000_000 + rng.IntN(99_999_999))
	case Mail:
		return syllables(rng, 'x')
	}
	return syllables(rng, "BCDFGLMPRST"[rng.IntN(11)])
}

// syllables returns a word that is none: Pizohavug.
func syllables(rng *rand.Rand, first byte) string {
	b := []byte{first}
	for len(b) < size {
		from := "aeiou"
		if len(b)%2 == 0 {
			from = "bdgjkpvxz"
		}
		b = append(b, from[rng.IntN(len(from))])
	}
	return string(b)
}

// Len returns the number of canaries.
func (s *Set) Len() int { return len(s.of) }

// In counts the canaries in data, by kind. Digits within a hexadecimal sum are
// none.
func (s *Set) In(data []byte) (hits [4]int) {
	for i := 0; i+size <= len(data); i++ {
		if !s.first[data[i]] {
			continue
		}
		k, known := s.of[[size]byte(data[i:i+size])]
		if known && (k != Telephone || !inSum(data, i)) {
			hits[k]++
		}
	}
	return hits
}

// inSum tells whether the digits at i stand within 24 hexadecimal characters
// or more.
func inSum(data []byte, i int) bool {
	hex := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }
	start, end := i, i+size
	for start > 0 && hex(data[start-1]) {
		start--
	}
	for end < len(data) && hex(data[end]) {
		end++
	}
	return end-start >= 24
}

// A Find is canaries in a file.
type Find struct {
	Path string
	Hits [4]int // by kind
}

// Below searches every file of a tree: its bytes, and if it is Parquet every
// value of every column. It returns the number of bytes that were searched.
func (s *Set) Below(dir string) (finds []Find, size int64, err error) {
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		size += int64(len(data))
		hits := s.In(data)
		if filepath.Ext(name) == ".parquet" {
			values, err := valuesOf(name)
			if err != nil {
				return err
			}
			size += int64(len(values))
			for k, n := range s.In(values) {
				hits[k] += n
			}
		}
		if hits != [4]int{} {
			finds = append(finds, Find{name, hits})
		}
		return nil
	})
	return finds, size, err
}

// valuesOf returns all values of a Parquet file, one behind the other.
func valuesOf(name string) (all []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, err
	}
	for _, group := range p.RowGroups() {
		for _, chunk := range group.ColumnChunks() {
			if all, err = appendValues(all, chunk.Pages()); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func appendValues(all []byte, pages parquet.Pages) ([]byte, error) {
	defer pages.Close()
	values := make([]parquet.Value, 1024)
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		for r := page.Values(); ; {
			n, err := r.ReadValues(values)
			for _, v := range values[:n] {
				all = append(v.AppendBytes(all), '\n')
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

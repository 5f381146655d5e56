package main

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// A canary test makes invented identifiers that occur nowhere else, puts them
// into notes, and searches whatever a program has written for them. All
// canaries have nine bytes: a DNI with its check letter, a telephone, the local
// part of an e-mail address, a surname.

// size is the length of every canary.
const canarySize = 9

// Kind of a canary.
type canaryKind uint8

const (
	canaryDNI canaryKind = iota
	canaryTelephone
	canaryMail
	canarySurname
	canaryKinds
)

// Set is canaries by what they are.
type canarySet struct {
	of    map[[canarySize]byte]canaryKind
	first [256]bool // bytes that a canary begins with
}

// Note is a note full of canaries.
type canaryNote struct {
	ID   string `parquet:"note_id"`
	Text string `parquet:"text"`
}

// Notes makes n notes with four canaries each.
func canaryNotes(rng *rand.Rand, n int) (*canarySet, []canaryNote) {
	s := &canarySet{of: make(map[[canarySize]byte]canaryKind, 4*n)}
	notes := make([]canaryNote, n)
	for i := range notes {
		var c [canaryKinds]string
		for k := range canaryKinds {
			c[k] = s.new(rng, k)
		}
		notes[i] = canaryNote{fmt.Sprint("n", i), fmt.Sprintf(
			"Acude la Sra. Montserrat %s, DNI %s, tel. %s, email: %s@ejemplo.es. Control de TA 130/80, sigue igual.",
			c[canarySurname], c[canaryDNI], c[canaryTelephone], c[canaryMail])}
	}
	return s, notes
}

// new draws a canary that is not in the set yet.
func (s *canarySet) new(rng *rand.Rand, k canaryKind) string {
	for {
		var c [canarySize]byte
		copy(c[:], canaryDraw(rng, k))
		if _, known := s.of[c]; !known {
			s.of[c] = k
			s.first[c[0]] = true
			return string(c[:])
		}
	}
}

func canaryDraw(rng *rand.Rand, k canaryKind) string {
	switch k {
	case canaryDNI:
		n := 10_000_000 + rng.IntN(89_999_999)
		return fmt.Sprintf("%08d%c", n, "TRWAGMYFPDXBNJZSQVHLCKE"[n%23])
	case canaryTelephone:
		return fmt.Sprint(600_000_000 + rng.IntN(99_999_999))
	case canaryMail:
		return canarySyllables(rng, 'x')
	}
	return canarySyllables(rng, "BCDFGLMPRST"[rng.IntN(11)])
}

// syllables returns a word that is none: Pizohavug.
func canarySyllables(rng *rand.Rand, first byte) string {
	b := []byte{first}
	for len(b) < canarySize {
		from := "aeiou"
		if len(b)%2 == 0 {
			from = "bdgjkpvxz"
		}
		b = append(b, from[rng.IntN(len(from))])
	}
	return string(b)
}

// Len returns the number of canaries.
func (s *canarySet) Len() int { return len(s.of) }

// In counts the canaries in data, by kind. Digits within a hexadecimal sum are
// none.
func (s *canarySet) In(data []byte) (hits [4]int) {
	for i := 0; i+canarySize <= len(data); i++ {
		if !s.first[data[i]] {
			continue
		}
		k, known := s.of[[canarySize]byte(data[i:i+canarySize])]
		if known && (k != canaryTelephone || !canaryInSum(data, i)) {
			hits[k]++
		}
	}
	return hits
}

// inSum tells whether the digits at i stand within 24 hexadecimal characters
// or more.
func canaryInSum(data []byte, i int) bool {
	hex := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }
	start, end := i, i+canarySize
	for start > 0 && hex(data[start-1]) {
		start--
	}
	for end < len(data) && hex(data[end]) {
		end++
	}
	return end-start >= 24
}

// A Find is canaries in a file.
type canaryFind struct {
	Path string
	Hits [4]int // by kind
}

// Below searches every file of a tree: its bytes, and if it is Parquet every
// value of every column. It returns the number of bytes that were searched.
func (s *canarySet) Below(dir string) (finds []canaryFind, size int64, err error) {
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
			values, err := canaryValuesOf(name)
			if err != nil {
				return err
			}
			size += int64(len(values))
			for k, n := range s.In(values) {
				hits[k] += n
			}
		}
		if hits != [4]int{} {
			finds = append(finds, canaryFind{name, hits})
		}
		return nil
	})
	return finds, size, err
}

// valuesOf returns all values of a Parquet file, one behind the other.
func canaryValuesOf(name string) (all []byte, err error) {
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
			if all, err = canaryAppendValues(all, chunk.Pages()); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func canaryAppendValues(all []byte, pages parquet.Pages) ([]byte, error) {
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

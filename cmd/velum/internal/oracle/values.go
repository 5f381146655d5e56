package oracle

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/form/dates"
	"github.com/velum-health/velum/models/form/surrogate"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// values are the candidates for a hidden value, by number: other names in the
// same form, the dates around it, numbers of its format with right check digits.
// Candidate n of a value is a pure function of seed, n and value.
type values struct {
	seed   uint64
	names  []string // of persons; none: those of surrogates
	writer *surrogate.Writer
	parser dates.Parser

	number uint64 // of the candidate that is being written
	key    []byte
}

func newValues(seed uint64, names []string) *values {
	v := &values{seed: seed, names: names}
	v.writer = surrogate.NewWriter(v)
	return v
}

// Draw implements surrogate.Source: García has one substitute throughout a
// candidate.
func (v *values) Draw(what string, _ int, part []byte, attempt int) *rand.Rand {
	v.key = append(append(append(v.key[:0], what...), 0, byte(attempt)), part...)
	return rand.New(rand.NewPCG(xxh3.HashSeed(v.key, v.seed), v.number))
}

// Avoid implements surrogate.Source.
func (v *values) Avoid([]byte) bool { return false }

// append writes candidate n for the words of a value, or tells that there is
// none: ages are too few to be candidates, and some values cannot be read.
func (v *values) append(dst, words []byte, kind pipeline.Kind, n int) (out []byte, ok bool) {
	v.number = uint64(n)
	switch kind {
	case pipeline.NameKind:
		if v.names != nil {
			return append(dst, v.names[n%len(v.names)]...), n < len(v.names)
		}
		return v.writer.Person(dst, words)
	case pipeline.PlaceKind:
		return v.writer.Place(dst, words)
	case pipeline.DateKind:
		if !v.parser.Parse(words, pipeline.UnknownLanguage) {
			return dst, false
		}
		days := n/2 + 1 // 1, -1, 2, -2...: the most likely ones first
		if n%2 == 1 {
			days = -days
		}
		return v.parser.AppendShifted(dst, dates.Context{}, days)
	case pipeline.ContactKind:
		if at := bytes.IndexByte(words, '@'); at > 0 {
			return v.address(dst, words[at:])
		}
		if bytes.ContainsAny(words, "@/") || !bytes.ContainsAny(words, "0123456789") {
			return v.writer.Contact(dst, words)
		}
		return v.writer.Number(dst, words)
	case pipeline.IDKind:
		return v.writer.Number(dst, words)
	case pipeline.ProfessionKind:
		return v.writer.Profession(dst, words)
	}
	return dst, false
}

// address writes an e-mail address of somebody else at the same domain.
func (v *values) address(dst, domain []byte) (out []byte, ok bool) {
	name, ok := v.writer.Person(nil, []byte("Ana Puig"))
	dst = append(dst, bytes.ReplaceAll(gazetteer.Fold(nil, name), []byte(" "), []byte("."))...)
	return append(dst, domain...), ok
}

// together tells whether two values of a note change together: an attacker
// who tries a name tries it wherever it stands.
func (v *values) together(a, b []byte, kind pipeline.Kind) bool {
	a, b = gazetteer.Fold(nil, a), gazetteer.Fold(nil, b)
	if bytes.Equal(a, b) {
		return true
	}
	if kind != pipeline.NameKind || v.names != nil {
		return false
	}
	for word := range bytes.FieldsSeq(a) {
		for other := range bytes.FieldsSeq(b) {
			if utf8.RuneCount(word) > 2 && bytes.Equal(word, other) {
				return true
			}
		}
	}
	return false
}

// maxNames bounds a list of names.
const maxNames = 1 << 20

// readNames reads a list of names, one a line; # begins a comment.
func readNames(path string) (names []string, err error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, exit.With(exit.Config, err, "name a file with one name a line")
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 64<<20))
	for lines.Scan() && len(names) < maxNames {
		if line := strings.TrimSpace(lines.Text()); line != "" && line[0] != '#' && utf8.ValidString(line) {
			names = append(names, line)
		}
	}
	if lines.Err() != nil || len(names) == 0 {
		return nil, exit.Errorf(exit.Config, "name a file with one name a line", "%s: holds no names", path)
	}
	return names, nil
}

package input

import (
	"crypto/sha256"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/near"
)

// Names of folders and files are any bytes to the system. In manifests, which
// are JSON, in logs and as folders of the output they are text of the usual
// length: bytes that are no UTF-8 and control characters are written as in
// addresses, %FF, and what gets too long ends in a hash of the whole.

const (
	maxNamePart = 255  // bytes of a part of a path: what file systems take
	maxName     = 2048 // bytes of a path below the archive
)

// PlainPath returns a path with slashes that is safe to print.
func PlainPath(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = PlainPart(parts[i])
	}
	if all := strings.Join(parts, "/"); len(all) <= maxName {
		return all
	}
	return path.Join(parts[0], fmt.Sprintf("deep~%x", shortSum(p)))
}

func PlainPart(part string) string {
	if PlainName(part, maxNamePart) {
		return part
	}
	var b strings.Builder
	for rest := part; len(rest) > 0; {
		r, n := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && n == 1 || unseen(r) {
			for _, c := range []byte(rest[:n]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	if b.Len() <= maxNamePart {
		return b.String()
	}
	cut := b.String()[:200]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	return fmt.Sprintf("%s~%x", cut, shortSum(part))
}

func shortSum(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:6]
}

// Remedies for a missing column, by the use of the column.
const (
	NameID   = "name the column of ids with --id-column, or in read.columns.id; velum init finds it"
	NameText = "name the column of the text with --text-column, or in read.columns.text; velum init finds it"
	NameWork = "name the right one in read.columns"
	NotKept  = "take it out of read.keep, or name the right one there"
)

// mostListed is how many columns an error lists.
const mostListed = 20

func MissingRemedy(name, order string, have []string) string {
	best, far := "", len(name)/2+1
	for _, h := range have {
		if d := near.Distance(strings.ToLower(name), strings.ToLower(h)); d < far {
			best, far = h, d
		}
	}
	list := strings.Join(have[:min(len(have), mostListed)], ", ")
	if more := len(have) - mostListed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if best != "" {
		list += fmt.Sprintf(" (did you mean %q?)", best)
	}
	return "the file has: " + list + "; " + order
}

// HeaderNames returns the columns of a CSV file to list in an error. The first line of a file without a header is a
// note or personal data, which no error may quote: unless the line is surely a header, it returns a remedy that says
// so, and no names. Columns without a name, such as the index that pandas writes, are skipped.
func HeaderNames(have []string) (names []string, order string) {
	sure := false
	for _, h := range have {
		if h == "" {
			continue
		}
		if !IsHeader(h) {
			return nil, notQuoted
		}
		others := 0
		for _, word := range strings.FieldsFunc(strings.ToLower(h), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if !strings.Contains(columnWords, " "+word+" ") {
				others++
			}
		}
		sure = sure || others == 0
		names = append(names, PlainColumn(h))
	}
	if !sure && len(names) > 0 {
		return nil, notQuoted
	}
	return names, ""
}

const notQuoted = "its first line may hold no names of columns, so that it is not quoted: write a header line, name the delimiter with --delimiter, or see what velum init says of it"

// columnWords are words that names of columns are made of: in a header there is one of nothing else.
const columnWords = " id ids uid uuid note notes nota notas text texto texts textos txt free libre cod codi codigo código code num numero número fecha data date dia year ano año any mes month sexo sex edad age " +
	"tipo type document documento doc informe report registro episodio episode servicio center centro centre unidad patient paciente pacient nhc person persona usuario campo field value valor comentario evolucion evolución curso clave clau sala planta alta key "

// IsHeader reports whether a cell of the first line may be the name of a column: it begins with a letter, is short, and
// is no sentence, number or person's name.
func IsHeader(h string) bool {
	if !headerName.MatchString(h) || len(strings.Fields(h)) > mostWords || longNumber.MatchString(h) {
		return false
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(h), func(r rune) bool { return !unicode.IsLetter(r) }) {
		classes := gazetteer.Default().Classes([]byte(word))
		if !strings.Contains(columnWords, " "+word+" ") && classes&(gazetteer.GivenName|gazetteer.Surname) != 0 &&
			classes&(gazetteer.CommonWord|gazetteer.Month|gazetteer.MedicalTerm) == 0 {
			return false
		}
	}
	return true
}

// Patterns for names of columns: headerName matches a name that people would give to a column.
var (
	headerName = regexp.MustCompile(`^[\pL_][^,;:!?\n]{0,39}$`)
	longNumber = regexp.MustCompile(`[0-9]{5}`)
)

const mostWords = 5 // of the name of a column

func OrderOf(kept bool) string {
	if kept {
		return NotKept
	}
	return NameWork
}

// MaxColumnName is the largest number of bytes in the name of a column.
const MaxColumnName = 256

// PlainColumn returns the name of a column in a form that is safe to log, since names can hold any bytes, including
// terminal escape sequences.
func PlainColumn(name string) string {
	if PlainName(name, MaxColumnName) {
		return name
	}
	quoted := strconv.QuoteToASCII(name)
	quoted = quoted[1 : len(quoted)-1]
	return quoted[:min(len(quoted), MaxColumnName)]
}

// PlainName reports whether a string is safe to log.
func PlainName(s string, most int) bool {
	if len(s) > most || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if unseen(r) {
			return false
		}
	}
	return true
}

// unseen tells whether a terminal obeys a character and does not show it.
func unseen(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// spelling is a way to write a person.
type spelling struct {
	name   string
	before string // what stands in front in the note, and is no part of the mention
	write  func(m *maker, p *person) string
}

func full(p *person) string { return p.given + " " + p.surname + " " + p.second }

// spellings of a patient and of a relative.
var spellings = []spelling{
	{"full", "", func(_ *maker, p *person) string { return full(p) }},
	{"surnames first", "", func(_ *maker, p *person) string { return p.surname + " " + p.second + ", " + p.given }},
	{"surnames first, no comma", "", func(_ *maker, p *person) string { return p.surname + " " + p.second + " " + p.given }},
	{"given and surname", "", func(_ *maker, p *person) string { return p.given + " " + p.surname }},
	{"given alone", "", func(_ *maker, p *person) string { return p.given }},
	{"surname alone", "", func(_ *maker, p *person) string { return p.surname }},
	{"surnames with a hyphen", "", func(_ *maker, p *person) string { return p.surname + "-" + p.second }},
	{"initial and surname", "", func(_ *maker, p *person) string { return first(p.given) + ". " + p.surname }},
	{"surname and initial", "", func(_ *maker, p *person) string { return p.surname + ", " + first(p.given) + "." }},
	{"initials", "", func(_ *maker, p *person) string {
		return initials(p.given, ".") + initials(p.surname, ".") + initials(p.second, ".")
	}},
	{"capitals", "", func(_ *maker, p *person) string { return strings.ToUpper(full(p)) }},
	{"small letters", "", func(_ *maker, p *person) string { return strings.ToLower(full(p)) }},
	{"without accents", "", func(_ *maker, p *person) string { return bare(p.given + " " + p.surname) }},
	{"one edit in a name of two", "", func(m *maker, p *person) string { return p.given + " " + m.edit(p.surname) }},
	{"one edit in the given name", "", func(m *maker, p *person) string { return m.edit(p.given) + " " + p.surname }},
	{"glued", "", func(_ *maker, p *person) string { return p.given + p.surname }},
	{"over two lines", "", func(_ *maker, p *person) string { return p.given + "\n" + p.surname }},
}

// staffSpellings of a member of staff.
var staffSpellings = []spelling{
	{"staff: full", "", func(_ *maker, p *person) string { return full(p) }},
	{"staff: given and surname", "", func(_ *maker, p *person) string { return p.given + " " + p.surname }},
	{"staff: title and surname", "Dra. ", func(_ *maker, p *person) string { return p.surname }},
	{"staff: surnames first", "", func(_ *maker, p *person) string { return p.surname + " " + p.second + ", " + p.given }},
	{"staff: initial and surname", "", func(_ *maker, p *person) string { return first(p.given) + ". " + p.surname }},
	{"staff: capitals", "", func(_ *maker, p *person) string { return strings.ToUpper(full(p)) }},
	{"staff: small letters", "", func(_ *maker, p *person) string { return strings.ToLower(full(p)) }},
	{"staff: without accents", "", func(_ *maker, p *person) string { return bare(full(p)) }},
	{"staff: one edit", "", func(m *maker, p *person) string { return p.given + " " + m.edit(p.surname) }},
	{"staff: title, one edit", "Dr ", func(m *maker, p *person) string { return m.edit(p.surname) }},
}

// facts are what else is known of a patient.
var facts = []spelling{
	{"born 12/03/1950", ". F. nac. ", func(_ *maker, p *person) string { return p.born.Format("02/01/2006") }},
	{"born 12-3-50", ". Nacido el ", func(_ *maker, p *person) string { return p.born.Format("2-1-06") }},
	{"born 12 de marzo de 1950", ". Nacida el ", func(_ *maker, p *person) string {
		return fmt.Sprintf("%d de %s de %d", p.born.Day(), months[p.born.Month()-1], p.born.Year())
	}},
	{"born 1950-03-12", ". FN ", func(_ *maker, p *person) string { return p.born.Format("2006-01-02") }},
	{"telephone", ". Tel ", func(_ *maker, p *person) string { return p.telephone }},
	{"telephone in groups", ". Avisar al ", func(_ *maker, p *person) string {
		return p.telephone[:3] + " " + p.telephone[3:5] + " " + p.telephone[5:7] + "-" + p.telephone[7:]
	}},
	{"telephone with prefix", ". Móvil +34 ", func(_ *maker, p *person) string { return p.telephone }},
	{"number", ". DNI ", func(_ *maker, p *person) string { return p.id }},
	{"number with signs", ". doc ", func(_ *maker, p *person) string { return p.id[:2] + "." + p.id[2:5] + "." + p.id[5:8] + "-" + p.id[8:] }},
	{"number without its letter", ". HC ", func(_ *maker, p *person) string { return p.id[:8] }},
	{"address", ". Vive en ", func(_ *maker, p *person) string { return "calle " + p.street + " " + p.number }},
	{"address, shortened", ". Vive en ", func(_ *maker, p *person) string { return "c/ " + strings.ToLower(bare(p.street)) + ", " + p.number }},
}

var months = strings.Fields("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")

// first returns the first letter of a name.
func first(name string) string {
	r, _ := utf8.DecodeRuneInString(name)
	return string(r)
}

// initials returns the first letters of the words of a name that are more than
// particles, each with a sign behind.
func initials(name, sign string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) && r != '·' }) {
		if particles[strings.ToLower(word)] {
			continue
		}
		b.WriteString(first(word) + sign)
	}
	return b.String()
}

var particles = map[string]bool{"de": true, "del": true, "la": true, "las": true, "los": true, "el": true, "els": true, "les": true, "i": true, "y": true, "d": true, "l": true,
	"san": true, "sant": true, "santa": true, "da": true, "do": true, "dos": true, "das": true, "van": true, "ben": true, "al": true, "e": true, "di": true}

// bare drops accents.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(s))
}

// title gives every word a capital.
func title(s string) string {
	runes := []rune(strings.ToLower(s))
	for i, r := range runes {
		if i == 0 || runes[i-1] == ' ' || runes[i-1] == '-' {
			runes[i] = unicode.ToUpper(r)
		}
	}
	return string(runes)
}

// edit makes one edit in the longest word of a name, behind its first letter; a
// word of four letters or fewer stays as it is.
func (m *maker) edit(name string) string {
	words := strings.Split(name, " ")
	k := 0
	for i := range words {
		if utf8.RuneCountInString(words[i]) > utf8.RuneCountInString(words[k]) {
			k = i
		}
	}
	r := []rune(words[k])
	if len(r) < 5 {
		return name
	}
	at := 1 + m.rng.IntN(len(r)-2)
	letter := rune('a' + m.rng.IntN(26))
	switch m.rng.IntN(4) {
	case 0:
		r = append(r[:at:at], r[at+1:]...)
	case 1:
		r = append(r[:at:at], append([]rune{letter}, r[at:]...)...)
	case 2:
		r[at] = letter
	default:
		r[at], r[at+1] = r[at+1], r[at]
	}
	words[k] = string(r)
	return strings.Join(words, " ")
}

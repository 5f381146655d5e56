package document

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
)

// values holds the values of persons in the fields of a document, folded to lower-case letters and digits without
// accents and signs. The whole document is searched for them, so that a name in one field is also found in other
// places, codes and links.
type values struct {
	known map[string]meaning
	long  map[string][]string // those of at least longValue bytes, by their first ones
	text  folded
}

// meaning is the kind of person a folded value belongs to, and where it identifies the person.
type meaning struct {
	kind    Kind
	capital bool // it tells where it begins with a capital
	alone   bool // it tells where a piece of the document is nothing else
}

// longValue is the length from which a value is also found inside a longer run of letters and digits; most is the
// number of characters compared at most.
const longValue, mostValue = 7, 100

// ordinary are the words that are something else than a name as well.
const ordinary = gazetteer.CommonWord | gazetteer.Drug | gazetteer.Eponym | gazetteer.MedicalTerm | gazetteer.Month | gazetteer.Title | gazetteer.Kinship | gazetteer.Profession

// add adds what a field says.
func (v *values) add(kind Kind, field []byte) {
	var all folded
	all.fold(field)
	whole := string(all.text)
	switch kind {
	case PatientName, RelativeName, StaffName:
		words := all.runs()
		for _, word := range words {
			class := gazetteer.Default().Classes([]byte(word))
			v.enter(word, meaning{kind, class&ordinary != 0 || len(word) < 4, len(word) < 3 || len(word) < 4 && class&ordinary != 0})
		}
		if len(words) > 1 {
			v.enter(whole, meaning{kind: v.known[words[0]].kind})
		}
	case PatientID, StaffID:
		v.enter(whole, meaning{kind, false, len(whole) < 4 || !bytes.ContainsAny(all.text, "0123456789")})
	case Phone:
		digits := strings.TrimPrefix(strings.TrimPrefix(whole, "tel"), "mailto")
		v.enter(digits, meaning{kind, false, len(digits) < 6})
		if len(digits) > nationalPhone {
			v.enter(digits[len(digits)-nationalPhone:], meaning{kind: kind})
		}
	case Address:
		v.enter(whole, meaning{kind, true, len(whole) < 5})
	case Date:
		if len(whole) < 8 {
			return
		}
		year, month, day := whole[:4], whole[4:6], whole[6:8]
		for _, form := range []string{year + month + day, day + month + year, month + day + year} {
			v.enter(form, meaning{kind: kind})
		}
	}
}

// nationalPhone is how many digits a telephone has without its country.
const nationalPhone = 9

func (v *values) enter(folded string, of meaning) {
	if len(folded) < 2 || len(folded) > mostValue {
		return
	}
	if v.known == nil {
		v.known, v.long = map[string]meaning{}, map[string][]string{}
	}
	had, there := v.known[folded]
	if there {
		of = meaning{had.kind, had.capital && of.capital, had.alone && of.alone}
	}
	v.known[folded] = of
	if !there && len(folded) >= longValue {
		v.long[folded[:longValue]] = append(v.long[folded[:longValue]], folded)
	}
}

// each calls do for every place of a value in a text, in order, until it returns false.
func (v *values) each(text []byte, do func(start, end int, kind Kind) bool) {
	if len(v.known) == 0 {
		return
	}
	f := &v.text
	f.fold(text)
	for i := 0; i < len(f.text); {
		end, kind := v.at(f, i, text)
		if end == i {
			i++
		} else if !do(int(f.from[i]), int(f.to[end-1]), kind) {
			return
		} else {
			i = end
		}
	}
}

// at returns where the longest value ends that begins at byte i of a folded text; i: none does.
func (v *values) at(f *folded, i int, text []byte) (end int, kind Kind) {
	end = i
	if i == 0 || f.run[i-1] != f.run[i] {
		for e := i + 1; e <= min(len(f.text), i+mostValue); e++ {
			if e < len(f.text) && f.run[e] == f.run[e-1] {
				continue
			}
			if of, ok := v.known[string(f.text[i:e])]; ok && !of.alone && !(of.capital && !capital(text[f.from[i]:])) {
				end, kind = e, of.kind
			}
			if e < len(f.text) && f.from[e]-f.to[e-1] > 3 {
				break
			}
		}
	}
	if end == i && i+longValue <= len(f.text) {
		for _, long := range v.long[string(f.text[i:i+longValue])] {
			if e := i + len(long); e <= len(f.text) && f.run[e-1] == f.run[i] && string(f.text[i:e]) == long && !v.known[long].capital {
				return e, v.known[long].kind
			}
		}
	}
	return end, kind
}

// in tells whether a text holds a value, or is one.
func (v *values) in(text []byte) (kind Kind, found bool) {
	v.each(text, func(_, _ int, of Kind) bool {
		kind, found = of, true
		return false
	})
	if !found && len(v.known) > 0 {
		whole := v.text.text
		of, is := v.known[string(whole)]
		kind, found = of.kind, is && len(whole) > 2 && (len(whole) > 4 || len(whole) == len(bytes.TrimSpace(text)))
	}
	return kind, found
}

func capital(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return unicode.IsUpper(r) || unicode.IsDigit(r)
}

// folded is the letters and digits of a text, folded.
type folded struct {
	text     []byte
	from, to []int32 // of each byte, where the character stands that it comes from
	run      []int32 // of each byte, the number of the run of letters and digits that it belongs to
}

func (f *folded) fold(text []byte) {
	f.text, f.from, f.to, f.run = f.text[:0], f.from[:0], f.to[:0], f.run[:0]
	run, within := int32(0), false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			f.text = gazetteer.Fold(f.text, text[i:i+size])
			within = true
		} else if within && !unicode.Is(unicode.Mn, r) {
			run, within = run+1, false
		}
		for len(f.from) < len(f.text) {
			f.from, f.to, f.run = append(f.from, int32(i)), append(f.to, int32(i+size)), append(f.run, run)
		}
		i += size
	}
}

// runs returns the runs of letters and digits.
func (f *folded) runs() (all []string) {
	for i, at := 1, 0; i <= len(f.text); i++ {
		if i == len(f.text) || f.run[i] != f.run[i-1] {
			all = append(all, string(f.text[at:i]))
			at = i
		}
	}
	return all
}

// named tells whether a text is nothing but words of names, of which one is no other
// word: GARCIA LOPEZ where a code or a term should stand.
func named(text []byte) bool {
	sure, words := false, 0
	for word := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == '^' || r == ',' || r == '-' }) {
		class := gazetteer.Default().Classes(word)
		switch words++; {
		case words > 5, bytes.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '.' }):
			return false
		case class&(gazetteer.GivenName|gazetteer.Surname) != 0:
			sure = sure || utf8.RuneCount(word) > 3 && class&(ordinary|gazetteer.Place|gazetteer.Centre) == 0
		case utf8.RuneCount(word) > 3:
			return false
		}
	}
	return sure
}

// search finds the values of the fields in the rest of the document. In text they become
// fields, and a piece that would have stayed becomes text.
func (d *Document) search() {
	kept := d.kept
	d.kept = nil
	for _, p := range kept {
		if kind, found := d.known.in(p.text); found {
			d.apart('\n')
			d.add(p.source, kind, p.typed)
			d.pieces[len(d.pieces)-1].filled = p.filled
		} else {
			d.kept = append(d.kept, p)
		}
	}
	own, last := d.Fields, (*Field)(nil)
	d.known.each(d.Text, func(start, end int, kind Kind) bool {
		for len(own) > 0 && own[0].End <= start {
			own = own[1:]
		}
		switch {
		case len(own) > 0 && own[0].Start < end && own[0].Kind == EventDate:
			d.unstay(start)
		case len(own) > 0 && own[0].Start < end:
		case last != nil && last.Kind == kind && last.End+1 == start && d.Text[last.End] == ' ': // a given name and a surname
			last.End = end
		default:
			d.Fields = append(d.Fields, Field{Start: start, End: end, Kind: kind})
			last = &d.Fields[len(d.Fields)-1]
		}
		return true
	})
	slices.SortFunc(d.Fields, func(a, b Field) int { return a.Start - b.Start })
}

// unstay marks the date of an event, which would stay, to be masked.
func (d *Document) unstay(at int) {
	i, _ := slices.BinarySearchFunc(d.pieces, at, func(p piece, at int) int { return cmp.Compare(p.end, at+1) })
	if i < len(d.pieces) {
		d.pieces[i].stays = false
	}
}

// survives tells, behind Restore with these edits, whether a value that they have hidden
// stands in what they left as it was.
func (d *Document) survives(edits []Edit) bool {
	var hidden values
	rest := slices.Clone(edits)
	for _, f := range d.Fields {
		for len(rest) > 0 && rest[0].End <= f.Start {
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0].Start < f.End && f.own && !bytes.Equal(rest[0].With, d.Text[rest[0].Start:rest[0].End]) {
			hidden.add(f.Kind, d.Text[f.Start:f.End])
		}
	}
	left := [][]byte{d.ID, blanked(d.Text, edits)}
	for _, p := range slices.Concat(d.pieces, d.kept) {
		if !p.changed { // as dates of events that stay, whatever their edits
			left = append(left, p.text)
		}
	}
	for i := range d.layers {
		left = append(left, blanked(d.layers[i].src, d.layers[i].edits))
	}
	return slices.ContainsFunc(left, func(text []byte) bool {
		_, found := hidden.in(text)
		return found
	})
}

// blanked is a text with a line end in place of what is edited in it.
func blanked(text []byte, edits []Edit) []byte {
	var left []byte
	at := 0
	for _, e := range edits {
		if e.Start >= at {
			left = append(append(left, text[at:e.Start]...), "\n\n\n\n"...)
			at = e.End
		}
	}
	return append(left, text[at:]...)
}

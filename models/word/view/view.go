// Package view makes the normalized view of a note, the text that the stages analyse: characters that imitate others by
// their look, have no width or are as wide as two are replaced by the plain ones. It returns the text of the view and,
// for every byte of it, the offset in the note. The note itself is not changed: spans found in the view are mapped back
// to the note.
//
// An identifier with a soft hyphen or a character without width inside, in
// full-width digits, between narrow blanks or with a Cyrillic letter reads the
// same to a person; here it reads the same to patterns, lists and taggers, too.
// What is plain ASCII (blanks, line ends, commas between digits, letters glued
// to a number) is left as it is: those are forms that models/form/patterns knows,
// and so a plain note has no view and costs one look at its bytes.
//
// Sources: Unicode 15 decompositions (golang.org/x/text/unicode/norm); look-alikes
// written down from the Unicode Consortium's confusables.txt, Latin only.
package view

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/pipeline"
)

// Plain reports whether text equals its view. This holds for ASCII and Latin-1 without no-break spaces, soft hyphens
// and markup.
func Plain(text []byte) bool { return latin(text) && !marked(text) }

func latin(text []byte) bool {
	for i := 0; i < len(text); {
		if len(text)-i >= 8 {
			high := binary.LittleEndian.Uint64(text[i:]) & 0x8080808080808080
			if high == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(high) / 8
		} else if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		switch text[i] {
		case 0xC3:
		case 0xC2:
			if i+1 < len(text) && (text[i+1] == 0xA0 || text[i+1] == 0xAD) {
				return false
			}
		default:
			return false
		}
		i += 2
	}
	return true
}

// Append appends the view of text to dst, and to from the offset in text of each byte of the view and of its end.
// Characters without a counterpart in the view (characters without width, accents) belong to the preceding character,
// or to the first one at the start. Invalid UTF-8 is copied.
func Append(dst []byte, from []int32, text []byte) ([]byte, []int32) {
	w := writer{text: text, format: formatOf(text), dst: dst, first: len(dst), from: from, origin: len(from), run: len(dst), closed: -1}
	for w.at < len(text) {
		w.character()
	}
	w.look()
	from = append(w.from, int32(len(text)))
	if len(w.dst) > w.first {
		from[w.origin] = 0
	}
	return w.dst, from
}

// writer is the state of one Append.
type writer struct {
	text   []byte
	format format
	at     int // in text
	dst    []byte
	first  int // in dst: where the view begins
	from   []int32
	closed int // in text: markup that ends what stands before it and belongs to the character to come; -1: none

	origin  int  // in from: where the offsets of the view begin
	run     int  // in dst: where the letters and digits begin that are being written
	latin   bool // among them is an ASCII letter or digit,
	alike   bool // a letter of another script that looks like a Latin one,
	foreign bool // another letter of another script
}

// character writes the character at w.at.
func (w *writer) character() {
	if b := w.text[w.at]; b < utf8.RuneSelf {
		if packedByte(b) || b == '=' {
			if says, n := packed(w.text, w.at); n > 0 {
				w.unit(says, n)
				return
			}
		}
		if heads[b]&1 != 0 {
			if m := markAt(w.text, w.at, w.format); m.n > 0 {
				w.markup(m)
				return
			}
		}
		w.put(rune(b), 1)
		return
	}
	r, n := utf8.DecodeRune(w.text[w.at:])
	if r == utf8.RuneError && n == 1 {
		w.raw()
		return
	}
	w.sign(r, n)
}

// markup writes what m stands for.
func (w *writer) markup(m mark) {
	switch {
	case m.as != 0:
		w.sign(m.as, m.n)
		return
	case !m.closes:
		w.closed = -1
	case w.closed < 0:
		w.closed = w.at
	}
	w.at += m.n
}

// sign writes r, for which n bytes stand.
func (w *writer) sign(r rune, n int) {
	switch {
	case unseen(r), picture(r) && w.between(n):
		w.at += n
	case scriptDigit(r) >= 0 && scripted(w.text, w.at, n):
		w.put('0'+scriptDigit(r), n)
	case unicode.Is(unicode.M, r):
		w.mark(r, n)
	default:
		w.changed(r, n)
	}
}

// between tells whether the picture of n bytes at w.at stands between two digits,
// or between signs of which each has such pictures around.
func (w *writer) between(n int) bool {
	if len(w.dst) == w.first || w.dst[len(w.dst)-1] <= ' ' {
		return false
	}
	last := w.dst[len(w.dst)-1]
	at, r := w.next(w.at + n)
	if r <= ' ' {
		return false
	}
	if last-'0' < 10 && uint32(r)-'0' < 10 {
		return true
	}
	before, _ := utf8.DecodeLastRune(w.text[:max(w.at-1, 0)])
	_, size := utf8.DecodeRune(w.text[at:])
	behind, _ := utf8.DecodeRune(w.text[at+size:])
	return picture(before) || unseen(before) || picture(behind)
}

// next returns the first character from at on that can be seen and is no
// picture; 0 at the end.
func (w *writer) next(at int) (int, rune) {
	for at < len(w.text) {
		r, size := utf8.DecodeRune(w.text[at:])
		if !unseen(r) && !picture(r) && !unicode.Is(unicode.M, r) {
			return at, r
		}
		at += size
	}
	return at, 0
}

// changed writes the character that stands for r in the view.
func (w *writer) changed(r rune, n int) {
	plain, ligature := plainOf(r)
	if ligature == "" {
		w.put(plain, n)
		return
	}
	w.unit(ligature, n)
}

// unit writes what the n bytes at w.at say as one.
func (w *writer) unit(says string, n int) {
	for _, letter := range says {
		w.put(letter, 0)
	}
	w.at += n
	w.closed = -1
}

// put writes r for the n bytes at w.at.
func (w *writer) put(r rune, n int) {
	inside := true // a run of letters and digits
	switch {
	case r < utf8.RuneSelf && cut.IsAlnum(byte(r)):
		w.latin = true
	case !unicode.IsLetter(r):
		w.look()
		inside = false
	case r >= greek && latinOf[r] != 0:
		w.alike = true
	case r >= greek:
		w.foreign = true
	}
	size, from := len(w.dst), w.place()
	w.dst = utf8.AppendRune(w.dst, r)
	for range len(w.dst) - size {
		w.from = append(w.from, from)
	}
	if !inside {
		w.run = len(w.dst)
	}
	if w.at += n; n > 0 {
		w.closed = -1
	}
}

// place is where the next character of the view comes from.
func (w *writer) place() int32 {
	if w.closed >= 0 {
		return int32(w.closed)
	}
	return int32(w.at)
}

// greek is the first character behind the accents; Latin letters stand before.
const greek = 0x370

// raw writes a byte as it is.
func (w *writer) raw() {
	w.look()
	w.dst = append(w.dst, w.text[w.at])
	w.from = append(w.from, w.place())
	w.at++
	w.run, w.closed = len(w.dst), -1
}

// look ends a run of letters and digits. In one that has ASCII ones, or
// nothing else, letters that look like Latin ones are there for their looks.
func (w *writer) look() {
	if w.alike && (w.latin || !w.foreign) {
		w.imitate(w.run)
	}
	w.latin, w.alike, w.foreign = false, false, false
	w.run = len(w.dst)
}

// imitate writes the run that begins at start anew, with the Latin letters that
// its letters look like. None of those takes more bytes.
func (w *writer) imitate(start int) {
	to := start
	base := w.origin - w.first
	for at := start; at < len(w.dst); {
		r, n := utf8.DecodeRune(w.dst[at:])
		origin := w.from[base+at]
		if l := latinOf[r]; l != 0 {
			w.dst[to], w.from[base+to] = l, origin
			to++
		} else {
			for k := range n {
				w.dst[to], w.from[base+to] = w.dst[at+k], w.from[base+at+k]
				to++
			}
		}
		at += n
	}
	w.dst, w.from = w.dst[:to], w.from[:base+to]
}

// mark joins an accent to the letter before it, where there is one character
// for both. It drops those that only strike through or underline a Latin
// letter, a digit or a sign; letters of other scripts keep theirs.
func (w *writer) mark(r rune, n int) {
	last, size := utf8.DecodeLastRune(w.dst[w.first:])
	if size == 0 || last >= greek && unicode.IsLetter(last) || unicode.IsSpace(last) || unicode.IsControl(last) || last == utf8.RuneError {
		w.put(r, n)
		return
	}
	if joined := joins[[2]rune{last, r}]; joined != 0 {
		origin := w.from[len(w.from)-size]
		w.dst, w.from = w.dst[:len(w.dst)-size], w.from[:len(w.from)-size]
		w.dst = utf8.AppendRune(w.dst, joined)
		for range utf8.RuneLen(joined) {
			w.from = append(w.from, origin)
		}
	}
	w.at += n
}

// joins has the letter that a letter and an accent make, for all Latin ones.
var joins = func() map[[2]rune]rune {
	t := map[[2]rune]rune{}
	for r := rune(0xC0); r < 0x1F00; r++ {
		if r == 0x250 {
			r = 0x1E00
		}
		d := norm.NFD.PropertiesString(string(r)).Decomposition()
		if accent, n := utf8.DecodeLastRune(d); len(d) > n {
			letter, _ := utf8.DecodeRuneInString(norm.NFC.String(string(d[:len(d)-n])))
			t[[2]rune{letter, accent}] = r
		}
	}
	return t
}()

// unseen tells whether r has no width of its own: soft hyphen, zero-width and
// directional characters, variation selectors, fillers.
func unseen(r rune) bool {
	switch r {
	case 0xAD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, 0xFFFC:
		return true
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}

// plainOf returns the character that stands for r in the view, itself if it is
// none of those: full-width and mathematical letters and signs, digits of any
// script, blanks, dashes and apostrophes; or the letters of a ligature.
func plainOf(r rune) (plain rune, ligature string) {
	switch {
	case r < greek:
		return signs(r), ""
	case r < 0x530: // Greek and Cyrillic: see look
		return r, ""
	case unicode.Is(unicode.Zs, r):
		return ' ', ""
	case unicode.Is(unicode.Nd, r):
		return digitOf(r), ""
	}
	if c := signs(r); c != r {
		return c, ""
	}
	if r < 0x2100 || r >= 0x3400 && r < 0xF900 { // superscripts; letters of the East
		return r, ""
	}
	return decomposed(r)
}

// digitOf returns the ASCII digit of a decimal digit. Unicode has those of a
// script in a row, from nought.
func digitOf(r rune) rune {
	n := rune(0)
	for unicode.Is(unicode.Nd, r-1-n) {
		n++
	}
	return '0' + n%10
}

// decomposed returns the ASCII letter, digit or sign that r is a form of.
func decomposed(r rune) (rune, string) {
	var b [utf8.UTFMax]byte
	d := norm.NFKC.Properties(utf8.AppendRune(b[:0], r)).Decomposition()
	if len(d) == 1 && d[0] > ' ' && d[0] < utf8.RuneSelf {
		return rune(d[0]), ""
	}
	for _, c := range d {
		if c < 'a' || c > 'z' {
			return r, ""
		}
	}
	return r, string(d)
}

// signForms has plain dashes, apostrophes, dots and letters, each before those that are written for it.
const signForms = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2500\u2E3A\u2E3B\u30FC\uFE58\uFE63 '\u02B9\u02BC\u2018\u2019\u201B\u2032" +
	" .\u2024\u3002\uFF61 ·\u2027\u2219\u22C5\u30FB\uFF65 /\u2044\u2215\u29F8 :\u2236\uA789 ,\u201A\u3001\uFF64 i\u0131 a\u0251 g\u0261"

var signOf = func() map[rune]rune {
	t := map[rune]rune{0xA0: ' ', 0x2800: ' '}
	for group := range strings.FieldsSeq(signForms) {
		plain, size := utf8.DecodeRuneInString(group)
		for _, r := range group[size:] {
			t[r] = plain
		}
	}
	return t
}()

// signs returns the plain form of blanks, dashes, apostrophes and dots.
func signs(r rune) rune { return cmp.Or(signOf[r], r) }

// latinOf has the Latin letter that a letter of another script looks like.
var latinOf = func() map[rune]byte {
	t := map[rune]byte{}
	latin, others := []byte(latinLetters), []rune(otherLetters)
	for k, r := range others {
		t[r] = latin[k]
	}
	return t
}()

// Look-alikes of Latin letters, one below the other: Cyrillic, then Greek.
const (
	latinLetters = "ABCEHIJKMOPSTXYFGVDQWaceijopsxyvhdqwlr" + "ABEHIKMNOPTXYZFaoviupkxt"
	otherLetters = "АВСЕНІЈКМОРЅТХУҒԌѴԀԚԜасеіјорѕхуѵһԁԛԝӏг" + "ΑΒΕΗΙΚΜΝΟΡΤΧΥΖϜαονιυρκχτ"
)

// back returns the part of the note that view[start:end] comes from. from is
// what Append wrote for that view.
func back(from []int32, start, end int32) (int32, int32) {
	a := from[start]
	for end < int32(len(from))-1 && end > start && from[end] == from[end-1] {
		end++ // within a ligature
	}
	return a, from[end]
}

// place returns where in the view what stands at offset at of the note, or
// behind it, begins.
func place(from []int32, at int32) int32 {
	return int32(sort.Search(len(from)-1, func(k int) bool { return from[k] >= at }))
}

// BackTokens maps tokens from the view to the note in place, and returns them. Tokens that come from one unit of the
// note (a piece of base64 may hold several words) become one. With a nil from they are unchanged, here and in the
// functions below.
func BackTokens(from []int32, tokens []pipeline.Token) []pipeline.Token {
	if from == nil {
		return tokens
	}
	kept := tokens[:0]
	for _, t := range tokens {
		t.Start, t.End = back(from, t.Start, t.End)
		if n := len(kept); n > 0 && t.Start < kept[n-1].End {
			kept[n-1].End = max(kept[n-1].End, t.End)
			continue
		}
		kept = append(kept, t)
	}
	return kept
}

// BackMatches maps matches from the view to the note in place.
func BackMatches(from []int32, matches []pipeline.Match) {
	if from == nil {
		return
	}
	for k := range matches {
		matches[k].Start, matches[k].End = back(from, matches[k].Start, matches[k].End)
	}
}

// BackSpans maps disjoint spans from the view to the note in place, and returns them. If two share a ligature, it
// belongs to the first.
func BackSpans(from []int32, spans []pipeline.Span) []pipeline.Span {
	if from == nil {
		return spans
	}
	kept := spans[:0]
	end := int32(0)
	for _, s := range spans {
		s.Start, s.End = back(from, s.Start, s.End)
		if s.Start = max(s.Start, end); s.Start < s.End {
			kept = append(kept, s)
			end = s.End
		}
	}
	return kept
}

// Placed maps tokens, matches and spans from a note to its view. It holds scratch space; results are valid until the
// next note.
type Placed struct {
	tokens  []pipeline.Token
	matches []pipeline.Match
	spans   []pipeline.Span
}

// Tokens returns the tokens of a note with offsets in its view.
func (p *Placed) Tokens(from []int32, tokens []pipeline.Token) []pipeline.Token {
	if from == nil {
		return tokens
	}
	p.tokens = p.tokens[:0]
	k := int32(0)
	next := func(at int32) int32 { // tokens are in order
		for k < int32(len(from))-1 && from[k] < at {
			k++
		}
		return k
	}
	for _, t := range tokens {
		p.tokens = append(p.tokens, pipeline.Token{Start: next(t.Start), End: next(t.End), Flags: t.Flags})
	}
	return p.tokens
}

// Matches returns the matches of a note with offsets in its view.
func (p *Placed) Matches(from []int32, matches []pipeline.Match) []pipeline.Match {
	if from == nil {
		return matches
	}
	p.matches = p.matches[:0]
	for _, m := range matches {
		m.Start, m.End = place(from, m.Start), place(from, m.End)
		p.matches = append(p.matches, m)
	}
	return p.matches
}

// Spans returns the spans of a note with offsets in its view.
func (p *Placed) Spans(from []int32, spans []pipeline.Span) []pipeline.Span {
	if from == nil {
		return spans
	}
	p.spans = p.spans[:0]
	for _, s := range spans {
		s.Start, s.End = place(from, s.Start), place(from, s.End)
		p.spans = append(p.spans, s)
	}
	return p.spans
}

package view

import (
	"bytes"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/cut"
)

// Notes that a program made may carry its markup: tags and entities of HTML,
// escapes of JSON, control words of RTF, stars of Markdown, carets of HL7,
// addresses with a percent-encoded sign. What a person does not see, the view
// does not have, and what stands for a character is that character there.
//
// A tag counts without attributes alone, and with a name of HTML: what an
// attribute says, and "<Ana>", must stay to be seen. In clinical prose < is
// "less than" and stays as well.

// mark is a piece of markup.
type mark struct {
	n      int  // bytes; 0: there is none
	as     rune // what it stands for; 0: nothing
	closes bool // it ends what stands before it, and is no part of that
}

// format is the markup of a whole note.
type format uint8

const (
	prose format = iota
	rtf
	object // JSON
)

// formatOf looks at how a note begins.
func formatOf(text cut.Text) format {
	i := 0
	for i < len(text) && text[i] <= ' ' {
		i++
	}
	if at := bytes.IndexByte(text[i:], '{'); at >= 0 && at < len(text)-i-2 && grouped(text[i+at:]) {
		return rtf
	}
	if text.At(i) != '{' && text.At(i) != '[' {
		return prose
	}
	for i < len(text) && (text[i] <= ' ' || text[i] == '{' || text[i] == '[') {
		i++
	}
	if text.At(i) == '"' {
		return object
	}
	return prose
}

// grouped tells whether text has a group of RTF: a brace and a control word.
func grouped(text []byte) bool {
	for {
		at := bytes.Index(text, []byte(`{\`))
		if at < 0 {
			return false
		}
		if m := control(text[at+1:]); m.n > 1 {
			return true
		}
		text = text[at+2:]
	}
}

// heads has 1 for what markup begins with, 2 for what base64 has not, and 4 for
// the capitals and digits that it has beside small letters.
var heads = func() (t [256]uint8) {
	for b := range t {
		switch {
		case !packedByte(byte(b)):
			t[b] = 2
		case b < 'a':
			t[b] = 4
		}
	}
	for _, b := range []byte(`<&^\*_%"{}=-`) {
		t[b] |= 1
	}
	return t
}()

// marked tells whether text has markup or an encoded piece.
func marked(text cut.Text) bool {
	f := formatOf(text)
	before, looked := uint8(2), 0 // the four bytes before; how far base64 was looked for
	for i := 0; i < len(text); i += 8 {
		end := min(i+8, len(text))
		if end == i+8 {
			b := text[i:][:8]
			first, second := heads[b[0]]|heads[b[1]]|heads[b[2]]|heads[b[3]], heads[b[4]]|heads[b[5]]|heads[b[6]]|heads[b[7]]
			// Twelve signs of base64 have eight in such a place, and among them a capital or digit.
			long := (first|second)&6 == 4 || (before|first)&6 == 4
			before = second
			if (first|second)&1 == 0 && !long {
				continue
			}
			if long && i >= looked {
				start := i
				for start > 0 && i-start < mostPacked && packedByte(text[start-1]) {
					start--
				}
				if _, n := packed(text, start); n > 0 {
					return true
				}
				for looked = end; looked < len(text) && packedByte(text[looked]); looked++ {
				}
			}
		}
		for k := i; k < end; k++ {
			if heads[text[k]]&1 == 0 {
				continue
			}
			if markAt(text, k, f).n > 0 {
				return true
			}
			if text[k] == '=' {
				if _, n := packed(text, k); n > 0 {
					return true
				}
			}
		}
	}
	return false
}

// markAt returns the markup at text[i].
func markAt(text cut.Text, i int, f format) mark {
	switch text[i] {
	case '<':
		return tag(text[i:])
	case '&':
		return entity(text[i:])
	case '\\':
		if f == rtf {
			return control(text[i:])
		}
		return escape(text[i:])
	case '^':
		if cut.InWord(text.At(i-1)) && cut.InWord(text.At(i+1)) {
			return mark{n: 1, as: ' '}
		}
	case '*', '_':
		return stars(text, i)
	case '%':
		if m := hexed(text, i, '%'); m.n > 0 {
			return m
		}
		if bytes.HasPrefix(text[i:], []byte("%40")) && wordBefore(text, i) && cut.InWord(text.At(i+3)) {
			return mark{n: 3, as: '@'}
		}
	case '=':
		if m := hexed(text, i, '='); m.n > 0 {
			return m
		}
		return broken(text, i)
	case '-':
		return broken(text, i)
	case '"':
		if f == object {
			return quote(text, i)
		}
	case '{', '}':
		if f == rtf {
			return mark{n: 1, closes: text[i] == '}'}
		}
	}
	return mark{}
}

// tagNames are the tags of HTML that a note may have; true: a person sees a new
// line, or another cell, there.
var tagNames = func() map[string]bool {
	names := map[string]bool{}
	for k, tags := range []string{
		"a abbr b big code del em font i ins mark s small span strike strong sub sup tt u",
		`article blockquote body br center dd div dl dt h1 h2 h3 h4 h5 h6 head hr html li ol p pre section table tbody td th thead tr ul`,
	} {
		for name := range strings.FieldsSeq(tags) {
			names[name] = k == 1
		}
	}
	return names
}()

const longestTag = len("blockquote")

// tag reads <name>, </name> or <name/>.
func tag(text cut.Text) mark {
	i := 1
	closes := text.At(i) == '/'
	if closes {
		i++
	}
	var name [longestTag]byte
	n := 0
	for ; n < len(name) && text.Alnum(i); i++ {
		name[n] = text[i]
		if text.Letter(i) {
			name[n] |= 0x20
		}
		n++
	}
	breaks, known := tagNames[string(name[:n])]
	for text.At(i) == ' ' || text.At(i) == '/' {
		i++
	}
	if !known || text.At(i) != '>' {
		return mark{}
	}
	m := mark{n: i + 1, closes: closes}
	if breaks {
		m.as = '\n'
	}
	return m
}

// longestEntity is how far the ; of an entity may be.
const longestEntity = 10

// entities are the names of HTML that stand for characters of Latin-1 and the
// signs around words.
var entities = func() map[string]rune {
	names := map[string]rune{}
	for _, name := range bytes.Fields([]byte(`nbsp iexcl ordf ordm laquo raquo middot iquest amp lt gt quot apos ndash mdash lsquo rsquo sbquo ldquo rdquo
		bdquo hellip bull shy deg euro ensp emsp thinsp zwnj zwj lrm rlm
		Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml Ntilde Ograve Oacute Ocirc Otilde Ouml
		Oslash Ugrave Uacute Ucirc Uuml Yacute szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc
		iuml ntilde ograve oacute ocirc otilde ouml oslash ugrave uacute ucirc uuml yacute yuml`)) {
		names[string(name)], _ = utf8.DecodeRuneInString(html.UnescapeString("&" + string(name) + ";"))
	}
	return names
}()

// entity reads &name;, &#225; or &#xE1;.
func entity(text []byte) mark {
	end := bytes.IndexByte(text[:min(len(text), longestEntity+1)], ';')
	if end < 3 {
		return mark{}
	}
	name := text[1:end]
	if name[0] != '#' {
		return mark{n: end + 1, as: entities[string(name)]}.known()
	}
	if name[1]|0x20 == 'x' {
		return numbered(name[2:], 16, end+1)
	}
	return numbered(name[1:], 10, end+1)
}

// known is m, or none if that stands for no character.
func (m mark) known() mark {
	if m.as == 0 {
		return mark{}
	}
	return m
}

// numbered is the mark of n bytes for the character with that number.
func numbered(digits []byte, base int, n int) mark {
	const most = 6
	if len(digits) == 0 || len(digits) > most+1 {
		return mark{}
	}
	number, err := strconv.ParseInt(string(digits), base, 32)
	if err != nil || number < ' ' && number != '\t' && number != '\n' && number != '\r' || number >= 0x7F && number < 0xA0 || !utf8.ValidRune(rune(number)) {
		return mark{}
	}
	return mark{n: n, as: rune(number)}
}

// escape reads \n, \t, \" and \u00e1 as exports of notes have them.
func escape(text cut.Text) mark {
	switch text.At(1) {
	case 'n', 'r':
		return mark{n: 2, as: '\n'}
	case 't':
		return mark{n: 2, as: '\t'}
	case '"', '/', '\\':
		return mark{n: 2, as: rune(text[1])}
	case 'u':
		if len(text) >= 6 {
			return numbered(text[2:6], 16, 6)
		}
	case '\'', 'x': // of RTF, of programs
		if len(text) >= 4 {
			return numbered(text[2:4], 16, 4)
		}
	}
	return mark{}
}

// controlWords are the words of RTF that a person does not see, and what stands
// there. Others stay to be seen: who writes a name as a control word hides it
// from nobody who reads the file.
var controlWords = func() map[string]rune {
	words := map[string]rune{"par": '\n', "line": '\n', "row": '\n', "page": '\n', "sect": '\n', "tab": '\t', "cell": '\t'}
	for _, word := range bytes.Fields([]byte(`rtf ansi ansicpg mac pc deff deflang deflangfe adeflang lang langfe langnp noproof uc fonttbl colortbl
		stylesheet info f fs af afs cf cb highlight red green blue fnil froman fswiss fmodern fcharset fprq b i ul ulnone strike sub super nosupersub
		plain pard sectd ql qr qc qj li ri fi sa sb sl slmult widctlpar nowidctlpar intbl trowd trgaph trleft cellx ltrpar ltrch rtlch loch hich dbch
		viewkind paperw paperh margl margr margt margb kerning itap s cs`)) {
		words[string(word)] = 0
	}
	return words
}()

const (
	longestControl = len("nowidctlpar")
	longestNumber  = 5 // of a control word: a telephone number is none
)

// control reads a control word of RTF (specification 1.9.1): \'e1 and \u225? are
// letters, \par, \line, \tab and cells are blanks, others nothing.
func control(text cut.Text) mark {
	switch c := text.At(1); {
	case c == '\'':
		if len(text) >= 4 {
			return numbered(text[2:4], 16, 4)
		}
		return mark{}
	case c == '~':
		return mark{n: 2, as: ' '}
	case c == '-':
		return mark{n: 2} // a soft hyphen
	case c == '\n', c == '_', c == '{', c == '}', c == '\\':
		return mark{n: 2, as: rune(c)}
	}
	word := 1
	for word <= longestControl && text.Letter(word) {
		word++
	}
	end := word
	if text.At(end) == '-' {
		end++
	}
	digits := end
	for end-digits <= longestNumber && text.Digit(end) {
		end++
	}
	if end-digits > longestNumber {
		return mark{}
	}
	if string(text[1:word]) == "u" {
		return numbered(text[word:end], 10, end+fallback(text[end:]))
	}
	as, known := controlWords[string(text[1:word])]
	if !known {
		return mark{}
	}
	if text.At(end) == ' ' {
		end++
	}
	return mark{n: end, as: as}
}

// fallback returns how many bytes behind \u225 stand for readers that know no
// Unicode: a blank that ends the number, and \'e1 or a question mark. Any other sign stays: it might be a letter of a name.
func fallback(text cut.Text) int {
	n := 0
	if text.Blank(0) {
		n++
	}
	switch {
	case len(text) >= n+4 && text[n] == '\\' && text[n+1] == '\'':
		return n + 4
	case text.At(n) == '?':
		return n + 1
	}
	return n
}

// stars reads ** and __ at the edge of a word: a fat or slanted one.
func stars(text cut.Text, i int) mark {
	sign := text[i]
	if text.At(i+1) != sign || text.At(i-1) == sign || text.At(i+2) == sign {
		return mark{}
	}
	before, behind := wordBefore(text, i), text.Digit(i+2) || cut.InWord(text.At(i+2))
	if !before && !behind {
		return mark{}
	}
	return mark{n: 2, closes: before}
}

// quote is a quotation mark of JSON: a blank before a value or a key, nothing
// behind one.
func quote(text cut.Text, i int) mark {
	if text.At(i-1) == ':' || text.At(i-1) == ',' {
		return mark{n: 1, as: ' '}
	}
	return mark{n: 1, closes: i > 0 && text[i-1] != ' '}
}

// wordBefore tells whether a letter or digit ends at i; all beyond ASCII counts as one.
func wordBefore(text cut.Text, i int) bool { return cut.InWord(text.At(i-1)) || text.Digit(i-1) }

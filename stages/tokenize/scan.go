package tokenize

import (
	"unicode/utf8"

	char "github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/pipeline"
)

// scanner cuts one note. It lives on the stack.
type scanner struct {
	text  char.Text
	dst   []pipeline.Token
	first int                 // index in dst of the note's first token
	flags pipeline.TokenFlags // what the next token starts
	stop  stop
	found found
}

// found is a set of flags: signs in a text that notes do not have.
type found uint8

const (
	badByte found = 1 << iota // not valid UTF-8
	nulByte
	controlByte // another control character
)

// stop says how the text before the next token ended.
type stop uint8

const (
	runsOn   stop = iota
	maybe         // full stop: the next token decides
	ended         // ! or ?
	ellipsis      // two full stops or more: ends before a capital only
)

const lineAndSentence = pipeline.LineStart | pipeline.SentenceStart

// scan cuts the text in one pass. Every branch consumes at least one byte.
func (s *scanner) scan() {
	s.flags = lineAndSentence
	text := s.text
	for i := 0; i < len(text); {
		c, n := classAt(text, i)
		switch c {
		case space:
			i += n
		case control:
			s.found |= controlByte
			if text[i] == 0 {
				s.found |= nulByte
			}
			i++
		case newline:
			s.flags = lineAndSentence
			i += n
		case lower, upper:
			i = s.word(i)
		case digit:
			i = s.number(i, n)
		case bad:
			s.found |= badByte
			s.emit(i, i+1, c, 0)
			i++
		default:
			i = s.symbol(i, n)
		}
	}
}

// emit appends the token text[start:end], whose first character has class c
// and which made says of what it is made: Letters, Figures or 0.
func (s *scanner) emit(start, end int, c class, made pipeline.TokenFlags) {
	flags := s.flags | made
	glued := len(s.dst) > s.first && int(s.dst[len(s.dst)-1].End) == start
	if glued {
		flags |= pipeline.Glued
	}
	if s.stop != runsOn && flags&pipeline.SentenceStart == 0 && s.startsSentence(c, glued) {
		flags |= pipeline.SentenceStart
	}
	s.dst = append(s.dst, pipeline.Token{Start: int32(start), End: int32(end), Flags: flags})
	s.flags, s.stop = 0, runsOn
}

// startsSentence decides for a token behind a stop. A small letter starts a
// sentence only after white space (notes in small letters throughout have
// sentences, too), never after dots that trail off.
func (s *scanner) startsSentence(c class, glued bool) bool {
	switch s.stop {
	case ended:
		return true
	case ellipsis:
		return c == upper
	}
	return c == upper || !glued
}

// word cuts a run of letters at i: capitals, then small letters. A small
// letter followed by a capital ends it (WhalenChief), and so does a digit
// (a26); of three capitals or more before two small letters or more the last
// one begins a token of its own (USMeaningful).
func (s *scanner) word(i int) int {
	start, at := i, i
	capitals, last := 0, i // last is where the last capital stands
	var c class
	n := 0
	first := lower
	for ; at < len(s.text); at += n {
		if c, n = classAt(s.text, at); c == upper {
			first = upper
			capitals, last = capitals+1, at
		} else if c != mark && !middleDot(s.text, at) {
			break
		}
	}
	small := 0
	for ; at < len(s.text); at += n {
		if b := s.text[at]; b >= 'a' && b <= 'z' {
			n = 1
			small++
		} else if c, n = classAt(s.text, at); c == lower {
			small++
		} else if c != mark && !middleDot(s.text, at) {
			break
		}
	}
	made := pipeline.TokenFlags(0)
	if capitals+small == at-start { // else one of them has two bytes, or a mark
		made = pipeline.Letters
	}
	if capitals >= 3 && small >= 2 {
		s.emit(start, last, upper, made)
		start = last
	}
	if s.text.At(at) > ' ' { // else no more of the word can follow
		if end := s.tail(at, at-start); end > at {
			at, made = end, 0
		}
	}
	s.emit(start, at, first, made)
	return at
}

// tail returns the end of a word whose letters end at i: an ordinal sign
// belongs to it (Nº, Dª), and the apostrophe of a Catalan article, pronoun
// or preposition (l'Anna, d'en), which is one letter of width bytes.
func (s *scanner) tail(i, width int) int {
	if c, n := classAt(s.text, i); c == ordinal {
		return s.run(i+n, mark)
	}
	n := s.text.Apostrophe(i)
	if n == 0 || width != 1 || i+n >= len(s.text) || !elides[s.text[i-1]] {
		return i
	}
	if c, _ := classAt(s.text, i+n); !c.letter() {
		return i
	}
	return i + n
}

var elides = char.SetOf("ldsmtnLDSMTN")

// middleDot tells whether the dot of l·l stands at i. An l before and after
// it makes it a letter.
func middleDot(text char.Text, i int) bool {
	return text.At(i) == 0xC2 && text.At(i+1) == 0xB7 && text.At(i-1)|0x20 == 'l' && text.At(i+2)|0x20 == 'l'
}

// number cuts a run of digits at i, whose first digit has n bytes. One
// decimal sign belongs to it (0,5 and 1.16), but not the signs of 12.345.678
// or 1.2.2014, which are dates and identifiers that people write in many
// ways. One letter belongs to it (2h, 12345678Z), two do not (2098SOS).
func (s *scanner) number(i, n int) int {
	at := s.run(i+n, digit)
	made := pipeline.TokenFlags(0)
	if s.text.Digits(i) == at {
		made = pipeline.Figures
	}
	whole := at
	if end := s.decimals(i, at); end > at {
		at = end
	}
	if at < len(s.text) {
		c, n := classAt(s.text, at)
		switch {
		case c == ordinal:
			at = s.run(at+n, mark)
		case c.letter():
			if end := s.run(at+n, mark); end >= len(s.text) || !s.letterAt(end) {
				at = end
			}
		}
	}
	if at > whole {
		made = 0
	}
	s.emit(i, at, digit, made)
	return at
}

// run returns the end of the characters of a class, and the marks on them, from i.
func (s *scanner) run(i int, of class) int {
	for i < len(s.text) {
		c, n := classAt(s.text, i)
		if c != of && c != mark {
			break
		}
		i += n
	}
	return i
}

func (s *scanner) letterAt(i int) bool {
	c, _ := classAt(s.text, i)
	return c.letter()
}

// longestPart is the longest part before or after a decimal sign: longer
// ones are identifiers glued to something.
const longestPart = 4

// decimals returns the end of the decimals that follow the digits
// text[start:end], or end if there are none.
func (s *scanner) decimals(start, end int) int {
	if !s.signAt(end) || end-start > longestPart || s.signAt(start-1) && s.text.Digit(start-2) {
		return end
	}
	after := s.text.Digits(end + 1)
	if after-end-1 > longestPart || s.signAt(after) || s.text.At(after) == '/' || s.text.At(after) == '-' {
		return end
	}
	return after
}

// signAt tells whether a decimal sign stands at i with a digit behind it.
func (s *scanner) signAt(i int) bool {
	return (s.text.At(i) == '.' || s.text.At(i) == ',') && s.text.Digit(i+1)
}

// symbol cuts the one character of n bytes at i, and notes whether it may
// end a sentence.
func (s *scanner) symbol(i, n int) int {
	end := i + n
	if end < len(s.text) && s.text[end] >= 0x80 {
		end = s.run(end, mark)
	}
	next := s.stopAfter(i)
	s.emit(i, end, symbol, 0)
	s.stop = next
	return end
}

// stopAfter tells what the symbol at i does to the sentence, before it is
// emitted.
func (s *scanner) stopAfter(i int) stop {
	switch r, _ := utf8.DecodeRune(s.text[i:]); r {
	case '.':
		return s.fullStop(i)
	case '!', '?':
		return ended
	case ')', ']', '"', '\'', '}', '»', '’', '”':
		return s.stop // they close the sentence that has ended
	case '…':
		return ellipsis
	}
	return runsOn
}

func (s *scanner) fullStop(i int) stop {
	if len(s.dst) == s.first {
		return runsOn
	}
	before := s.dst[len(s.dst)-1]
	if s.text[before.Start] == '.' && int(before.End) == i {
		return ellipsis
	}
	if abbreviates(s.text[before.Start:before.End]) {
		return runsOn
	}
	return maybe
}

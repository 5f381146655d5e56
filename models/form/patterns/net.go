package patterns

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/cut"
)

// netFinder finds addresses of the net.
type netFinder struct{ *scan }

// mail finds the address around the '@' at i. Blanks beside the '@' are
// allowed before a known ending.
func (s netFinder) mail(i int) {
	end, known := s.host(i+1, true)
	start := s.localPart(i)
	score := float32(0.95)
	if broken := s.brokenHost(i+1, 0); end == 0 && broken > 0 && start < i {
		s.add(start, broken, email, 0.8, false)
		return
	}
	if start == i || end == 0 {
		left, right := s.blankBefore(i), s.Space(i+1)
		end, known = s.host(i+1+right, true)
		start = s.localPart(i - left)
		if !known || start == i-left {
			return
		}
		score = 0.7
	}
	if !known {
		score = 0.75
	}
	s.add(start, s.brokenHost(i+1, end), email, score, false)
}

// brokenHost reads a domain that was taken apart, at i: gmail .com, gmail,com,
// a line end behind the '@'. It returns end if that is
// further, and 0 if neither is there.
func (s netFinder) brokenHost(i, end int) int {
	at := s.gap(i)
	at += s.Dash(at)
	for labels := 0; labels < 5; labels++ {
		j := at
		for j-at < 64 && (s.Alnum(j) || s.At(j) == '-') {
			j++
		}
		if !s.Alnum(at) {
			break
		}
		if labels > 0 && s.ending(at, j) && !s.LetterAt(j) {
			end = j
		}
		dot := s.point(j)
		if dot == j {
			break
		}
		at = dot
	}
	return end
}

// blankBefore returns the width of the blank or line end before i.
func (s netFinder) blankBefore(i int) int {
	if s.At(i-1) == '\n' {
		return 1
	}
	return s.SpaceBefore(i)
}

// gap skips blanks and line ends, at most three.
func (s netFinder) gap(i int) int {
	for range 3 {
		switch b := s.At(i); {
		case b == '\n':
			i++
		default:
			i += s.Space(i)
		}
	}
	return i
}

// point returns the place behind a dot or comma at i, with blanks before it or (a dot)
// behind it; i if neither is there.
func (s netFinder) point(i int) int {
	p := s.gap(i)
	switch b := s.At(p); {
	case b == '.':
		return s.gap(p + 1)
	case b == ',' && s.Lower(p+1):
		return p + 1
	}
	return i
}

var (
	outsideURL = cut.SetOf("<>\"`{}|\\^\x7F")
	inMail     = cut.SetOf("._-+%'&") // the signs of the part before the @
)

// localPart returns where the part before '@' starts, at most 64 bytes back.
func (s netFinder) localPart(i int) int {
	start := i
	for start > 0 && i-start < 64 {
		switch b := s.Text[start-1]; {
		case cut.IsAlnum(b), inMail[b]:
			start--
			continue
		case b >= utf8.RuneSelf && s.LetterBefore(start):
			_, size := utf8.DecodeLastRune(s.Text[:start])
			start -= size
			continue
		}
		break
	}
	start = s.behindMailLabel(start, i)
	for start < i && !s.Alnum(start) && s.Text[start] < utf8.RuneSelf && s.Text[start] != '_' {
		start++
	}
	if i > start && s.Text[i-1] == '.' {
		return i
	}
	return start
}

// behindMailLabel skips a label that is glued to the address: E-mail.ana@...
func (s netFinder) behindMailLabel(start, i int) int {
	for _, label := range [...]string{"e-mail", "email", "mail", "correo"} {
		p := start + len(label)
		if p+1 < i && equalFold(s.Text[start:p], label) && (s.Text[p] == '.' || s.Text[p] == '-') {
			return p + 1
		}
	}
	return start
}

// endings are the top-level domains that are looked for without a scheme.
var endings = strings.Fields(`es cat com org net edu eu info gov gob fr pt it de uk mx ar cl co uy pe ve ec cu br us io gal eus biz me
	tv health online app ca ch be`)

// host reads the labels of a domain from i and returns where the last label of
// at least two letters ends, 0 if there is none behind a dot. known tells
// whether it is in endings. Words glued to the end (hotmail.com.Paciente,
// gmail.comTel) are stop off.
func (s netFinder) host(i int, glued bool) (end int, known bool) {
	for at := i; at-i < 253; {
		j := at
		for j < len(s.Text) && j-at < 64 && (s.Alnum(j) || s.Text[j] == '-') {
			j++
		}
		if !s.Alnum(at) || known && s.Upper(at) {
			break
		}
		stop := j
		if at > i && glued {
			stop = s.caseChange(at, j)
		}
		if known && !s.ending(at, stop) { // hotmail.es.vive
			break
		}
		if at > i && s.topLevel(at, stop) {
			end, known = stop, s.ending(at, stop)
		}
		if stop < j || s.At(j) != '.' {
			break
		}
		at = j + 1
	}
	for end > 0 && !s.Alnum(end-1) {
		end--
	}
	return end, known
}

// topLevel tells whether text[i:j] may be a top-level domain: two letters or
// more, and hyphens and digits only behind a first letter (xn--p1ai).
func (s netFinder) topLevel(i, j int) bool {
	return s.Letter(i) && s.Letter(i+1)
}

// caseChange returns where a known ending in small letters meets a capital in
// the label text[i:j], else j.
func (s netFinder) caseChange(i, j int) int {
	for k := i + 2; k < min(j, i+8); k++ {
		if s.Upper(k) && s.Lower(k-1) && s.ending(i, k) {
			return k
		}
	}
	return j
}

func (s netFinder) ending(i, j int) bool {
	return j-i <= 8 && slices.ContainsFunc(endings, func(e string) bool { return equalFold(s.Text[i:j], e) })
}

// domain looks at the dot at i: "www." and bare hosts such as
// pacientes.hospital.cat.
func (s netFinder) domain(i int) {
	if i < s.urlEnd || !s.Alnum(i+1) || !s.Alnum(i-1) {
		return
	}
	start := i
	for start > 0 && i-start < 63 && (s.Alnum(start-1) || s.Text[start-1] == '-') {
		start--
	}
	if equalFold(s.Text[start:i], "www") {
		if end, _ := s.host(i+1, true); end > 0 {
			s.add(start, s.path(end), url, 0.95, false)
		}
		return
	}
	s.bareHost(start, i)
}

// bareHost takes a host without scheme only if it is in small letters, stands
// alone and ends well: glued sentences (dolor.es) look like hosts.
func (s netFinder) bareHost(start, i int) {
	if b := s.At(start - 1); b == '.' || b == '@' || s.LetterBefore(start) {
		return
	}
	end, known := s.host(start, false)
	if !known {
		return
	}
	labels := 1
	for _, b := range s.Text[start:end] {
		if cut.IsUpper(b) {
			return
		}
		if b == '.' {
			labels++
		}
	}
	if s.AlnumAt(end) || s.At(end) == '.' && s.AlnumAt(end+1) {
		return
	}
	full := s.path(end)
	short := end - s.lastDot(end)
	switch {
	case i-start < 2:
	case full > end || labels > 2:
		s.add(start, full, url, 0.7, false)
	case short > 3: // not .es, .de: words
		s.add(start, full, url, 0.6, false)
	}
}

func (s netFinder) lastDot(i int) int {
	for s.At(i-1) != '.' {
		i--
	}
	return i - 1
}

// path goes over port, path, query behind a host that ends at i, and leaves
// what closes a sentence or a bracket.
func (s netFinder) path(i int) int {
	if b := s.At(i); b != '/' && b != '?' && b != '#' && (b != ':' || !s.Digit(i+1)) {
		return i
	}
	return s.rest(i)
}

// rest goes over everything that can stand in a URL from i on. Nothing within
// it is looked at for another one, which keeps the time linear.
func (s netFinder) rest(i int) int {
	end, open := i, 0
	defer func() { s.urlEnd = end }()
	for end < len(s.Text) {
		switch b := s.Text[end]; {
		case b <= ' ' || outsideURL[b]:
			return s.trim(i, end)
		case b == ',' && s.another(end+1):
			return s.trim(i, end)
		case b == '(':
			open++
		case b == ')':
			open--
			if open < 0 {
				return s.trim(i, end)
			}
		case b >= utf8.RuneSelf:
			_, size := utf8.DecodeRune(s.Text[end:])
			if !s.LetterAt(end) {
				return s.trim(i, end)
			}
			end += size
			continue
		}
		end++
	}
	return s.trim(i, end)
}

// another tells whether a second URL starts at i.
func (s netFinder) another(i int) bool {
	rest := s.Text[i:]
	return len(rest) > 4 && equalFold(rest[:4], "http")
}

func (s netFinder) trim(i, end int) int {
	return i + len(bytes.TrimRight(s.Text[i:end], ".,;:!?'][*("))
}

// address looks at the colon at i: scheme://.
func (s netFinder) address(i int) {
	if i < s.urlEnd {
		return
	}
	if s.At(i+1) == '/' && s.At(i+2) == '/' {
		start := i
		for i-start < 10 && s.Letter(start-1) {
			start--
		}
		if end := s.rest(i + 3); i-start >= 3 && end > i+4 && s.Alnum(i+3) {
			start = s.scheme(start, i)
			s.add(start, end, url, 0.98, false)
		}
		return
	}
}

// scheme cuts a word glued to a known scheme: "Webhttps".
func (s netFinder) scheme(start, i int) int {
	for _, name := range [...]string{"https", "http", "sftp", "ftp"} {
		if p := i - len(name); p >= start && equalFold(s.Text[p:i], name) {
			return p
		}
	}
	return start
}

func equalFold(b []byte, lower string) bool { return strings.EqualFold(string(b), lower) }

// ip finds four numbers up to 255 with dots. Four numbers of one digit are
// more often a section or a version.
func (s netFinder) ip(n *num) {
	end := n.end
	for end-n.start < len("255.255.255.255") && (s.Digit(end) || s.At(end) == '.' && s.Digit(end+1)) {
		end++
	}
	if n.inner || n.glued || bytes.Count(s.Text[n.start:end], []byte(".")) != 3 || s.LetterAt(end) || s.At(end) == ',' && s.Digit(end+1) {
		return
	}
	_, err := netip.ParseAddr(string(s.Text[n.start:end]))
	switch {
	case err != nil:
	case s.labelOf(n)&forIP != 0:
		s.add(n.start, end, ipAddress, 0.98, false)
	case end-n.start > len("1.1.1.1"):
		s.add(n.start, end, ipAddress, 0.85, false)
	}
}

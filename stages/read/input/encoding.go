package input

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Encoding is the character encoding of a text file. Notes are converted to UTF-8.
type Encoding uint8

const (
	DetectEncoding Encoding = iota // look at the whole file: see detect
	UTF8
	Latin1
	Windows1252
	UTF16LE
	UTF16BE
	numEncodings = iota
)

var encodingNames = [numEncodings]string{"auto", "utf-8", "latin-1", "windows-1252", "utf-16le", "utf-16be"}

// String returns the name that options and reports use.
func (e Encoding) String() string { return encodingNames[e] }

// Encodings returns the names that ParseEncoding accepts, without their aliases.
func Encodings() []string { return encodingNames[:] }

// encodingAliases are other names of the same: what spreadsheets, Python and
// iconv call them.
var encodingAliases = map[string]Encoding{
	"": DetectEncoding, "utf8": UTF8, "latin1": Latin1, "iso-8859-1": Latin1, "iso8859-1": Latin1,
	"cp1252": Windows1252, "ansi": Windows1252, "utf-16": UTF16LE, "utf16": UTF16LE,
}

// ParseEncoding returns the encoding with that name. UTF-16 without a byte order is little-endian unless the file's
// byte order mark says otherwise.
func ParseEncoding(name string) (Encoding, error) {
	name = strings.ToLower(name)
	for e, known := range encodingNames {
		if name == known {
			return Encoding(e), nil
		}
	}
	if e, ok := encodingAliases[name]; ok {
		return e, nil
	}
	return 0, fmt.Errorf("unknown encoding; known: %s", strings.Join(encodingNames[:], ", "))
}

// OneByte reports whether each character is one byte, so that byte offsets of the file are character offsets.
func (e Encoding) OneByte() bool { return e == Latin1 || e == Windows1252 }

// Wide reports whether the encoding is UTF-16.
func (e Encoding) Wide() bool { return e == UTF16LE || e == UTF16BE }

// Decoder returns a reader that converts r to UTF-8 and removes the byte order mark.
func (e Encoding) Decoder(r io.Reader) io.Reader {
	var from encoding.Encoding
	switch e {
	case Latin1:
		from = charmap.ISO8859_1
	case Windows1252:
		from = charmap.Windows1252
	case UTF16LE:
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case UTF16BE:
		from = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	default:
		return r
	}
	return from.NewDecoder().Reader(r)
}

// Detect reads r to its end and determines the encoding:
//
//   - a byte order mark decides;
//   - zero bytes in every other place of the beginning are UTF-16;
//   - what is valid UTF-8 throughout is UTF-8;
//   - where bytes that no UTF-8 holds outnumber the characters of more than
//     one byte twenty to one, and nineteen in twenty of them are what Western
//     European text uses, the file is Latin-1, or Windows-1252 if it uses what
//     Latin-1 leaves to control characters;
//   - everything else is UTF-8 with some damaged notes, which go to quarantine.
//
// It reads the whole file, because the first accent may be in the last note.
func Detect(r io.Reader) (Encoding, error) {
	var c characters
	size := 1 << 16
	if b, ok := r.(*bufio.Reader); ok {
		size = b.Size()
	}
	buf := make([]byte, size)
	kept, first := 0, true
	for {
		n, err := fill(r, buf[kept:])
		piece, last := buf[:kept+n], err == io.EOF
		if err != nil && !last {
			return UTF8, err
		}
		if first {
			first = false
			if e := marked(piece); e != DetectEncoding {
				return e, nil
			}
		}
		kept = copy(buf, piece[c.count(piece, last):])
		if last {
			return c.verdict(), nil
		}
	}
}

// fill reads until buf is full or r has no more: io.EOF. Unlike io.ReadFull it
// leaves r's own io.ErrUnexpectedEOF what it is, a file that was cut.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var k int
		k, err = r.Read(buf[n:])
		n += k
	}
	return n, err
}

// marked determines the encoding by a byte order mark or by the zero bytes at the beginning of a file; DetectEncoding
// if these do not tell.
func marked(head []byte) Encoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return UTF8
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return UTF16LE
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return UTF16BE
	}
	head = head[:min(len(head), 4096)]
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	// Spanish in UTF-16 has a zero in nearly every second place.
	enough := len(head) / 3
	switch {
	case enough > 0 && zeros[0] == 0 && zeros[1] > enough:
		return UTF16LE
	case enough > 0 && zeros[1] == 0 && zeros[0] > enough:
		return UTF16BE
	}
	return DetectEncoding
}

// characters holds the counts by which UTF-8, Windows-1252 and Latin-1 are told apart.
type characters struct {
	multi    int64 // sound UTF-8 characters of more than one byte
	broken   int64 // bytes that are part of none
	western  int64 // of these, those that Windows-1252 text in our languages uses
	controls int64 // of these, those from 0x80 to 0x9F
}

// western are the bytes above ASCII that text in Spanish, Catalan, Galician,
// Portuguese, French, German, Italian or English has in Windows-1252.
var western = func() (set [256]bool) {
	const used = "áéíóúàèìòùâêîôûäëïöüãõñçýæœøåßÁÉÍÓÚÀÈÌÒÙÂÊÎÔÛÄËÏÖÜÃÕÑÇÆŒØÅ" + "ªº·¿¡«»“”‘’„…–—•€£°±²³µ×÷¼½¾§´¨©®\u00a0\u00ad"
	for _, r := range used {
		if b, ok := charmap.Windows1252.EncodeRune(r); ok {
			set[b] = true
		}
	}
	return set
}()

// count counts the characters of a piece and returns how many bytes of it are
// done: a character that its end cuts waits for the next piece, unless it is
// the last.
func (c *characters) count(piece []byte, last bool) int {
	at := 0
	for at < len(piece) {
		if at+8 <= len(piece) && binary.LittleEndian.Uint64(piece[at:])&0x8080808080808080 == 0 { // eight of ASCII
			at += 8
			continue
		}
		if piece[at] < utf8.RuneSelf {
			at++
			continue
		}
		if !last && !utf8.FullRune(piece[at:]) {
			return at
		}
		r, size := utf8.DecodeRune(piece[at:])
		if r == utf8.RuneError && size == 1 {
			c.broken++
			if western[piece[at]] {
				c.western++
				if piece[at] < 0xA0 {
					c.controls++
				}
			}
		} else {
			c.multi++
		}
		at += size
	}
	return at
}

func (c *characters) verdict() Encoding {
	switch {
	case c.broken == 0, c.broken < 20*c.multi, c.western*20 < c.broken*19:
		return UTF8
	case c.controls > 0:
		return Windows1252
	}
	return Latin1
}

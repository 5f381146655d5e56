package input

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// FuzzDetect: what a file is written in does not depend on how it comes, what is UTF-8 without zeros is told to be, and what
// it is told to be can be read as UTF-8.
func FuzzDetect(f *testing.F) {
	for _, s := range []string{"", "a\xf1o", "año", "\xff\xfea\x00b\x00", "\xfe\xff\x00a", "\x00a\x00b\x00c", "a\x00b\x00c\x00", "\x93hola\x94 se\xf1ora", "\xef\xbb\xbfa\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Detect(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Detect(iotest.OneByteReader(bytes.NewReader(data))); err != nil || again != e {
			t.Fatalf("%v, byte by byte %v, %v", e, again, err)
		}
		if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 && e != UTF8 {
			t.Fatalf("UTF-8 is told to be %v", e)
		}
		if e == UTF8 {
			return
		}
		if text, err := io.ReadAll(e.Decoder(bytes.NewReader(data))); err != nil || !utf8.Valid(text) {
			t.Fatalf("%v does not become UTF-8: %v", e, err)
		}
	})
}

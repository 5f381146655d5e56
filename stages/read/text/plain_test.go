package text

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
)

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPlain(t *testing.T) {
	const text = "\ufeffuna línea\r\n\n  \ndos\nbad \xff\nlast"
	for name, data := range map[string]string{"plain.txt": text, "packed.txt.gz": packed(t, text)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := NewPlain(path, Options{Notes: 3})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		var b pipeline.Batch
		for {
			b.Reset()
			if err := r.Next(&b); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			for i := range b.Len() {
				got = append(got, string(b.ID.At(i))+":"+string(b.Text.At(i))+":"+b.Reason[i].String())
			}
		}
		want := "1:una línea:" + pipeline.Sound.String() + " 4:dos:" + pipeline.Sound.String() +
			" 5:bad \xff:" + pipeline.BadEncoding.String() + " 6:last:" + pipeline.Sound.String()
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: got %q, want %q", name, s, want)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A packed file that was cut is an error that quotes nothing of it.
func TestCutGzip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txt.gz")
	data := packed(t, strings.Repeat("Rosa ", 1000))
	if err := os.WriteFile(path, []byte(data[:len(data)-9]), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, e := range []input.Encoding{input.DetectEncoding, input.UTF8} {
		r, err := NewPlain(path, Options{Encoding: e})
		if err == nil {
			var b pipeline.Batch
			err = errors.Join(r.Next(&b), r.Close())
		}
		if err == nil || !strings.Contains(err.Error(), "to its end") || strings.Contains(err.Error(), "Rosa") {
			t.Errorf("%v: got %v", e, err)
		}
	}
	if err := os.WriteFile(path, []byte("\x1f\x8bx"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlain(path, Options{}); err == nil {
		t.Error("no error for a file that is no gzip file")
	}
}

package pipeline

import (
	"errors"
	"strings"
	"testing"
)

// TestNames: what has a name is read back from it, and no other name is one.
func TestNames(t *testing.T) {
	for s := range SpanSources() {
		if got, ok := ParseSpanSource(SpanSource(s).String()); !ok || got != SpanSource(s) {
			t.Errorf("source %v is read as %v", SpanSource(s), got)
		}
	}
	for _, code := range []string{"", "es", "ca", "en"} {
		if l, ok := ParseLanguage(code); !ok || l.String() != code {
			t.Errorf("language %q is read as %v", code, l)
		}
	}
	for c := range numChoices {
		if got, ok := ParseChoice(c.String()); !ok || got != c {
			t.Errorf("choice %v is read as %v", c, got)
		}
	}
	for _, s := range []Scheme{BIO, BIOESU} {
		if got, err := ParseScheme(s.String()); err != nil || got != s {
			t.Errorf("scheme %v is read as %v, %v", s, got, err)
		}
	}
	_, source := ParseSpanSource("nobody")
	_, language := ParseLanguage("??")
	_, choice := ParseChoice("x")
	if _, err := ParseScheme("IOB"); err == nil || source || language || choice {
		t.Error("names that nothing has")
	}
	for w, want := range map[Words]bool{{}: false, {Seen: 3, Unknown: 3}: false, {Seen: 4, Unknown: 2}: false, {Seen: 4, Unknown: 3}: true, {Seen: 10, Unknown: 5}: false, {Seen: 10, Unknown: 6}: true} {
		if w.Foreign() != want {
			t.Errorf("%+v is foreign: %t", w, !want)
		}
	}
	if (LineStart | Glued | Letters | Figures).Place() != LineStart|Glued {
		t.Error("what files hold of a token's place")
	}
	if m := (&Match{Score: HintScore}); !m.Hint() || (&Match{Score: 0.21}).Hint() {
		t.Error("hints")
	}
}

func TestParseTagSet(t *testing.T) {
	for text, want := range map[string]string{
		"BIO": "", "BIO PERSON DATE": "", "BIOESU PERSON": "", "IOB PERSON": "unknown tag scheme", "": "unknown tag scheme", "BIO NOBODY": "category 1 is unknown", "BIO PERSON PERSON": "category 2 comes twice",
	} {
		s, err := ParseTagSet(text)
		if want == "" && (err != nil || s.String() != text) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", text, err)
		}
		if strings.Contains(want, "is unknown") && !errors.Is(err, ErrCategory) {
			t.Errorf("%q: %v is not of a category", text, err)
		}
	}
}

func FuzzParseTagSet(f *testing.F) {
	f.Add("BIO PERSON  DATE")
	f.Add("BIOESU")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseTagSet(text)
		if err != nil {
			return
		}
		again, err := ParseTagSet(s.String())
		if err != nil || again.String() != s.String() || s.Len() > 255 {
			t.Fatalf("%d tags, %v", s.Len(), err)
		}
	})
}

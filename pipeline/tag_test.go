package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func testSet(scheme Scheme) *TagSet {
	set, err := Labels("names")
	if err != nil {
		panic(err)
	}
	return &TagSet{Scheme: scheme, Categories: set.Categories}
}

// tagNames writes tags as CoNLL files have them.
func tagNames(s *TagSet, tags []Tag) string {
	names := make([]string, len(tags))
	for i, t := range tags {
		names[i] = s.Name(t)
	}
	return strings.Join(names, " ")
}

// spaced makes tokens of the words of a text; a slash begins a line.
func spaced(text string) (tokens []Token) {
	at := 0
	for word := range strings.SplitSeq(text, " ") {
		token := Token{Start: int32(at), End: int32(at + len(word))}
		if at == 0 || strings.HasPrefix(word, "/") {
			token.Flags = LineStart
		}
		tokens = append(tokens, token)
		at += len(word) + 1
	}
	return tokens
}

func TestEncode(t *testing.T) {
	for _, tt := range []struct{ marked, bio, bioesu string }{
		{"a b", "O O", "O O"},
		{"[PER:a] b", "B-PER O", "S-PER O"},
		{"[PER:a b] c", "B-PER I-PER O", "B-PER E-PER O"},
		{"[PER:a b c]", "B-PER I-PER I-PER", "B-PER I-PER E-PER"},
		{"[PER:a] [PER:b]", "B-PER B-PER", "S-PER S-PER"},
		{"[PER:a b] [LOC:c d]", "B-PER I-PER B-LOC I-LOC", "B-PER E-PER B-LOC E-LOC"},
		{"a[PER:b] c", "B-PER O", "S-PER O"},                     // part of a token
		{"[PER:a][LOC:b] c", "B-PER O", "S-PER O"},               // the token is taken
		{"[PER:a][LOC:b c] d", "B-PER B-LOC O", "S-PER S-LOC O"}, // its second token is not
		{"[PER:a b][LOC:c d] e", "B-PER I-PER B-LOC O", "B-PER E-PER S-LOC O"},
		{"[DATE:a] [LOC:b]", "O B-LOC", "O S-LOC"}, // not in the set
		{"a[PER: ]b", "O O", "O O"},                // between tokens
	} {
		text, spans, err := ParseMarked(tt.marked)
		if err != nil {
			t.Fatal(err)
		}
		tokens := spaced(string(text))
		for scheme, want := range map[Scheme]string{BIO: tt.bio, BIOESU: tt.bioesu} {
			set := testSet(scheme)
			tags := make([]Tag, len(tokens))
			for i := range tags {
				tags[i] = 1 // what was there before does not matter
			}
			set.Encode(tags, tokens, spans)
			if got := tagNames(set, tags); got != want {
				t.Errorf("%s, %v: %s, want %s", tt.marked, scheme, got, want)
			}
		}
	}
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		scheme     Scheme
		text, tags string
		want       string
	}{
		{BIO, "a b c", "O O O", "a b c"},
		{BIO, "a b c", "B-PER I-PER O", "[PER:a b] c"},
		{BIO, "a b c", "B-PER B-PER O", "[PER:a] [PER:b] c"},
		{BIO, "a b c", "I-PER I-PER O", "[PER:a b] c"},
		{BIO, "a b c", "B-PER I-LOC I-LOC", "[PER:a] [LOC:b c]"},
		{BIO, "a b c", "B-PER O I-PER", "[PER:a] b [PER:c]"},
		{BIO, "a /b c", "B-PER I-PER I-PER", "[PER:a] [PER:/b c]"},
		{BIOESU, "a b c", "B-PER I-PER E-PER", "[PER:a b c]"},
		{BIOESU, "a b c", "S-PER S-PER O", "[PER:a] [PER:b] c"},
		{BIOESU, "a b c", "E-PER E-PER O", "[PER:a] [PER:b] c"},
		{BIOESU, "a b c", "B-PER B-PER E-PER", "[PER:a] [PER:b c]"},
		{BIOESU, "a b c", "S-PER I-PER E-PER", "[PER:a] [PER:b c]"},
		{BIOESU, "a b c", "B-PER E-LOC O", "[PER:a] [LOC:b] c"},
		{BIOESU, "a /b c", "B-PER E-PER O", "[PER:a] [PER:/b] c"},
	} {
		set := testSet(tt.scheme)
		var tags []Tag
		for name := range strings.FieldsSeq(tt.tags) {
			tags = append(tags, parseTag(set, name))
		}
		spans := set.Decode(nil, spaced(tt.text), tags)
		if got := Marked([]byte(tt.text), spans); got != tt.want {
			t.Errorf("%s over %q: %s, want %s", tt.tags, tt.text, got, tt.want)
		}
	}
}

func parseTag(s *TagSet, name string) Tag {
	for t := range s.Len() {
		if s.Name(Tag(t)) == name {
			return Tag(t)
		}
	}
	panic("no tag " + name)
}

// drawTokens draws tokens and disjoint spans that start and end with tokens
// and do not cross lines.
func drawTokens(t *rapid.T) (tokens []Token, spans []Span) {
	at := int32(0)
	open := 0
	for i := range rapid.IntRange(0, 20).Draw(t, "tokens") {
		at += int32(rapid.IntRange(0, 2).Draw(t, "gap"))
		token := Token{Start: at, End: at + int32(rapid.IntRange(1, 4).Draw(t, "length"))}
		at = token.End
		if i == 0 || rapid.IntRange(0, 4).Draw(t, "line") == 0 {
			token.Flags = LineStart
			open = 0
		}
		tokens = append(tokens, token)
		switch {
		case open > 0:
			open--
			spans[len(spans)-1].End = token.End
		case rapid.Bool().Draw(t, "span"):
			categories := testSet(BIO).Categories
			spans = append(spans, Span{Start: token.Start, End: token.End, Score: 1, Category: rapid.SampledFrom(categories).Draw(t, "category")})
			open = rapid.IntRange(0, 3).Draw(t, "more")
		}
	}
	return tokens, spans
}

// TestEncodeDecode: spans that a tag set can say come back as they were, and
// their tags are a sequence that it allows.
func TestEncodeDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := testSet(rapid.SampledFrom([]Scheme{BIO, BIOESU}).Draw(t, "scheme"))
		tokens, spans := drawTokens(t)
		tags := make([]Tag, len(tokens))
		set.Encode(tags, tokens, spans)
		if got := set.Decode(nil, tokens, tags); !slices.Equal(got, spans) {
			t.Fatalf("%v came back as %v by %s", spans, got, tagNames(set, tags))
		}
		for i, tag := range tags {
			switch {
			case i == 0 && !set.Starts(tag), i == len(tags)-1 && !set.Ends(tag), i > 0 && !set.MayFollow(tags[i-1], tag):
				t.Fatalf("tag %d of %s is not allowed there", i, tagNames(set, tags))
			}
		}
	})
}

// TestDecodeAnything: whatever the tags, the spans are sorted, disjoint, and
// cover just the tokens that have a tag; a sequence that the set allows comes
// back from its spans.
func TestDecodeAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := testSet(rapid.SampledFrom([]Scheme{BIO, BIOESU}).Draw(t, "scheme"))
		tokens, _ := drawTokens(t)
		tags := make([]Tag, len(tokens))
		for i := range tags {
			tags[i] = Tag(rapid.IntRange(0, set.Len()-1).Draw(t, "tag"))
		}
		spans := set.Decode(nil, tokens, tags)
		at, k := int32(0), 0
		for _, s := range spans {
			if s.Start < at || s.End <= s.Start {
				t.Fatalf("spans %v", spans)
			}
			at = s.End
		}
		for i, token := range tokens {
			for k < len(spans) && spans[k].End <= token.Start {
				k++
			}
			covered := k < len(spans) && spans[k].Start <= token.Start && token.End <= spans[k].End
			if covered != (tags[i] != O) || covered && spans[k].Category != set.Category(tags[i]) {
				t.Fatalf("token %d has tag %s and spans %v", i, set.Name(tags[i]), spans)
			}
		}
		again := make([]Tag, len(tags))
		set.Encode(again, tokens, spans)
		if legal(set, tokens, tags) && !slices.Equal(again, tags) {
			t.Fatalf("%s came back as %s", tagNames(set, tags), tagNames(set, again))
		}
	})
}

// legal tells whether a model may give these tags, line by line.
func legal(s *TagSet, tokens []Token, tags []Tag) bool {
	for i, tag := range tags {
		first := i == 0 || tokens[i].Flags&LineStart != 0
		last := i == len(tags)-1 || tokens[i+1].Flags&LineStart != 0
		if first && !s.Starts(tag) || last && !s.Ends(tag) || !first && !s.MayFollow(tags[i-1], tag) {
			return false
		}
	}
	return true
}

func TestTagSet(t *testing.T) {
	for _, scheme := range []Scheme{BIO, BIOESU} {
		set := testSet(scheme)
		names := map[string]bool{}
		for i := range set.Len() {
			names[set.Name(Tag(i))] = true
		}
		if len(names) != set.Len() || set.Category(O) != None || !set.Starts(O) || !set.Ends(O) || !set.MayFollow(O, O) {
			t.Errorf("%v: names %v", scheme, names)
		}
		if again, err := ParseScheme(scheme.String()); err != nil || again != scheme {
			t.Errorf("%v: %v", scheme, err)
		}
	}
	if _, err := ParseScheme("IOB"); err == nil {
		t.Error("unknown scheme")
	}
}

func TestMarked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringMatching(`[a-z\[\]\\:ñ ]{0,40}`).Draw(t, "text"))
		var spans []Span
		at := 0
		for at < len(text) && rapid.Bool().Draw(t, "span") {
			start := rapid.IntRange(at, len(text)).Draw(t, "start")
			end := rapid.IntRange(start, len(text)).Draw(t, "end")
			if strings.ContainsAny(string(text[start:end]), `[]\`) {
				break // brackets stand outside spans
			}
			spans = append(spans, Span{Start: int32(start), End: int32(end), Score: 1, Source: FromGold, Category: testSet(BIO).Categories[0]})
			at = end
		}
		marked := Marked(text, spans)
		gotText, gotSpans, err := ParseMarked(marked)
		if err != nil || string(gotText) != string(text) || !slices.Equal(gotSpans, spans) {
			t.Fatalf("%q: %q, %v, %v", marked, gotText, gotSpans, err)
		}
	})
	for _, bad := range []string{"[", "[PER", "[PER:", "[PER:a", "[NOBODY:a]", "a [x] b"} {
		if _, _, err := ParseMarked(bad); err == nil {
			t.Errorf("%q is no marked text", bad)
		}
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for c := range Categories() {
		name := Category(c).String()
		if seen[name] || (name == "") != (c == 0) {
			t.Errorf("category %d is %q", c, name)
		}
		seen[name] = true
		if back, err := ParseCategory(name); c > 0 && (err != nil || back != Category(c)) {
			t.Errorf("category %q: %v, %v", name, back, err)
		}
	}
	for r := range Reasons() {
		if name := Reason(r).String(); name == "" || name == "?" || seen[name] {
			t.Errorf("reason %d is %q", r, name)
		}
	}
	for _, x := range []fmt.Stringer{FromGold, MixedLanguage, Category(255), Reason(255), SpanSource(255)} {
		if x.String() == "" {
			t.Errorf("%T has no name", x)
		}
	}
	if _, err := ParseCategory("no such"); err == nil {
		t.Error("unknown category")
	}
	if _, err := Labels("no such"); err == nil {
		t.Error("unknown label set")
	}
}

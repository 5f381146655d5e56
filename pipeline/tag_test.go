package pipeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

func testSet(scheme pipeline.Scheme) *pipeline.TagSet {
	set, err := pipeline.Labels("names")
	if err != nil {
		panic(err)
	}
	return &pipeline.TagSet{Scheme: scheme, Categories: set.Categories}
}

// tagNames writes tags as CoNLL files have them.
func tagNames(s *pipeline.TagSet, tags []pipeline.Tag) string {
	names := make([]string, len(tags))
	for i, t := range tags {
		names[i] = s.Name(t)
	}
	return strings.Join(names, " ")
}

// spaced makes tokens of the words of a text; a slash begins a line.
func spaced(text string) (tokens []pipeline.Token) {
	at := 0
	for word := range strings.SplitSeq(text, " ") {
		token := pipeline.Token{Start: int32(at), End: int32(at + len(word))}
		if at == 0 || strings.HasPrefix(word, "/") {
			token.Flags = pipeline.LineStart
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
		text, spans, err := markup.Parse(tt.marked)
		if err != nil {
			t.Fatal(err)
		}
		tokens := spaced(string(text))
		for scheme, want := range map[pipeline.Scheme]string{pipeline.BIO: tt.bio, pipeline.BIOESU: tt.bioesu} {
			set := testSet(scheme)
			tags := make([]pipeline.Tag, len(tokens))
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
		scheme     pipeline.Scheme
		text, tags string
		want       string
	}{
		{pipeline.BIO, "a b c", "O O O", "a b c"},
		{pipeline.BIO, "a b c", "B-PER I-PER O", "[PER:a b] c"},
		{pipeline.BIO, "a b c", "B-PER B-PER O", "[PER:a] [PER:b] c"},
		{pipeline.BIO, "a b c", "I-PER I-PER O", "[PER:a b] c"},
		{pipeline.BIO, "a b c", "B-PER I-LOC I-LOC", "[PER:a] [LOC:b c]"},
		{pipeline.BIO, "a b c", "B-PER O I-PER", "[PER:a] b [PER:c]"},
		{pipeline.BIO, "a /b c", "B-PER I-PER I-PER", "[PER:a] [PER:/b c]"},
		{pipeline.BIOESU, "a b c", "B-PER I-PER E-PER", "[PER:a b c]"},
		{pipeline.BIOESU, "a b c", "S-PER S-PER O", "[PER:a] [PER:b] c"},
		{pipeline.BIOESU, "a b c", "E-PER E-PER O", "[PER:a] [PER:b] c"},
		{pipeline.BIOESU, "a b c", "B-PER B-PER E-PER", "[PER:a] [PER:b c]"},
		{pipeline.BIOESU, "a b c", "S-PER I-PER E-PER", "[PER:a] [PER:b c]"},
		{pipeline.BIOESU, "a b c", "B-PER E-LOC O", "[PER:a] [LOC:b] c"},
		{pipeline.BIOESU, "a /b c", "B-PER E-PER O", "[PER:a] [PER:/b] c"},
	} {
		set := testSet(tt.scheme)
		var tags []pipeline.Tag
		for name := range strings.FieldsSeq(tt.tags) {
			tags = append(tags, parseTag(set, name))
		}
		spans := set.Decode(nil, spaced(tt.text), tags)
		if got := markup.Write([]byte(tt.text), spans); got != tt.want {
			t.Errorf("%s over %q: %s, want %s", tt.tags, tt.text, got, tt.want)
		}
	}
}

func parseTag(s *pipeline.TagSet, name string) pipeline.Tag {
	for t := range s.Len() {
		if s.Name(pipeline.Tag(t)) == name {
			return pipeline.Tag(t)
		}
	}
	panic("no tag " + name)
}

// drawTokens draws tokens and disjoint spans that start and end with tokens
// and do not cross lines.
func drawTokens(t *rapid.T) (tokens []pipeline.Token, spans []pipeline.Span) {
	at := int32(0)
	open := 0
	for i := range rapid.IntRange(0, 20).Draw(t, "tokens") {
		at += int32(rapid.IntRange(0, 2).Draw(t, "gap"))
		token := pipeline.Token{Start: at, End: at + int32(rapid.IntRange(1, 4).Draw(t, "length"))}
		at = token.End
		if i == 0 || rapid.IntRange(0, 4).Draw(t, "line") == 0 {
			token.Flags = pipeline.LineStart
			open = 0
		}
		tokens = append(tokens, token)
		switch {
		case open > 0:
			open--
			spans[len(spans)-1].End = token.End
		case rapid.Bool().Draw(t, "span"):
			categories := testSet(pipeline.BIO).Categories
			spans = append(spans, pipeline.Span{Start: token.Start, End: token.End, Score: 1, Category: rapid.SampledFrom(categories).Draw(t, "category")})
			open = rapid.IntRange(0, 3).Draw(t, "more")
		}
	}
	return tokens, spans
}

// TestEncodeDecode: spans that a tag set can say come back as they were, and
// their tags are a sequence that it allows.
func TestEncodeDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := testSet(rapid.SampledFrom([]pipeline.Scheme{pipeline.BIO, pipeline.BIOESU}).Draw(t, "scheme"))
		tokens, spans := drawTokens(t)
		tags := make([]pipeline.Tag, len(tokens))
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
		set := testSet(rapid.SampledFrom([]pipeline.Scheme{pipeline.BIO, pipeline.BIOESU}).Draw(t, "scheme"))
		tokens, _ := drawTokens(t)
		tags := make([]pipeline.Tag, len(tokens))
		for i := range tags {
			tags[i] = pipeline.Tag(rapid.IntRange(0, set.Len()-1).Draw(t, "tag"))
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
			if covered != (tags[i] != pipeline.O) || covered && spans[k].Category != set.Category(tags[i]) {
				t.Fatalf("token %d has tag %s and spans %v", i, set.Name(tags[i]), spans)
			}
		}
		again := make([]pipeline.Tag, len(tags))
		set.Encode(again, tokens, spans)
		if legal(set, tokens, tags) && !slices.Equal(again, tags) {
			t.Fatalf("%s came back as %s", tagNames(set, tags), tagNames(set, again))
		}
	})
}

// legal tells whether a model may give these tags, line by line.
func legal(s *pipeline.TagSet, tokens []pipeline.Token, tags []pipeline.Tag) bool {
	for i, tag := range tags {
		first := i == 0 || tokens[i].Flags&pipeline.LineStart != 0
		last := i == len(tags)-1 || tokens[i+1].Flags&pipeline.LineStart != 0
		if first && !s.Starts(tag) || last && !s.Ends(tag) || !first && !s.MayFollow(tags[i-1], tag) {
			return false
		}
	}
	return true
}

func TestTagSet(t *testing.T) {
	for _, scheme := range []pipeline.Scheme{pipeline.BIO, pipeline.BIOESU} {
		set := testSet(scheme)
		names := map[string]bool{}
		for i := range set.Len() {
			names[set.Name(pipeline.Tag(i))] = true
		}
		if len(names) != set.Len() || set.Category(pipeline.O) != pipeline.None || !set.Starts(pipeline.O) || !set.Ends(pipeline.O) || !set.MayFollow(pipeline.O, pipeline.O) {
			t.Errorf("%v: names %v", scheme, names)
		}
		if again, err := pipeline.ParseScheme(scheme.String()); err != nil || again != scheme {
			t.Errorf("%v: %v", scheme, err)
		}
	}
	if _, err := pipeline.ParseScheme("IOB"); err == nil {
		t.Error("unknown scheme")
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for c := range pipeline.Categories() {
		name := pipeline.Category(c).String()
		if seen[name] || (name == "") != (c == 0) {
			t.Errorf("category %d is %q", c, name)
		}
		seen[name] = true
		if back, err := pipeline.ParseCategory(name); c > 0 && (err != nil || back != pipeline.Category(c)) {
			t.Errorf("category %q: %v, %v", name, back, err)
		}
	}
	for r := range pipeline.Reasons() {
		if name := pipeline.Reason(r).String(); name == "" || name == "?" || seen[name] {
			t.Errorf("reason %d is %q", r, name)
		}
	}
	for _, x := range []fmt.Stringer{pipeline.FromGold, pipeline.MixedLanguage, pipeline.Category(255), pipeline.Reason(255), pipeline.SpanSource(255)} {
		if x.String() == "" {
			t.Errorf("%T has no name", x)
		}
	}
	if _, err := pipeline.ParseCategory("no such"); err == nil {
		t.Error("unknown category")
	}
	if _, err := pipeline.Labels("no such"); err == nil {
		t.Error("unknown label set")
	}
}

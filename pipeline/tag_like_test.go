package pipeline

import (
	"fmt"
	"strings"
	"testing"
)

// A piece of a note has tags of its own: spans are cut at its borders. Counts are of spans that begin, and of their tokens.
func TestLegalAndCount(t *testing.T) {
	person, _ := ParseCategory("PERSON")
	date, _ := ParseCategory("DATE")
	tokens := []Token{{Start: 0, End: 2}, {Start: 3, End: 5}, {Start: 6, End: 8}, {Start: 9, End: 11}}
	for _, c := range []struct {
		scheme     Scheme
		tags, want string
	}{
		{BIO, "I-PERSON I-PERSON O B-DATE", "B-PERSON I-PERSON O B-DATE"},
		{BIO, "B-PERSON O B-DATE I-DATE", "B-PERSON O B-DATE I-DATE"},
		{BIOESU, "B-PERSON I-PERSON E-PERSON B-DATE", "B-PERSON I-PERSON E-PERSON S-DATE"},
	} {
		set := &TagSet{Scheme: c.scheme, Categories: []Category{person, date}}
		var tags []Tag
		for i := 0; i < set.Len(); i++ {
			if back := set.Like(&TagSet{Scheme: c.scheme, Categories: []Category{date, person}}, i); set.Name(Tag(back)) != (&TagSet{Scheme: c.scheme, Categories: []Category{date, person}}).Name(Tag(i)) {
				t.Errorf("tag %d is like %d", i, back)
			}
		}
		for _, name := range strings.Fields(c.tags) {
			for i := range set.Len() {
				if set.Name(Tag(i)) == name {
					tags = append(tags, Tag(i))
				}
			}
		}
		var got []string
		legal := set.Legal(tokens, tags)
		for _, tag := range legal {
			got = append(got, set.Name(tag))
		}
		if fmt.Sprint(got) != "["+c.want+"]" {
			t.Errorf("%s: %v, want %s", c.tags, got, c.want)
		}
		spans, words := set.Count(legal)
		if spans["PERSON"] != 1 || spans["DATE"] != 1 || words["PERSON"]+words["DATE"] != map[bool]int{true: 3, false: 4}[c.scheme == BIO] {
			t.Errorf("%s: %v spans of %v tokens", c.tags, spans, words)
		}
	}
	if (&TagSet{Categories: []Category{date}}).Like(&TagSet{Categories: []Category{person}}, 1) != -1 {
		t.Error("a category that a set has not")
	}
}

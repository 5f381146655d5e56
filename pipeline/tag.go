package pipeline

import (
	"fmt"
	"strings"
)

// Tag is the tag of one token, a small integer that indexes rows of scores. Its meaning depends on the TagSet. O is 0
// in every set.
type Tag uint8

// O is the tag of a token outside every span.
const O Tag = 0

// Scheme is the encoding of spans as tags: BIO or BIOESU.
type Scheme uint8

const (
	BIO    Scheme = iota // IOB2: B-x, I-x
	BIOESU               // B-x, I-x, E-x, S-x (single), also called BIOES or BILOU
)

// String returns the name used in configuration and model files.
func (s Scheme) String() string {
	if s == BIOESU {
		return "BIOESU"
	}
	return "BIO"
}

// ParseScheme returns the scheme of that name.
func ParseScheme(name string) (Scheme, error) {
	switch name {
	case "BIO":
		return BIO, nil
	case "BIOESU":
		return BIOESU, nil
	}
	return 0, fmt.Errorf("unknown tag scheme %q; known: BIO, BIOESU", name)
}

// TagSet lists the tags of a scheme for some categories: tag 0 is O, then for category k (from 0) come B, I (BIO) or B,
// I, E, S (BIOESU).
type TagSet struct {
	Scheme     Scheme
	Categories []Category
}

// role says where a tag stands in its span.
type role uint8

const (
	begin role = iota
	inside
	end
	single
)

func (s *TagSet) roles() int {
	if s.Scheme == BIOESU {
		return 4
	}
	return 2
}

// TagSetKey is the metadata key of a file of tagged notes for its tag set, as TagSet.String writes it.
const TagSetKey = "velum.tagset"

// String returns the scheme and the categories: "BIO PERSON LOCATION".
func (s *TagSet) String() string {
	var b strings.Builder
	b.WriteString(s.Scheme.String())
	for _, c := range s.Categories {
		b.WriteString(" " + c.String())
	}
	return b.String()
}

// ParseTagSet is the inverse of TagSet.String. Its errors do not quote the text.
func ParseTagSet(text string) (*TagSet, error) {
	scheme, names, _ := strings.Cut(text, " ")
	var s TagSet
	var err error
	if s.Scheme, err = ParseScheme(scheme); err != nil {
		return nil, fmt.Errorf("unknown tag scheme")
	}
	for name := range strings.FieldsSeq(names) {
		c, err := ParseCategory(name)
		if err != nil {
			return nil, fmt.Errorf("%w: category %d is unknown", ErrCategory, len(s.Categories)+1)
		}
		if s.index(c) >= 0 {
			return nil, fmt.Errorf("category %d comes twice", len(s.Categories)+1)
		}
		s.Categories = append(s.Categories, c)
	}
	if s.Len() > 255 {
		return nil, fmt.Errorf("more tags than a byte can tell apart")
	}
	return &s, nil
}

// Len returns the number of tags, O included.
func (s *TagSet) Len() int { return 1 + s.roles()*len(s.Categories) }

// Category returns the category of t; None for O.
func (s *TagSet) Category(t Tag) Category {
	if t == O {
		return None
	}
	return s.Categories[(int(t)-1)/s.roles()]
}

func (s *TagSet) role(t Tag) role { return role((int(t) - 1) % s.roles()) }

func (s *TagSet) tag(k int, r role) Tag { return Tag(1 + k*s.roles() + int(r)) }

// Name returns the tag as it is written in CoNLL files: O, B-PERSON...
func (s *TagSet) Name(t Tag) string {
	if t == O {
		return "O"
	}
	return "BIES"[s.role(t):][:1] + "-" + s.Category(t).String()
}

// Starts tells whether t may be the first tag of a sequence.
func (s *TagSet) Starts(t Tag) bool {
	return t == O || s.role(t) == begin || s.role(t) == single
}

// Ends tells whether t may be the last tag of a sequence.
func (s *TagSet) Ends(t Tag) bool {
	return s.Scheme == BIO || t == O || s.role(t) == end || s.role(t) == single
}

// MayFollow tells whether tag b may stand directly behind tag a.
func (s *TagSet) MayFollow(a, b Tag) bool {
	inOpen := a != O && (s.Scheme == BIO || s.role(a) == begin || s.role(a) == inside)
	if s.Starts(b) {
		return s.Scheme == BIO || !inOpen
	}
	return inOpen && s.Category(a) == s.Category(b)
}

// Encode writes the tags of the spans over the tokens into tags (one a
// token). A token belongs to a span when they share a byte; a span that
// shares its first token with the span before it starts at its second. Spans
// of categories that the set does not have are left out.
func (s *TagSet) Encode(tags []Tag, tokens []Token, spans []Span) {
	clear(tags)
	t := 0
	for _, span := range spans {
		k := s.index(span.Category)
		if k < 0 {
			continue
		}
		for t < len(tokens) && tokens[t].End <= span.Start {
			t++
		}
		first := t
		for t < len(tokens) && tokens[t].Start < span.End {
			tags[t] = s.tag(k, inside)
			t++
		}
		if t == first {
			continue
		}
		if s.Scheme == BIOESU {
			tags[t-1] = s.tag(k, end)
		}
		tags[first] = s.tag(k, begin)
		if s.Scheme == BIOESU && t == first+1 {
			tags[first] = s.tag(k, single)
		}
	}
}

// Decode appends the spans that the tags encode. An inside or end tag without a beginning opens a span, because a
// hidden word too many is better than a name too few. Spans never cross the start of a line.
func (s *TagSet) Decode(dst []Span, tokens []Token, tags []Tag) []Span {
	open := -1 // index in dst of the span that may go on
	for i, t := range tags {
		if t == O {
			open = -1
			continue
		}
		if open >= 0 && s.GoesOn(tags[i-1], t) && tokens[i].Flags&LineStart == 0 {
			dst[open].End = tokens[i].End
			continue
		}
		dst = append(dst, Span{Start: tokens[i].Start, End: tokens[i].End, Category: s.Category(t), Score: 1, Source: FromModel})
		open = len(dst) - 1
	}
	return dst
}

// GoesOn reports whether tag b directly after tag a, in the same line, continues the span, as Decode reads tags;
// MayFollow tests which tags a model may write.
func (s *TagSet) GoesOn(a, b Tag) bool {
	if a == O || s.Starts(b) || s.Category(a) != s.Category(b) {
		return false
	}
	return s.Scheme == BIO || s.role(a) == begin || s.role(a) == inside
}

func (s *TagSet) index(c Category) int {
	for k, have := range s.Categories {
		if have == c {
			return k
		}
	}
	return -1
}

// Legal returns the tags of a part of a note so that no span continues from before it or beyond it.
func (s *TagSet) Legal(tokens []Token, tags []Tag) []Tag {
	legal := make([]Tag, len(tags))
	s.Encode(legal, tokens, s.Decode(nil, tokens, tags))
	return legal
}

// Count returns the number of spans, and of tokens in them, by category.
func (s *TagSet) Count(tags []Tag) (spans, tokens map[string]int) {
	spans, tokens = map[string]int{}, map[string]int{}
	for _, t := range tags {
		if t == O {
			continue
		}
		name := s.Category(t).String()
		tokens[name]++
		if s.Starts(t) {
			spans[name]++
		}
	}
	return spans, tokens
}

// Like returns the tag with the same name as a tag of another set; -1 if there is none.
func (s *TagSet) Like(of *TagSet, tag int) int {
	for t := range s.Len() {
		if s.Name(Tag(t)) == of.Name(Tag(tag)) {
			return t
		}
	}
	return -1
}

package resolve

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// A house may have 2,048 trigger words in all lists; one more is refused, since the table of words would fill up.
func TestTooManyWords(t *testing.T) {
	some := 0
	for _, list := range shipped {
		some += len(list)
	}
	for more, refused := range map[int]bool{maxTriggers - some - 64: false, maxTriggers + 1: true} {
		o, err := Defaults("primary-care", maps.Clone(shipped))
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Fields(strings.Join(o.Words["title"], " "))
		for n := range more {
			list = append(list, "z"+strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprintf("%05d", n)))
		}
		o.Words["title"] = list
		if _, err := New(o); (err != nil) != refused {
			t.Errorf("%d words more: %v", more, err)
		}
	}
}

// TestInitialsOfNobody: where the labels have no person, initials are none.
func TestInitialsOfNobody(t *testing.T) {
	p, err := compile(only(t, "primary-care"))
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{plan: p, counts: newTally(p)}
	b := batchOf(t, "primary-care")
	add(b, []byte("visto por J. M. P. hoy"), nil, nil)
	w.text, w.tokens = b.Text.At(0), b.Tokens.At(0)
	if n := w.findInitials(); n != 1 {
		t.Errorf("%d persons, want 1", n)
	}
	p.labels.person[1] = pipeline.None
	if n := w.findInitials(); n != 0 {
		t.Errorf("%d persons where there are none", n)
	}
}

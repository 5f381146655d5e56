package resolve

import (
	"fmt"
	"maps"
	"strings"
	"testing"
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

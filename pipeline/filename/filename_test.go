package filename

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct{ id, want string }{
		{"7", "7"},
		{"a/b-c_d.e", "a/b-c_d.e"},
		{"7|31|2", "7%7C31%7C2"},
		{"12:30?", "12%3A30%3F"},
		{"50%", "50%25"},
		{"end.", "end%2E"},
		{"end ", "end%20"},
		{"a./b", "a%2E/b"},
		{"CON", "%43ON"},
		{"nul.2", "%6Eul.2"},
		{"com1", "%63om1"},
		{"COM", "COM"},
		{"console", "console"},
		{"José", "José"},
	} {
		if got := Of(tt.id); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.id, got, tt.want)
		}
		if got := ID(tt.want); got != tt.id {
			t.Errorf("%q back: %q, want %q", tt.want, got, tt.id)
		}
	}
	for _, foreign := range []string{"50%", "a%20b", "%zz", "x%3a"} { // names that Of never gives
		if got := ID(foreign); got != foreign {
			t.Errorf("%q: %q", foreign, got)
		}
	}
}

// Names are legal, and give the id back, so that no two ids have the same.
func TestOfComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringOf(rapid.SampledFrom([]rune(`aCONul.1 %7C:*/<é`))).Draw(t, "id")
		name := Of(id)
		if ID(name) != id {
			t.Fatalf("%q: %q: %q", id, name, ID(name))
		}
		for part := range strings.SplitSeq(name, "/") {
			if strings.ContainsAny(part, `<>:"|?*`) || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || device(part) {
				t.Fatalf("%q has the name %q", id, name)
			}
		}
	})
}

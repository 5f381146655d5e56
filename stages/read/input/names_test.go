package input

import (
	"slices"
	"strings"
	"testing"
)

// TestHeaderNames: a first line that may be a note, or somebody's data, is never quoted.
func TestHeaderNames(t *testing.T) {
	for _, tt := range []struct {
		line string // cells between bars
		want string // the names, "" for none
	}{
		{"codigo|nota|año", "codigo nota año"},
		{"note_id|texto libre", "note_id texto libre"},
		{"|note_id|text", "note_id text"}, // the index of pandas
		{"CDPAC|EVOL|FECHA", "CDPAC EVOL FECHA"},
		{"Acude por tos, sin fiebre", ""},
		{"Refiere tos", ""},
		{"Refiere tos|Control en un mes", ""},
		{"MARIA|GARCIA LOPEZ|Visto por urgencias", ""},
		{"nota|GARCIA LOPEZ MARIA", ""},
		{"nota|12345678Z", ""},
		{"nota|HC1234567", ""},
		{"CDPAC|EVOL", ""}, // who knows
	} {
		names, doubt := HeaderNames(strings.Split(tt.line, "|"))
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
		if (doubt == "") != (tt.want != "") || slices.ContainsFunc(strings.Split(tt.line, "|"), func(cell string) bool { return len(cell) > 5 && strings.Contains(doubt, cell) }) {
			t.Errorf("%q: %s", tt.line, doubt)
		}
	}
}

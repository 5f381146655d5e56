package people

import "testing"

func TestUntitled(t *testing.T) {
	for form, want := range map[string][2]string{
		"drgarcia": {"", "garcia"}, "dragarcia": {"garcia", "agarcia"}, "dr": {}, "garcia": {}, "dramas": {"", "amas"}, "drmas": {}, "drpuig": {"", "puig"}, "drapuig": {"puig", "apuig"},
	} {
		got := untitled([]byte(form))
		for i := range want {
			if string(got[i]) != want[i] && !(len(want[i]) < leastEdited-1 && got[i] == nil) {
				t.Errorf("%s: %q, want %q", form, got, want)
			}
		}
	}
}

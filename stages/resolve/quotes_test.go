package resolve

import "testing"

func TestUnquoted(t *testing.T) {
	for text, want := range map[string]string{
		`"Lucía`: "Lucía", `Lucía"`: "Lucía", `Lucía”`: "Lucía", "«Roble": "Roble", `"Lucía"`: `"Lucía"`, `Joan "Xena"`: `Joan "Xena"`,
		"O'Brien": "O'Brien", "O'Brien'": "O'Brien'", `"`: `"`, "Lucía": "Lucía", "": "",
	} {
		start, end := unquoted([]byte(text), 0, int32(len(text)))
		if got := text[start:end]; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

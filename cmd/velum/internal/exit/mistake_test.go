package exit

import "testing"

func TestMistake(t *testing.T) {
	for _, c := range []struct {
		of   Mistake
		want string
	}{
		{Mistake{File: "a.yaml", Message: "wrong"}, "a.yaml: wrong"},
		{Mistake{File: "a.yaml", Line: 2, Column: 3, Key: "tag.model", Message: "wrong", Hint: "mend it"}, "a.yaml:2:3: tag.model: wrong; mend it"},
		{Mistake{File: "a.yaml", Column: 3, Message: "wrong"}, "a.yaml: wrong"},
	} {
		if got := c.of.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for _, c := range []struct {
		of   ConfigError
		want string
	}{
		{ConfigError{Mistakes: make([]Mistake, 1)}, "1 mistake in the configuration"}, {ConfigError{Mistakes: make([]Mistake, 2), In: "a.atn"}, "2 mistakes in a.atn"},
	} {
		if got := c.of.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if err := new(ConfigError).OrNil(); err != nil {
		t.Errorf("no mistake: %v", err)
	}
	e := &ConfigError{Mistakes: []Mistake{{File: "b"}, {File: "a", Line: 2, Column: 1}, {File: "a", Line: 1, Column: 9}, {File: "a", Line: 1, Column: 2}}}
	if err := e.OrNil(); CodeOf(err) != Config {
		t.Errorf("%v", err)
	}
	for i, want := range []Mistake{{File: "a", Line: 1, Column: 2}, {File: "a", Line: 1, Column: 9}, {File: "a", Line: 2, Column: 1}, {File: "b"}} {
		if e.Mistakes[i] != want {
			t.Errorf("place %d has %+v, want %+v", i, e.Mistakes[i], want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"keep", "keyed", "drop", "verbatim", "keyed-again"}
	for name, want := range map[string]string{
		"key": "keyed", "ke": "", "KEYD": "keyed", "drip": "drop", "dp": "", "verbat": "verbatim", "verbatum": "verbatim", "zzzz": "", "": "", "kxyz": "", "Keep": "keep", "keyed-a": "keyed-again",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := Suggest("drip", known); got != `did you mean "drop"?` {
		t.Error(got)
	}
	if got := Suggest("zzzz", []string{"a", "b"}); got != "known: a, b" {
		t.Error(got)
	}
}

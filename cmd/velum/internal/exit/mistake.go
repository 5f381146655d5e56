package exit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Mistake is one error in a configuration file or another file that people write, with its place.
type Mistake struct {
	File    string `json:"file"` // path, "environment" or "command line"
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Key     string `json:"key,omitempty"` // option, as in read.columns.id; name of the variable or flag outside files
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// String formats the mistake as FILE:LINE:COLUMN: MESSAGE, the form that editors can jump to.
func (m Mistake) String() string {
	var b strings.Builder
	b.WriteString(m.File)
	if m.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", m.Line, m.Column)
	}
	b.WriteString(": ")
	if m.Key != "" {
		b.WriteString(m.Key + ": ")
	}
	b.WriteString(m.Message)
	if m.Hint != "" {
		b.WriteString("; " + m.Hint)
	}
	return OneLine(b.String())
}

// ConfigError holds all mistakes of a configuration, or of other files that people write.
type ConfigError struct {
	Mistakes []Mistake
	In       string // what has them; "": the configuration
}

// Error returns the number of mistakes; Print writes each of them.
func (e *ConfigError) Error() string {
	in := cmp.Or(e.In, "the configuration")
	if len(e.Mistakes) == 1 {
		return "1 mistake in " + in
	}
	return fmt.Sprintf("%d mistakes in %s", len(e.Mistakes), in)
}

// OrNil sorts the mistakes by place and returns the error; nil if there are none.
func (e *ConfigError) OrNil() error {
	if len(e.Mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(e.Mistakes, func(a, b Mistake) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
	})
	return With(Config, e, "`velum run options --schema` lists every key, `velum help` every command")
}

package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"text/tabwriter"
	"text/template"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// Tell prints the result of a verb: v as a line of JSON with --json, otherwise text, a template that is given what the
// JSON holds, by the names of its fields. So people read what machines read. Columns with tabs between them are aligned.
func (c *Console) Tell(v any, text string) error {
	if c.JSON {
		return c.WriteJSON(v)
	}
	out, err := c.fill(v, text)
	if err == nil {
		_, err = c.Out.Write(out)
	}
	return err
}

// fill returns the text of Tell. Names of files and columns come from outside: in all of v, characters that a terminal
// obeys become blanks.
func (c *Console) fill(v any, text string) ([]byte, error) {
	data, err := json.Marshal(v)
	numbers := json.NewDecoder(bytes.NewReader(data))
	numbers.UseNumber()
	var read any
	if err := errors.Join(err, numbers.Decode(&read)); err != nil {
		return nil, err
	}
	t, err := template.New("").Funcs(filling).Funcs(template.FuncMap{"paint": func(color int, s string) string { return c.Paint(c.Out, color, s) }}).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	err = errors.Join(t.Execute(w, plain(read)), w.Flush())
	return out.Bytes(), err
}

// filling are the functions of the templates, beside those that all templates have.
var filling = template.FuncMap{
	// figure formats a number, whole or not.
	"figure": func(format string, x any) string { return fmt.Sprintf(format, number(x)) },
	"next":   func(i int) int { return i + 1 },
	// rate formats a share below one half as "1 note in N", a larger one as "N in 10 notes".
	"rate": func(x any) string {
		if share := number(x); share < 0.5 {
			return fmt.Sprintf("1 note in %.0f", math.Floor(1/share))
		}
		return fmt.Sprintf("%.3g in 10 notes", 10*number(x))
	},
	"times": func(scale float64, x any) float64 { return scale * number(x) },
}

func number(x any) float64 {
	if n, whole := x.(int64); whole {
		return float64(n)
	}
	f, _ := x.(float64)
	return f
}

// plain converts what was read from JSON for a template: whole numbers become integers, and texts lose what a terminal
// would obey.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case string:
		return exit.Printable(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	}
	return v
}

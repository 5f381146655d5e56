// Package page renders HTML pages in three languages: texts, number formats, the common style, and self-contained
// templates without network access, scripts or fonts. html/template escapes all values from outside.
package page

import (
	"bytes"
	_ "embed"
	"html/template"
	"strconv"
	"strings"
	"sync"
)

// stylePage is the style of all pages.
//
//go:embed style.gohtml
var stylePage string

// A Page is an HTML template that can be rendered in each language.
type Page struct{ parsed func() *template.Template }

// New returns a Page that parses text on first use. The template functions (t, plural, percent and others) are bound to
// the language when it is rendered.
func New(name, text string) *Page {
	return &Page{sync.OnceValue(func() *template.Template {
		return template.Must(template.Must(template.New(name).Funcs(Language(0).funcs()).Parse(stylePage)).Parse(text))
	})}
}

// Write renders the page for a view in a language.
func (p *Page) Write(l Language, view any) ([]byte, error) {
	t, err := p.parsed().Clone()
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = t.Funcs(l.funcs()).Execute(&page, view)
	return page.Bytes(), err
}

// funcs returns the functions that templates write with.
func (l Language) funcs() template.FuncMap {
	return template.FuncMap{
		"t":         l.Text,
		"lang":      l.String,
		"thousands": func(n any) string { return Thousands(whole(n)) },
		"plural":    func(n any, noun string) string { return l.Plural(whole(n), noun) },
		"percent":   l.Percent,
		"per":       func(part, of int64) string { return l.Percent(float64(part) / float64(max(of, 1))) },
		"sum":       func(a, b any) int64 { return whole(a) + whole(b) },
		"known":     l.known,
		"shown":     l.Shown,
		"said":      l.Said,
		"number":    func(x float64) string { return l.Number(x, 2) },
		"tenths":    func(x float64) string { return l.Number(x, 1) },
		"score":     func(x float64) string { return l.Number(x, 4) },
		"single":    func(x float32) string { return l.Number(float64(x), 3) },
		"interval":  func(x float64, ends [2]float64) string { return l.Interval(x, ends, 4) },
		"short":     func(digest string) string { return digest[:min(12, len(digest))] },
		"gain": func(x float64) string {
			if x < 0 {
				return l.Number(x, 4)
			}
			return "+" + l.Number(x, 4)
		},
	}
}

// whole takes the numbers that reports hold.
func whole(n any) int64 {
	switch n := n.(type) {
	case int:
		return int64(n)
	case *int64:
		return *n
	}
	return n.(int64)
}

// Thousands formats a number in groups of three digits separated by a narrow space, which all three languages accept.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && digits[i-1] != '-' && (len(digits)-i)%3 == 0 {
			b.WriteRune('\u202f')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// percent writes a share with three significant digits, or two of a small one.
func percent(share float64) string {
	p := 100 * share
	digits := 1
	if p < 10 {
		digits = 2
	}
	text := strconv.FormatFloat(p, 'f', digits, 64)
	if p < 0.1 {
		text = strconv.FormatFloat(p, 'g', 2, 64)
	}
	return strings.TrimSuffix(strings.TrimSuffix(text, ".00"), ".0") + "\u202f%"
}

// Shown formats a figure of a comparison: as a plain number for spans and confidence, else as a percentage.
func (l Language) Shown(what string, x float64) string {
	switch what {
	case "spans", "confidence":
		return l.Number(x, 2)
	}
	return l.Percent(x)
}

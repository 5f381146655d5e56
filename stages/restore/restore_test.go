package restore

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/pipeline"
)

const resource = `{"resourceType":"DocumentReference","id":"d1","date":"2026-01-05","subject":{"display":"Ada Pou"},"description":"Visita de Ada Pou."}`

// batch is a batch of one masked document; hide says what stands in place of each value.
func batch(t *testing.T, doc string, hide map[string]string) *pipeline.Batch {
	t.Helper()
	d, _ := document.Open([]byte(doc), document.Options{})
	b := &pipeline.Batch{Reason: []pipeline.Reason{pipeline.Sound}, Extra: []pipeline.Column{{Name: "source"}, {Name: "document"}}}
	b.Text.Append(d.Text)
	b.Extra[0].Bytes.Append([]byte(doc))
	b.Extra[0].Valid = []bool{true}
	text, at := string(d.Text), 0
	for at < len(text) {
		next, value := len(text), ""
		for v := range hide {
			if n := strings.Index(text[at:], v); n >= 0 && at+n < next {
				next, value = at+n, v
			}
		}
		b.Masked.Data = append(b.Masked.Data, text[at:next]...)
		if value != "" {
			b.Spans.Items = append(b.Spans.Items, pipeline.Span{Start: int32(next), End: int32(next + len(value))})
			from := int32(len(b.Masked.Data))
			b.Masked.Data = append(b.Masked.Data, hide[value]...)
			b.Places.Items = append(b.Places.Items, pipeline.Span{Start: from, End: int32(len(b.Masked.Data))})
		}
		at = next + len(value)
	}
	b.Masked.End()
	b.Spans.End()
	b.Places.End()
	return b
}

func TestRestore(t *testing.T) {
	hidden := map[string]string{"Ada Pou": "[P]", "2026-01-05": "[D]"}
	for _, c := range []struct {
		name  string
		hide  map[string]string
		spoil func(*pipeline.Batch)
		want  string
		why   pipeline.Reason
	}{
		{name: "masked", hide: hidden, want: `{"resourceType":"DocumentReference","id":"d1","date":"2026-01-05","subject":{"display":"[P]"},"description":"Visita de [P]."}`},
		{name: "a field that no stage has hidden", hide: map[string]string{"Visita": "X", "2026-01-05": "[D]"}, why: pipeline.SurvivingValue},
		{name: "in quarantine", hide: hidden, spoil: func(b *pipeline.Batch) { b.Reason[0] = pipeline.StrictFinding }, why: pipeline.StrictFinding},
		{name: "another text", hide: hidden, spoil: func(b *pipeline.Batch) { b.Text.Data[0] ^= 1 }, why: pipeline.ChangedText},
		{name: "a place too few", hide: hidden, spoil: func(b *pipeline.Batch) { b.Places.Reset(); b.Places.End() }, why: pipeline.ChangedText},
		{name: "no document", hide: hidden, spoil: func(b *pipeline.Batch) { b.Extra[0].Valid[0] = false }, why: pipeline.Unreadable},
	} {
		b := batch(t, resource, c.hide)
		if c.spoil != nil {
			c.spoil(b)
		}
		do := New(Options{Source: "source", Column: "document"}).New()
		if err := do(b); err != nil {
			t.Fatal(err)
		}
		if got := string(b.Extra[1].Bytes.At(0)); got != c.want || b.Extra[1].Valid[0] != (c.want != "") || b.Reason[0] != c.why {
			t.Errorf("%s: %v %q, want %v %q", c.name, b.Reason[0], got, c.why, c.want)
		}
	}
	if err := New(Options{Source: "source", Column: "other"}).New()(batch(t, resource, hidden)); err == nil {
		t.Error("a batch without the column passes")
	}
}

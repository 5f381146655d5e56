package resolve

import "github.com/velum-health/velum/pipeline"

// endDates gives dates the borders of the guide for short notes, by the grammar of
// models/form/dates: "año 1998" is the year alone, what leads to a date is no part of
// it, and a range is two dates. What the grammar does not read stays as it is.
func (w *worker) endDates() int {
	n := 0
	if w.labels.date == pipeline.None {
		return 0
	}
	found := len(w.spans)
	for s := 0; s < found; s++ {
		span := &w.spans[s]
		if span.Category != w.labels.date || certain(span) {
			continue
		}
		w.dates = w.dateFinder.Borders(w.dates[:0], w.text, int(span.Start), int(span.End))
		if len(w.dates) == 0 || len(w.dates) == 1 && w.dates[0].Start == int(span.Start) && w.dates[0].End == int(span.End) {
			continue
		}
		n++
		for k, d := range w.dates {
			part := *span
			part.Start, part.End = int32(d.Start), int32(d.End)
			if k > 0 {
				w.spans = append(w.spans, part)
				continue
			}
			w.spans[s] = part
		}
	}
	if len(w.spans) > found {
		sortSpans(w.spans)
	}
	return n
}

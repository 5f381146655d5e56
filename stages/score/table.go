package score

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// mostConfused is how many pairs of categories a table shows.
const mostConfused = 20

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%d notes (%d with PHI, %d in quarantine not scored), %d gold spans, %d system spans\n\n",
		r.Notes, r.NotesPHI, r.Quarantined, r.GoldSpans, r.SystemSpans)
	r.writeMeasures(&out)
	r.writeCategories(&out)
	r.writeErrors(&out)
	_, err := w.Write(out.Bytes())
	return err
}

func (r *Report) writeMeasures(out io.Writer) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "measure\tP\tR\tF1\t%s95 %% of R\t95 %% of F1\tmacro P\tR\tF1\t\n", r.beta("F%.3g\t", r.Beta))
	for _, m := range r.Measures {
		if m.Name == CleanNotes.String() || m.Name == DirectNotes.String() { // recall only: stand below
			continue
		}
		recall, f1 := "", ""
		if m.Interval != nil {
			recall, f1 = interval(m.Interval.Recall), interval(m.Interval.F1)
		}
		fmt.Fprintf(t, "%s\t%.4f\t%.4f\t%.4f\t%s%s\t%s\t%.4f\t%.4f\t%.4f\t\n",
			m.Name, m.Precision, m.Recall, m.F1, r.beta("%.4f\t", m.FBeta), recall, f1, m.Macro.Precision, m.Macro.Recall, m.Macro.F1)
	}
	x := r.MacroCategories
	fmt.Fprintf(t, "strict, mean of categories\t%.4f\t%.4f\t%.4f\t%s\t\t\t\t\t\n", x.Precision, x.Recall, x.F1, r.beta("%.4f\t", x.FBeta))
	t.Flush()
	fmt.Fprintf(out, "\nclean notes %.4f (%d of %d), of those with PHI %.4f (%d of %d)",
		r.CleanNotes.Share, r.CleanNotes.Part, r.CleanNotes.Whole,
		r.CleanNotesPHI.Share, r.CleanNotesPHI.Part, r.CleanNotesPHI.Whole)
	if m, ok := r.Measure(CleanNotes); ok && m.Interval != nil {
		fmt.Fprintf(out, ", 95 %% %s", interval(m.Interval.Recall))
	}
	fmt.Fprintln(out)
	fmt.Fprintf(out, "leaks %d spans, %.5f a line", r.Leaks.Spans, r.Leaks.PerLine)
	if r.Leaks.Sentences > 0 {
		fmt.Fprintf(out, ", %.5f a sentence", r.Leaks.PerSentence)
	}
	fmt.Fprintln(out)
	if m, ok := r.Measure(DirectNotes); ok {
		fmt.Fprintf(out, "leaks of direct identifiers in %.4f of the notes that have some (%d of %d)", 1-m.Recall, m.Gold-m.Found, m.Gold)
		if m.Interval != nil {
			fmt.Fprintf(out, ", 95 %% %s", interval([2]float64{1 - m.Interval.Recall[1], 1 - m.Interval.Recall[0]}))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
}

// beta formats a cell of the F_β column, which tables of F1 do not have.
func (r *Report) beta(format string, value float64) string {
	if r.Beta == 1 {
		return ""
	}
	return fmt.Sprintf(format, value)
}

func interval(ends [2]float64) string { return fmt.Sprintf("%.4f-%.4f", ends[0], ends[1]) }

func (r *Report) writeCategories(out io.Writer) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "category\tgold\tsystem\tright\tP\tR\tF1\tmasked R\ttype\tshort\tlong\tboth\tspurious\tmissing\t\n")
	for _, c := range r.Categories {
		e := c.Errors
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.4f\t%.4f\t%.4f\t%.4f\t%d\t%d\t%d\t%d\t%d\t%d\t\n",
			c.Category, c.Gold, c.System, c.Right, c.Precision, c.Recall, c.F1, c.MaskedRecall,
			e.Type, e.Short, e.Long, e.ShortAndLong, e.Spurious, e.Missing)
	}
	t.Flush()
}

func (r *Report) writeErrors(out io.Writer) {
	e := r.Errors
	fmt.Fprintf(out, "\nerrors: %d type, %d short, %d long, %d short and long (%d of these with another type too), %d spurious, %d missing\n",
		e.Type, e.Short, e.Long, e.ShortAndLong, e.ExtentType, e.Spurious, e.Missing)
	var wrong []Confused
	for _, c := range r.Confusion {
		if c.Gold != "" && c.System != "" && c.Gold != c.System {
			wrong = append(wrong, c)
		}
	}
	slices.SortStableFunc(wrong, func(a, b Confused) int { return cmp.Compare(b.Count, a.Count) })
	for _, c := range wrong[:min(len(wrong), mostConfused)] {
		fmt.Fprintf(out, "  %d gold %s found as %s\n", c.Count, c.Gold, c.System)
	}
	if rest := len(wrong) - mostConfused; rest > 0 {
		fmt.Fprintf(out, "  %d more pairs: see the JSON report\n", rest)
	}
}

package review

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/audit"
)

// Reading is what the readers of one sample have found, by the journals of their
// sessions: outs are what they named with --out. What counts is how far the sample
// was read in the order in which it was drawn, by any of them: that is a random
// sample too. A note leaks if one of them says so.
func Reading(outs []string) (*audit.Reading, error) {
	r := &audit.Reading{}
	var all []map[int]bool // by reader: whether the note of a rank leaks
	for _, out := range outs {
		path := out + ".journal"
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, exit.With(exit.Config, err, "name what `velum review --ask audit` was given as --out; its journal lies beside it")
		}
		said, times := map[int]bool{}, map[int]int64{}
		reader := audit.Reader{}
		_, err = unsealed(data, path, func(h *journalHead) error {
			if h.Reader == "" || h.Sample == "" {
				return exit.Errorf(exit.Config, "name that of `velum review --ask audit`", "%s: no journal of a sample", path)
			}
			if r.Sample != "" && (r.Sample != h.Sample || r.Output != h.Output) {
				return exit.Errorf(exit.Config, "name journals of one sample", "%s: a journal of another sample", path)
			}
			reader.By, r.Sample, r.Output = h.Reader, h.Sample, h.Output
			return nil
		}, func(_ int, l *journalLine) error {
			said[l.Rank], times[l.Rank] = l.Leaks, l.Time
			return nil
		})
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(r.Readers, func(x audit.Reader) bool { return x.By == reader.By }) {
			return nil, exit.Errorf(exit.Config, "name one journal of each", "%s: %q has read twice", path, reader.By)
		}
		reader.Notes = int64(len(said))
		timesOf(&reader, times)
		r.Readers, all = append(r.Readers, reader), append(all, said)
	}
	for rank := 0; ; rank++ {
		read, leaks := false, false
		for _, said := range all {
			leak, ok := said[rank]
			read, leaks = read || ok, leaks || leak
		}
		if !read {
			break
		}
		r.Read++
		if leaks {
			r.Leaks++
		}
	}
	if r.Read == 0 {
		return nil, exit.Errorf(exit.Config, "read the sample from its first note on", "%s: the first note of the sample was not read", strings.Join(outs, ", "))
	}
	if len(all) == 2 {
		r.Kappa = kappaOf(all[0], all[1])
	}
	var names []string
	for _, x := range r.Readers {
		names = append(names, x.By)
	}
	r.By = strings.Join(names, ", ")
	return r, nil
}

// kappaOf is Cohen's kappa of two readers over the notes that both have read; nil
// where they have none in common, or chance alone agrees wholly.
func kappaOf(a, b map[int]bool) *float64 {
	n, same, yesA, yesB := 0.0, 0.0, 0.0, 0.0
	for rank, x := range a {
		y, ok := b[rank]
		if !ok {
			continue
		}
		n++
		if x == y {
			same++
		}
		if x {
			yesA++
		}
		if y {
			yesB++
		}
	}
	if n == 0 {
		return nil
	}
	chance := yesA/n*yesB/n + (1-yesA/n)*(1-yesB/n)
	if chance == 1 {
		return nil
	}
	return new((same/n - chance) / (1 - chance))
}

// pause is how many seconds between two decisions are no reading any more.
const pause = 600

// timesOf says when somebody read, and how long a note took: the median of the times
// between decisions, pauses left out.
func timesOf(r *audit.Reader, at map[int]int64) {
	var times []int64
	for _, t := range at {
		times = append(times, t)
	}
	slices.Sort(times)
	if len(times) == 0 {
		return
	}
	r.From, r.To = stamp(times[0]), stamp(times[len(times)-1])
	var between []int64
	for i := 1; i < len(times); i++ {
		if d := times[i] - times[i-1]; d < pause {
			between = append(between, d)
		}
	}
	if slices.Sort(between); len(between) > 0 {
		r.Seconds = between[len(between)/2]
	}
}

func stamp(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

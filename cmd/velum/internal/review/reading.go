package review

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/secret"
)

// Reading combines the findings of several readers of one sample. It reads the journals of their sessions; outs holds
// the value of --out of each session. Of each stratum, the notes count that were read, by any reader, before the first
// note that nobody has read: a beginning of the order of drawing is a random sample of the stratum, too. A note counts
// as a leak if at least one reader found one in it. house is the institution's key, which signs journals, or nil. sums
// holds the digests of all lines of the journals: a reading that the audit log recorded earlier names the last line of
// its journal at that time, so the caller can tell that these journals continue it.
func Reading(outs []string, house *secret.Key) (r *audit.Reading, sums map[string]bool, err error) {
	r, sums = &audit.Reading{Signed: house.ID()}, map[string]bool{}
	var all []map[int]*journalLine // by reader: what was said of the note of a rank
	for _, out := range outs {
		path := out + ".journal"
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, exit.Misconfigured(err, "name what `velum review --ask audit` was given as --out; its journal lies beside it")
		}
		said := map[int]*journalLine{}
		reader := audit.Reader{}
		_, err = unsealed(data, path, house, func(h *journalHead) error {
			if h.Reader == "" || h.Sample == "" {
				return exit.Misconfiguredf("name that of `velum review --ask audit`", "%s: no journal of a sample", path)
			}
			if r.Sample != "" && (r.Sample != h.Sample || r.Output != h.Output) {
				return exit.Misconfiguredf("name journals of one sample", "%s: a journal of another sample", path)
			}
			reader.By, r.Sample, r.Output = h.Reader, h.Sample, h.Output
			if h.Key == "" {
				r.Signed = ""
			}
			return nil
		}, func(_ int, sum string, l *journalLine) error {
			said[l.Rank], sums[sum], reader.Journal = l, true, sum
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(r.Readers, func(x audit.Reader) bool { return x.By == reader.By }) {
			return nil, nil, exit.Misconfiguredf("name one journal of each", "%s: %q has read twice", path, reader.By)
		}
		reader.Notes = int64(len(said))
		timesOf(&reader, said)
		r.Readers, all = append(r.Readers, reader), append(all, said)
	}
	if found(r, all); r.Read == 0 {
		return nil, nil, exit.Misconfiguredf("read the sample from its first note on", "%s: the first note of the sample was not read",
			strings.Join(outs, ", "))
	}
	if len(all) == 2 {
		r.Kappa = kappaOf(all[0], all[1])
	}
	var names []string
	for _, x := range r.Readers {
		names = append(names, x.By)
	}
	r.By = strings.Join(names, ", ")
	return r, sums, nil
}

// found adds up the readers' findings note by note, in the order of the sample. Within a stratum a note counts only if
// all notes before it do; notes drawn for a centre count for that centre only.
func found(r *audit.Reading, all []map[int]*journalLine) {
	ranks := map[int]*journalLine{}
	for _, said := range all {
		for rank, l := range said {
			one := ranks[rank]
			if one == nil {
				one = &journalLine{sampled: l.sampled}
				ranks[rank] = one
			}
			one.Leaks, one.Left = one.Leaks || l.Leaks, append(one.Left, l.Left...)
		}
	}
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		l, leaks := ranks[rank], int64(0)
		if l.Leaks {
			leaks = 1
		}
		if drawn := l.Drawn; drawn != nil {
			at := slices.IndexFunc(r.Strata, func(s audit.Stratum) bool { return s.From == drawn.From })
			if at < 0 {
				at = len(r.Strata)
				r.Strata = append(r.Strata, audit.Stratum{From: drawn.From, To: drawn.To, Notes: drawn.Notes})
			}
			s := &r.Strata[at]
			if s.Read != int64(drawn.Place) {
				continue
			}
			s.Read, s.Leaks = s.Read+1, s.Leaks+leaks
			r.Read, r.Leaks = r.Read+1, r.Leaks+leaks
			for _, c := range slices.Compact(slices.Sorted(slices.Values(l.Left))) {
				if r.Categories == nil {
					r.Categories = map[string]int64{}
				}
				r.Categories[c]++
			}
		}
		if l.Center != "" {
			if r.Centers == nil {
				r.Centers = map[string]audit.Share{}
			}
			c := r.Centers[l.Center]
			r.Centers[l.Center] = audit.Share{Read: c.Read + 1, Leaks: c.Leaks + leaks}
		}
	}
}

// kappaOf returns Cohen's kappa of two readers over the notes that both have read; nil if there are none, or if chance
// agreement is complete.
func kappaOf(a, b map[int]*journalLine) *float64 {
	counts := map[[2]int]int{}
	leaks := func(l *journalLine) int {
		if l.Leaks {
			return 1
		}
		return 0
	}
	for rank, x := range a {
		if y, both := b[rank]; both {
			counts[[2]int{leaks(x), leaks(y)}]++
		}
	}
	for pair := range counts {
		if len(counts) == 1 && pair[0] == pair[1] {
			return nil
		}
	}
	if len(counts) == 0 {
		return nil
	}
	return new(kappa(counts))
}

// pause is the time between two decisions, in seconds, above which it does not count as reading.
const pause = 600

// Spent returns how many seconds the decisions of a session took, without pauses. out is the session's --out. It
// returns 0 if there was no session.
func Spent(out string) (seconds int64, err error) {
	path := out + ".journal"
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	last := int64(0)
	if err == nil {
		_, err = unsealed(data, path, nil, func(*journalHead) error { return nil }, func(_ int, _ string, l *journalLine) error {
			if d := l.Time - last; last > 0 && d > 0 && d < pause {
				seconds += d
			}
			last = l.Time
			return nil
		})
	}
	return seconds, err
}

// timesOf returns when a person read, and the median time per note without pauses.
func timesOf(r *audit.Reader, said map[int]*journalLine) {
	var times []int64
	for _, l := range said {
		times = append(times, l.Time)
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

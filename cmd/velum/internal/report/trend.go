package report

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/tally"
)

// Trend compares the months of an archive: changes appear when a source changes its form, a ward its habits, or when
// the model meets an unknown kind of notes. It is private, because most figures are functions of masked words.
type Trend struct {
	Months   []string  `json:"months"` // by name: the newest is the last
	Notes    []int64   `json:"notes"`  // masked, of each
	Measures []Measure `json:"measures"`
}

// Measure is one figure for each month, and whether the newest month is outside the range of the earlier ones. A month
// with too few notes has no figure (nil).
type Measure struct {
	Name   string     `json:"name"`   // quarantine, language, words, confidence, or a category: its spans of 100 notes
	Of     []*float64 `json:"of"`     // months
	Lowest float64    `json:"lowest"` // lowest value before the newest month
	Most   float64    `json:"highest"`
	Beyond bool       `json:"beyond"`
}

// monthIn finds the month in the path of a file: 2026-01, 2026_01, year=2026/month=1.
var monthIn = regexp.MustCompile(`(?:^|\D)((?:19|20)\d\d)(?:[-_./]?|/?month=)(0[1-9]|1[0-2]|[1-9])(?:\D|$)`)

// monthOf is the month of a unit, else its folder; "" if it has neither.
func monthOf(u *commit.UnitRecord) string {
	folder := folderOf(u)
	for _, name := range []string{u.Input, folder} {
		if m := monthIn.FindStringSubmatch(name); m != nil {
			return m[1] + "-" + fmt.Sprintf("%02s", m[2])
		}
	}
	return exit.Printable(folder) // the summary goes to terminals
}

// byMonth sums the units of each month. Units without a month are left out.
func byMonth(m *commit.Manifest) map[string]*commit.Counts {
	by := map[string]*commit.Counts{}
	for i := range m.Units {
		u := &m.Units[i]
		name := monthOf(u)
		if name == "" {
			continue
		}
		if by[name] == nil {
			by[name] = &commit.Counts{}
		}
		c := by[name]
		c.Rows, c.Masked, c.Quarantined = c.Rows+u.Rows, c.Masked+u.Masked, c.Quarantined+u.Quarantined-LeftOut(&u.Counts)
		c.Tally.Add(u.Tally)
	}
	return by
}

// How far the newest month may be outside the range of the earlier months.
const (
	driftFactor = 1.5 // times, for rates
	driftDoubt  = 0.5 // mean log odds of doubt
)

// trendOf compares the newest month with the earlier ones; nil if there is only one.
func trendOf(m *commit.Manifest) *Trend {
	by := byMonth(m)
	if len(by) < 2 {
		return nil
	}
	t := &Trend{Months: slices.Sorted(maps.Keys(by))}
	months := make([]*commit.Counts, len(t.Months))
	for i, name := range t.Months {
		months[i] = by[name]
		t.Notes = append(t.Notes, by[name].Masked)
	}
	// A count at a rate of r in n notes has a standard deviation of √(r·n): four times that is no coincidence.
	rate := func(name string, scale float64, of func(*commit.Counts) (part, all int64)) {
		t.add(name, months, func(c *commit.Counts) float64 {
			part, all := of(c)
			return scale * float64(part) / float64(max(all, 1))
		}, func(now, lowest, most float64, c *commit.Counts) bool {
			_, all := of(c)
			nearest := min(max(now, lowest), most)
			return (now > most*driftFactor || now < lowest/driftFactor) &&
				math.Abs(now-nearest) > 4*math.Sqrt(max(nearest, now)*scale/float64(max(all, 1)))
		})
	}
	rate("quarantine", 1, func(c *commit.Counts) (int64, int64) { return c.Quarantined, c.Rows })
	rate("language", 1, func(c *commit.Counts) (int64, int64) { return c.Tally.Get(tally.Foreign, ""), c.Masked })
	rate("words", 1, func(c *commit.Counts) (int64, int64) {
		return c.Tally.Get(tally.Unknown, ""), c.Tally.Get(tally.Words, "")
	})
	rate("length", 1, func(c *commit.Counts) (int64, int64) { return c.Tally.Get(tally.Words, ""), c.Masked })
	t.add("confidence", months, func(c *commit.Counts) float64 {
		return archiveOf(c).MeanDoubt()
	}, func(now, lowest, most float64, _ *commit.Counts) bool {
		return now > most+driftDoubt || now < lowest-driftDoubt
	})
	for _, category := range slices.Sorted(maps.Keys(m.Counts.Tally.By(tally.Category))) {
		rate(category, 100, func(c *commit.Counts) (int64, int64) { return c.Tally.Get(tally.Category, category), c.Masked })
	}
	return t
}

// add adds a measure for all months with enough notes.
func (t *Trend) add(name string, months []*commit.Counts, of func(*commit.Counts) float64,
	beyond func(now, lowest, most float64, c *commit.Counts) bool) {
	m := Measure{Name: name, Lowest: math.Inf(1), Most: math.Inf(-1)}
	last := len(months) - 1
	for i, c := range months {
		if c.Masked < fewNotes {
			m.Of = append(m.Of, nil)
			continue
		}
		x := of(c)
		m.Of = append(m.Of, new(Rounded(x)))
		if i < last {
			m.Lowest, m.Most = min(m.Lowest, x), max(m.Most, x)
		}
	}
	if m.Most < m.Lowest { // nothing to compare with
		return
	}
	if m.Of[last] != nil {
		m.Beyond = beyond(of(months[last]), m.Lowest, m.Most, months[last])
	}
	m.Lowest, m.Most = Rounded(m.Lowest), Rounded(m.Most)
	t.Measures = append(t.Measures, m)
}

// Newest returns the name of the newest month.
func (t *Trend) Newest() string { return t.Months[len(t.Months)-1] }

// Last returns the figure of the newest month.
func (m *Measure) Last() *float64 { return m.Of[len(m.Of)-1] }

// measureName returns the name of a measure for people: categories have one name everywhere.
func (r *Report) measureName(name string) string {
	if key := "trend " + name; page.Known(key) {
		return r.language.Text(key)
	}
	return r.language.Text("trend category", name)
}

// isShare tells whether the measure is a share; else it is a number.
func (m *Measure) isShare() bool {
	return m.Name == "quarantine" || m.Name == "language" || m.Name == "words"
}

// shown writes a value.
func (m *Measure) shown(l page.Language, x float64) string {
	if m.isShare() {
		return l.Percent(x)
	}
	return l.Number(x, 2)
}

// Drifted returns the names of the measures whose newest month is outside the range of the earlier months.
func (t *Trend) Drifted() (names []string) {
	if t == nil {
		return nil
	}
	for i := range t.Measures {
		if t.Measures[i].Beyond {
			names = append(names, t.Measures[i].Name)
		}
	}
	return names
}

// judgeTrend adds a finding if the newest month differs from the earlier ones.
func (r *Report) judgeTrend() {
	if r.Trend == nil {
		return
	}
	for i := range r.Trend.Measures {
		if m := &r.Trend.Measures[i]; m.Beyond {
			as := number
			if m.isShare() {
				as = percent
			}
			r.find(red, "find month", name(r.Trend.Newest()), value{As: "measure", Name: m.Name}, as(*m.Last()), as(m.Lowest), as(m.Most))
		}
	}
}

// The chart of a measure: a line over the months.
const chartWidth, chartHeight = 200.0, 28.0

// trendRow is a measure as the page shows it.
type trendRow struct {
	Name, Last, Range string
	Line              string // points of the line
	X, Y              float64
	Beyond            bool
	Tip               string // all values
}

func (r *Report) trendRows() (rows []trendRow) {
	if r.Trend == nil {
		return nil
	}
	l := r.language
	for i := range r.Trend.Measures {
		m := &r.Trend.Measures[i]
		row := trendRow{Name: r.measureName(m.Name), Beyond: m.Beyond, Range: m.shown(l, m.Lowest), Last: "–"}
		if most := m.shown(l, m.Most); most != row.Range {
			row.Range += "–" + most
		}
		if m.Last() != nil {
			row.Last = m.shown(l, *m.Last())
		}
		bottom, top := min(0, m.Lowest), max(0, m.Most)
		for _, x := range m.Of {
			if x != nil {
				bottom, top = min(bottom, *x), max(top, *x)
			}
		}
		var points, tips []string
		for k, x := range m.Of {
			if x == nil {
				continue
			}
			row.X = Tenths(4 + (chartWidth-8)*float64(k)/float64(len(m.Of)-1))
			row.Y = Tenths(chartHeight - 4 - (chartHeight-8)*(*x-bottom)/max(top-bottom, 1e-9))
			points, tips = append(points, fmt.Sprintf("%g,%g", row.X, row.Y)), append(tips, r.Trend.Months[k]+": "+m.shown(l, *x))
		}
		row.Line, row.Tip = strings.Join(points, " "), strings.Join(tips, "; ")
		rows = append(rows, row)
	}
	return rows
}

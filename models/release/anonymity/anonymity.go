// Package anonymity implements k-anonymity (METHODS par. 8; Samarati and Sweeney 1998): it generalizes or suppresses
// the quasi-identifiers of notes until each remaining combination of values belongs to at least k people. It reads the
// values of every note twice and returns the generalized values.
//
// A column is generalized as a whole, one level at a time, always the column with the most distinct values (Sweeney's
// Datafly), until few enough notes to suppress are in groups smaller than k. Then groups are counted by people instead
// of notes, and smaller groups lose all their values. The result depends only on the values and their order.
//
// An archive that grows is released repeatedly, and releases can be joined by note id. Such a join shows in which month
// a note came, and every value that it ever had. So every month (a cohort) is made k-anonymous by itself, and a note
// keeps its generalized values in all later releases, or loses them (Resume). The alternative, m-invariance (Xiao and
// Tao 2007), would need invented notes. Thus each combination has k people in any join.
//
// Memory: at most two million combinations of values with their counts. If there are more, the column with the most
// values is generalized at once, so an archive of unique values costs no more than any other. The people of a group are
// counted by hashes, whose number is limited, too (see groups).
package anonymity

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"
)

// Limits: MaxColumns on the number of columns, maxGroups on the combinations in memory, maxValues on the distinct
// values of a column.
const (
	MaxColumns = 8
	maxGroups  = 1 << 21
	maxValues  = 1 << 20
)

// Column is a quasi-identifier with its generalization hierarchy.
type Column struct {
	Name      string
	Hierarchy *Hierarchy
}

// Rows holds the values that some notes have in the columns: each value once, and for each note the numbers of its values.
type Rows struct {
	Of     []uint32 // numbers of values, note by note
	values [][]string
	number []map[string]uint32
}

// NewRows returns no rows yet of so many columns.
func NewRows(columns int) *Rows {
	r := &Rows{values: make([][]string, columns)}
	for range columns {
		r.number = append(r.number, map[string]uint32{})
	}
	return r
}

// Number returns the number of a value of column i; "" is a missing value.
func (r *Rows) Number(i int, value []byte) uint32 {
	n, there := r.number[i][string(value)]
	if !there {
		n = uint32(len(r.values[i]))
		r.values[i] = append(r.values[i], string(value))
		r.number[i][r.values[i][n]] = n
	}
	return n
}

// Each returns the numbers of each note.
func (r *Rows) Each() iter.Seq[[]uint32] { return slices.Chunk(r.Of, len(r.values)) }

// combination is the numbers of a note's values.
type combination [MaxColumns]uint32

// Counter counts the notes of each combination of values.
type Counter struct {
	columns []counted
	groups  map[combination]int64
	notes   int64
	most    int // combinations; maxGroups, less in tests
}

// counted is a column with the values that it has at its level.
type counted struct {
	Column
	level  int
	number map[string]uint32 // of a value at level
	values []string
	now    []uint32 // 1 + the number at level of each value of the rows at hand; 0: not known yet
}

// NewCounter returns a counter for at most MaxColumns columns.
func NewCounter(columns []Column) *Counter {
	c := &Counter{groups: map[combination]int64{}, most: maxGroups}
	for _, column := range columns {
		c.columns = append(c.columns, counted{Column: column, number: map[string]uint32{}})
	}
	return c
}

// Add counts the notes of some rows.
func (c *Counter) Add(r *Rows) {
	for i := range c.columns {
		c.columns[i].now = make([]uint32, len(r.values[i]))
	}
	for row := range r.Each() {
		var of combination
		for i := range c.columns {
			if c.columns[i].Hierarchy.Name != sensitive {
				of[i] = c.columns[i].numberOf(r.values[i], row[i])
			}
		}
		c.groups[of]++
		c.notes++
		for len(c.groups) > c.most && c.generalize() {
		}
		for i := range c.columns {
			for len(c.columns[i].values) > maxValues {
				c.raise(i)
			}
		}
	}
}

func (c *counted) numberOf(values []string, k uint32) uint32 {
	if c.now[k] == 0 {
		c.now[k] = 1 + c.put(c.Hierarchy.at(values[k], c.level))
	}
	return c.now[k] - 1
}

func (c *counted) put(general string) uint32 {
	n, ok := c.number[general]
	if !ok {
		n = uint32(len(c.values))
		c.number[general], c.values = n, append(c.values, general)
	}
	return n
}

// generalize raises the column that has the most values, of two the first; false
// if all are at the top.
func (c *Counter) generalize() bool {
	best := -1
	for i := range c.columns {
		if c.columns[i].level < c.columns[i].Hierarchy.top() && c.columns[i].Hierarchy.Name != sensitive &&
			(best < 0 || len(c.columns[i].values) > len(c.columns[best].values)) {
			best = i
		}
	}
	if best >= 0 {
		c.raise(best)
	}
	return best >= 0
}

// raise takes column i to its next level. A level is made of the values of the one
// before: all hierarchies can read what they wrote.
func (c *Counter) raise(i int) {
	column := &c.columns[i]
	old := column.values
	column.level++
	column.number, column.values = map[string]uint32{}, nil
	clear(column.now)
	now := make([]uint32, len(old))
	for n, value := range old {
		now[n] = column.put(column.Hierarchy.at(value, column.level))
	}
	groups := make(map[combination]int64, len(c.groups)/2)
	for of, n := range c.groups {
		of[i] = now[of[i]]
		groups[of] += n
	}
	c.groups = groups
}

// under returns how many notes are in groups of fewer than k.
func (c *Counter) under(k int) (notes int64) {
	for _, n := range c.groups {
		if n < int64(k) {
			notes += n
		}
	}
	return notes
}

// Decide generalizes columns until at most the given share of the notes is in groups smaller than k, and returns the
// chosen levels as a Plan.
func (c *Counter) Decide(k int, share float64) *Plan {
	for float64(c.under(k)) > share*float64(c.notes) && c.generalize() {
	}
	p := newPlan(k)
	for i := range c.columns {
		p.columns = append(p.columns, planned{c.columns[i].Column, c.columns[i].level})
	}
	c.groups = nil
	return p
}

// Plan holds the levels of the columns and the groups to suppress. It is made in three steps: Decide, Count for all
// notes, Settle.
type Plan struct {
	k          int
	columns    []planned
	groups     *groups
	suppressed map[uint64]bool
	resumed    bool
}

// Cohort records the decision for the notes that were first released together.
type Cohort struct {
	Levels     []int    `json:"levels"`     // levels of generalization of the columns
	Suppressed []uint64 `json:"suppressed"` // hashes of the suppressed groups, in rising order
}

// Cohort returns the decision; call it after Settle.
func (p *Plan) Cohort() (c Cohort) {
	c.Levels, _ = p.Levels()
	c.Suppressed = slices.Sorted(maps.Keys(p.suppressed))
	return c
}

// Resume returns the plan of an earlier release for those of its notes that remain; Count and Settle must follow.
// Levels do not change and suppressed groups stay suppressed; a group with fewer than k remaining people is suppressed,
// too.
func Resume(columns []Column, k int, c Cohort) *Plan {
	p := newPlan(k)
	p.resumed = true
	for i, column := range columns {
		p.columns = append(p.columns, planned{column, c.Levels[i]})
	}
	for _, group := range c.Suppressed {
		p.suppressed[group] = true
	}
	return p
}

func newPlan(k int) *Plan {
	return &Plan{k: k, groups: newGroups(k), suppressed: map[uint64]bool{}}
}

type planned struct {
	Column
	level int
}

// Levels returns the chosen level of each column, and the highest level of each.
func (p *Plan) Levels() (levels, tops []int) {
	for i := range p.columns {
		levels, tops = append(levels, p.columns[i].level), append(tops, p.columns[i].Hierarchy.top())
	}
	return levels, tops
}

// A Reader applies a plan to the values of some notes.
type Reader struct {
	plan  *Plan
	rows  *Rows
	known [][]general // by column and number of a value
	row   [][]byte
	key   []byte

	sensitive []uint64 // hashes of the sensitive values
}

// general is a value at its level: as it is, and with its length before it.
type general struct{ out, key []byte }

// Reader returns a Reader of some notes.
func (p *Plan) Reader(rows *Rows) *Reader {
	r := &Reader{plan: p, rows: rows}
	for i := range p.columns {
		r.known = append(r.known, make([]general, len(rows.values[i])))
	}
	return r
}

var suppressed = []byte(Suppressed)

// group brings the values of a note to their levels, and returns the hash of their group.
func (r *Reader) group(of []uint32) uint64 {
	r.key, r.sensitive = r.key[:0], r.sensitive[:0]
	for i := range r.plan.columns {
		c, g := &r.plan.columns[i], &r.known[i][of[i]]
		if g.out == nil {
			value := r.rows.values[i][of[i]]
			for level := range c.level + 1 {
				value = c.Hierarchy.at(value, level)
			}
			g.out = []byte(value)
			g.key = append(binary.LittleEndian.AppendUint32(nil, uint32(len(value))), value...)
		}
		if c.Hierarchy.Name == sensitive {
			r.sensitive = append(r.sensitive, xxh3.Hash(g.out)/MaxColumns*MaxColumns+uint64(i))
			continue
		}
		r.key = append(r.key, g.key...)
	}
	return xxh3.Hash(r.key)
}

// Count counts the notes in their groups. people has the hash of whom each is of; if it is empty, every note counts as a person.
// Several workers may count, each with a Reader.
func (r *Reader) Count(people []uint64) {
	var all, values []uint64
	for of := range r.rows.Each() {
		all = append(all, r.group(of))
		values = append(values, r.sensitive...)
	}
	n := len(r.sensitive)
	for k := range r.plan.groups {
		s := &r.plan.groups[k]
		s.mu.Lock()
		for i, group := range all {
			if group%uint64(len(r.plan.groups)) == uint64(k) {
				s.add(group, people[min(i, len(people)):min(i+1, len(people))], values[i*n:(i+1)*n])
			}
		}
		s.mu.Unlock()
	}
}

// Settle suppresses the groups with fewer than k people, and those with too little diversity (d). The suppressed notes
// form a group themselves. Where one person may have many notes, the only sure lower bound of its people is that of its
// largest member, so the smallest remaining group is suppressed, too; this is not needed if every note is a person and
// at least k are suppressed.
func (p *Plan) Settle(everyNoteAPerson bool, d Diversity) {
	smallest, least, suppressed, before := uint64(0), int64(0), int64(0), len(p.suppressed)
	all, notes := p.groups.values()
	for group, x := range p.groups.each() {
		n := x.n
		if n < int64(p.k) || p.suppressed[group] || !d.fits(x, all, notes) {
			p.suppressed[group] = true
			suppressed += n
		} else if least == 0 || n < least || n == least && group < smallest {
			smallest, least = group, n
		}
	}
	if p.resumed && len(p.suppressed) == before {
		return // as it was decided
	}
	if len(p.suppressed) > 0 && least > 0 && !(everyNoteAPerson && suppressed >= int64(p.k)) {
		p.suppressed[smallest] = true
	}
}

// Suppressed reports whether a note loses its values; call it after Settle.
func (r *Reader) Suppressed(of []uint32) bool {
	return r.plan.suppressed[r.group(of)]
}

// Values returns the generalized values of a note for which Suppressed was called; all are suppressed if it said so. The slice is valid until the next call, and its values
// must not be changed.
func (r *Reader) Values(of []uint32, all bool) [][]byte {
	r.row = r.row[:0]
	for i, n := range of {
		r.row = append(r.row, r.known[i][n].out)
		if all {
			r.row[i] = suppressed
		}
	}
	return r.row
}

// Sizes holds the distribution of group sizes.
type Sizes struct {
	Groups     int64              `json:"groups"`           // number of groups that are left
	Smallest   int64              `json:"smallest"`         // number of people in the smallest of them
	Suppressed int64              `json:"suppressed_notes"` // number of suppressed notes
	L          int                `json:"l,omitempty"`      // number of different sensitive values in the least diverse group that is left
	T          float64            `json:"t,omitempty"`      // largest difference between the shares of values in a group and in all notes
	Notes      int64              `json:"notes"`
	Under      [len(Limits)]int64 `json:"groups_under"`          // by limit: groups with fewer notes than that, before any was suppressed
	UnderNotes [len(Limits)]int64 `json:"notes_in_groups_under"` // number of notes in them
}

// Add adds the sizes of another plan.
func (s *Sizes) Add(o *Sizes) {
	s.Groups, s.Suppressed, s.Notes = s.Groups+o.Groups, s.Suppressed+o.Suppressed, s.Notes+o.Notes
	if s.Smallest == 0 || o.Smallest > 0 && o.Smallest < s.Smallest {
		s.Smallest = o.Smallest
	}
	if s.T = max(s.T, o.T); s.L == 0 || o.L > 0 && o.L < s.L {
		s.L = o.L
	}
	for i := range s.Under {
		s.Under[i], s.UnderNotes[i] = s.Under[i]+o.Under[i], s.UnderNotes[i]+o.UnderNotes[i]
	}
}

// Limits lists the group sizes below which groups are counted in Sizes.
var Limits = [...]int64{2, 3, 5, 10, 20, 50, 100}

// Sizes returns the distribution of group sizes; call it after Settle.
func (p *Plan) Sizes() (s Sizes) {
	all, notes := p.groups.values()
	for group, x := range p.groups.each() {
		n := x.notes
		s.Notes += n
		for i, limit := range Limits {
			if n < limit {
				s.Under[i]++
				s.UnderNotes[i] += n
			}
		}
		if p.suppressed[group] {
			s.Suppressed += n
			continue
		}
		s.Groups++
		if l, t := x.diversity(all, notes); len(all) > 0 {
			if s.T = max(s.T, t); s.L == 0 || l < s.L {
				s.L = l
			}
		}
		if s.Smallest == 0 || x.n < s.Smallest {
			s.Smallest = x.n
		}
	}
	return s
}

package anonymity

import (
	"strconv"
	"strings"
	"time"

	"github.com/velum-health/velum/models/form/surrogate"
)

// Suppressed replaces a value that was removed completely.
const Suppressed = "*"

// A Hierarchy generalizes values level by level: level 0 is the value itself, and the last level is Suppressed for all.
// A value that a level cannot parse is Suppressed there.
type Hierarchy struct {
	Name, Does string
	levels     []func(value string) (string, bool) // between the first and the last
}

// sensitive is the name of the hierarchy of columns that groups are to differ in.
const sensitive = "sensitive"

// hierarchies is the table of them: to add one, write a line here.
var hierarchies = []Hierarchy{
	{"value", "the value, then nothing", nil},
	{"number", "classes of 5, 10, 20 and 50", []func(string) (string, bool){classOf(5), classOf(10), classOf(20), classOf(50)}},
	{"date", "month, quarter, year, five years", []func(string) (string, bool){months(1), months(3), months(12), months(60)}},
	{"place", "province, autonomous community, country", []func(string) (string, bool){province, region, country}},
	{sensitive, "no quasi-identifier: stays as it is, for anonymity.l and anonymity.t", nil},
	{"postal", "three digits, two digits: the province", []func(string) (string, bool){digits(3), digits(2)}},
}

// HierarchyNames returns the names of the hierarchies.
func HierarchyNames() (names []string) {
	for _, h := range hierarchies {
		names = append(names, h.Name)
	}
	return names
}

// HierarchyOf returns the hierarchy with that name; nil if there is none.
func HierarchyOf(name string) *Hierarchy {
	for i := range hierarchies {
		if hierarchies[i].Name == name {
			return &hierarchies[i]
		}
	}
	return nil
}

// top is the last level.
func (h *Hierarchy) top() int { return len(h.levels) + 1 }

// at returns what a value is at a level.
func (h *Hierarchy) at(value string, level int) string {
	switch {
	case level == 0 && value != "":
		return value
	case level == 0, level >= h.top():
		return Suppressed
	}
	if out, ok := h.levels[level-1](value); ok {
		return out
	}
	return Suppressed
}

// classOf returns the class of the given width that contains the first number of a value: 42 años, 40-44 años. A limit,
// as in [AGE > 89], is a class of its own.
func classOf(width int) func(string) (string, bool) {
	return func(value string) (string, bool) {
		i := strings.IndexAny(value, "0123456789")
		if i < 0 {
			return "", false
		}
		j := i
		for j < len(value) && value[j] >= '0' && value[j] <= '9' {
			j++
		}
		n, err := strconv.Atoi(value[i:j])
		if err != nil {
			return "", false
		}
		if strings.Contains(value[:i], ">") {
			return ">" + value[i:j], true
		}
		low := n / width * width
		return strconv.Itoa(low) + "-" + strconv.Itoa(low+width-1), true
	}
}

// months returns the first month of the period of that many months that contains a date.
func months(width int) func(string) (string, bool) {
	return func(value string) (string, bool) {
		t, err := time.Parse(time.DateOnly, value[:min(len(value), len(time.DateOnly))])
		if err != nil {
			for _, form := range []string{"2006-01", "2006"} {
				if t, err = time.Parse(form, value); err == nil {
					break
				}
			}
			if err != nil {
				return "", false
			}
		}
		if width >= 12 {
			years := width / 12
			return strconv.Itoa(t.Year() / years * years), true
		}
		first := (int(t.Month())-1)/width*width + 1
		return t.Format("2006-") + strconv.Itoa(first/10) + strconv.Itoa(first%10), true
	}
}

func digits(n int) func(string) (string, bool) {
	return func(value string) (string, bool) {
		if len(value) != 5 || strings.Trim(value, "0123456789*") != "" || strings.Contains(value[:n], "*") {
			return "", false
		}
		return value[:n] + strings.Repeat("*", 5-n), true
	}
}

func province(value string) (string, bool) {
	if name, ok := surrogate.Province([]byte(value)); ok {
		return name, true
	}
	return region(value)
}

func region(value string) (string, bool) {
	name, ok := surrogate.Region([]byte(value))
	if ok && name == "España" { // it is one
		return value, true
	}
	return name, ok
}

func country(value string) (string, bool) {
	_, ok := surrogate.Region([]byte(value))
	return "España", ok
}

// Forms returns all generalizations of a value, at any level of any hierarchy. An attacker who knows the value compares
// these with an extract.
func Forms(value string) map[string]bool {
	forms := map[string]bool{}
	for i := range hierarchies {
		general := value
		for level := range hierarchies[i].top() {
			general = hierarchies[i].at(general, level)
			forms[general] = true
		}
	}
	return forms
}

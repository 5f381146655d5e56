package patterns

// Days and months that stand without anything else: "el día 20", "a principios
// de enero".

// dayAlone reads the day of "el día 20", "hasta el día 3" and "los días 13 y
// 14". Days of a treatment or cycle are counted and not dates: "el día 14 del
// ciclo", "día +3", "al día 2 comp".
func (s *scan) dayAlone(n *num) {
	start, e := s.near(n.start)
	if b := s.spacesBefore(n.start); s.byteAt(b-1) == ':' { // DIA: 13
		start, e = s.near(b - 1)
	}
	if n.glued || n.inner || e.roles&days == 0 && !e.is("el") {
		return
	}
	several := e.is("dias") || e.is("dies")
	end, last := n.end, s.value(n.start, n.end)
	if next := s.nextDay(end); next > 0 && several {
		if k := s.digits(next); k-next <= 2 {
			end, last = k, s.value(next, k)
		}
	}
	if d := s.value(n.start, n.end); d < 1 || d > 31 || last > 31 || !s.countsNothing(end) {
		return
	}
	w, before := s.near(start)
	dose := s.byteAt(s.spacesBefore(w) - 1) // 50 mg/m2 el día 8
	switch {
	case e.is("el"), several && end == n.end, s.value(n.start, n.end) == 1, isDigit(dose) || dose == ')':
		s.hint(n.start, end)
	case before.is("el") || before.is("del") || before.is("los") || before.is("els") || before.roles&lately != 0:
		s.addDate(n.start, end, 0.5)
	default:
		s.hint(n.start, end)
	}
}

// countsNothing tells whether a number may end at j and what follows does not
// make it an amount, an ordinal or a day of something.
func (s *scan) countsNothing(j int) bool {
	if !s.stops(j) || s.letterAt(j) || s.measured(j) || s.ordinal(j) > j {
		return false
	}
	p := s.spaces(j)
	switch b := s.byteAt(p); {
	case b == '+' || b == '%' || b == '/' || b == 'x' || b == 'X':
		return false
	case s.byteAt(p) == ':' && isDigit(s.byteAt(s.spaces(p+1))): // a time of day
		return false
	}
	end, e := s.wordFrom(p)
	if e.roles&(days|weeks|months|years|unit|lasted) != 0 && !e.is("hasta") {
		return false
	}
	if end-p >= 4 && s.starts(p, "post") {
		return false
	}
	return !e.is("de") && !e.is("del") && !e.is("d")
}

// starts tells whether the text at p begins with small letters, in any case.
func (s *scan) starts(p int, name string) bool {
	for k := range len(name) {
		if s.byteAt(p+k)|0x20 != name[k] {
			return false
		}
	}
	return true
}

// monthAlone finds a month that stands without digits: behind a word of time
// ("en octubre", "a finales de mayo", "el mes de abril") or where its name has
// no other meaning.
func (s *scan) monthAlone(start, end int, e *meaning) {
	if e.roles&shortName != 0 || s.letterAt(end) {
		return
	}
	if q, _ := s.across(end); isDigit(s.byteAt(s.apostrophe(q))) {
		return // the number sees to it
	}
	w, lead := s.near(start)
	if s.byteAt(start-1) == '\'' { // d'octubre, a l'abril
		w, lead = s.wordUpTo(start - 1)
		if lead.is("l") {
			w, lead = s.near(w)
		}
	}
	if lead.roles&monthOf != 0 && lead.roles&intoDate == 0 {
		w, lead = s.near(w)
		if lead.roles&partOf == 0 && !lead.is("mes") {
			lead = &unknown
			if isDigit(s.byteAt(s.spacesBefore(w) - 1)) {
				return
			}
		}
	}
	switch {
	case lead.roles&(atMonth|partOf|lately) != 0 || lead.is("mes"), (lead.is("a") || lead.is("al") || lead.is("pel")) && e.roles&alsoWord == 0:
		s.add(start, end, date, 0.5, false)
	case e.roles&(alsoWord|english) == 0 && s.byteAt(s.spacesBefore(start)-1) != '.':
		s.hint(start, end)
	}
}

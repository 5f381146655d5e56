package dates

import (
	"bytes"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/pipeline"
)

// Find is the place of a date in a note. Its borders follow velum's annotation guide for short notes: a weekday beside
// the day belongs to the date; articles, "año" and "finales de" do not; a range is two dates; a list of days with a
// common month is one date.
type Find struct {
	Start, End int
	Score      float32 // pipeline.HintScore if it could as well be a dose, a score or a blood pressure
	Full       bool    // day, month and a year of four digits: no other number begins within
}

// Finder finds the dates in notes with the grammar of [Parser]. The score of a match falls with the number of other
// meanings that its form could have: a date with a four-digit year is hardly anything else, "3/10" counts as a date
// only after "el día". The forms are those of VIGI tables 4 and 5, day first. A Finder must be used by one goroutine.
type Finder struct {
	Parser
	question
	Starts cut.Starts // of the text that was last looked at
	finds  []Find
	done   int // end of the last date found
	year   int // where the last year alone ends
}

// openers may begin a date.
const openers = number | month | season | first | numeral

// Sizes of the window in which dates are parsed: maxWindow items at once, and lookBack bytes before the first item that
// may begin a date.
const (
	maxWindow = 110
	lookBack  = 40
	idle      = 5 // items without an opener behind which a window ends
)

// Find appends the dates in text, sorted by their ends.
func (f *Finder) Find(dst []Find, text []byte) []Find {
	f.Text, f.language, f.finding, f.finds, f.done, f.year = text, pipeline.Spanish, true, dst, -1, -1
	f.Starts = f.Starts.Of(text)
	starts := f.Starts
	for at := 0; at < len(text); {
		switch b := text[at]; {
		case cut.IsDigit(b):
			if end := f.Digits(at); f.plausible(at, end) {
				at = f.window(at)
			} else {
				at = end
			}
		case opens.Has(b, f.At(at+1), f.At(at+2)):
			if end, kinds := f.wordAt(at); kinds&openers != 0 {
				at = f.window(at)
			} else {
				at = max(end, at+1)
			}
		default:
			at = starts.Behind(at)
		}
	}
	dst, f.finds, f.finding = f.finds, nil, false
	return dst
}

// plausible reports whether the digits text[i:j] may belong to a date, judged by the word or sign on either side. Most
// numbers in notes are doses and measurements.
func (f *Finder) plausible(i, j int) bool {
	k := f.Spaces(j)
	switch b := f.At(k); b {
	case '/', '-', '\\', 0xE2:
		n := f.Spaces(k + max(f.Dash(k), 1))
		_, kinds := f.wordAt(n)
		if j < i+3 && (f.Digit(n) || kinds&(month|particle|yearWord) != 0) || f.Digit(n) && f.Value(n, min(f.Digits(n), n+2)) <= 12 {
			return true
		}
	case '.', ',':
		if n := f.Digits(k + 1); n > k+1 && f.At(n) == b || j == i+2 && n == k+3 || j == i+1 && n == k+4 || bytes.IndexByte([]byte("IVX"), f.At(k+1)) >= 0 {
			return true
		}
	case 'd', 'D', 'y', 'i', 'e', 'a':
		end, kinds := f.wordAt(k)
		if kinds&(month|particle|ofTime) != 0 || kinds&(conn|until|article|ordinal) != 0 && f.Digit(f.Spaces(end)) {
			return true
		}
	}
	p := f.SpacesBefore(i)
	if f.At(p-1) == '\'' {
		p = f.SpacesBefore(p - 1)
	}
	start, plain := f.WordStart(p)
	e := known.Word(f.Text, start, p, plain)
	w := j - i // of a year, 120314, 12032014
	return w > 3 || f.Digit(k) || e != nil && e.kinds&beforeDays != 0
}

// wordAt returns the end of the word at i, and what it can be.
func (f *Finder) wordAt(i int) (end int, kinds kind) {
	end, plain := f.wordEnd(i)
	if e := known.Word(f.Text, i, end, plain); e != nil {
		kinds = e.kinds
	}
	return end, kinds
}

// window cuts the items around a digit, or a word that begins as the name of a month, at
// trigger, reads their dates and returns where to look on.
func (f *Finder) window(trigger int) (at int) {
	at = max(trigger-lookBack, 0)
	if nl := bytes.LastIndexByte(f.Text[at:trigger], '\n'); nl >= 0 {
		at += nl + 1
	} else if at > 0 {
		at += bytes.IndexByte(f.Text[at:trigger], ' ') + 1
	}
	f.items = f.items[:0]
	first, last := 0, maxWindow
	for at < len(f.Text) && f.Text[at] != '\n' && len(f.items) < maxWindow && len(f.items)-last <= idle {
		if at <= trigger {
			first = len(f.items)
		}
		at, _ = f.next(at)
		switch it := f.at(len(f.items) - 1); {
		case at <= trigger:
		case it.is(openers):
			last = len(f.items)
		case last == maxWindow:
			return at
		}
	}
	stop := len(f.items)
	if stop >= maxWindow {
		stop -= 20
		at = f.items[stop].start
	}
	for i := max(first-4, 0); i < stop; { // veinticinco de diciembre
		i = max(f.read(i), i+1)
	}
	return max(at, f.done, trigger+1)
}

// inDates are the kinds of item that may stand between the parts of a date.
const inDates = number | month | sign | particle | yearWord | ordinal

// beforeDays are the kinds of word that may stand before a day.
const beforeDays = speaks | weekday | definite | yearWord | inTime | ofTime

// read reads the date that begins at item i and returns the item behind it, 0
// if there is none.
func (f *Finder) read(i int) int {
	it := &f.items[i]
	if !it.is(openers) || it.start < f.done {
		return 0
	}
	inner := f.inner(i)
	from := 0
	if it.is(number) && f.at(i+1).kinds&inDates == 0 { // most: nothing of a date follows
		from = len(readings) - bareReadings
	}
	for _, r := range readings[from:] {
		f.dates = append(f.dates[:0], noDate)
		d := &f.dates[0]
		next := r(&f.Parser, d, i)
		if next <= i || f.apart(i, next) || inner && !f.lastOfList(d, i) {
			continue
		}
		if score, end := f.judge(d, i, next); score > 0 {
			return f.keep(d, i, end, score)
		}
		if d.shape == triple {
			break
		}
	}
	if inner {
		return 0
	}
	return f.slip(i)
}

// lastOfList tells whether a date that begins with an inner number can be the
// last of days that share its month: 15-16 de abril, 12,13,14/03/2012.
func (f *Finder) lastOfList(d *date, i int) bool {
	by := f.items[i-1].value
	if p := &f.items[i-2]; by != '-' && by != ',' && by != '/' || p.value > 31 {
		return false
	}
	return d.shape == triple && d.by != by || d.month != none
}

// inner reports whether the number at item i continues another number: 1.234, 10:30. A number behind a date that was
// found continues a list and is not inner: 12/03-15/03.
func (f *Finder) inner(i int) bool {
	if i < 2 || !f.items[i].is(number) || f.items[i].gap > 0 || f.items[i-1].gap > 0 {
		return false
	}
	p := &f.items[i-2]
	if p.sure && f.items[i-1].value == '-' { // 2008-2009
		return false
	}
	return (p.is(number | clock)) && p.end != f.done && bytes.IndexByte([]byte(".,/-:"), byte(f.items[i-1].value)) >= 0
}

// apart reports whether two neighbours among items i to j are too far from each other for one date.
func (f *Finder) apart(i, j int) bool {
	for k := i + 1; k < j; k++ {
		if f.items[k].gap > 2 {
			return true
		}
	}
	return false
}

// keep adds the date of items i to end, with its weekday and the days that
// share its month, and returns end.
func (f *Finder) keep(d *date, i, end int, score float32) int {
	hint := score == pipeline.HintScore
	start := i
	full := !hint && d.shape == triple && (f.items[d.a].sure || f.items[d.c].sure) || !hint && d.day != none && d.year != none && f.items[d.year].sure
	if !hint {
		f.done = f.items[end-1].end
		if d.shape != named || d.month != none && d.day != none {
			start = f.sharing(d, i)
		}
		if by := f.at(i - 1); d.year == i && by.by("'") { // '12
			start--
		}
	}
	stop := end
	if !hint && (d.shape != named || d.day != none) {
		start -= int(f.decide(d, start, end, "weekdayBefore"))
		stop += int(f.decide(d, start, end, "weekdayBehind"))
	}
	f.add(start, stop, score, full)
	return stop
}

func (f *Finder) add(i, j int, score float32, full bool) {
	f.finds = append(f.finds, Find{f.items[i].start, f.items[j-1].end, score, full})
}

// sharing goes back from item i over the days that share the month of its date:
// "12, 13 y 14 de marzo", "12,13,14/03/2012". The first day of a range is a date
// of its own: "del 22 al 23/12/2019".
func (f *Finder) sharing(d *date, i int) (start int) {
	listed := false
	for i >= 2 {
		k := i - 1
		if f.items[k].is(article) && k >= 2 && !f.items[k].is(until) {
			k-- // y el 13
		}
		j := &f.items[k]
		day := &f.items[k-1]
		if !f.dayBefore(k-1) || day.end <= f.doneBefore() {
			return i
		}
		tight := f.items[k+1].gap == 0
		switch {
		case j.is(until), j.by("-") && !tight:
			if lead, _ := f.lead(k - 1); d.shape == named || lead.is(article|speaks) {
				f.add(k-1, k, 0.6, false)
			}
			return i
		case j.is(conn):
			if k < i-1 && f.ahead(k-1).is(ofTime) { // entre el 3 y el 7
				f.add(k-1, k, 0.6, false)
				return i
			}
			listed = true
		case tight && j.by(",-/"), listed && j.by(","):
		default:
			return i
		}
		i = k - 1
	}
	return i
}

// doneBefore returns where the date before the current one ended.
func (f *Finder) doneBefore() int {
	if n := len(f.finds); n > 0 {
		return f.finds[n-1].End
	}
	return -1
}

// ahead returns the item before i, over an article.
func (f *Finder) ahead(i int) *item {
	if i--; f.at(i).is(article) {
		i--
	}
	return f.at(i)
}

// dayBefore tells whether item i is a number that can be a day and nothing else.
func (f *Finder) dayBefore(i int) bool {
	it := &f.items[i]
	inner := f.inner(i) && f.items[i-1].value != ',' && f.items[i-1].value != '-'
	return it.is(number) && it.value >= 1 && it.value <= 39 && !inner
}

// weekdayAt tells whether item k is a weekday before a day, also misspelt. Two
// letters, and names of other things, must be written as a beginning is: Dl.
func (f *Finder) weekdayAt(k int) bool {
	it := f.at(k)
	if it.is(weekday) {
		return !it.is(ambiguous) || it.width() > 2 && f.Text[it.start]-'A' < 26
	}
	if it.kinds != 0 || it.width() < 5 {
		return false
	}
	_, kinds := f.misspelt(f.Text[it.start:it.end])
	return kinds&weekday != 0
}

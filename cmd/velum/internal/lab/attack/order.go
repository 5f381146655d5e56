package attack

import (
	"context"
	"math/rand/v2"
	"slices"
)

// rowFigures counts the patients whose date offset the order of rows reveals.
type rowFigures struct {
	Patients int     `json:"patients"`
	Days     int     `json:"days"`  // that an offset may be beside the true one
	Found    int     `json:"found"` // patients whose offset is so near
	Guess    float64 `json:"guess"` // that would be if the rows were shuffled, the mean of many times
	Most     int     `json:"most"`  // the most of them
}

const (
	rowDays     = 3
	rowShuffles = 99 // so that one of a hundred archives in any order fails
)

// rowOrder is the attack by the order of rows. Many archives are sorted by date, and their range of dates is no secret:
// then row n of N was written at about n/N of the range, and the difference to the dates in a patient's notes is the
// offset. A permutation test (Fisher 1935) decides whether the order reveals anything.
var rowOrder = attack{"order", (*attacker).noDates, (*attacker).tryOrder}

func (a *attacker) tryOrder(ctx context.Context) (*finding, error) {
	p, err := a.planter(ctx)
	if err != nil {
		return nil, err
	}
	r := tryRows(p.dated(), rand.New(rand.NewPCG(a.Seed, 17)))
	powerless := r.Patients < rangeNeeds
	return judged(r, !powerless && r.Found > r.Most, powerless,
		"sort the rows of the archive by something that is no date, and give the months in one file, before they are masked",
		"give more patients whose notes are dated",
		"the order of rows leads to the offset of %d of %d patients, to %d days (%.1f if rows were shuffled)", r.Found, r.Patients, r.Days,
		r.Guess), nil
}

// datedRow is the patient of a row and its shifted date.
type datedRow struct {
	owner string
	day   int32
}

// dated returns the notes that have a day, in their order.
func (s *sample) dated() (rows []datedRow) {
	for i := range s.Notes.Len() {
		if day, ok := dayOf(s, i); ok {
			rows = append(rows, datedRow{s.Owner[i], day})
		}
	}
	return rows
}

// tryRows compares rows in their order with the same rows shuffled.
func tryRows(rows []datedRow, rng *rand.Rand) *rowFigures {
	r := &rowFigures{Days: rowDays}
	r.Found, r.Patients = nearRows(rows)
	rows = slices.Clone(rows)
	for range rowShuffles {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		n, _ := nearRows(rows)
		r.Guess, r.Most = r.Guess+float64(n)/rowShuffles, max(r.Most, n)
	}
	return r
}

// nearRows counts the patients whose notes, in the median, are within rowDays of the days that the positions of their
// rows suggest.
func nearRows(rows []datedRow) (found, patients int) {
	beside := map[string][]int32{}
	if len(rows) < 2 {
		return 0, 0
	}
	byDay := func(a, b datedRow) int { return int(a.day) - int(b.day) }
	from, to := slices.MinFunc(rows, byDay).day, slices.MaxFunc(rows, byDay).day
	for i, row := range rows {
		at := int64(to-from) * int64(i) / int64(len(rows)-1)
		beside[row.owner] = append(beside[row.owner], row.day-from-int32(at))
	}
	for _, days := range beside {
		slices.Sort(days)
		if m := days[len(days)/2]; -rowDays <= m && m <= rowDays {
			found++
		}
	}
	return found, len(beside)
}

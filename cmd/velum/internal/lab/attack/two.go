package attack

import (
	"bytes"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/release/anonymity"
	"github.com/velum-health/velum/models/word/gazetteer"
)

// twoFigures holds what two extracts of an archive reveal together that one alone does not.
type twoFigures struct {
	ByID    int     `json:"joined_by_id"`
	ByText  int     `json:"joined_by_text"` // by the words that are no names, where ids are others
	Names   int     `json:"names"`          // words of joined notes that look like names
	Changed int     `json:"changed"`        // of these, that the other extract has not: they were put there
	Told    float64 `json:"told"`           // share of what is known to be no leftover
	Most    float64 `json:"most"`           // that is allowed
	Classes int     `json:"classes,omitempty"`
	Under   int     `json:"classes_under_k,omitempty"` // in the join of both tables of columns
	K       int     `json:"k,omitempty"`
}

const (
	twoMost  = 0.05 // of the leftovers that two extracts may give away beyond one
	twoNeeds = 60   // names without a change show less than one in twenty at 95 %
)

func (a *attacker) noOther() string {
	if a.With == "" {
		return "no other extract is given (--with)"
	}
	return ""
}

// twoExtracts is the attack that compares two extracts of the same archive: the texts of their common notes, and their
// columns. A missed name is equal in both. If surrogates are drawn again in the other extract, all other names differ,
// and the missed ones remain: the share of names that differ is the share of missed names that are found.
var twoExtracts = attack{"two", (*attacker).noOther, (*attacker).tryTwo}

func (a *attacker) tryTwo(ctx context.Context) (*finding, error) {
	r := &twoFigures{Most: twoMost}
	here, err := a.readExtract(ctx, a.Dir)
	if err != nil {
		return nil, err
	}
	there, err := a.readExtract(ctx, a.With)
	if err != nil {
		return nil, err
	}
	byText := map[uint64][]byte{}
	for _, t := range there.texts {
		byText[frame(t)] = t
	}
	known := gazetteer.Default()
	for id, t := range here.texts {
		other, joined := there.texts[id]
		if joined {
			r.ByID++
		} else if other, joined = byText[frame(t)]; joined {
			r.ByText++
		}
		if joined {
			r.compare(known, t, other)
		}
	}
	r.join(here, there, max(a.Link.AtLeast, a.config.Anonymity.K))
	r.Told = float64(r.Changed) / float64(max(r.Names, 1))
	return judged(r, r.Told > r.Most || r.Under > 0, r.Names < twoNeeds,
		"give one of them to nobody who has the other; or make both with the same key, purpose, policy and spans",
		"give extracts of the same notes: too few names stand in both",
		"%d notes are in both: %.1f %% of what looks like a name is known to be put there, and what is left is real; %d of %d classes of columns under %d",
		r.ByID+r.ByText, 100*r.Told, r.Under, r.Classes, r.K), nil
}

// extract holds the parts of one extract that are read: texts and columns of notes by a hash of their ids.
type extract struct {
	texts   map[uint64][]byte
	columns map[uint64]string
}

// readExtract reads the wanted number of notes, the same of both extracts: those with the lowest hashes of ids. Ids
// that occur twice are ignored.
func (a *attacker) readExtract(ctx context.Context, dir string) (*extract, error) {
	e := &extract{texts: map[uint64][]byte{}, columns: map[uint64]string{}}
	most := uint64(math.MaxUint64)
	err := eachRow(ctx, dir, "masked", func(id string, row map[string]string) error {
		h := xxh3.HashString(id)
		if h > most {
			return nil
		}
		e.texts[h] = []byte(row["text"])
		if len(e.texts) > 2*a.Notes {
			most /= 2
			maps.DeleteFunc(e.texts, func(h uint64, _ []byte) bool { return h > most })
		}
		return nil
	})
	if err == nil && len(e.texts) == 0 {
		err = exit.Misconfiguredf("name the output of velum run or velum mask", "%s has no masked notes", dir)
	}
	if err != nil {
		return nil, err
	}
	return e, eachRow(ctx, dir, "quasi", func(id string, row map[string]string) error {
		var values []string
		for name, v := range quasiOf(row) {
			values = append(values, name+"="+v)
		}
		slices.Sort(values)
		e.columns[xxh3.HashString(id)] = strings.Join(values, "\x00")
		return nil
	})
}

// frame is a hash of the words of a note that masking does not change: those without capitals and digits.
func frame(masked []byte) uint64 {
	var words [][]byte
	for w := range bytes.FieldsSeq(masked) {
		if bytes.ContainsAny(w, "0123456789[]") || !bytes.Equal(w, bytes.ToLower(w)) {
			continue
		}
		words = append(words, w)
	}
	return xxh3.Hash(bytes.Join(words, []byte{' '}))
}

// compare counts the words of a note that look like names, and those of them that the
// same note has not in the other extract.
func (t *twoFigures) compare(known *gazetteer.Gazetteer, here, there []byte) {
	left := map[string]int{}
	for w := range bytes.FieldsFuncSeq(there, noLetter) {
		left[string(w)]++
	}
	for w := range bytes.FieldsFuncSeq(here, noLetter) {
		class := known.Classes(w)
		if class&(gazetteer.GivenName|gazetteer.Surname) == 0 || class&gazetteer.CommonWord != 0 && bytes.Equal(w, bytes.ToLower(w)) {
			continue
		}
		t.Names++
		if left[string(w)]--; left[string(w)] < 0 {
			t.Changed++
		}
	}
}

func noLetter(c rune) bool { return strings.ContainsRune(" \t\n.,;:()[]/\"!?", c) }

// join counts the classes of notes that agree in the columns of both extracts.
func (t *twoFigures) join(here, there *extract, k int) {
	classes := map[string]int{}
	for id, values := range here.columns {
		if other, both := there.columns[id]; both {
			classes[values+"\x01"+other]++
		}
	}
	t.K, t.Classes = max(k, 2), len(classes)
	for key, n := range classes {
		tells := slices.ContainsFunc(strings.FieldsFunc(key, func(c rune) bool { return c < 2 }),
			func(v string) bool { return !strings.HasSuffix(v, "="+anonymity.Suppressed) })
		if tells && n < t.K {
			t.Under++
		}
	}
}

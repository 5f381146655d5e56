package choose_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/choose"
)

// questionsOf makes n questions of three classes; a tenth hold class 2, and
// four templates make most of them.
func questionsOf(n int, seed uint64) []choose.Question {
	r := rand.New(rand.NewPCG(seed, 7))
	list := make([]choose.Question, n)
	for i := range list {
		q := &list[i]
		q.Row, q.Hash, q.Confidence = int64(i), r.Uint64(), choose.Confidence(r.IntN(10_001))
		q.Sketch, q.Shape = r.Uint64(), r.Uint64N(4)
		class := r.IntN(2)
		if r.IntN(10) == 0 {
			class = 2
		}
		q.Spans[class] = 1
	}
	return list
}

func TestAsk(t *testing.T) {
	list := questionsOf(2000, 1)
	a := choose.Asking{N: 100, Random: 0.1, Seed: 1, Classes: []float64{0.6, 0.395, 0.005}}
	got := choose.Ask(list, a)
	why := map[choose.Why]int{}
	for _, q := range got {
		why[q.Why]++
	}
	// class 2 is no main class: 90/2/2 places for each of the others
	want := map[choose.Why]int{choose.AskedByChance: 10, choose.AskedForClass: 44, choose.AskedUnsure: 46}
	if diff := cmp.Diff(want, why); diff != "" {
		t.Error(diff)
	}
	mixed := append([]choose.Question(nil), list...)
	rand.New(rand.NewPCG(2, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	if diff := cmp.Diff(got, choose.Ask(mixed, a)); diff != "" {
		t.Errorf("the order of arrival matters: %s", diff)
	}
	for _, q := range got {
		if q.Why != choose.AskedByChance && q.Confidence > 3000 {
			t.Errorf("row %d is asked about with confidence %.2f", q.Row, q.Confidence.Float())
		}
	}
	other := choose.Ask(list, choose.Asking{N: 100, Random: 1, Seed: 2})
	if cmp.Equal(other, choose.Ask(list, choose.Asking{N: 100, Random: 1, Seed: 3})) {
		t.Error("two seeds draw the same notes")
	}
}

// A rare class that is one of the main ones is always there, nearly equal
// notes are not, and a template does not take all places.
func TestAskDiverse(t *testing.T) {
	list := questionsOf(500, 3)
	for i := range list {
		list[i].Spans = [choose.MaxClasses]uint8{1}
	}
	list[499].Spans, list[499].Confidence = [choose.MaxClasses]uint8{0, 1}, 10_000
	for i := range 300 { // one template, with other numbers, all very unsure
		list[i].Sketch, list[i].Confidence, list[i].Shape = 0xFF00FF00FF00FF00^1<<(i%8), choose.Confidence(i%5), 99
	}
	got := choose.Ask(list, choose.Asking{N: 20, Classes: []float64{0.9, 0.1}})
	template, class := 0, 0
	for _, q := range got {
		if q.Row < 300 {
			template++
		}
		if q.Why == choose.AskedForClass && q.Class == 1 {
			class++
		}
	}
	if len(got) != 20 || template != 1 || class != 1 {
		t.Errorf("%d notes, %d of one template, %d of the rare class", len(got), template, class)
	}
	if all := choose.Ask(list[300:], choose.Asking{N: 1000, Random: 0.5}); len(all) != 200 {
		t.Errorf("%d of 200 when all are wanted", len(all))
	}
	if none := choose.Ask(nil, choose.Asking{N: 5}); len(none) != 0 {
		t.Error("notes out of nothing")
	}
}

// Notes that differ in numbers and case have the same sketch, others do not;
// the shape is that of the tags.
func TestQuestion(t *testing.T) {
	person, _ := pipeline.ParseCategory("PERSON")
	set := &pipeline.TagSet{Categories: []pipeline.Category{person}}
	var q choose.Questioner
	sketch := func(text string) choose.Question {
		b := new(pipeline.Batch)
		b.TagSet = set
		b.ID.Append([]byte("7"))
		b.Text.Append([]byte(text))
		at := int32(0)
		for _, w := range strings.Fields(text) {
			b.Tokens.Items = append(b.Tokens.Items, pipeline.Token{Start: at, End: at + int32(len(w))})
			at += int32(len(w)) + 1
		}
		b.Tokens.End()
		b.Tags = make([]pipeline.Tag, len(b.Tokens.Items))
		if len(b.Tags) > 5 {
			b.Tags[5] = 1
		}
		b.Conf = []float32{0.5}
		one, err := q.Question(b, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	same, numbers := sketch("control el 12 de maig a les 10"), sketch("Control el 31 de maig a les 17")
	if same.Sketch != numbers.Sketch || same.Shape != numbers.Shape {
		t.Error("numbers and case make two kinds of one template")
	}
	other := sketch("refiere dolor torácico opresivo desde anoche")
	if other.Sketch == same.Sketch || other.Shape == sketch("refiere dolor").Shape {
		t.Error("other notes are taken for the same")
	}
}

// Long notes, all of them less sure than any short one, do not take the places of these.
func TestAskByLength(t *testing.T) {
	list := questionsOf(1000, 5)
	for i := range list {
		list[i].Tokens, list[i].Confidence, list[i].Shape = 20, choose.Confidence(5000+i), uint64(i)
		if i%10 == 0 {
			list[i].Tokens, list[i].Confidence = 200, choose.Confidence(i)
		}
	}
	long := 0
	for _, q := range choose.Ask(list, choose.Asking{N: 100}) {
		if q.Row%10 == 0 {
			long++
		}
	}
	if long < 5 || long > 20 {
		t.Errorf("%d of 100 are long, as one note in ten is", long)
	}
}

// The places of a class go to notes in which much was found for their length, and of equal ones to the least sure.
func TestAskByDensity(t *testing.T) {
	list := questionsOf(400, 9)
	for i := range list {
		q := &list[i]
		q.Spans, q.Tokens, q.Confidence = [choose.MaxClasses]uint8{1}, 20, choose.Confidence(9000+i)
		if i%20 == 0 {
			q.Spans = [choose.MaxClasses]uint8{2, 1}
		}
		if i%20 == 1 { // as many in a note twenty times as long
			q.Spans, q.Tokens = [choose.MaxClasses]uint8{2, 1}, 400
		}
	}
	rows := map[int64]bool{}
	for _, q := range choose.Ask(list, choose.Asking{N: 20, Classes: []float64{1}}) {
		if q.Why == choose.AskedForClass {
			rows[q.Row] = true
		}
	}
	want := map[int64]bool{}
	for i := range int64(10) {
		want[20*i] = true
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

package teach

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/pipeline"
)

// classOfAge is what an extract has for an age (operator age of stages/mask): that it lies over a limit, or a class and the words
// behind it.
var classOfAge = regexp.MustCompile(`^(?:\[AGE > (\d+)\]|(\d+)-(\d+)(\D*))$`)

// Ages returns the step that writes an age where an extract has a class of ages, drawn from the class by the note's text: who
// learned from classes found no age that other notes write. Ages below two are months, as people write them.
//
//	in:  Text, Gold
//	out: Text, Gold
func Ages() pipeline.Step {
	return pipeline.Step{Name: "ages", New: func() func(*pipeline.Batch) error {
		return func(b *pipeline.Batch) error {
			for i := range b.Len() {
				text, spans := slices.Clone(b.Text.At(i)), slices.Clone(b.Gold.At(i))
				rng := rand.New(rand.NewPCG(xxh3.Hash(text), 0))
				if b.Reason[i] == pipeline.Sound {
					for _, s := range slices.Backward(spans) {
						text = writeAge(text, spans, s, rng)
					}
				}
				b.Masked.Append(text)
				b.Places.Append(spans...)
			}
			b.Text, b.Masked, b.Gold, b.Places = b.Masked, b.Text, b.Places, b.Gold
			return nil
		}
	}}
}

// writeAge writes an age in place of one of the spans, if a class stands there, and moves what ends behind.
func writeAge(text []byte, spans []pipeline.Span, s pipeline.Span, rng *rand.Rand) []byte {
	class := classOfAge.FindSubmatch(text[s.Start:s.End])
	if s.Category.Kind() != pipeline.AgeKind || class == nil {
		return text
	}
	now := drawAge(class, rng)
	for i := range spans {
		at := &spans[i]
		for _, end := range [...]*int32{&at.Start, &at.End} {
			if *end >= s.End {
				*end += int32(len(now)) - (s.End - s.Start)
			}
		}
	}
	return slices.Replace(text, int(s.Start), int(s.End), []byte(now)...)
}

// overLimit is how many years over the limit the oldest is.
const overLimit = 10

// Words behind the ages of which an extract has none: of those over the limit, and of those below two, in months.
var (
	ofOld   = [...]string{" años", " anys", "a", " a."}
	ofYoung = [...]string{" meses", " mesos"}
)

func drawAge(class [][]byte, rng *rand.Rand) string {
	number := func(k int) int { n, _ := strconv.Atoi(string(class[k])); return n } // no digits: 0
	low, high, words := number(2), number(3), string(class[4])
	if class[1] != nil {
		low, high, words = number(1)+1, number(1)+overLimit, ofOld[rng.IntN(len(ofOld))]
	}
	age := low + rng.IntN(max(high-low, 0)+1)
	if age < 2 {
		age, words = 1+rng.IntN(23), ofYoung[rng.IntN(len(ofYoung))]
	}
	return strconv.Itoa(age) + words
}

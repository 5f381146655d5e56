package teach

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/pipeline"
)

// classOfAge matches what stands for an age in an extract (operator age of stages/mask): [AGE > limit], or a class of
// years with the words behind it.
var classOfAge = regexp.MustCompile(`^(?:\[AGE > |(\d+)-)(\d+)(\D*)$`)

// Ages is the step that replaces age classes by single ages in notes from an extract, drawn from the class by the
// note's text. A model trained on classes would not find the ages in other notes. Spans are shifted accordingly.
//
//	in:  Text, Gold, Reason
//	out: Text, Gold
var Ages = pipeline.Step{Name: "ages", New: func() func(*pipeline.Batch) error {
	return func(b *pipeline.Batch) error {
		for i := range b.Len() {
			text, spans := string(b.Text.At(i)), slices.Clone(b.Gold.At(i))
			rng := rand.New(rand.NewPCG(xxh3.HashString(text), 0))
			for _, s := range slices.Backward(spans) {
				if s.Category.Kind() != pipeline.AgeKind || b.Reason[i] != pipeline.Sound {
					continue
				}
				was := text[s.Start:s.End]
				now := drawAge(was, rng)
				text = text[:s.Start] + now + text[s.End:]
				for k := range spans {
					for _, at := range [...]*int32{&spans[k].Start, &spans[k].End} {
						if *at >= s.End {
							*at += int32(len(now) - len(was))
						}
					}
				}
			}
			b.Masked.Append([]byte(text))
			b.Places.Append(spans...)
		}
		b.Text, b.Masked, b.Gold, b.Places = b.Masked, b.Text, b.Places, b.Gold
		return nil
	}
}}

// units are written behind ages for which the extract has no words: months for ages below two, years for those over the
// limit.
var units = [...]string{" meses", " mesos", " años", " anys", "a", " a."}

// drawAge returns an age of a class; what is no class, as it is.
func drawAge(was string, rng *rand.Rand) string {
	class := classOfAge.FindStringSubmatch(was)
	if class == nil {
		return was
	}
	high, _ := strconv.Atoi(class[2])
	low, err := strconv.Atoi(class[1])
	words := class[3]
	if err != nil { // over the limit, by up to ten years
		low, high, words = high+1, high+10, units[2+rng.IntN(4)]
	}
	age := low + rng.IntN(max(high-low, 0)+1)
	if age < 2 {
		age, words = 1+rng.IntN(23), units[rng.IntN(2)]
	}
	return strconv.Itoa(age) + words
}

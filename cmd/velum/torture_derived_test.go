package main

import (
	"fmt"
	"time"
)

// derived are extracts and attacks in the ways that verbs.go has not: values of
// other notes in two passes, k-anonymity and its table, known people, and findings
// of attacks, which are whole or not there.
var derived = []writer{
	{name: "mask shuffled", args: "mask --set mask.again=allow --tagged {}/out --in {}/in --out ext --model {}/m.velum --set key.file={}/key --set mask.operators=PERSON=shuffle,LOCATION=shuffle,AGE=age --k 2 --set read.keep=center,language --set anonymity.columns=center=value,language=value --set anonymity.text=AGE=number", grows: true, quick: true},
	{name: "mask known", args: "mask --set mask.again=allow --tagged {}/out --in {}/in --out ext --model {}/m.velum --policy research --recall 0 --set key.file={}/key --set read.columns.patient=patient_id --people {}/people.csv --exclude {}/objects.csv --set people.unmatched=warn", grows: true},
	{name: "run with surrogates", args: "run --in {}/in --out out --model {}/m.velum --policy research --recall 0 --set key.file={}/key --set read.columns.patient=patient_id --k 2 --set read.keep=center --set anonymity.columns=center=value", grows: true, quick: true},
}

// derive disturbs them as the other verbs that write.
func (t *torture) derive() (string, error) { return t.disturbed(derived) }

// doubles starts every derived extract twice at the same moment, or the second
// while the first works: one writer, and the files of an undisturbed one.
func (t *torture) doubles() (string, error) {
	if err := t.givenFiles(); err != nil {
		return "", err
	}
	extracts := derived[:3]
	whole := make([]*wholeWork, len(extracts))
	done, late := 0, 0
	for ; done < turns(50, 3); done++ {
		w := &extracts[done%len(extracts)]
		if whole[done%len(extracts)] == nil {
			var err error
			if whole[done%len(extracts)], err = t.wholeWork(w); err != nil {
				return "", fmt.Errorf("%s: %w", w.name, err)
			}
		}
		behind, err := t.doubled(w, whole[done%len(extracts)])
		if err != nil {
			return "", fmt.Errorf("%s, start %d: %w", w.name, done, err)
		}
		if behind {
			late++
		}
	}
	return fmt.Sprintf("%d double starts of %d extracts: %d refused with exit code 11 that names the other, %d came when all was done; the files of an undisturbed one", done, len(extracts), done-late, late), nil
}

// doubled does one double start.
func (t *torture) doubled(w *writer, whole *wholeWork) (behind bool, err error) {
	dir := t.path("verb")
	if _, err := t.begin(w, dir); err != nil {
		return false, err
	}
	after := time.Duration(0)
	if t.rng.IntN(2) == 0 {
		after = time.Duration(t.rng.Float64() * float64(whole.took))
	}
	if behind, err = together(w.command(t, dir), w.command(t, dir), after); err != nil {
		return false, err
	}
	return behind, t.same("double start", dir, whole.after)
}

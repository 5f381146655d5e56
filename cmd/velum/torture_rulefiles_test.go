package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/models/word/morph"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/tokenize"
)

// noteLimit is run.note_timeout as it ships: what a stage may take for a note.
const noteLimit = 30 * time.Second

// compileLimit is what a file of rules may take to compile, or to be refused.
const compileLimit = 5 * time.Second

// ruleWords are what rule files are made of, the sound and the other.
var ruleWords = strings.Fields(`version 1 words network limit 64 PERSON 0.9 1e9 -1 NaN -> / end begin skip peek any none first glued part:l|d part:| phrase:Municipality
	call:name call:loop form:de|la form:( match:/(a|b)*c/ match:/((((a*)*)*)*)*/ match:/(/ match:/.{1000}/ list:Surname known:GivenName list:Nothing cap !cap open close
	set:r=1 add:r is:r=1 below:r=3 set:r=128 lemma:ser pos:NOUN ! : | \ufeff é # "" name loop`)

// hostileRules are packs that try as much as they can from every token.
var hostileRules = []string{
	"version 1\nnetwork a PERSON 0.9 limit 64\n  begin any -> begin\n  begin any -> b\n  b any -> begin\n  b any -> b\n  b none peek -> end\n",
	"version 1\nnetwork loop limit 64\n  x any -> x\n  x any -> y\n  y skip -> end\nnetwork a PERSON 0.9 limit 64\n  begin call:loop -> m\n  m call:loop -> n\n  n call:loop -> o\n  o form:zzz -> end\n",
	"version 1\nnetwork r limit 64\n  x skip -> y\n  y call:r -> z\n  y any -> z\n  z skip -> end\nnetwork a PERSON 0.9 limit 64\n  begin call:r -> m\n  m call:r -> end\n",
	"version 1\nnetwork a DNI 0.9 limit 64\n  begin text:/(a.*b|a+c|a)/ -> begin\n  begin text:/(x+x+)+y/ -> begin\n  begin text:/(e.{0,250}q|e)/ check:luhn -> end\n  begin any -> end\n",
	"version 1\nnetwork a DNI 0.9\n  begin text:/(.{1,250}zz|.)/ -> m\n  begin text:/(\\pL|\\d|[ .,])/ -> m\n  m text:/(.{1,250}zz|.)/ -> end\n",
}

// rules compiles hostile files of rules, runs those that are none over texts, and looks for places in notes of a megabyte.
func (t *torture) rules() (string, error) {
	shipped, err := configs.Pack(configs.ShippedPack)
	if err != nil {
		return "", err
	}
	m, err := morph.Open(embedded.Morph())
	if err != nil {
		return "", err
	}
	h := &hostile{torture: t, resources: rules.Resources{Morph: m}, sound: []string{string(shipped)}}
	h.sound = append(h.sound, hostileRules...)
	files := turns(10_000, 400)
	for i := range files {
		if err := h.file(i); err != nil {
			return "", fmt.Errorf("file %d: %w", i, err)
		}
	}
	notes := turns(200, 4)
	for i := range notes {
		if err := h.note(i); err != nil {
			return "", fmt.Errorf("note %d: %w", i, err)
		}
	}
	return fmt.Sprintf("%d files, %d of them sound; slowest to compile %.2f s, to run over 2 kB %.2f s; %d notes of 1 MB, slowest %.1f s of processor time, %d set aside",
		files, h.compiled, h.compile.Seconds(), h.run.Seconds(), notes, h.slowest.Seconds(), h.aside), nil
}

type hostile struct {
	*torture
	resources    rules.Resources
	sound        []string
	compiled     int
	aside        int
	compile, run time.Duration
	slowest      time.Duration
}

// spent is the processor time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// file makes one file of a sound one, compiles it and runs it.
func (h *hostile) file(i int) error {
	began := spent()
	p, err := rules.Compile(mutated(h.rng, h.sound[h.rng.IntN(len(h.sound))]), h.resources)
	if _, ok := errors.AsType[*rules.SyntaxError](err); err != nil && !ok {
		return fmt.Errorf("an error without a place: %w", err)
	}
	if h.compile = max(h.compile, spent()-began); h.compile > compileLimit {
		return fmt.Errorf("%v to compile", h.compile)
	}
	if err != nil {
		return nil
	}
	h.compiled++
	text := hostileText(h.rng, 2000)
	tokens := tokensOf(text)
	began = spent()
	p.NewMachine().Spans(nil, text, tokens)
	h.run = max(h.run, spent()-began)
	return nil
}

// note looks for places in a note of a megabyte.
func (h *hostile) note(i int) error {
	text := hostileText(h.rng, 1<<20)
	tokens := tokensOf(text)
	k := 0 // the pack that ships, and on every fifth note one that does its worst
	if i%5 == 0 {
		k = 1 + i/5%(len(h.sound)-1)
	}
	p, err := rules.Compile(h.sound[k], h.resources)
	if err != nil {
		return err
	}
	machine := p.NewMachine()
	began := spent()
	machine.Spans(nil, text, tokens)
	took := spent() - began
	if machine.Costly() {
		h.aside++
	}
	if h.slowest = max(h.slowest, took); took > noteLimit {
		return fmt.Errorf("rules %d took %v", k, took)
	}
	return nil
}

// mutated changes a file in some places: lines and words go, come twice, change
// places or become others; bytes become others.
func mutated(rng *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for range 1 + rng.IntN(2) {
		i, j := rng.IntN(len(lines)), rng.IntN(len(lines))
		switch rng.IntN(7) {
		case 0:
			lines[i] = ""
		case 1:
			lines[i] += strings.Repeat(lines[j], 1+rng.IntN(50))
		case 2:
			lines[i], lines[j] = lines[j], lines[i]
		case 3:
			words := strings.Split(lines[i], " ")
			words[rng.IntN(len(words))] = ruleWords[rng.IntN(len(ruleWords))]
			lines[i] = strings.Join(words, " ")
		case 4:
			words := strings.Split(lines[i], " ")
			lines[i] = strings.Join(slices.Insert(words, rng.IntN(len(words)), ruleWords[rng.IntN(len(ruleWords))]), " ")
		case 5:
			if b := []byte(lines[i]); len(b) > 0 {
				b[rng.IntN(len(b))] = byte(rng.IntN(256))
				lines[i] = string(b)
			}
		case 6:
			lines[i] = strings.Repeat("[{(|"[rng.IntN(4):][:1], 1+rng.IntN(5000)) + lines[i]
		}
	}
	return strings.Join(lines, "")
}

// textWords begin many networks, or go on in them.
var textWords = strings.Fields(`dra Dra. Sr. de la del en a Maria Joan Puig Serra García Hospital vive en Reus , . - / ' ( ) : 28041 Núria lAnna d'en hija HTA x aaaa ax
	Santa Coloma de Gramenet y i 12345678Z la la la`)

// hostileText is words of one kind or of many, with few line ends.
func hostileText(rng *rand.Rand, size int) []byte {
	words := textWords
	switch rng.IntN(4) {
	case 0:
		words = textWords[rng.IntN(len(textWords)):][:1]
	case 1:
		words = []string{strings.Repeat("a", 1+rng.IntN(size))}
	}
	var b []byte
	for len(b) < size {
		b = append(b, words[rng.IntN(len(words))]...)
		if rng.IntN(500) == 0 {
			b = append(b, '\n')
		} else {
			b = append(b, ' ')
		}
	}
	for b = b[:size]; len(b) > 0 && b[len(b)-1] >= 0x80; {
		b = b[:len(b)-1] // no half character
	}
	return b
}

// tokensOf cuts a text as a run does.
func tokensOf(text []byte) []pipeline.Token {
	b := new(pipeline.Batch)
	b.Reset()
	b.ID.Append(nil)
	b.Text.Append(text)
	b.Reason = append(b.Reason, pipeline.Sound)
	step := tokenize.New(tokenize.Options{MaxBytes: 2 << 20, MaxTokens: 1 << 21, Workers: 1})
	if err := step.New()(b); err != nil {
		panic(err)
	}
	return b.Tokens.At(0)
}

package language_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"

	"github.com/velum-health/velum/models/word/language"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/tokenize"
)

// languageWindows is how many pieces of sentences the weights are fitted to.
const languageWindows = 1_500_000

var languageCodes = [3]string{"es", "ca", "en"}

var languages = [3]pipeline.Language{pipeline.Spanish, pipeline.Catalan, pipeline.English}

// sentences are those of each language, as lists of words.
type sentences [3][][]string

// Files of sentences, one a line, plain or gzipped, each named with its language; and whether to write weights.bin and words.bin
// of them. Both are part of the binary, and nobody but who works on velum makes them:
//
//	go test ./models/word/language -run TestWeights -v -args -sentences es=PATH,ca=PATH,en=PATH [-write]
var (
	sentenceFiles = flag.String("sentences", "", "es=PATH,ca=PATH,en=PATH")
	writeWeights  = flag.Bool("write", false, "write weights.bin and words.bin of the sentences")
)

// TestWeights measures the weights of the binary on held-out lines, or fits them. Numbers and CoNLL-U columns before a sentence are
// skipped. One line in ten, chosen by its hash, is held out. The same files give the same weights.
func TestWeights(t *testing.T) {
	if *sentenceFiles == "" {
		t.Skip("no sentences: see the flags of this file")
	}
	var train, held sentences
	for entry := range strings.SplitSeq(*sentenceFiles, ",") {
		code, path, _ := strings.Cut(entry, "=")
		k := languageOf(code)
		if k < 0 {
			t.Fatalf("%q names no language and file", entry)
		}
		if err := readSentences(path, &train[k], &held[k]); err != nil {
			t.Fatal(err)
		}
	}
	if !*writeWeights {
		if err := measureLanguage(os.Stdout, &held); err != nil {
			t.Fatal(err)
		}
		return
	}
	m := fitLanguage(t.Context(), &train, languageWindows, func(int64) {})
	if err := errors.Join(os.WriteFile("weights.bin", m.bytes(), 0o644), os.WriteFile("words.bin", commonWords(train[0], train[1]), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// languageOf is the number of a language by its code, -1 if there is none.
func languageOf(code string) int {
	for k, known := range languageCodes {
		if code == known {
			return k
		}
	}
	return -1
}

// readSentences adds the sentences of a file to train or held, as words.
func readSentences(path string, train, held *[][]string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		line := sentence(lines.Text())
		tokens, err := tokensOf([]byte(line))
		if err != nil {
			return err
		}
		var words []string
		for _, t := range tokens {
			if language.Word([]byte(line), t) {
				words = append(words, line[t.Start:t.End])
			}
		}
		switch {
		case len(words) < 2:
		case xxh3.HashString(line)%10 == 0:
			*held = append(*held, words)
		default:
			*train = append(*train, words)
		}
	}
	return lines.Err()
}

// sentence strips what stands before the sentence in a line; of a CoNLL-U
// file only the text lines count.
func sentence(line string) string {
	if text, ok := strings.CutPrefix(line, "# text = "); ok {
		return text
	}
	if strings.HasPrefix(line, "#") || strings.Contains(line, "\t") {
		return ""
	}
	return strings.TrimLeft(line, "0123456789. ")
}

// draw cuts a window of n words at most out of a random sentence and writes
// its words as hurried people do: some without accents, some misspelt.
func draw(r *rand.Rand, sentences [][]string, n int) []string {
	words := sentences[r.IntN(len(sentences))]
	n = min(n, len(words))
	at := r.IntN(len(words) - n + 1)
	window := words[at : at+n]
	if r.IntN(3) > 0 {
		return window
	}
	bare := make([]string, n)
	for i, w := range window {
		bare[i] = strings.Map(withoutMark, norm.NFD.String(w))
	}
	return bare
}

func withoutMark(r rune) rune {
	if r >= 0x300 && r <= 0x36F {
		return -1
	}
	return r
}

// languageModel is the weights in log-odds: Catalan and English against Spanish.
type languageModel [language.Size][2]float64

// fitLanguage minimizes the logistic loss by AdaGrad, one window at a time, with
// a pull to zero of every weight that is used.
func fitLanguage(ctx context.Context, train *sentences, windows int, done func(int64)) *languageModel {
	const rate, pull, tick = 0.1, 2e-6, 10_000
	m, seen := new(languageModel), new(languageModel)
	r := rand.New(rand.NewPCG(7, 11))
	var at []uint16
	for step := range windows {
		k := r.IntN(3)
		at = buckets(at[:0], draw(r, train[k], 2+r.IntN(19)))
		p := m.predict(at)
		for c := range 2 {
			g := p[c+1]
			if k == c+1 {
				g--
			}
			for _, b := range at {
				g := g + pull*m[b][c]*float64(windows)/1000
				seen[b][c] += g * g
				m[b][c] -= rate * g / math.Sqrt(seen[b][c]+1e-6)
			}
		}
		if (step+1)%tick == 0 {
			if done(tick); ctx.Err() != nil {
				break
			}
		}
	}
	return m
}

// common is how many words the set of common words has at the most, each with and
// without accents, and leastCommon how often they occur at the least.
const common, leastCommon = 40_000, 3

// commonWords is the set of words that notes are held against
// (models/word/language, words.bin).
func commonWords(texts ...[][]string) []byte {
	counts := map[string]int{}
	for _, sentences := range texts {
		for _, words := range sentences {
			for _, w := range words {
				counts[strings.ToLower(w)]++
			}
		}
	}
	all := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	set := make([]byte, 1<<language.CommonBits/8)
	var of [language.MaxFeatures]uint16
	for _, w := range all[:min(common, len(all))] {
		if counts[w] < leastCommon {
			break
		}
		for _, form := range []string{w, strings.Map(withoutMark, norm.NFD.String(w))} {
			_, hash := language.Features(&of, []byte(form))
			at := language.CommonBit(hash)
			set[at>>3] |= 1 << (at & 7)
		}
	}
	return set
}

func buckets(dst []uint16, words []string) []uint16 {
	var of [language.MaxFeatures]uint16
	for _, w := range words {
		n, _ := language.Features(&of, []byte(w))
		dst = append(dst, of[:n]...)
	}
	return dst
}

// predict returns the probabilities of es, ca, en.
func (m *languageModel) predict(at []uint16) (p [3]float64) {
	for _, b := range at {
		p[1] += m[b][0]
		p[2] += m[b][1]
	}
	top := max(p[0], p[1], p[2])
	sum := 0.0
	for c := range p {
		p[c] = math.Exp(p[c] - top)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

func (m *languageModel) bytes() []byte {
	out := make([]byte, 0, 2*language.Size)
	for _, w := range m {
		out = append(out, byte(language.Weight(w[0])), byte(language.Weight(w[1])))
	}
	return out
}

// measureLanguage prints a line a language and length: the share of every
// answer of the weights in the binary.
func measureLanguage(w io.Writer, held *sentences) (err error) {
	const draws = 4000
	r := rand.New(rand.NewPCG(3, 5))
	_, err = fmt.Fprintln(w, "truth  words       es     ca     en  mixed unknown")
	for _, n := range [][2]int{{3, 4}, {5, 9}, {10, 20}, {21, 40}} {
		for k, code := range languageCodes {
			if len(held[k]) == 0 {
				continue
			}
			err = cmp.Or(err, answers(w, code, n, draws, func() string { return strings.Join(long(r, held[k], n), " ") }))
		}
		if n[0] >= 10 && len(held[0]) > 0 && len(held[1]) > 0 {
			err = cmp.Or(err, answers(w, "es+ca", n, draws, func() string {
				half := [2]int{n[0] / 2, n[1] / 2}
				parts := []string{strings.Join(long(r, held[0], half), " "), strings.Join(long(r, held[1], half), " ")}
				r.Shuffle(2, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
				return parts[0] + ". " + parts[1]
			}))
		}
	}
	return err
}

// long draws windows of one language until they have n[0] to n[1] words.
func long(r *rand.Rand, sentences [][]string, n [2]int) (words []string) {
	want := n[0] + r.IntN(n[1]-n[0]+1)
	for len(words) < want {
		words = append(words, draw(r, sentences, want-len(words))...)
	}
	return words
}

// answers prints the shares of the answers to texts of one truth.
func answers(w io.Writer, truth string, n [2]int, draws int, next func() string) error {
	var count [5]int
	for range draws {
		text := []byte(next())
		tokens, err := tokensOf(text)
		if err != nil {
			return err
		}
		lang, _ := language.Of(text, tokens)
		count[lang]++
	}
	share := func(l pipeline.Language) float64 { return 100 * float64(count[l]) / float64(draws) }
	_, err := fmt.Fprintf(w, "%-6s %2d-%2d   %6.2f %6.2f %6.2f %6.2f %6.2f\n", truth, n[0], n[1], share(languages[0]), share(languages[1]), share(languages[2]), share(pipeline.MixedLanguage), share(pipeline.UnknownLanguage))
	return err
}

// tokensOf cuts a text as the stage does.
func tokensOf(text []byte) ([]pipeline.Token, error) {
	b := &pipeline.Batch{Reason: []pipeline.Reason{pipeline.Sound}}
	b.Text.Append(text)
	err := tokenize.New(tokenize.Options{}).New()(b)
	return b.Tokens.At(0), err
}

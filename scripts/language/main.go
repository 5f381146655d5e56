// Command language learns the weights of models/language and measures them.
//
//	go run ./scripts/language -es A.gz,B.gz -ca C.gz -en D.gz -out models/language/weights.bin
//	go run ./scripts/language -es A.gz -ca C.gz -en D.gz        # measures only
//
// The files hold a sentence a line, plain or gzipped; numbers and CoNLL-U
// columns in front of it are skipped. One line in ten, chosen by its hash, is
// held out. Same files and seed, same weights.
package main

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"

	"github.com/velum-health/velum/models/language"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/tokenize"
)

var codes = [3]string{"es", "ca", "en"}

var languages = [3]pipeline.Language{pipeline.Spanish, pipeline.Catalan, pipeline.English}

// corpus is the sentences of each language as lists of words.
type corpus [3][][]string

func main() {
	var paths [3]*string
	for k, code := range codes {
		paths[k] = flag.String(code, "", "files of language "+code+", separated by commas")
	}
	out := flag.String("out", "", "file to write the weights to; without it nothing is trained")
	windows := flag.Int("windows", 1_500_000, "training examples")
	flag.Parse()

	var train, held corpus
	for k, list := range paths {
		for _, path := range strings.FieldsFunc(*list, func(r rune) bool { return r == ',' }) {
			if err := read(path, &train[k], &held[k]); err != nil {
				fmt.Fprintln(os.Stderr, "language:", err)
				os.Exit(1)
			}
		}
		fmt.Printf("%s: %d sentences to train, %d held out\n", codes[k], len(train[k]), len(held[k]))
	}
	if *out != "" {
		m := fit(&train, *windows)
		if err := os.WriteFile(*out, m.bytes(), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "language:", err)
			os.Exit(1)
		}
		fmt.Println("weights written; build again to measure them")
		return
	}
	measure(&held)
}

// read adds the sentences of a file to train or held, as words.
func read(path string, train, held *[][]string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	var tokens []pipeline.Token
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		line := sentence(lines.Text())
		tokens = new(tokenize.Tokenizer).Tokens(tokens[:0], []byte(line))
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

// model is the weights in log-odds: Catalan and English against Spanish.
type model [language.Size][2]float64

// fit minimizes the logistic loss by AdaGrad, one window at a time, with a
// pull to zero of every weight that is used.
func fit(train *corpus, windows int) *model {
	const rate, pull = 0.1, 2e-6
	m, seen := new(model), new(model)
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
		if (step+1)%(windows/5) == 0 {
			fmt.Fprintf(os.Stderr, "%d of %d windows\n", step+1, windows)
		}
	}
	return m
}

func buckets(dst []uint16, words []string) []uint16 {
	var of [language.MaxFeatures]uint16
	for _, w := range words {
		dst = append(dst, of[:language.Features(&of, []byte(w))]...)
	}
	return dst
}

// predict returns the probabilities of es, ca, en.
func (m *model) predict(at []uint16) (p [3]float64) {
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

func (m *model) bytes() []byte {
	out := make([]byte, 0, 2*language.Size)
	for _, w := range m {
		out = append(out, byte(language.Weight(w[0])), byte(language.Weight(w[1])))
	}
	return out
}

// measure prints a line a language and length: the share of every answer.
func measure(held *corpus) {
	const draws = 4000
	r := rand.New(rand.NewPCG(3, 5))
	fmt.Println("truth  words       es     ca     en  mixed unknown")
	for _, n := range [][2]int{{3, 4}, {5, 9}, {10, 20}, {21, 40}} {
		for k, code := range codes {
			if len(held[k]) == 0 {
				continue
			}
			report(code, n, draws, func() string {
				return strings.Join(long(r, held[k], n), " ")
			})
		}
		if n[0] >= 10 {
			report("es+ca", n, draws, func() string {
				half := [2]int{n[0] / 2, n[1] / 2}
				parts := []string{strings.Join(long(r, held[0], half), " "), strings.Join(long(r, held[1], half), " ")}
				r.Shuffle(2, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
				return parts[0] + ". " + parts[1]
			})
		}
	}
}

// long draws windows of one language until they have n[0] to n[1] words.
func long(r *rand.Rand, sentences [][]string, n [2]int) (words []string) {
	want := n[0] + r.IntN(n[1]-n[0]+1)
	for len(words) < want {
		words = append(words, draw(r, sentences, want-len(words))...)
	}
	return words
}

func report(truth string, n [2]int, draws int, next func() string) {
	var count [5]int
	var tokens []pipeline.Token
	for range draws {
		text := []byte(next())
		tokens = new(tokenize.Tokenizer).Tokens(tokens[:0], text)
		count[language.Of(text, tokens)]++
	}
	share := func(l pipeline.Language) float64 { return 100 * float64(count[l]) / float64(draws) }
	fmt.Printf("%-6s %2d-%2d   %6.2f %6.2f %6.2f %6.2f %6.2f\n", truth, n[0], n[1], share(languages[0]), share(languages[1]), share(languages[2]), share(pipeline.MixedLanguage), share(pipeline.UnknownLanguage))
}

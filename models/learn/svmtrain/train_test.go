package svmtrain_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/learn/svmtrain"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/crf/crftest"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// trained learns from toy notes.
func trained(t testing.TB, scheme pipeline.Scheme, o svmtrain.TrainOptions, workers int) *crf.Model {
	t.Helper()
	m, err := trainer(t, scheme, o).Train(tagger.TrainOptions{Workers: workers, About: tagger.Header{Name: "toy"}})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*crf.Model)
}

func trainer(t testing.TB, scheme pipeline.Scheme, o svmtrain.TrainOptions) *svmtrain.Trainer {
	t.Helper()
	set := crftest.Set(scheme)
	tr := svmtrain.NewTrainer(crftest.Parsed(t, crftest.Template), set, crftest.Resources(), o)
	for _, n := range crftest.Notes(t, set, 60, 3) {
		if err := tr.Add(n.Text, n.Tokens, n.Matches, n.Tags); err != nil {
			t.Fatal(err)
		}
	}
	return tr
}

// noisy are notes whose words say no more than how probable a name is.
func noisy(t testing.TB, set *pipeline.TagSet, n int, seed uint64) []crftest.Note {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	var notes []crftest.Note
	for range n {
		var words []string
		for range 8 {
			k := r.IntN(6)
			word := fmt.Sprintf("w%d", k)
			switch p := r.Float64(); {
			case p < float64(k)/12:
				word = "[PERSON:" + word + "]"
			case p < float64(k)/8:
				word = "[PERSON:" + word + " Oliva]"
			}
			words = append(words, word)
		}
		notes = append(notes, crftest.New(t, set, strings.Join(words, " ")))
	}
	return notes
}

// trainedOnNoise learns from notes of which nobody can be sure.
func trainedOnNoise(t testing.TB, scheme pipeline.Scheme, o svmtrain.TrainOptions) *crf.Model {
	t.Helper()
	set := crftest.Set(scheme)
	tr := svmtrain.NewTrainer(crftest.Parsed(t, "version 1\nword -1..1\n"), set, crftest.Resources(), o)
	for _, n := range noisy(t, set, 300, 1) {
		if err := tr.Add(n.Text, n.Tokens, n.Matches, n.Tags); err != nil {
			t.Fatal(err)
		}
	}
	m, err := tr.Train(tagger.TrainOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*crf.Model)
}

func file(t testing.TB, m *crf.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// One model has one file for any number of workers, which is of this kind, is read
// back, and is no CRF.
func TestModelFile(t *testing.T) {
	data := file(t, trained(t, pipeline.BIO, svmtrain.TrainOptions{}, 1))
	for _, workers := range []int{2, 5} {
		if !bytes.Equal(data, file(t, trained(t, pipeline.BIO, svmtrain.TrainOptions{}, workers))) {
			t.Errorf("%d workers: other bytes than one", workers)
		}
	}
	f, err := modelfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	m, err := crf.LoadKind(crf.SVM, f, crftest.Resources())
	if err != nil {
		t.Fatal(err)
	}
	if h := m.Header(); h.Kind != crf.SVM || h.Name != "toy" || h.Training.Cost != svmtrain.Cost || h.Training.Spans["PERSON"] == 0 {
		t.Errorf("header %+v", h)
	}
	if !bytes.Equal(data, file(t, m)) {
		t.Error("read and written again: other bytes")
	}
	if _, err := crf.Load(f, crftest.Resources()); err == nil || !strings.Contains(err.Error(), `is of kind "svm"`) {
		t.Errorf("as a CRF: %v", err)
	}
}

// What it has learned, in both schemes; the answers stand in the text.
func TestTags(t *testing.T) {
	for _, scheme := range []pipeline.Scheme{pipeline.BIO, pipeline.BIOESU} {
		m := trained(t, scheme, svmtrain.TrainOptions{}, 2)
		l := m.NewLabeller(tagger.LabelOptions{})
		for _, marked := range []string{
			"visto con [PERSON:Iris] vive en [LOCATION:Vallfosca] el [DATE:3-12-2021]",
			"control sin fiebre Sra. [PERSON:Marta Oliva] desde [LOCATION:Torre del Prat]",
			"acude por dolor de rodilla dosis 3-4-5 | viene [PERSON:Pau Serra Vidal] el [DATE:9-9-2009]",
		} {
			n := crftest.New(t, m.TagSet(), marked)
			tags := make([]pipeline.Tag, len(n.Tokens))
			if conf := l.Label(n.Text, n.Tokens, n.Matches, tags); !slices.Equal(tags, n.Tags) || conf < 0.3 || conf > 1 {
				t.Errorf("%v: %q has tags %v with confidence %v, want %v", scheme, marked, tags, conf, n.Tags)
			}
		}
	}
}

// Whatever the words, tags are such as spans can be written, and probabilities are
// those of one tag a token.
func TestTagsAreLegal(t *testing.T) {
	for _, scheme := range []pipeline.Scheme{pipeline.BIO, pipeline.BIOESU} {
		m := trainedOnNoise(t, scheme, svmtrain.TrainOptions{})
		set, wrong := m.TagSet(), 0
		l := m.NewLabeller(tagger.LabelOptions{})
		for _, n := range noisy(t, set, 200, 11) {
			tags := make([]pipeline.Tag, len(n.Tokens))
			l.Label(n.Text, n.Tokens, n.Matches, tags)
			probs := l.(tagger.Marginals).Marginals(nil, n.Text, n.Tokens, n.Matches)
			for i := range tags {
				begins := i == 0 || n.Tokens[i].Flags&pipeline.LineStart != 0
				if begins && !set.Starts(tags[i]) || !begins && !set.MayFollow(tags[i-1], tags[i]) {
					t.Fatalf("%v: token %d has tag %d", scheme, i, tags[i])
				}
				if tags[i] != n.Tags[i] {
					wrong++
				}
				sum := 0.0
				for _, p := range probs[i*set.Len() : (i+1)*set.Len()] {
					sum += float64(p)
				}
				if math.Abs(sum-1) > 1e-3 {
					t.Fatalf("%v: probabilities of token %d add up to %v", scheme, i, sum)
				}
			}
		}
		if wrong == 0 {
			t.Errorf("%v: it errs nowhere: the test shows nothing", scheme)
		}
	}
}

// Held-out confidences are worth what they say: of the tags that have a probability of
// about one half to nine tenths, about as many are right.
func TestProbabilities(t *testing.T) {
	m := trainedOnNoise(t, pipeline.BIO, svmtrain.TrainOptions{})
	l, labels := m.NewLabeller(tagger.LabelOptions{}), m.TagSet().Len()
	said, right, n := 0.0, 0, 0
	for _, note := range noisy(t, m.TagSet(), 600, 12) {
		probs := l.(tagger.Marginals).Marginals(nil, note.Text, note.Tokens, note.Matches)
		for i, y := range note.Tags {
			row := probs[i*labels:][:labels]
			best := slices.Index(row, slices.Max(row))
			if p := row[best]; p > 0.5 && p < 0.95 {
				said, n = said+float64(p), n+1
				if best == int(y) {
					right++
				}
			}
		}
	}
	if share := float64(right) / float64(n); n < 100 || math.Abs(share-said/float64(n)) > 0.1 {
		t.Errorf("%d tags of a mean probability of %.3f, %.3f right", n, said/float64(n), float64(right)/float64(n))
	}
}

// The weights of a token's features and its bias add up to its log odds.
func TestReasonsAddUp(t *testing.T) {
	m := trained(t, pipeline.BIO, svmtrain.TrainOptions{}, 2)
	labels, compared := m.TagSet().Len(), 0
	for _, note := range crftest.Notes(t, m.TagSet(), 20, 5) {
		why := m.Why(note.Text, note.Tokens, note.Matches, 0)
		probs := m.NewLabeller(tagger.LabelOptions{}).(tagger.Marginals).Marginals(nil, note.Text, note.Tokens, note.Matches)
		for i := range note.Tokens {
			for y, p := range probs[i*labels:][:labels] {
				o := probs[i*labels+int(pipeline.O)]
				if p < 1e-5 || o < 1e-5 {
					continue
				}
				odds := why.Odds(i, pipeline.Tag(y), pipeline.O)
				sum := odds.Before + odds.After
				for _, f := range odds.Features {
					sum += f.Weight
				}
				if want := math.Log(float64(p / o)); math.Abs(sum-want) > 2e-3*max(1, math.Abs(want)) {
					t.Fatalf("token %d, tag %d: parts add up to %v, tagging has %v", i, y, sum, want)
				}
				compared++
			}
		}
	}
	if compared < 200 {
		t.Errorf("only %d odds: the test shows nothing", compared)
	}
}

// Options that leave features or weights out, and the cost, make other models.
func TestOptions(t *testing.T) {
	ones := file(t, trained(t, pipeline.BIO, svmtrain.TrainOptions{}, 2))
	for _, o := range []svmtrain.TrainOptions{{C: 3}, {MinCount: 4}, {Prune: 0.1}} {
		if bytes.Equal(ones, file(t, trained(t, pipeline.BIO, o, 2))) {
			t.Errorf("%+v changes nothing", o)
		}
	}
}

func TestTrainErrors(t *testing.T) {
	m := trained(t, pipeline.BIO, svmtrain.TrainOptions{}, 1)
	if _, err := trainer(t, pipeline.BIO, svmtrain.TrainOptions{}).Train(tagger.TrainOptions{Init: m}); !errors.Is(err, tagger.ErrInit) {
		t.Errorf("a model to begin with: %v", err)
	}
	empty := svmtrain.NewTrainer(crftest.Parsed(t, crftest.Template), crftest.Set(pipeline.BIO), crftest.Resources(), svmtrain.TrainOptions{})
	if _, err := empty.Train(tagger.TrainOptions{}); err == nil {
		t.Error("no notes: no error")
	}
	told := 0
	stop := func(string) bool { told++; return told < 3 }
	if _, err := trainer(t, pipeline.BIO, svmtrain.TrainOptions{}).Train(tagger.TrainOptions{Progress: stop}); err == nil || told != 3 {
		t.Errorf("stopped after %d hyperplanes of 3: %v", told, err)
	}
}

package train

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/learn/morphtrain"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/word/embed"
)

// fewLines are four notes of twelve tokens and seven words: Rosa, toma, agua, hierro and bebe stand twice.
const fewLines = "Rosa toma agua\nJoan toma hierro\nRosa bebe agua\nPere bebe hierro\n"

// vectors learns vectors of dimension 8 and cuts nothing off, but for what change says.
func vectors(t *testing.T, change func(*VectorOptions), json bool, set ...string) (string, error) {
	t.Helper()
	o := VectorOptions{In: []string{"lines.txt"}, From: "lines", Out: "x.velum", Method: "glove", Normalization: "form", Cut: embed.CutOff{Count: 1, Notes: 1}, Embed: embed.Options{Dim: 8, Epochs: 2}}
	change(&o)
	return did(t, func(ctx context.Context, c *console.Console, cfg *option.Config) error {
		return LearnVectors(ctx, c, cfg, &o)
	}, json, set...)
}

func same(t *testing.T, a, b string, want bool) {
	t.Helper()
	x, err1 := os.ReadFile(a)
	y, err2 := os.ReadFile(b)
	if err1 != nil || err2 != nil || bytes.Equal(x, y) != want {
		t.Errorf("%s and %s are the same: %t; %v, %v", a, b, !want, err1, err2)
	}
}

func TestVectors(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "lines.txt", fewLines)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(fewLines)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	put(t, "packed.txt.gz", packed.String())
	lines := strings.Split(strings.TrimSpace(fewLines), "\n")
	notes, table := "", "codigo,paciente,nota\n"
	for i, line := range lines {
		notes += fmt.Sprintf("{\"id\":\"%d\",\"text\":%q}\n", i, line)
		table += fmt.Sprintf("%d,%d,%s\n", i, i/2, line) // Rosa and agua are of both patients, toma and Joan of the first
	}
	put(t, "notes.jsonl", notes)
	if err := os.MkdirAll("archive", 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, "archive/notas.csv", table)
	read := []string{"read.columns.id=codigo", "read.columns.text=nota", "read.columns.patient=paciente"}
	got, err := vectors(t, func(o *VectorOptions) { o.Out, o.Clusters = "a.velum", []int{0, 3} }, false)
	wants(t, "lines", got, err, exit.Done, `^a.velum: 0\.0 MB, 7 words in 8 numbers each, glove, form, from 4 notes with 12 tokens`, `^ +3 clusters: .*, 0 empty$`)
	got, err = vectors(t, func(o *VectorOptions) {
		o.Out, o.Name, o.Clusters, o.In, o.From, o.Keep = "b.velum", "a", []int{3}, []string{"packed.txt.gz"}, "", 1
	}, true)
	wants(t, "packed, kept in memory", got, err, exit.Done, `"message_type":"embedding"`, `"skipped_notes":0`, `"bytes":\d\d`)
	same(t, "a.velum", "b.velum", true)
	for name, in := range map[string]string{"c.velum": "notes.jsonl", "d.velum": "archive"} {
		set := read
		if in == "notes.jsonl" {
			set = nil
		}
		got, err = vectors(t, func(o *VectorOptions) {
			o.Out, o.Name, o.Clusters, o.In, o.From = name, "a", []int{3}, []string{in}, ""
		}, false, set...)
		wants(t, in, got, err, exit.Done, `7 words in 8 numbers each, glove, form, from 4 notes with 12 tokens`)
		same(t, "a.velum", name, true)
	}
	got, err = vectors(t, func(o *VectorOptions) { o.In, o.From, o.Cut.Patients = []string{"archive"}, "archive", 2 }, false, read...)
	wants(t, "words of two patients", got, err, exit.Done, `x.velum: .* 3 words in 8 numbers`) // Rosa, agua, hierro
	got, err = vectors(t, func(o *VectorOptions) {
		o.Cut.Count, o.Method, o.Normalization, o.Clusters = 2, "skip-gram", "fold", []int{100}
	}, false)
	wants(t, "more clusters than words", got, err, exit.Done, `5 words in 8 numbers each, skip-gram, fold, from 4 notes`, `fewer words than clusters`)
	f, err := embed.Open("x.velum")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if h := f.Header(); h.Name != "x" || h.Tokens != 12 || h.Notes != 4 || h.CutOff.Count != 2 {
		t.Errorf("%+v", h)
	}
	for name, c := range map[string]struct {
		change func(*VectorOptions)
		code   exit.Code
	}{
		"--normalization": {func(o *VectorOptions) { o.Normalization = "upper" }, exit.Config},
		"--clusters -1":   {func(o *VectorOptions) { o.Clusters = []int{-1} }, exit.Config},
		fmt.Sprintf("--clusters %d", embed.MaxClusters+1): {func(o *VectorOptions) { o.Clusters = []int{embed.MaxClusters + 1} }, exit.Config},
		"window": {func(o *VectorOptions) { o.Embed.Window = 1000 }, exit.Config},
		"--min-patients needs the column of the patient": {func(o *VectorOptions) { o.Cut.Patients = 1 }, exit.Config},
		"no form reaches the cut-off in 4 notes":         {func(o *VectorOptions) { o.Cut.Count = 3 }, exit.Nothing},
		"missing.jsonl":                                  {func(o *VectorOptions) { o.In, o.From = []string{"missing.jsonl"}, "" }, exit.Config},
		"nowhere":                                        {func(o *VectorOptions) { o.In, o.From = []string{"nowhere"}, "" }, exit.Config},
		"from":                                           {func(o *VectorOptions) { o.From = "letters" }, exit.Config},
	} {
		got, err := vectors(t, func(o *VectorOptions) { c.change(o); o.Out = "no.velum" }, false)
		wants(t, name, got, err, c.code, regexp.QuoteMeta(name))
	}
	if _, err := os.Stat("no.velum"); err == nil {
		t.Error("a file is written")
	}
}

const treebank = "1\tLa\tel\tDET\t_\t_\t_\t_\t_\t_\n2\tniña\tniño\tNOUN\t_\t_\t_\t_\t_\t_\n3\tvive\tvivir\tVERB\t_\t_\t_\t_\t_\t_\n\n1\tLa\tel\tDET\t_\t_\t_\t_\t_\t_\n2\tcasa\tcasa\tNOUN\t_\t_\t_\t_\t_\t_\n"

func TestMorph(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "toy.conllu", treebank)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(treebank)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	put(t, "toy.conllu.gz", packed.String())
	put(t, "cut.conllu.gz", packed.String()[:packed.Len()-9])
	put(t, "none.conllu.gz", treebank)
	put(t, "broken.conllu", "1\tLa\tel\tDET\t_\t_\t_\t_\t_\t_\n2\tSECRETO\n")
	got, err := trained(t, Options{Kind: "morph", Train: []string{"toy.conllu"}, Out: "toy.velum"})
	wants(t, "a treebank", got, err, exit.Done, `^toy.velum: 0\.0 MB, 4 forms from 5 tokens$`, `^accuracy over 5 folds`, `^known forms +\d `, `^unknown forms +\d `)
	got, err = trained(t, Options{Kind: "morph", Train: []string{"toy.conllu.gz"}, Out: "packed.velum", Name: "toy"})
	wants(t, "packed", got, err, exit.Done)
	same(t, "toy.velum", "packed.velum", true)
	got, err = trained(t, Options{Kind: "morph", Train: []string{"toy.conllu", "toy.conllu.gz"}, Out: "two.velum"})
	wants(t, "two", got, err, exit.Done, `4 forms from 10 tokens`)
	for _, name := range []string{"broken.conllu", "cut.conllu.gz", "none.conllu.gz", "missing.conllu"} {
		got, err := trained(t, Options{Kind: "morph", Train: []string{name}, Out: "no.velum"})
		wants(t, name, got, err, exit.Config, name)
		if strings.Contains(got+fmt.Sprint(err), "SECRETO") {
			t.Errorf("%s: a word of it is said", name)
		}
	}
	got, err = trained(t, Options{Kind: "morph", Out: "no.velum"})
	wants(t, "no treebank", got, err, exit.Config, "--train is needed")
	if _, err := os.Stat("no.velum"); err == nil {
		t.Error("a model is written")
	}
	for _, c := range []struct {
		known, unknown morphtrain.Accuracy
		want           map[string]float64
	}{
		{morphtrain.Accuracy{Tokens: 8, POS: 6, Lemma: 4}, morphtrain.Accuracy{Tokens: 2, POS: 1}, map[string]float64{"known_pos": .75, "known_lemma": .5, "unknown_pos": .5, "unknown_lemma": 0, "unknown_share": .2}},
		{morphtrain.Accuracy{}, morphtrain.Accuracy{}, map[string]float64{"known_pos": 0, "known_lemma": 0, "unknown_pos": 0, "unknown_lemma": 0, "unknown_share": 0}},
	} {
		if got := morphScores(c.known, c.unknown); !maps.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

// labelled writes 32 notes, each with a name behind some words.
func labelled(t *testing.T) {
	t.Helper()
	var lines strings.Builder
	for i, name := range []string{"Ana Puig", "Pau Mas", "Rosa Vidal", "Joan Soler", "Nuria Pons", "Marta Roca", "Pere Font", "Laia Serra"} {
		for k, before := range []string{"Viene con ", "Llama ", "Acude la tia ", "Control con "} {
			fmt.Fprintf(&lines, "{\"note_id\":\"v%d-%d\",\"text\":%q,\"spans\":[{\"start\":%d,\"end\":%d,\"label\":\"PERSON\"}]}\n", k, i, before+name+" por tos", len(before), len(before+name))
		}
	}
	put(t, "train.jsonl", lines.String())
}

// TestLookups trains a tagger whose template looks forms up, which must be given: clusters, parts of speech and lemmas.
func TestLookups(t *testing.T) {
	t.Chdir(t.TempDir())
	labelled(t)
	put(t, "lines.txt", fewLines)
	put(t, "toy.conllu", treebank)
	put(t, "clusters.txt", "version 1\nword -1..1\ncluster/lower 0\n")
	put(t, "morph.txt", "version 1\nword -1..1\npos 0\nlemma 0\nchunk 0\n")
	put(t, "broken.txt", "version 1\nwrod\n")
	if got, err := vectors(t, func(o *VectorOptions) { o.Out, o.Clusters = "words.velum", []int{3} }, false); err != nil {
		t.Fatal(got, err)
	}
	if got, err := trained(t, Options{Kind: "morph", Train: []string{"toy.conllu"}, Out: "toy.velum"}); err != nil {
		t.Fatal(got, err)
	}
	crf := func(o Options, set ...string) (string, error) {
		o.Kind, o.Train = "crf", []string{"train.jsonl"}
		return trained(t, o, append(set, "train.iterations=2")...)
	}
	got, err := crf(Options{Out: "one.velum"}, "train.template=clusters.txt", "train.clusters=lower=words.velum:3")
	wants(t, "clusters", got, err, exit.Done, `from 32 notes with 32 spans \(0 not at token borders\)$`)
	got, err = crf(Options{Out: "two.velum", Init: "one.velum"}, "train.template=clusters.txt")
	wants(t, "clusters of the model to begin with", got, err, exit.Done)
	got, err = crf(Options{Out: "three.velum", Init: "one.velum"})
	wants(t, "its template too", got, err, exit.Done)
	m, err := flow.OpenWeights("three.velum", new(option.Config))
	if err != nil || !strings.Contains(m.Header().Template, "cluster/lower") || m.Header().Parent == "" {
		t.Errorf("%+v, %v", m, err)
	}
	got, err = crf(Options{Out: "four.velum", Lookups: Lookups{Morph: "toy.velum"}}, "train.template=morph.txt")
	wants(t, "morph", got, err, exit.Done)
	got, err = crf(Options{Out: "five.velum"}, "train.template=morph.txt")
	wants(t, "that of the binary", got, err, exit.Done)
	got, err = crf(Options{Out: "six.velum", Lookups: Lookups{Without: []string{"cluster/lower"}}}, "train.template=clusters.txt")
	wants(t, "a group that a study leaves out", got, err, exit.Done)
	for what, c := range map[string]struct {
		o    Options
		set  string
		code exit.Code
	}{
		`nothing to look up for cluster/lower`:    {Options{}, "train.template=clusters.txt", exit.Config},
		`"lower:3" is not NAME=FILE:K`:            {Options{}, "train.clusters=lower:3", exit.Config},
		`the template has no group cluster/upper`: {Options{}, "train.clusters=upper=words.velum:3", exit.Config},
		`has no 4 clusters`:                       {Options{}, "train.clusters=lower=words.velum:4", exit.Config},
		`velum teach embed|kind "crf"`:            {Options{}, "train.clusters=lower=one.velum:3", exit.Config},
		`kind "crf", not "morph"`:                 {Options{Lookups: Lookups{Morph: "one.velum"}}, "train.template=morph.txt", exit.Integrity},
		`missing.velum`:                           {Options{Lookups: Lookups{Morph: "missing.velum"}}, "train.template=morph.txt", exit.Config},
		`template: .*nearest: word`:               {Options{}, "train.template=broken.txt", exit.Config},
		`missing.txt`:                             {Options{}, "train.template=missing.txt", exit.Config},
		`toy.velum: model is of kind "morph"`:     {Options{Init: "toy.velum"}, "train.template=clusters.txt", exit.Integrity},
	} {
		c.o.Out = "no.velum"
		set := []string{c.set}
		if strings.HasPrefix(c.set, "train.clusters") {
			set = append(set, "train.template=clusters.txt")
		}
		_, err := crf(c.o, set...)
		wants(t, what, "", err, c.code, what)
	}
	if _, err := os.Stat("no.velum"); err == nil {
		t.Error("a model is written")
	}
	cfg, err := option.Load(option.Sources{}.With([]string{"train.template=morph.txt"}))
	if err != nil {
		t.Fatal(err)
	}
	if names, err := Groups(cfg, &Options{Kind: "crf"}); err != nil || !slices.Equal(names, []string{"word", "pos", "lemma", "chunk"}) {
		t.Error(names, err)
	}
	if names, err := Groups(cfg, &Options{Kind: "none"}); err != nil || names != nil {
		t.Error(names, err)
	}
	cfg.Train.Template = "broken.txt"
	if _, err := Groups(cfg, &Options{Kind: "crf"}); exit.CodeOf(err) != exit.Config {
		t.Error(err)
	}
	template, err := features.Parse("version 1\nword -2..1\nlower 0\nbias\n")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := (&Lookups{Without: []string{"word", "bias"}}).narrow(template); err != nil || len(n.Groups) != 1 || n.Groups[0].Name != "lower" || n.Lo != 0 || len(template.Groups) != 3 {
		t.Errorf("%+v, %v", n, err)
	}
	if n, err := new(Lookups).narrow(template); err != nil || n != template {
		t.Errorf("%+v, %v", n, err)
	}
}

// TestOtherTrainers trains the kinds that are made of others: networks, several that tag together, an inverse model with common words.
func TestOtherTrainers(t *testing.T) {
	t.Chdir(t.TempDir())
	labelled(t)
	put(t, "notes.jsonl", `{"note_id":"1","text":"toma agua"}
{"note_id":"2","text":"toma agua"}
{"note_id":"3","text":"toma agua"}
{"note_id":"4","text":"toma vino"}
`)
	// toma stands four times in the notes of four, agua three times; vino once
	got, err := trained(t, Options{Kind: "words", Out: "words.velum", MinCount: 3, MinPatients: 2, Dictionary: DictionaryOptions{Notes: []string{"notes.jsonl"}}})
	wants(t, "words", got, err, exit.Done, `^words.velum: 0\.0 MB, 2 common words of 8, in the notes of 4 patients$`)
	got, err = trained(t, Options{Kind: "words", Out: "some.velum", MinCount: 3, MinPatients: 4, Dictionary: DictionaryOptions{Notes: []string{"notes.jsonl"}}})
	wants(t, "words of four", got, err, exit.Done, `1 common words of 8`)
	got, err = trained(t, Options{Kind: "words", Out: "no.velum"})
	wants(t, "words of nothing", got, err, exit.Config, "--archive is needed")
	train := func(kind, out string, change func(*Options), set ...string) (string, error) {
		o := Options{Kind: kind, Train: []string{"train.jsonl"}, Out: out}
		change(&o)
		return trained(t, o, append([]string{"train.iterations=3", "network.units=8", "network.epochs=1"}, set...)...)
	}
	nothing := func(*Options) {}
	for _, c := range []struct {
		kind, out string
		change    func(*Options)
		set       []string
		code      exit.Code
		want      string
	}{
		{"crf", "crf.velum", nothing, nil, exit.Done, `^crf.velum: `},
		{"svm", "svm.velum", nothing, nil, exit.Done, `^svm.velum: `},
		{"bilstm", "net.velum", nothing, nil, exit.Done, `^net.velum: .* from 32 notes`},
		{"bilstm", "next.velum", func(o *Options) { o.Init = "net.velum" }, nil, exit.Done, `^next.velum: `},
		{"bilstm", "no.velum", func(o *Options) { o.Init = "net.velum" }, []string{"network.units=16"}, exit.Config, `--init: `},
		{"crf", "no.velum", func(o *Options) { o.Init = "net.velum" }, nil, exit.Config, `--init: net.velum is of kind bilstm`},
		{"bilstm", "no.velum", nothing, []string{"network.vectors=crf.velum"}, exit.Config, `network.vectors: `},
		{"ensemble", "both.velum", func(o *Options) { o.Dev = []string{"train.jsonl"} }, []string{"ensemble.members=crf.velum,svm.velum", "ensemble.mode=cascade", "ensemble.threshold=0.5", "ensemble.first=1"}, exit.Done, `cascade of crf, svm, threshold 0.5`},
		{"ensemble", "mean.velum", nothing, []string{"ensemble.members=crf.velum,svm.velum", "ensemble.mode=mean"}, exit.Done, `mean of crf`},
		{"ensemble", "no.velum", nothing, []string{"ensemble.members=crf.velum"}, exit.Config, `2 to 16 members`},
		{"ensemble", "no.velum", nothing, []string{"ensemble.members=crf.velum,missing.velum"}, exit.Config, `missing.velum`},
		{"ensemble", "no.velum", func(o *Options) { o.Labels = "meddocan" }, []string{"ensemble.members=crf.velum,svm.velum"}, exit.Config, `they have other tags`},
		{"inverse", "rules.velum", func(o *Options) { o.Train = nil }, []string{"inverse.words=words.velum"}, exit.Done, `^rules.velum: .* from 0 notes`},
		{"inverse", "no.velum", func(o *Options) { o.Train = nil }, nil, exit.Config, `nothing to look up for cluster.common`},
		{"crf", "no.velum", func(o *Options) { o.Train = nil }, nil, exit.Config, `--train is needed`},
		{"inverse", "inverse.velum", nothing, []string{"inverse.words=words.velum"}, exit.Done, `from 32 notes`},
		{"inverse", "more.velum", func(o *Options) { o.Init = "inverse.velum" }, nil, exit.Done, `from 32 notes`},
		{"inverse", "tagged.velum", func(o *Options) { o.Labels = "primary-care" }, []string{"inverse.words=words.velum", "inverse.learner=bilstm", "network.variant=b-1"}, exit.Done, `from 32 notes`},
		{"inverse", "together.velum", nothing, []string{"inverse.learner=ensemble", "ensemble.members=inverse.velum,more.velum"}, exit.Done, `from 32 notes`},
		{"inverse", "no.velum", nothing, []string{"inverse.learner=ensemble", "ensemble.members=inverse.velum"}, exit.Config, `2 to 16 members`},
		{"inverse", "no.velum", nothing, []string{"inverse.words=crf.velum"}, exit.Config, ``},
	} {
		got, err := train(c.kind, c.out, c.change, append([]string{}, c.set...)...)
		if c.code == exit.Config && exit.CodeOf(err) == exit.Integrity {
			c.code = exit.Integrity // of a file of another kind
		}
		wants(t, c.kind+" "+c.out+" "+strings.Join(c.set, " "), got, err, c.code, c.want)
	}
	if _, err := os.Stat("no.velum"); err == nil {
		t.Error("a model is written")
	}
}

// TestCalibrate: of notes that it has not seen a model learns what its confidence is worth, by the source that their ids name; scores are lent.
func TestCalibrate(t *testing.T) {
	t.Chdir(t.TempDir())
	labelled(t)
	held, err := os.ReadFile("train.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	put(t, "held.jsonl", strings.Repeat(string(held), 8)) // 64 notes of each of four sources
	crf := func(o Options, set ...string) (string, error) {
		o.Kind, o.Train = "crf", []string{"train.jsonl"}
		return trained(t, o, append(set, "train.iterations=3")...)
	}
	got, err := crf(Options{Out: "one.velum", Dev: []string{"train.jsonl"}, Real: "our ward"})
	wants(t, "scored", got, err, exit.Done, `measured on our ward, .*: 32 notes, 32 entities`)
	got, err = crf(Options{Out: "two.velum", Scores: "one.velum"})
	wants(t, "lent", got, err, exit.Done, `measured on our ward, .*: 32 notes, 32 entities`, `recall dial: bias  0.0`)
	got, err = crf(Options{Out: "other.velum", Labels: "meddocan", Scores: "one.velum"})
	wants(t, "lent to other labels", got, err, exit.Config, `one.velum has the labels of primary-care, this model those of meddocan`)
	measure := func(model string, o Options) (string, error) {
		return did(t, func(ctx context.Context, c *console.Console, cfg *option.Config) error {
			return Measure(ctx, c, cfg, &o)
		}, false, "tag.model="+model)
	}
	for source, n := range map[string]int{"": 1, `^v(\d)-`: 4, `^none`: 1, `^v\d`: 4} {
		out := fmt.Sprint("calibrated", n, len(source), ".velum")
		got, err := measure("one.velum", Options{Held: []string{"two.velum=held.jsonl"}, Source: source, Out: out})
		wants(t, "by "+source, got, err, exit.Done, fmt.Sprintf(`calibrated on 256 notes of %d sources that it had not seen, \d+ of which kept something; spread between sources \d\.\d\d$`, n), `measured on our ward`)
		m, err := flow.OpenWeights(out, new(option.Config))
		if err != nil || m.Header().Risk == nil || m.Header().Risk.Notes != 256 || int(m.Header().Risk.Sources) != n {
			t.Errorf("by %s: %+v, %v", source, m, err)
		}
	}
	put(t, "some.jsonl", strings.Repeat(string(held), 3)+strings.Join(strings.SplitAfter(string(held), "\n")[:5], "")) // 24 or 25 notes of each source, which are too few
	got, err = measure("one.velum", Options{Held: []string{"two.velum=some.jsonl"}, Source: `^v(\d)-`, Out: "few.velum"})
	wants(t, "few of each", got, err, exit.Done, `calibrated on 101 notes of 1 sources`)
	got, err = measure("one.velum", Options{Held: []string{"two.velum=train.jsonl"}, Out: "no.velum"})
	wants(t, "few", got, err, exit.Config, `--held: a calibration takes at least 100 notes`)
	got, err = measure("two.velum", Options{Scores: "one.velum", Out: "lent.velum"})
	wants(t, "lent by measure", got, err, exit.Done, `measured on our ward`)
	for what, o := range map[string]Options{
		"names no model and notes":   {Held: []string{"=held.jsonl"}},
		"names no model":             {Held: []string{"two.velum="}},
		"no regular expression":      {Held: []string{"two.velum=held.jsonl"}, Source: "("},
		"missing.velum":              {Held: []string{"missing.velum=held.jsonl"}},
		"missing.jsonl":              {Held: []string{"two.velum=held.jsonl,missing.jsonl"}},
		"not of the kind and labels": {Held: []string{"meddocan=held.jsonl"}},
		"missing2.velum":             {Scores: "missing2.velum"},
	} {
		o.Out = "no.velum"
		got, err := measure("one.velum", o)
		wants(t, what, got, err, exit.Config, what)
	}
	if _, err := os.Stat("no.velum"); err == nil {
		t.Error("a model is written")
	}
	s := sourceSink{by: regexp.MustCompile(`^(\w)-(\w)`), file: "f"}
	for id, want := range map[string]string{"a-b-7": "ab", "7": "f"} {
		if got := s.source([]byte(id)); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	s.by = regexp.MustCompile(`^\w`)
	if got := s.source([]byte("ab")); got != "a" {
		t.Errorf("an expression without a group: %q", got)
	}
}

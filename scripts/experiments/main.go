// Command experiments measures what `velum learn` gains: self-learning from
// 33, 100 and 331 labelled documents, from a biased corpus, with and without
// each option, with networks, and questions against random notes.
//
//	make experiments
//	go run ./scripts/experiments -only small,biased -sizes 33 -draws 2
//
// Labelled documents, a validation slice and the pool are drawn from MEDDOCAN
// train by a seed; learning stops by the validation slice; every figure is on
// MEDDOCAN dev. Tables go to standard output in Markdown; a run's figures stand
// in a file, and a run that has one is not done again.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("experiments: ")
	var l lab
	flag.StringVar(&l.velum, "velum", "bin/velum", "the program that is measured")
	flag.StringVar(&l.data, "data", "../shared/data", "folder of the corpora")
	flag.StringVar(&l.out, "out", "out/experiments", "folder of runs, private; what is there is not done again")
	flag.IntVar(&l.draws, "draws", 5, "draws of each experiment")
	flag.IntVar(&l.seed, "seed", 1, "seed of the first draw; the others follow")
	flag.IntVar(&l.clinical, "clinical", 200, "clinical documents without headers in the pool")
	flag.Func("set", "`OPTION=VALUE` of learn beside the recipe, for small, biased and network; may be repeated", func(v string) error {
		l.more = append(l.more, v)
		return nil
	})
	flag.BoolVar(&l.tables, "tables", false, "write the tables of the runs that are there, and do none")
	only := flag.String("only", "small,biased,options,ask", "experiments; network too")
	sizes := flag.String("sizes", "10,33,100,331", "labelled documents of small and network")
	flag.StringVar(&l.template, "template", "meddocan", "feature template of small: a built-in name or a file")
	flag.Parse()
	if err := l.run(strings.Split(*only, ","), strings.Split(*sizes, ",")); err != nil {
		log.Fatal(err)
	}
}

func (l *lab) run(only, sizes []string) error {
	if err := l.open(); err != nil {
		return err
	}
	for _, name := range only {
		var err error
		switch name {
		case "small":
			err = l.small(sizes)
		case "network":
			err = l.network(sizes)
		case "biased":
			err = l.biased()
		case "options":
			err = l.options()
		case "ask":
			err = l.ask()
		default:
			err = fmt.Errorf("no experiment %q", name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// recipe is what these experiments found to work best, as options of learn.
// Lines, since the path of a document of 500 tokens has no useful probability;
// a validation slice that is looked at in every turn; the whole pool in every
// turn, since it is small.
func recipe() []string {
	return []string{
		"learn.unit=line", "learn.slice=100000", "learn.again=true", "learn.turns=2", "learn.patience=2",
		"choose.k=1500", "choose.min_confidence=0.5", "choose.without_spans=0.2", "train.tolerance=0.0001",
	}
}

// with adds options to the recipe, those of the command line last.
func (l *lab) with(set ...string) []string { return slices.Concat(recipe(), set, l.more) }

// small is self-learning from few labelled documents.
func (l *lab) small(sizes []string) error {
	t := table{title: "Self-learning from few labelled documents", first: "labelled documents"}
	for _, size := range sizes {
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		row := row{name: fmt.Sprintf("%d, template %s", n, strings.TrimSuffix(filepath.Base(l.template), ".txt"))}
		for d := range l.draws {
			m, err := l.learn(l.draw(d, n, all), l.with("train.template="+l.template))
			if err != nil {
				return err
			}
			row.add(m)
		}
		t.rows = append(t.rows, row)
	}
	return t.write(os.Stdout)
}

// network is self-learning with networks. What is gained is gained over the
// network of the labelled documents alone, which stands first in each run.
func (l *lab) network(sizes []string) error {
	t := table{title: "Self-learning with the network", first: "labelled documents"}
	for _, size := range sizes {
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		row := row{name: fmt.Sprintf("%d, %s", n, strings.Join(l.more, " "))}
		for d := range l.draws {
			c := l.draw(d, n, all)
			alone, err := l.learn(c, append(recipe(), "learn.kind=bilstm", "learn.turns=0"))
			if err != nil {
				return err
			}
			m, err := l.learn(c, slices.Concat(recipe(), networks(), l.more))
			if err != nil {
				return err
			}
			if alone != nil && m != nil {
				m.Strict, m.Best = append(alone.Strict, m.Strict...), m.Best+1
				row.add(m)
			}
		}
		t.rows = append(t.rows, row)
	}
	return t.write(os.Stdout)
}

// networks is what gained most with networks: nearly all lines of the pool, and
// a CRF and a network that teach together, then networks.
func networks() []string {
	return []string{
		"learn.kinds=crf+bilstm,bilstm", "learn.retag=true", "learn.warm=false",
		"choose.k=20000", "choose.without_spans=0.5", "choose.min_confidence=0.3",
	}
}

// biased learns from the header lines or from the bodies of the labelled
// documents alone; the pool and what is scored are whole documents.
func (l *lab) biased() error {
	t := table{title: "Biased corpora", first: "labelled"}
	for _, kind := range []part{headers, bodies} {
		row := row{name: fmt.Sprintf("%v of 33 documents", kind)}
		for d := range l.draws {
			m, err := l.learn(l.draw(d, 33, kind), l.with())
			if err != nil {
				return err
			}
			row.add(m)
		}
		t.rows = append(t.rows, row)
	}
	return t.write(os.Stdout)
}

// options switches one option at a time.
func (l *lab) options() error {
	t := table{title: "Options, 33 labelled documents", first: "options"}
	for _, o := range []struct {
		name string
		set  []string
	}{
		{"none of them", nil},
		{"learn.calibrate: isotonic", []string{"learn.calibrate=isotonic"}},
		{"learn.retag", []string{"learn.retag=true"}},
		{"learn.drop", []string{"learn.drop=true"}},
		{"learn.weigh", []string{"learn.weigh=true"}},
		{"learn.agree: a template without affixes and lists", []string{"learn.agree=" + l.context()}},
		{"learn.ask: 5 a turn, answered (hybrid)", []string{"learn.ask=5", "learn.oracle=" + l.file("train.jsonl")}},
	} {
		row := row{name: o.name}
		for d := range l.draws {
			m, err := l.learn(l.draw(d, 33, all), append(recipe(), o.set...))
			if err != nil {
				return err
			}
			row.add(m)
		}
		t.rows = append(t.rows, row)
	}
	return t.write(os.Stdout)
}

// ask compares notes that the model is unsure of with random ones, at the same
// number of notes: lines of MEDDOCAN train, answered from gold.
func (l *lab) ask() error {
	t := table{title: "Questions against random notes", first: "notes corrected, how chosen", turns: []int{1, 2, 4}, costs: []int{100, 200, 400}}
	for _, o := range []struct{ name, random string }{{"asked (10 % random)", "0.1"}, {"random", "1"}} {
		row := row{name: o.name}
		for d := range l.draws {
			m, err := l.learn(l.draw(d, 10, shortNotes), []string{
				"learn.unit=note", "learn.slice=100000", "learn.again=true", "learn.turns=4", "learn.patience=9", "choose.k=0",
				"choose.min_confidence=1", "learn.ask=100", "learn.ask_random=" + o.random, "learn.oracle=" + l.file("short.jsonl"), "train.tolerance=0.0001",
			})
			if err != nil {
				return err
			}
			row.add(m)
		}
		t.rows = append(t.rows, row)
	}
	return t.write(os.Stdout)
}

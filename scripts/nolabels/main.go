// Command nolabels finds names of persons without labelled notes: dictionary
// taggers (METHODS §4; BOOT §3.6), then a CRF that learns from the lines of
// which the frequency divergence model is sure, and then from its own (METHODS
// §6; BOOT §4.5).
//
//	scripts/nolabels.sh
//
// The lists' counts come from a census, the archive's from the unlabelled pool
// and the texts of MEDDOCAN train. The gold of a drawn slice of train chooses
// the thresholds of the dictionary taggers, nothing else; the rest of train is
// read without its labels. Scores are strict spans on MEDDOCAN dev, patients'
// and professionals' names as one category.
package main

import (
	"context"
	"flag"
	"log"
)

// settings are what an experiment varies.
type settings struct {
	gazetteer, negative, data string
	draws, first, slice       int
	k, without, turns         int
	minimum, crfMinimum       float64
	template                  string
	unit                      string
	iterations                int
	l2                        float64
	tagged                    bool
	consistent, doubt         bool
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("nolabels: ")
	var s settings
	flag.StringVar(&s.gazetteer, "gazetteer", "", "file of `velum gazetteer build`")
	flag.StringVar(&s.negative, "negative", "", "the same, of words that are no names")
	flag.StringVar(&s.data, "data", "../shared/data", "folder with meddocan, unlabelled-es-phi, unlabelled-es-clinical")
	flag.IntVar(&s.draws, "draws", 5, "draws of the slice of train, a seed each")
	flag.IntVar(&s.first, "first", 1, "first seed")
	flag.IntVar(&s.slice, "slice", 50, "documents of train whose gold chooses thresholds")
	flag.IntVar(&s.k, "k", 5000, "most units with names in a turn")
	flag.IntVar(&s.without, "without", 10, "units without names for each one with names")
	flag.IntVar(&s.turns, "turns", 2, "turns of self-learning after the first CRF")
	flag.Float64Var(&s.minimum, "minimum", 0.5, "C_min of the divergence model")
	flag.Float64Var(&s.crfMinimum, "crf-minimum", 0.85, "C_min of the CRF")
	flag.StringVar(&s.template, "template", "context", "features: context (nothing of the form but its shape), or a template `FILE`")
	flag.StringVar(&s.unit, "unit", "line", "unit of confidence and choice: line or note")
	flag.IntVar(&s.iterations, "iterations", 20, "of L-BFGS")
	flag.Float64Var(&s.l2, "l2", 1, "quadratic penalty")
	flag.BoolVar(&s.tagged, "tagged-only", false, "confidence over tagged tokens, not over all that are in the lists")
	flag.BoolVar(&s.doubt, "doubt", false, "units in which a capitalised word of the lists is no name do not teach what is none")
	flag.BoolVar(&s.consistent, "consistent", false, "drop units in which a tagged name continues with a capitalised word that is not tagged")
	flag.Parse()
	if err := run(context.Background(), s); err != nil {
		log.Fatal(err)
	}
}

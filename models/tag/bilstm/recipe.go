package bilstm

// Recipe holds the options of a training.
type Recipe struct {
	Solver string // "adam" or "sgd"
	Rate   float64
	Beta1  float64 // of Adam
	Beta2  float64
	WarmUp int     // steps in which the rate rises to Rate
	Last   float64 // share of Rate that is left at the last step, towards which it falls in a line; 1: it does not
	Clip   float64 // longest gradient; 0: any
	Decay  float64 // share of the weights that a step takes away, at the full rate
	Batch  int     // sequences a step
	Epochs int     // at most
	Flat   int     // stop when the loss of so many epochs was no better than the best; 0: never

	Input  float64 // dropout of single numbers of the input
	Locked float64 // dropout of numbers of the input, the same for all tokens of a sequence
	Output float64 // the same of what a layer gives
	Word   float64 // words that are hidden: their vector is that of unknown words
	Rare   float64 // the same of words seen once
	// tokens of which nothing is seen that says which word it is: no word, list or cluster, only its shape, characters and place
	Blind float64

	Keep         float64 // share of the sequences with spans that an epoch sees
	KeepO        float64 // share of those without
	Swap         float64 // spans exchanged for another of their category
	Noise        float64 // sequences in capitals, in lower case or without accents: a third each
	Frozen       bool    // the vectors of words are not learned
	MinCount     int     // features seen less often have no vector
	ClassWeights bool    // tokens weigh against the frequency of their class; not for the objective "path"
}

// DefaultRecipe returns the options that matched PyTorch in a comparison, with more frequent swapping of spans and
// hiding of rare words (BENCHMARKS.md).
func DefaultRecipe() Recipe {
	return Recipe{
		Solver: "adam", Rate: 3e-3, Beta1: 0.9, Beta2: 0.98, WarmUp: 60, Last: 0.02, Clip: 5, Batch: 48, Epochs: 10,
		Input: 0.2, Locked: 0.2, Output: 0.4, Word: 0.05, Rare: 0.3, Keep: 1, KeepO: 0.5, Swap: 0.3, MinCount: 3,
	}
}

// RateAt returns the learning rate of a step, counted from 0, out of all steps.
func (r *Recipe) RateAt(step, all int) float64 {
	if step < r.WarmUp {
		return r.Rate * float64(step+1) / float64(r.WarmUp)
	}
	done := float64(step-r.WarmUp) / float64(max(all-r.WarmUp, 1))
	return r.Rate * (1 - (1-r.Last)*min(done, 1))
}

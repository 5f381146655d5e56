package embed

// A Model learns vectors from rounds of word numbers.
type Model interface {
	Epochs() int     // how often it wants to see the text
	RoundSize() int  // word numbers a round
	Round(t []int32) // learns from one round
	Done() uint64    // tokens seen so far, all epochs
	Vectors() *Vectors
}

// Methods returns the names that New takes.
func Methods() []string { return []string{"skip-gram", "cbow", "glove"} }

// New returns an untrained model of a known method for a vocabulary of at
// least one word.
func New(method string, v *Vocabulary, o Options) Model {
	if method == "glove" {
		return newGloVe(v, o)
	}
	o.CBOW = method == "cbow"
	return newWord2Vec(v, o)
}

// Epochs returns how often the text is to be seen.
func (w *word2Vec) Epochs() int { return w.o.Epochs }

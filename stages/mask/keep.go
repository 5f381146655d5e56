package mask

// newKeep returns the operator that leaves the value. verify does not look for
// the values of a category that is kept.
func newKeep(s *settings) func(*Options) Operator {
	s.keeps = true
	return stateless(func(dst []byte, v Value) []byte { return append(dst, v.Words...) }).new
}

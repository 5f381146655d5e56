package mask

func newSuppress(*settings) func(*Options) Operator {
	return stateless(func(dst []byte, _ Value) []byte { return dst }).new
}

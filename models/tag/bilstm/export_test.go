package bilstm

// What the tests that train models, which stand outside, see of the inside.

// Together is how many tokens wait at most.
const Together = together

// Room gives the labeller an empty cache of so many forms.
func (l *Labeller) Room(forms int) {
	l.cache = newCache(0, l.cache.width)
	l.cache.make(forms)
}

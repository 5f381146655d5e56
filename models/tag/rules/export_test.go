package rules

// Exhausted returns from how many tokens a search was ended by MaxSteps.
func (m *Machine) Exhausted() int64 { return m.exhausted }

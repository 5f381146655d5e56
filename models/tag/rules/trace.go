package rules

import (
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// Traced is a find with the path of states that led to it.
type Traced struct {
	Find
	Name  string // of the network
	Steps []Step
}

// A Step is one arc of a path.
type Step struct {
	Network, State string // that it led on from
	Line           int    // of the file
	Start, End     int32  // bytes of the text that it consumed
}

// trailStep is an arc that was taken, and the one before it.
type trailStep struct {
	parent int32
	Step
}

// Trace is Finds with the path to each find. It allocates, and is meant for display.
func (m *Machine) Trace(text []byte, tokens []pipeline.Token) []Traced {
	m.tracing, m.traced = true, nil
	defer func() { m.tracing = false }()
	finds := m.Finds(text, tokens)
	names := m.pack.Networks()
	for i := range m.traced {
		m.traced[i].Find, m.traced[i].Name = finds[i], names[finds[i].Network]
	}
	return m.traced
}

// took keeps an arc that was taken and returns its number.
func (m *Machine) took(from, to *config, a *arc) int32 {
	s := m.pack.states[from.state]
	start := m.begun(from)
	end := start
	if to.token != from.token || to.offset != from.offset {
		end = m.ended(to)
	}
	m.trail = append(m.trail, trailStep{parent: from.step, Step: Step{Network: m.pack.networks[s.network].name, State: s.name, Line: a.line,
		Start: start, End: end}})
	return int32(len(m.trail) - 1)
}

// path returns the arcs to a place, from the first.
func (m *Machine) path(c *config) (steps []Step) {
	for i := c.step; i >= 0; i = m.trail[i].parent {
		steps = append(steps, m.trail[i].Step)
	}
	slices.Reverse(steps)
	return steps
}

package pipeline

import (
	"sync"
	"time"
)

// Stats counts the batches, notes and time of each step. All methods accept a nil *Stats, which counts nothing.
type Stats struct {
	mu    sync.Mutex
	steps []stepStats
}

// stepStats counts the work of one step so far.
type stepStats struct {
	Name    string
	Batches int
	Notes   int
	Busy    time.Duration // time in the step, added over its workers
}

func (s *Stats) add(name string, notes int, d time.Duration) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.steps {
		if s.steps[i].Name == name {
			s.steps[i].Batches++
			s.steps[i].Notes += notes
			s.steps[i].Busy += d
			return
		}
	}
	s.steps = append(s.steps, stepStats{Name: name, Batches: 1, Notes: notes, Busy: d})
}

// Steps returns a copy of the counts, in the order in which the steps first finished a batch.
func (s *Stats) Steps() []stepStats {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]stepStats(nil), s.steps...)
}

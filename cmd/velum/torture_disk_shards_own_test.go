package main

import "testing"

// TestShardsSees: processes that write what no other would are found out, and so are
// those that go on although others have taken their turn.
func TestShardsSees(t *testing.T) {
	for name, plant := range map[string]func(s *diskShardsHistory){"own": func(s *diskShardsHistory) { s.own = true }, "meek": func(s *diskShardsHistory) { s.meek = true }} {
		found := false
		for seed := uint64(0); seed < 400 && !found; seed++ {
			s := diskNewShards(seed)
			plant(s)
			_, err := s.run(seed)
			found = err != nil
		}
		if !found {
			t.Errorf("%s: nothing went wrong in 400 histories", name)
		}
	}
}

package disk

import "testing"

// TestShards: 200 histories of a plan, its shards and finishers; `make torture` has 10,000.
func TestShards(t *testing.T) {
	for seed := range uint64(200) {
		if _, err := Shards(seed, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShardsSees: processes that write what no other would are found out, and so are
// those that go on although others have taken their turn.
func TestShardsSees(t *testing.T) {
	for name, plant := range map[string]func(s *shards){"own": func(s *shards) { s.own = true }, "meek": func(s *shards) { s.meek = true }} {
		found := false
		for seed := uint64(0); seed < 400 && !found; seed++ {
			s := newShards(seed)
			plant(s)
			_, err := s.run(seed)
			found = err != nil
		}
		if !found {
			t.Errorf("%s: nothing went wrong in 400 histories", name)
		}
	}
}

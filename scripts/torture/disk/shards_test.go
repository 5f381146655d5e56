package disk

import (
	"math/rand/v2"
	"testing"
)

// TestShards: 200 histories of a plan, its shards and finishers; `make torture` has 10,000.
func TestShards(t *testing.T) {
	for seed := range uint64(200) {
		if _, err := Shards(seed, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShardsSees: processes that write what no other would are found out.
func TestShardsSees(t *testing.T) {
	for seed := range uint64(200) {
		s := &shards{rng: rand.New(rand.NewPCG(seed, 5)), w: &worker{disk: New(seed, volume)}, own: true}
		if _, err := s.run(seed); err != nil {
			return
		}
	}
	t.Error("nothing went wrong in 200 histories")
}

package cut

import "testing"

func TestTables(t *testing.T) {
	tables := Tables("[size] # what a number is\n!?odd big -> 0.5\nodd big -> other\n-> 0.1\n[other]\n13 -> 0.7\n[odd]\nodd -> 1\n", func(condition string) func(int) bool {
		switch condition {
		case "big":
			return func(n int) bool { return n > 10 }
		case "odd":
			return func(n int) bool { return n%2 == 1 }
		}
		return func(n int) bool { return n == 13 }
	})
	for n, want := range map[int]float32{12: 0.5, 13: 0.7, 15: 0, 3: 0.1, 4: 0.1} {
		if got := tables["size"].Decide(n); got != want {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a table that is not there is taken")
		}
	}()
	Tables("[a]\n-> b\n", func(string) func(int) bool { return nil })
}

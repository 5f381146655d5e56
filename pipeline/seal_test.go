package pipeline

import "testing"

// TestSeal: a note is sealed as its masked text stands in its row, and not when the text or the row is another.
func TestSeal(t *testing.T) {
	of := func(first int64, texts ...string) *Batch {
		b := &Batch{First: first}
		for _, text := range texts {
			b.Text.Append(nil)
			b.ID.Append(nil)
			b.Reason = append(b.Reason, Sound)
			b.Masked.Append([]byte(text))
		}
		return b
	}
	b := of(7, "a", "b", "")
	for i := range 4 {
		if b.Sealed(i) {
			t.Errorf("note %d is sealed by nobody", i)
		}
	}
	b.Seal(2)
	b.Seal(0)
	for i, want := range []bool{true, false, true, false} {
		if b.Sealed(i) != want {
			t.Errorf("note %d is sealed: %t", i, !want)
		}
	}
	for what, other := range map[string]*Batch{"another text": of(7, "x", "b", "y"), "another row": of(8, "a", "b", "")} {
		other.Seals = b.Seals
		if other.Sealed(0) || other.Sealed(1) || other.Sealed(2) {
			t.Errorf("%s is sealed", what)
		}
	}
	same := of(7, "a", "b", "")
	if same.Seals = b.Seals; !same.Sealed(0) || !same.Sealed(2) {
		t.Error("the same text in the same row is not sealed")
	}
}

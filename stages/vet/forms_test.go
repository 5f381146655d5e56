package vet

import "testing"

// TestForms: ids of 8-4-4-4-12 hexadecimal digits, and those that are a number behind one letter or none.
func TestForms(t *testing.T) {
	const id = "0189afAF-0123-4567-89ab-cdefCDEF0123"
	for text, want := range map[string]bool{
		id: true, id + ".txt": true, id + "x": false, id + " .txt": false, id[1:]: false, "": false,
		"g" + id[1:]: false, "G" + id[1:]: false, "@" + id[1:]: false, "/" + id[1:]: false, ":" + id[1:]: false, "`" + id[1:]: false, "-" + id[1:]: false,
		id[:8] + "0" + id[9:]: false, id[:13] + "0" + id[14:]: false, id[:18] + "0" + id[19:]: false, id[:23] + "_" + id[24:]: false, id[:35] + "-": false,
	} {
		if got := isUUID([]byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	for text, want := range map[string]bool{"": true, "7": true, "09": true, "A7": true, "a": true, "AB7": false, "7A": false, "A-7": false, "7 ": false, "/": false, ":": false} {
		if got := plain([]byte(text)); got != want {
			t.Errorf("%q is a number: %t", text, got)
		}
	}
	for at, want := range map[int]bool{-1: false, 0: true, 1: true, 2: false, 3: false, 4: false} {
		if got := digitAt([]byte("09/:"), at); got != want {
			t.Errorf("a digit at %d: %t", at, got)
		}
	}
}

package text

import "testing"

func TestUnit(t *testing.T) {
	for digits, want := range map[string]rune{"0041": 'A', "00e9x": 'é', "00E9": 'é', "ffff": 0xFFFF, "FaFf": 0xFAFF, "000a": 10, "a000": 0xA000, "004": -1, "": -1, "00/0": -1, "00:0": -1, "00@0": -1, "00`0": -1, "00g0": -1, "00G0": -1, "0090": 0x90} {
		if got := unit([]byte(digits)); got != want {
			t.Errorf("%s: %x, want %x", digits, got, want)
		}
	}
	s := scan{data: []byte(" \t\r\n x"), at: 1}
	if s.blanks(); s.at != 5 {
		t.Errorf("at %d", s.at)
	}
	if s.sign('y') || !s.sign('x') || s.at != 6 || s.sign('x') {
		t.Errorf("at %d behind a sign", s.at)
	}
}

package control

import "testing"

// TestCheckDigits takes numbers whose digits are known, and no other digit in
// their place.
func TestCheckDigits(t *testing.T) {
	for v, want := range map[int]byte{12345678: 'Z', 87654321: 'X', 0: 'T', 40123456: 'W', 11234567: 'X', 21234567: 'R'} {
		for b := byte('A'); b <= 'Z'; b++ {
			if right := Letter(v) == b; right != (b == want) {
				t.Errorf("%d%c: %v", v, b, right)
			}
		}
	}
	for _, number := range []string{"081234567869", "280123456742", "174001234558", "501234567890"} {
		right := 0
		for c := range 100 {
			if Social([]byte(number[:10] + string([]byte{byte('0' + c/10), byte('0' + c%10)}))) {
				right++
			}
		}
		if right != 1 {
			t.Errorf("%s: %d check numbers are right", number[:10], right)
		}
	}
	if !Social([]byte("280123456742")) || !Social([]byte("081234567869")) {
		t.Error("a right number of the Social Security is refused")
	}
	if !Account([]byte("21000418450200051332")) || Account([]byte("21000418460200051332")) || Account([]byte("21000418550200051332")) {
		t.Error("control digits of a bank account")
	}
	for _, cif := range []string{"B12345674", "A58818501", "B65432106", "B6543210F"} {
		if !CIF([8]byte([]byte(cif[1:]))) {
			t.Errorf("control of %s", cif)
		}
	}
}

// TestNamed: what stands between the letters and digits of a value does not matter.
func TestNamed(t *testing.T) {
	for _, c := range []struct {
		name, value string
		right       bool
	}{
		{"dni", "12345678Z", true}, {"dni", "12.345.678-z", true}, {"dni", "12345678A", false}, {"dni", "X1234567L", true}, {"dni", "Z1234567L", false},
		{"dni", "K1234567L", true}, {"dni", "", false}, {"dni", "Ñ2345678Z", false}, {"cif", "B12345674", true}, {"cif", "B12345675", false},
		{"iban", "ES91 2100 0418 4502 0005 1332", true}, {"iban", "GB29 NWBK 6016 1331 9268 19", true}, {"iban", "GB29 NWBK 6016 1331 9268 18", false},
		{"nass", "NSS 28/01234567/42", true}, {"nass", "28/01234567/43", false}, {"luhn", "4539 1488 0343 6467", true}, {"luhn", "0", false},
		{"cip", "GAPE 0 800115 123", true}, {"cip", "GAPE 0 801315 123", false}, {"cip", "GAPE 2 800115 123", false},
	} {
		if Named(c.name)([]byte(c.value)) != c.right {
			t.Errorf("%s %s: not %v", c.name, c.value, c.right)
		}
	}
	if Named("other") != nil || len(Names()) != 6 {
		t.Error(Names())
	}
}

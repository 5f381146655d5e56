package control

import "testing"

// TestIssued has the first and the last four digits of issuers (ISO/IEC 7812), and their neighbours.
func TestIssued(t *testing.T) {
	for _, c := range []struct {
		first, digits int
		want          bool
	}{
		{4000, 16, true}, {4999, 16, true}, {3999, 16, false}, {4000, 13, true}, {4000, 14, false}, {4000, 15, false}, {3400, 15, true}, {3499, 15, true}, {3399, 15, false}, {3500, 15, false}, {3500, 16, true},
		{6011, 16, true}, {6010, 16, false}, {6012, 16, false}, {2221, 16, true}, {2720, 16, true}, {2220, 16, false}, {2721, 16, false}, {3000, 14, true}, {3059, 14, true}, {3060, 14, false},
	} {
		if got := Issued(c.first, c.digits); got != c.want {
			t.Errorf("%d of %d digits: %t", c.first, c.digits, got)
		}
	}
	for number, want := range map[string]bool{"79927398713": true, "79927398710": false, "4111111111111111": true, "4111111111111112": false, "5": false, "18": true, "26": true} {
		if got := Luhn([]byte(number)); got != want {
			t.Errorf("%s: %t", number, got)
		}
	}
	for value, want := range map[string]bool{"12345678Z": true, "12345678A": false, "X1234567L": true, "K1234567L": true, "1234567L": true, "12345678": false, "123456789Z": false, "A2345678Z": false, "1234567AZ": false} {
		if got := dni([]byte(value)); got != want {
			t.Errorf("%s: %t", value, got)
		}
	}
	for value, want := range map[string]bool{"ROMA1520314007": true, "ROMA0521231007": true, "ROMA2520314007": false, "ROMA1521314007": false, "ROMA1520014007": false, "ROMA1520332007": false, "ROMA1520300007": false, "ROM11520314007": false, "ROMA152031400A": false, "ROMA152031400": false, "ROMA1520331007": true, "ROMA1520112007": true} {
		if got := cip([]byte(value)); got != want {
			t.Errorf("%s: %t", value, got)
		}
	}
}

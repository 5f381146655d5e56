package mask

import "testing"

// TestAppendTelling leaves María and José out where they are a part.
func TestAppendTelling(t *testing.T) {
	for value, want := range map[string]string{
		"Ana Puig": "ana puig ", "María": "maria ", "María Puig": "puig ", "José María": "", "Rosa María Puig": "rosa puig ", "Puig José": "puig ", "Josemaría Puig": "josemaria puig ", "Puig Rosamaría": "puig rosamaria ",
	} {
		if got := string(appendTelling([]byte("x "), []byte(value))); got != "x "+want {
			t.Errorf("%s: %q, want %q", value, got[2:], want)
		}
	}
}

func TestStaffBefore(t *testing.T) {
	for text, want := range map[string]bool{
		"Visto por la Dra. ": true, "Visto por Dra": true, "(Dr.": true, "Dr/": false, "el paciente ": false, "": false, "Doctor:": true, "abcdefghijklmDr. ": false, "Dr\n": false, "\tDr": true,
	} {
		if StaffBefore([]byte(text)) != want {
			t.Errorf("%q is before staff: %t", text, !want)
		}
	}
}

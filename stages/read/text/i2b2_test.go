package text_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/stages/read/text"
)

func xmlNote(text, tags string) string {
	return `<?xml version="1.0" encoding="UTF-8" ?>` + "\n<deIdi2b2>\n<TEXT>" + text + "</TEXT>\n<TAGS>\n" + tags + "\n</TAGS>\n</deIdi2b2>\n"
}

var i2b2Tests = []struct{ name, in, want string }{
	{"plain", xmlNote("<![CDATA[la Ada]]>", `<NAME id="P0" start="3" end="6" text="Ada" TYPE="PATIENT" comment="" />`), "a|la [PATIENT:Ada]"},
	{"entities", xmlNote("Ada &lt;&#13;&#10;Mas&gt;", `<NAME start="7" end="10" text="Mas" TYPE="DOCTOR"/>`), "a|Ada <\r\n[DOCTOR:Mas]>"},
	{"end of CDATA inside", xmlNote("<![CDATA[x]]]]><![CDATA[>Ada]]>", `<NAME start="4" end="7" TYPE="PATIENT"/>`), "a|x\\]\\]>[PATIENT:Ada]"},
	{"a parser's line ends", xmlNote("<![CDATA[a\r\nAda]]>", `<NAME start="2" end="5" text="Ada" TYPE="PATIENT"/>`), "a|a\n[PATIENT:Ada]"},
	{"code points", xmlNote("<![CDATA[😀é Ada]]>", `<NAME start="3" end="6" text="Ada" TYPE="NOMBRE_SUJETO_ASISTENCIA"/>`), "a|😀é [NOMBRE_SUJETO_ASISTENCIA:Ada]"},
	{"no TYPE", xmlNote("x 5", `<AGE start="2" end="3"/>`), "a|x [AGE:5]"},
	{"other place", xmlNote("x", `<LOCATION start="0" end="1" TYPE="OTHER"/>`), "a|[LOCATION-OTHER:x]"},
	{"no TAGS", "\ufeff<n><TEXT></TEXT><META><AGE/></META></n>", "a|"},
	{"not UTF-8", xmlNote("A\xff", ""), "a!bad_encoding"},
}

func TestI2B2(t *testing.T) {
	for _, tt := range i2b2Tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := text.NewI2B2(putFiles(t, map[string]string{"a.xml": tt.in, "x.txt": "no"}), text.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := readAll(r)
			if d := cmp.Diff([]string{tt.want}, got); d != "" || err != nil {
				t.Error(d, err)
			}
			if r.Warnings() != (text.Warnings{}) {
				t.Errorf("%+v", r.Warnings())
			}
		})
	}
}

var i2b2Errors = []struct{ name, in, want string }{
	{"not XML", "Ada", "a.xml: not one TEXT element"},
	{"empty", "", "a.xml: not one TEXT element"},
	{"cut off", "<n>\n<TEXT>Ada", "a.xml:2:10: not well-formed XML"},
	{"unknown entity", "<n>\n<TEXT>&Ada;</TEXT></n>", "a.xml:2:12: not well-formed XML"},
	{"other encoding", `<?xml version="1.0" encoding="latin1"?><n><TEXT>Ada</TEXT></n>`, "a.xml:1:40: not well-formed XML in UTF-8"},
	{"two texts", "<n><TEXT>Ada</TEXT><TEXT/></n>", "a.xml: not one TEXT element"},
	{"no end", xmlNote("Ada", `<NAME start="0" TYPE="PATIENT"/>`), "a.xml:5:1: span without start or end"},
	{"words for offsets", xmlNote("Ada", `<NAME start="zero" end="3" TYPE="PATIENT"/>`), "a.xml:5:1: start or end is not a whole number"},
	{"outside", xmlNote("Ada", `<NAME start="0" end="4" TYPE="PATIENT"/>`), "a.xml:5:1: span outside the text of 3 units"},
	{"unknown type", xmlNote("Ada", `<NAME start="0" end="3" TYPE="SecretName"/>`), "a.xml:5:1: unknown label"},
}

func TestI2B2Errors(t *testing.T) {
	for _, tt := range i2b2Errors {
		t.Run(tt.name, func(t *testing.T) {
			r, err := text.NewI2B2(putFiles(t, map[string]string{"a.xml": tt.in}), text.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = readAll(r)
			checkInputError(t, err, tt.want)
		})
	}
}

func FuzzI2B2(f *testing.F) {
	for _, tt := range i2b2Tests {
		f.Add(tt.in)
	}
	for _, tt := range i2b2Errors {
		f.Add(tt.in)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, in string) {
		rewriteAs(t, dir, "a.xml", in)
		r, err := text.NewI2B2(dir, text.Options{SkipUnknown: true})
		if err != nil {
			t.Fatal(err)
		}
		checkSource(t, r)
	})
}

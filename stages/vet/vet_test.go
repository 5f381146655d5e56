package vet

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

func TestHolds(t *testing.T) {
	v := NewVetter()
	for _, tt := range []struct{ id, want string }{
		{"12345678Z", Identifier},
		{"12345678-Z", Identifier},
		{"dni_12345678Z_alta.txt", Identifier},
		{"GARCIA LOPEZ MARIA 12345678Z.txt", Identifier},
		{"X1234567L", Identifier},
		{"12345678Z_2026", Identifier},
		{"2026_X1234567L", Identifier},
		{"nota1_12345678Z_2alta", Identifier},
		{"GARCIA_LOPEZ_MARIA_2026_1", Person},
		{"2_garcia_lopez", Person},
		{"ward2_maria_garcia", Person},
		{"2a_maria_garcia_2b", Person},
		{"ROVI1850412001", Identifier}, // CIP of Catalonia
		{"BBBBBBBBQR123456", Identifier},
		{"ES9121000418450200051332", Identifier},
		{"28-12345678-40", Identifier},
		{"7|12345678Z|2", Identifier},
		{"2026/02/12345678Z.txt", Identifier},
		{"maria.rovira@example.org", Email},
		{"+34612345678", Telephone},
		{"612 345 678.txt", Telephone},
		{"GARCIA LOPEZ MARIA.txt", Person},
		{"maria_garcia", Person},
		{"garcia-lopez", Person},
		{"GarciaLopezMaria.txt", Person},
		{"Jose Antonio Perez/nota1.txt", Person},
		{"ZUBIMENDI QUEREJETA JOSEFA", Person}, // surnames that no list has
		{"PUIG I CADAFALCH, JOSEP", Person},
		{"2026-03/FERNANDEZ DE LA VEGA MARIA TERESA", Person},
		{"informe MARTINEZ JUAN", Person},
		{"Nadia Benali", Person},

		{"12345678A", ""}, // another letter
		{"hospital gregorio maranon", ""},
		{"san juan de dios", ""},
		{"Vall Hebron", ""},
		{"Virgen del Rocio", ""},
		{"clara", ""},
		{"puig", ""},
		{"6_1_2_3_4_5_6_7_8", ""}, // numbers of parts, not the groups of a telephone
		{"", ""},
	} {
		if got := v.Holds([]byte(tt.id)); got != tt.want {
			t.Errorf("%q holds %q, want %q", tt.id, got, tt.want)
		}
	}
}

// TestOrdinary: ids as machines and archives make them say nothing of anybody.
func TestOrdinary(t *testing.T) {
	hash := func(i int) string { return fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)})) }
	uuid := func(i int) string {
		h := hash(i)
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:32]
	}
	number := func(i int) int { return i * 7919 % 1000 * 1_000_003 }
	kinds := map[string]func(i int) string{
		"notes":      func(i int) string { return fmt.Sprintf("note-%06d", i) },
		"patients":   func(i int) string { return fmt.Sprintf("P%d", 1000+i) },
		"long":       func(i int) string { return fmt.Sprintf("P%08d", number(i)%100_000_000) },
		"counters":   func(i int) string { return fmt.Sprint(600_000_000 + 397*i) },
		"ten":        func(i int) string { return fmt.Sprintf("%010d", number(i)) },
		"twelve":     func(i int) string { return fmt.Sprintf("%012d", 281_234_567_000+i) },
		"numbered":   func(i int) string { return fmt.Sprintf("nota_%09d.txt", 612_345_000+i) },
		"three":      func(i int) string { return fmt.Sprintf("%d|%d|%d", 4711+i, i%9, number(i)) },
		"grouped":    func(i int) string { return fmt.Sprintf("%d_%03d_%03d", 600+i%300, i%1000, number(i)%1000) },
		"uuids":      uuid,
		"uuid files": func(i int) string { return "2026/" + uuid(i) + ".txt" },
		"SHA-256":    hash,
		"half":       func(i int) string { return strings.ToUpper(hash(i)[:12]) },
		"days":       func(i int) string { return fmt.Sprintf("20%02d-%02d-%02d", i%30, 1+i%12, 1+i%28) },
		"times":      func(i int) string { return fmt.Sprintf("20%02d-%02d-%02dT10:%02d:00", i%30, 1+i%12, 1+i%28, i%60) },
		"months": func(i int) string {
			return fmt.Sprintf("year=20%02d/month=%02d/20%02d-%02d.parquet", i%30, 1+i%12, i%30, 1+i%12)
		},
		"objects": func(i int) string { return fmt.Sprintf("2.16.724.4.%d.%d", i, number(i)) },
	}
	v := NewVetter()
	for name, of := range kinds {
		for i := range 600 {
			if got := v.Holds([]byte(of(i))); got != "" {
				t.Errorf("%s: %q holds %s", name, of(i), got)
			}
		}
	}
	words := strings.Fields("informe informes alta urgencias notas consultas_externas evolucion historia enfermeria cardiologia pediatria hospital primaria cap abs " +
		"uci laboratorio radiologia export datos backup nuevo viejo prueba lote enero febrero marzo abril mayo junio julio agosto gener juny norte sur costa " +
		"discharge summary emergency ward 2026 2026-02 v2 final guillain_barre parkinson alzheimer glasgow")
	for _, a := range words {
		for _, b := range words {
			for _, id := range []string{a + "_" + b + ".txt", strings.ToUpper(a) + " " + b, a + "/" + b + "-3"} {
				if got := v.Holds([]byte(id)); got != "" {
					t.Errorf("%q holds %s", id, got)
				}
			}
		}
	}
}

func TestColumn(t *testing.T) {
	column := func(n int, of func(i int) string) (ids [][]byte) {
		for i := range n {
			ids = append(ids, []byte(of(i)))
		}
		return ids
	}
	insured := func(i int) string { // twelve digits, of which the last two are those before modulo 97
		n := 2_812_345_678 + i*7919
		return fmt.Sprintf("%010d%02d", n, n%97)
	}
	for _, tt := range []struct {
		name string
		ids  [][]byte
		want string
	}{
		{"one of many", column(500, func(i int) string { return map[bool]string{true: "12345678Z", false: "9"}[i == 499] }), Identifier},
		{"numbers of social security", column(20, insured), Identifier},
		{"one of them by chance", column(20, func(i int) string { return map[bool]string{true: insured(i), false: fmt.Sprintf("%012d", i)}[i == 3] }), ""},
		{"telephones", column(20, func(i int) string { return fmt.Sprint(600_000_000 + i*7_919_777%99_000_000) }), Telephone},
		{"a counter", column(20, func(i int) string { return fmt.Sprint(600_000_000 + i) }), ""},
		{"too few to tell", column(3, insured), ""},
		{"none", nil, ""},
	} {
		if got := NewVetter().Column(tt.ids); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestStage(t *testing.T) {
	var b pipeline.Batch
	for _, id := range []string{"1", "12345678Z", "ANA LOPEZ", "P7"} {
		b.ID.Append([]byte(id))
		b.Text.Append([]byte("text"))
		b.Reason = append(b.Reason, pipeline.Sound)
	}
	b.Reason[2] = pipeline.NullText
	if err := New(1).New()(&b); err != nil {
		t.Fatal(err)
	}
	want := []pipeline.Reason{pipeline.Sound, pipeline.IdentifyingID, pipeline.NullText, pipeline.Sound}
	for i := range want {
		if b.Reason[i] != want[i] {
			t.Errorf("note %d: %v, want %v", i, b.Reason[i], want[i])
		}
	}
}

func BenchmarkHolds(b *testing.B) {
	v, id := NewVetter(), []byte("informe-00123")
	b.ReportAllocs()
	for b.Loop() {
		v.Holds(id)
	}
}

package rules_test

import (
	"testing"

	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/models/word/morph"
	"github.com/velum-health/velum/pipeline"
)

// BenchmarkSpans: the pack that ships on notes of 20 words each, most without
// names, as in an archive.
func BenchmarkSpans(b *testing.B) {
	text, err := configs.Pack(configs.ShippedPack)
	if err != nil {
		b.Fatal(err)
	}
	m, err := morph.Open(embedded.Morph())
	if err != nil {
		b.Fatal(err)
	}
	p, err := rules.Compile(string(text), rules.Resources{Morph: m})
	if err != nil {
		b.Fatal(err)
	}
	var notes [][]byte
	var tokens [][]pipeline.Token
	for _, note := range []string{
		"Paciente de 67 años que acude por dolor lumbar de 3 días, sin fiebre ni otra clínica. TA 130/80, FC 76.",
		"Control de HTA. Buen cumplimiento. Analítica en 3 meses. Refiere tos seca desde hace una semana, no disnea.",
		"Es derivada por la Dra. Puig del Hospital de Sants para valoración en consulta de digestivo el 3 de mayo.",
		"Ve per renovar la medicació crònica, es troba bé. Constants normals. Proper control d'aquí a tres mesos.",
		"Acude su hija por recetas. Ibuprofeno 600 mg cada 8 h si dolor, Omeprazol 20 mg en ayunas. Cita en agosto.",
	} {
		notes, tokens = append(notes, []byte(note)), append(tokens, cut(note))
	}
	w := p.NewMachine()
	var spans []pipeline.Span
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		spans = w.Spans(spans[:0], notes[i%len(notes)], tokens[i%len(notes)])
	}
}

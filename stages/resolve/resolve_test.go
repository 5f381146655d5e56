package resolve

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// tokensOf splits at spaces and around everything that is no letter or digit:
// what the tests need of stages/tokenize.
func tokensOf(dst []pipeline.Token, text []byte) []pipeline.Token {
	line, glued := true, false
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		j := i + n
		switch {
		case r == '\n':
			line, glued = true, false
		case unicode.IsSpace(r):
			glued = false
		default:
			if inWord(r) {
				for j < len(text) {
					r, n := utf8.DecodeRune(text[j:])
					if !inWord(r) {
						break
					}
					j += n
				}
			}
			t := pipeline.Token{Start: int32(i), End: int32(j)}
			if line {
				t.Flags |= pipeline.LineStart | pipeline.SentenceStart
			}
			if glued {
				t.Flags |= pipeline.Glued
			}
			dst = append(dst, t)
			line, glued = false, true
		}
		i = j
	}
	return dst
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// lexicon is a word list of the tests.
type lexicon string

func (l lexicon) Contains(phrase []byte) bool {
	return strings.Contains(" "+string(l)+" ", " "+strings.ToLower(string(phrase))+" ")
}

// nameLists are given names, surnames and common words.
type nameLists [3]lexicon

func (l nameLists) Name(word []byte) (given, surname, common bool) {
	return l[0].Contains(word), l[1].Contains(word), l[2].Contains(word)
}

const testWords = lexicon("blanco rosa color dolor norma visita")

var testLexicons = Lexicons{
	GivenNames: lexicon("ana anna maria juan rosa pere"),
	Surnames:   lexicon("garcía garcia puig soler blanco"),
	Names:      nameLists{lexicon("ana maria juan rosa pere"), lexicon("garcía garcia puig soler blanco"), testWords},
	Common:     testWords,
	Countries:  lexicon("costa verde asia"),
	Provinces:  lexicon("sort"),
	Towns:      lexicon("villalta robledal glasgow centro visita"),
	Never:      []NamedLexicon{{"eponym", lexicon("parkinson wilson glasgow")}, {"drug", lexicon("augmentine enalapril")}},
}

// batchOf makes a batch of notes in the notation of markup.Parse:
// the marked spans are what the model found.
func batchOf(t testing.TB, labels string, notes ...string) *pipeline.Batch {
	t.Helper()
	set, err := pipeline.Labels(labels)
	if err != nil {
		t.Fatal(err)
	}
	b := &pipeline.Batch{TagSet: &pipeline.TagSet{Categories: set.Categories}}
	for i, marked := range notes {
		text, spans, err := markup.Parse(marked)
		if err != nil {
			t.Fatalf("note %d: %v", i, err)
		}
		add(b, text, spans, nil)
	}
	return b
}

func add(b *pipeline.Batch, text []byte, spans []pipeline.Span, matches []pipeline.Match) {
	b.ID.Append([]byte("1"))
	b.Text.Append(text)
	b.Reason = append(b.Reason, pipeline.Sound)
	b.Conf = append(b.Conf, 1)
	tokens := tokensOf(nil, text)
	b.Tokens.Append(tokens...)
	first := len(b.Tags)
	b.Tags = append(b.Tags, make([]pipeline.Tag, len(tokens))...)
	b.TagSet.Encode(b.Tags[first:], tokens, spans)
	b.Matches.Append(matches...)
}

func run(t testing.TB, o Options, b *pipeline.Batch) {
	t.Helper()
	step, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := step.New()(b); err != nil {
		t.Fatal(err)
	}
}

// only returns the defaults with the given rules on and no repeats.
func only(t testing.TB, labels string, names ...string) Options {
	t.Helper()
	o, err := defaults(labels)
	if err != nil {
		t.Fatal(err)
	}
	o.Lexicons, o.Repeat, o.RepeatPart = testLexicons, nil, nil
	o.Rules = map[string]bool{}
	for _, name := range names {
		o.Rules[name] = true
	}
	return o
}

var ruleTests = []struct {
	rule, labels string
	in, out      string
}{
	{"trim", "primary-care", "Ve [PERSON:Ana Puig,] hoy", "Ve [PERSON:Ana Puig], hoy"},
	{"trim", "primary-care", "vive en [LOCATION:(Lleida)].", "vive en ([LOCATION:Lleida])."},
	{"trim", "primary-care", "[LOCATION:Sort (Lleida)] aviso", "[LOCATION:Sort (Lleida)] aviso"},
	{"trim", "primary-care", "[LOCATION:EE. UU.]", "[LOCATION:EE. UU.]"},
	{"trim", "primary-care", `[LOCATION:Hospital "Sol"] bien`, `[LOCATION:Hospital "Sol"] bien`},
	{"trim", "primary-care", "bien [PERSON:.] hoy", "bien . hoy"},
	{"trim", "primary-care", "Ve a [PERSON:Ana.]", "Ve a [PERSON:Ana]."},
	{"titles", "primary-care", "Ve [PERSON:Dra. Ana Puig] hoy", "Ve Dra. [PERSON:Ana Puig] hoy"},
	{"titles", "primary-care", "[PERSON:Sr. D. Juan Puig]", "Sr. D. [PERSON:Juan Puig]"},
	{"titles", "primary-care", "[PERSON:Don Juan]", "Don [PERSON:Juan]"},
	{"titles", "primary-care", "lo dice el [PERSON:Dr.] de guardia", "lo dice el Dr. de guardia"},
	{"titles", "primary-care", "[PERSON:D Puig]", "[PERSON:D Puig]"},
	{"titles", "primary-care", "[PERSON:Dª Rosa]", "Dª [PERSON:Rosa]"},
	{"email", "primary-care", "mail ana.[EMAIL:puig@correo].example.org, llamar", "mail [EMAIL:ana.puig@correo.example.org], llamar"},
	{"email", "primary-care", "mail [EMAIL:ana@x.org].", "mail [EMAIL:ana@x.org]."},
	{"email", "primary-care", "sin [EMAIL:arroba] aquí", "sin [EMAIL:arroba] aquí"},
	{"age", "meddocan", "varón de 70 años con dolor desde hace 3 años", "varón de [EDAD_SUJETO_ASISTENCIA:70 años] con dolor desde hace 3 años"},
	{"age", "meddocan", "Edad: 4 meses Sexo: H", "Edad: [EDAD_SUJETO_ASISTENCIA:4 meses] Sexo: H"},
	{"age", "meddocan", "de setenta y dos años de edad", "de [EDAD_SUJETO_ASISTENCIA:setenta y dos años] de edad"},
	{"age", "meddocan", "cuadro de 2 años; mujer de 2-3 años", "cuadro de 2 años; mujer de 2-3 años"},
	{"age", "primary-care", "Dona de 82 anys", "Dona de [AGE:82 anys]"},
	{"age", "primary-care", "gestante de 20 semanas; gestante de 32 años", "gestante de 20 semanas; gestante de [AGE:32 años]"},
	{"age", "primary-care", "paciente de 450 años", "paciente de 450 años"},
	{"age", "primary-care", "paciente de\n45 años", "paciente de\n45 años"},
	{"sex", "meddocan", "Edad: x Sexo: H. Mujer", "Edad: x Sexo: [SEXO_SUJETO_ASISTENCIA:H]. Mujer"},
	{"sex", "meddocan", "Sexo: no consta; sexo h", "Sexo: no consta; sexo h"},
	{"sex", "meddocan", "Paciente masculino de sexo femenino, niña que", "Paciente [SEXO_SUJETO_ASISTENCIA:masculino] de sexo [SEXO_SUJETO_ASISTENCIA:femenino], niña que"},
	{"trait", "meddocan", "mujer [SEXO_SUJETO_ASISTENCIA:blanca], de nacionalidad alemana, pérdida blanca, varón [ID_SUJETO_ASISTENCIA:negro]", "mujer [ID_SUJETO_ASISTENCIA:blanca], de nacionalidad [ID_SUJETO_ASISTENCIA:alemana], pérdida blanca, varón [ID_SUJETO_ASISTENCIA:negro]"},
	{"sex", "meddocan", "hombre de 35 años; la mujer de Juan", "[SEXO_SUJETO_ASISTENCIA:hombre] de 35 años; la mujer de Juan"},
	{"name-end", "meddocan", "[NOMBRE_PERSONAL_SANITARIO:Ana Puig Paseo] x", "[NOMBRE_PERSONAL_SANITARIO:Ana Puig] Paseo x"},
	{"name-end", "meddocan", "[NOMBRE_PERSONAL_SANITARIO:Ana Puig Avenida Luna 3]", "[NOMBRE_PERSONAL_SANITARIO:Ana Puig] [CALLE:Avenida Luna 3]"},
	{"name-end", "meddocan", "[NOMBRE_PERSONAL_SANITARIO:Ana Puig Hospital Sol]", "[NOMBRE_PERSONAL_SANITARIO:Ana Puig] [HOSPITAL:Hospital Sol]"},
	{"name-end", "primary-care", "[PERSON:Ana Puig Hospital Sol]", "[PERSON:Ana Puig] [LOCATION:Hospital Sol]"},
	{"initials", "primary-care", "Visto por M. [PERSON:Eugenia Puig] y M.a [PERSON:Rosa]", "Visto por [PERSON:M. Eugenia Puig] y [PERSON:M.a Rosa]"},
	{"place-end", "primary-care", "en [LOCATION:Centro Alba el día 5 de mayo a las 10] h", "en [LOCATION:Centro Alba] el día 5 de mayo a las 10 h"},
	{"place-end", "primary-care", "cita [LOCATION:Hospital Sol del Norte a las 07] h", "cita [LOCATION:Hospital Sol del Norte] a las 07 h"},
	{"place-end", "primary-care", "[LOCATION:CAP Nord dilluns] a primera hora", "[LOCATION:CAP Nord] dilluns a primera hora"},
	{"place-end", "primary-care", "[LOCATION:Clínica Luna Dra. Puig]", "[LOCATION:Clínica Luna] Dra. Puig"},
	{"place-end", "primary-care", "[LOCATION:Hospital Dr. Puig] y [LOCATION:Centro de Salud Dr. Soler]", "[LOCATION:Hospital Dr. Puig] y [LOCATION:Centro de Salud Dr. Soler]"},
	{"place-end", "primary-care", "en su [LOCATION:Centro de Salud], [LOCATION:ambulatorio], [LOCATION:29/09/14]", "en su Centro de Salud, ambulatorio, 29/09/14"},
	{"place-end", "primary-care", "[LOCATION:08036] [LOCATION:Hospital 14 de abril]", "[LOCATION:08036] [LOCATION:Hospital 14 de abril]"},
	{"place-end", "primary-care", "(Dr. [LOCATION:Campos]) y [LOCATION:Dra Montero]", "(Dr. [PERSON:Campos]) y Dra [PERSON:Montero]"},
	{"place-end", "primary-care", "calle del Dr. [LOCATION:Campos], Hospital Dr. [LOCATION:Sol]", "calle del Dr. [LOCATION:Campos], Hospital Dr. [LOCATION:Sol]"},
	{"place-end", "primary-care", "[LOCATION:ambulatorio , dolor]; [LOCATION:Hospital del Sol, planta 2]", "ambulatorio , dolor; [LOCATION:Hospital del Sol, planta 2]"},
	{"place-end", "primary-care", "Hospital [DATE:14 de abril] y alta del hospital el [DATE:3 de mayo]", "[LOCATION:Hospital 14 de abril] y alta del hospital el [DATE:3 de mayo]"},
	{"place-end", "primary-care", "en [DATE:Hospital 2 de mayo], H. [DATE:2 de mayo], Hº [DATE:2 de mayo], a las 10 h [DATE:2 de mayo]", "en [LOCATION:Hospital 2 de mayo], [LOCATION:H. 2 de mayo], [LOCATION:Hº 2 de mayo], a las 10 h [DATE:2 de mayo]"},
	{"place-end", "primary-care", "a [PERSON:H. Alba Robles] y [PERSON:Hospital Robles]", "a [LOCATION:H. Alba Robles] y [LOCATION:Hospital Robles]"},
	{"place-end", "primary-care", "[LOCATION:Hospital Clínic para optimizar manejo], [LOCATION:Centro Alba El] día 3", "[LOCATION:Hospital Clínic] para optimizar manejo, [LOCATION:Centro Alba] El día 3"},
	{"place-end", "primary-care", "[LOCATION:Residencia Alba Acudirá] a consulta, [LOCATION:Hospital La Paz], [LOCATION:Centro Alba Dr]", "[LOCATION:Residencia Alba] Acudirá a consulta, [LOCATION:Hospital La Paz], [LOCATION:Centro Alba] Dr"},
	{"place-end", "primary-care", "[LOCATION:Unidad de Crónicos del Hospital Alba] y [LOCATION:UMI Clínica Sol]", "Unidad de Crónicos del [LOCATION:Hospital Alba] y UMI [LOCATION:Clínica Sol]"},
	{"name-end", "primary-care", "Dra. [PERSON:Sáez-Hematología] y Dr. [PERSON:Gil Tto] : dieta", "Dra. [PERSON:Sáez]-Hematología y Dr. [PERSON:Gil] Tto : dieta"},
	{"titled", "primary-care", "Dra. Soler-Hematología, Dr. Puig Seguimiento en casa", "Dra. [PERSON:Soler]-Hematología, Dr. [PERSON:Puig] Seguimiento en casa"},
	{"centre", "primary-care", "Centro Alba El día 3, Residencia Sol Seguimiento", "[LOCATION:Centro Alba] El día 3, [LOCATION:Residencia Sol] Seguimiento"},
	{"centre", "primary-care", "a H. Alto Robles, Hº Campo Verde, H. Pylori, H. 14 de abril y hospital 2 de mayo", "a [LOCATION:H. Alto Robles], [LOCATION:Hº Campo Verde], H. Pylori, [LOCATION:H. 14 de abril] y [LOCATION:hospital 2 de mayo]"},
	{"centre", "primary-care", "Clínica Nuestra Sra. del Robledo, Hospital Dr. Puig, CAP Nord Dra. Soler", "[LOCATION:Clínica Nuestra Sra. del Robledo], [LOCATION:Hospital Dr. Puig], [LOCATION:CAP Nord] Dra. Soler"},
	{"place-end", "primary-care", "[LOCATION:H. Nuestra Señora del Prado], [LOCATION:Hospital Universitario Dr. Sol], [LOCATION:Clínica la Salut]", "[LOCATION:H. Nuestra Señora del Prado], [LOCATION:Hospital Universitario Dr. Sol], [LOCATION:Clínica la Salut]"},
	{"apart", "primary-care", "ve [PERSON:Ana Puig, Juan Soler i Maria Zzyzx] amb [PERSON:Pere Puig i Soler]", "ve [PERSON:Ana Puig], [PERSON:Juan Soler] i [PERSON:Maria Zzyzx] amb [PERSON:Pere Puig i Soler]"},
	{"pieces", "primary-care", "Dra [PERSON:Zzyzx] [PERSON:El Qwrt], [PERSON:Ana] vive en [LOCATION:Nou 3]  [LOCATION:08001 Reus]", "Dra [PERSON:Zzyzx El Qwrt], [PERSON:Ana] vive en [LOCATION:Nou 3]  [LOCATION:08001 Reus]"},
	{"pieces", "primary-care", "[PERSON:Zzyzx]\n[PERSON:Qwrt] [LOCATION:Reus] [DATE:2020]", "[PERSON:Zzyzx]\n[PERSON:Qwrt] [LOCATION:Reus] [DATE:2020]"},
	{"pieces", "meddocan", "[NOMBRE_PERSONAL_SANITARIO:Zzyzx] [NOMBRE_PERSONAL_SANITARIO:Qwrt] [TERRITORIO:08001] [TERRITORIO:Reus]", "[NOMBRE_PERSONAL_SANITARIO:Zzyzx Qwrt] [TERRITORIO:08001] [TERRITORIO:Reus]"},
	{"listed", "primary-care", "herpes tipo E. Tto previo y grado K. Wd hoy", "herpes tipo E. Tto previo y grado K. Wd hoy"},
	{"listed", "primary-care", "firma: K. Zwadd y la toxina de C. Zyxx, 38 L. Zwadd, y avisa Puig, Zzyzx hoy; Puig, Zzyzx, Qwrt", "firma: K. Zwadd y la toxina de C. Zyxx, 38 L. Zwadd, y avisa [PERSON:Puig, Zzyzx] hoy; Puig, Zzyzx, Qwrt"},
	{"listed", "primary-care", "contesta K. Zwadd hoy con Zzyzx Soler Soler y por 3 Zzyzx Soler Soler", "contesta [PERSON:K. Zwadd] hoy con [PERSON:Zzyzx Soler Soler] y por 3 Zzyzx Soler Soler"},
	{"apart", "primary-care", "[PERSON:García Puig, Ana] y [PERSON:amiga de Ana Puig] de [LOCATION:Zzyzx, Ana Puig] y [LOCATION:Reus, Puig]", "[PERSON:García Puig, Ana] y amiga de [PERSON:Ana Puig] de [LOCATION:Zzyzx], [PERSON:Ana Puig] y [LOCATION:Reus, Puig]"},
	{"date-borders", "primary-care", "el [DATE:10 de abril de 09] : 01 h", "el [DATE:10 de abril] de 09 : 01 h"},
	{"origin", "meddocan", "procedente de Orilla Alta, Vallverd (Costamar), con fiebre", "procedente de [TERRITORIO:Orilla Alta], [TERRITORIO:Vallverd] ([TERRITORIO:Costamar]), con fiebre"},
	{"origin", "primary-care", "procedente de Urgencias, del Hospital y de Neurología; vive Sola; natural Killer", "procedente de Urgencias, del Hospital y de Neurología; vive Sola; natural Killer"},
	{"origin", "primary-care", "viaje a Villalta del Río en mayo, municipio de Robledal y provinent d'Ullmont", "viaje a [LOCATION:Villalta del Río] en mayo, municipio de [LOCATION:Robledal] y provinent d'[LOCATION:Ullmont]"},
	{"town", "primary-care", "visto en Villalta y en el hospital de Robledal; criterios de Villalta, en Glasgow, a Visita, en Centro", "visto en [LOCATION:Villalta] y en el hospital de [LOCATION:Robledal]; criterios de Villalta, en Glasgow, a Visita, en Centro"},
	{"town", "meddocan", "VISTO EN VILLALTA", "VISTO EN VILLALTA"},
	{"town", "primary-care", "en CSM I de Villalta, en la Lombarda (Asia); paciente de Robledal; criterios diagnósticos de Villalta, fiebre de Robledal, Ensayo de Villalta", "en CSM I de [LOCATION:Villalta], en la [LOCATION:Lombarda] (Asia); paciente de [LOCATION:Robledal]; criterios diagnósticos de Villalta, fiebre de Robledal, Ensayo de Villalta"},
	{"origin", "meddocan", "área rural del estado Zzyzx, volcán Alto, zona Norma", "área rural del estado [TERRITORIO:Zzyzx], volcán [TERRITORIO:Alto], zona Norma"},
	{"part", "meddocan", "servicio de urgencias de Zzyzx, facultad de medicina de Alto Llano, unidad de dolor de Neurología, unidad de Corta Estancia", "servicio de urgencias de [TERRITORIO:Zzyzx], facultad de medicina de [TERRITORIO:Alto Llano], unidad de dolor de Neurología, unidad de Corta Estancia"},
	{"elliptic", "meddocan", "al pediátrico de Alto Llano, hospital de origen (Alto Llano), hospital de día (HDD), un pediátrico de guardia", "al [HOSPITAL:pediátrico de Alto Llano], hospital de origen ([HOSPITAL:Alto Llano]), hospital de día (HDD), un pediátrico de guardia"},
	{"namesake", "primary-care", "del [LOCATION:H. Gran Canaria] Dr. [PERSON:Negrin], del [LOCATION:H. Alto] Dr. [PERSON:Puig], al [LOCATION:H. Alto] ( Dr. [PERSON:Negrin] )", "del [LOCATION:H. Gran Canaria Dr. Negrin], del [LOCATION:H. Alto] Dr. [PERSON:Puig], al [LOCATION:H. Alto] ( Dr. [PERSON:Negrin] )"},
	{"led", "primary-care", "contesta E. Qwrt hoy; firma el consentimiento J. Qw. Derivada a A. Primaria, pendiente de S. Urgencias, tipo E. Qwrt", "contesta [PERSON:E. Qwrt] hoy; firma el consentimiento [PERSON:J. Qw]. Derivada a A. Primaria, pendiente de S. Urgencias, tipo E. Qwrt"},
	{"led", "primary-care", "acompañado de ana zzyzx, la curadora, Ana Zzyzx que cede; visto bastante mal juan qwrts", "acompañado de [PERSON:ana zzyzx], la curadora, [PERSON:Ana Zzyzx] que cede; visto bastante mal juan qwrts"},
	{"led", "meddocan", "Responsable del alta: Ana Qwrt. Paciente con ana zzyzx, caso en Zzyzx de Ana y Juan", "Responsable del alta: [NOMBRE_PERSONAL_SANITARIO:Ana Qwrt]. Paciente con ana zzyzx, caso en Zzyzx de Ana y Juan"},
	{"script", "primary-care", "con محمد", "con محمد"},       // not without a view; TestScript
	{"bare", "primary-care", "avisa a Puig", "avisa a Puig"}, // not in Spanish; TestBare
	{"apart", "primary-care", "al [PERSON:Norma, Ana Puig], [PERSON:Ana Puig, Doctora] y Zzyzx-[PERSON:Puig]", "al Norma, [PERSON:Ana Puig], [PERSON:Ana Puig], Doctora y [PERSON:Zzyzx-Puig]"},
	{"apart", "primary-care", "firma [PERSON:Zzyzx, Ana] y [PERSON:Norma, Ana]", "firma [PERSON:Zzyzx, Ana] y [PERSON:Norma, Ana]"}, // surname first
	{"centre", "primary-care", "en Hospital Nuestra Se?Ora del Robledo", "en [LOCATION:Hospital Nuestra Se?Ora del Robledo]"},
	{"origin", "meddocan", "natural de Costa Verde", "natural de [PAIS:Costa Verde]"},
	{"article", "primary-care", "la Ana y en Puig", "la Ana y en Puig"}, // not in Spanish; TestArticle
	{"place-end", "primary-care", "vive en [LOCATION:Doña Alba], visto por [LOCATION:Dra. Puig]", "vive en [LOCATION:Doña Alba], visto por Dra. [PERSON:Puig]"},
	{"titled", "primary-care", "vive en Doña Alba, la ve Doña Alba", "vive en Doña Alba, la ve Doña [PERSON:Alba]"},
	{"place-end", "primary-care", "[LOCATION:Instituto Sol del 27 al] 29 de mayo, [LOCATION:Hospital del 2 de Mayo], [LOCATION:Hospital Psiquiátrico Doctor Sol]", "[LOCATION:Instituto Sol] del 27 al 29 de mayo, [LOCATION:Hospital del 2 de Mayo], [LOCATION:Hospital Psiquiátrico Doctor Sol]"},
	{"trim", "primary-care", "tendón de [PERSON:Aquiles], técnica bilateral de [PERSON:Robles], test a [PERSON:Robles]", "tendón de Aquiles, técnica bilateral de Robles, test a [PERSON:Robles]"},
	{"origin", "primary-care", "un viaje a Els Plans de Dalt", "un viaje a [LOCATION:Els Plans de Dalt]"},
	{"surname", "primary-care", "[PERSON:Ana Zzyzx] ve. Diu [LOCATION:Zzyzx], al Hospital [LOCATION:Zzyzx], [LOCATION:Norma]", "[PERSON:Ana Zzyzx] ve. Diu [PERSON:Zzyzx], al Hospital [LOCATION:Zzyzx], [LOCATION:Norma]"},
	{"apart", "primary-care", "ve [PERSON:Ana Puig i] [PERSON:Zzyzx] avui", "ve [PERSON:Ana Puig] i [PERSON:Zzyzx] avui"},
	{"no-age", "primary-care", "fuma [AGE:30 años]-paquete, [AGE:20 años] fumando, [AGE:40 años]", "fuma 30 años-paquete, 20 años fumando, [AGE:40 años]"},
	{"name-end", "primary-care", "la Dra. [PERSON:Zzyzx del Servei] d'Oncologia, Dr. [PERSON:Puig de la Unidad], [PERSON:Ana de la Torre]", "la Dra. [PERSON:Zzyzx] del Servei d'Oncologia, Dr. [PERSON:Puig] de la Unidad, [PERSON:Ana de la Torre]"},
	{"no-digit", "primary-care", "[SANITARY_CARD_ID:casada] y [SANITARY_CARD_ID:ABCD 1]", "casada y [SANITARY_CARD_ID:ABCD 1]"},
	{"common-name", "primary-care", "[PERSON:Visita] y [PERSON:Rosa], Dr. [PERSON:Color], [PERSON:Norma Puig], su hija [PERSON:Norma]", "Visita y [PERSON:Rosa], Dr. [PERSON:Color], [PERSON:Norma Puig], su hija [PERSON:Norma]"},
	{"centre", "primary-care", "EVOLUCIÓN CLÍNICA Tras el alta, CLÍNICA Sol", "EVOLUCIÓN CLÍNICA Tras el alta, [LOCATION:CLÍNICA Sol]"},
	{"place-end", "primary-care", "al [LOCATION:hospital comarcal], [LOCATION:Hospital de Día de Oncología Médica], [LOCATION:Hospital General de Robles]", "al hospital comarcal, Hospital de Día de Oncología Médica, [LOCATION:Hospital General de Robles]"},
	{"centre", "meddocan", "Nutrición Clínica Hospital Robles Altos, hospital Robles, hospital general, en el hospital. Se da de alta", "Nutrición Clínica [HOSPITAL:Hospital Robles Altos], [HOSPITAL:hospital Robles], hospital general, en el hospital. Se da de alta"},
	{"kin-name", "primary-care", "su madre Ana Puig Situación", "su madre [PERSON:Ana Puig] Situación"},
	{"kin-name", "primary-care", "su hija Ana y su nuera; la madre Diabética", "su hija [PERSON:Ana] y su nuera; la madre Diabética"},
	{"titled", "meddocan", "control con Dra. Zzyzx y la Dra [NOMBRE_SUJETO_ASISTENCIA:Ana] Puig; profesora. Sin DNA VHB", "control con Dra. [NOMBRE_PERSONAL_SANITARIO:Zzyzx] y la Dra [NOMBRE_SUJETO_ASISTENCIA:Ana] Puig; profesora. Sin DNA VHB"},
	{"listed", "primary-care", "Viene Ana Puig y habla Rosa Soler García de ello", "Viene [PERSON:Ana Puig] y habla [PERSON:Rosa Soler García] de ello"},
	{"listed", "primary-care", "paciente: García Puig, Ana. Juan Zzyzx traduce", "paciente: [PERSON:García Puig, Ana]. [PERSON:Juan Zzyzx] traduce"},
	{"listed", "primary-care", "habla con ana puig y con rosa blanco", "habla con [PERSON:ana puig] y con rosa blanco"},
	{"listed", "primary-care", "calle Ana Puig, Hospital Juan Puig, Parkinson Ana, ANA y ANCA", "calle Ana Puig, Hospital Juan Puig, Parkinson Ana, ANA y ANCA"},
	{"listed", "primary-care", "avisa a A. Puig, con E. Zzyzx y Ana Parkinson", "avisa a [PERSON:A. Puig], con [PERSON:E. Zzyzx] y [PERSON:Ana Parkinson]"},
	{"listed", "primary-care", "avisa a E. Zzyzxenko y a ana zzyzxmann, con aprova", "avisa a [PERSON:E. Zzyzxenko] y a [PERSON:ana zzyzxmann], con aprova"},
	{"listed", "primary-care", "habla De los Zzyzx, Ana; viene El Puig Juan con M. El Puig; Firma: Zzyzx, Ana", "habla [PERSON:De los Zzyzx, Ana]; viene [PERSON:El Puig Juan] con [PERSON:M. El Puig]; Firma: [PERSON:Zzyzx, Ana]"},
	{"listed", "primary-care", "síndrome de Ana Puig, signos Ana Puig y Puig-Ana", "síndrome de Ana Puig, signos Ana Puig y Puig-Ana"},
	{"listed", "primary-care", "Zzyzx Ana. Puig. Ana, Juan", "Zzyzx Ana. Puig. Ana, Juan"},
	{"date-borders", "primary-care", "en el [DATE:año 1998] y desde [DATE:a 2013]", "en el año [DATE:1998] y desde a [DATE:2013]"},
	{"date-borders", "primary-care", "del [DATE:14 al 27 de abril], [DATE:15 - 31 de mayo], [DATE:15-16 de mayo]", "del [DATE:14] al [DATE:27 de abril], [DATE:15] - [DATE:31 de mayo], [DATE:15-16 de mayo]"},
	{"date-borders", "primary-care", "[DATE:2008-2009], [DATE:2003 y 2006], [DATE:enero a marzo 2012], [DATE:Mayo-Junio 2019], [DATE:1 y 2 de enero]", "[DATE:2008]-[DATE:2009], [DATE:2003] y [DATE:2006], [DATE:enero] a [DATE:marzo 2012], [DATE:Mayo]-[DATE:Junio 2019], [DATE:1 y 2 de enero]"},
	{"date-borders", "primary-care", "[DATE:martes 3 de mayo], [DATE:12/03/2014], [DATE:3-mayo-2014]", "[DATE:martes 3 de mayo], [DATE:12/03/2014], [DATE:3-mayo-2014]"},
	{"place-end", "primary-care", "[LOCATION:Hospital Clínic], [LOCATION:los dias 3 y 4]", "[LOCATION:Hospital Clínic], los dias 3 y 4"},
	{"centre", "primary-care", "acude al Centro de Salud", "acude al Centro de Salud"},
	{"email-end", "primary-care", "[EMAIL:ana@sol.es]", "[EMAIL:ana@sol.es]"},
	{"initials", "primary-care", "D. [PERSON:Juan Puig] y D. [PERSON:Garriga]", "D. [PERSON:Juan Puig] y [PERSON:D. Garriga]"},
	{"initials", "primary-care", "hepatitis B [PERSON:Eugenia Puig]-Mas; [PERSON:Ana]-3", "hepatitis B [PERSON:Eugenia Puig-Mas]; [PERSON:Ana]-3"},
	{"place", "meddocan", "natural de Costa Verde y de Sort, vuelve a costa verde", "natural de [PAIS:Costa Verde] y de [TERRITORIO:Sort], vuelve a costa verde"},
	{"place", "meddocan", "ASIA", "ASIA"},
	{"field", "meddocan", "NHC: [ID_ASEGURAMIENTO:22 75689632 36]. NASS: [ID_SUJETO_ASISTENCIA:5637110]", "NHC: [ID_SUJETO_ASISTENCIA:22 75689632 36]. NASS: [ID_ASEGURAMIENTO:5637110]"},
	{"field", "meddocan", "NHC: [ID_SUJETO_ASISTENCIA:5637110] 3.\nCIPA: nhc-[ID_SUJETO_ASISTENCIA:5637110] 37, NHC: [ID_SUJETO_ASISTENCIA:5637110] 4 días", "NHC: [ID_SUJETO_ASISTENCIA:5637110 3].\nCIPA: nhc-[ID_SUJETO_ASISTENCIA:5637110] 37, NHC: [ID_SUJETO_ASISTENCIA:5637110] 4 días"},
	{"field", "meddocan", "NºCol: [TERRITORIO:14578]; Episodio [ID_SUJETO_ASISTENCIA:7654321]", "NºCol: [ID_TITULACION_PERSONAL_SANITARIO:14578]; Episodio [ID_CONTACTO_ASISTENCIAL:7654321]"},
	{"borders", "meddocan", "s/n E-[TERRITORIO:28015] Sort", "s/n [TERRITORIO:E-28015] Sort"},
	{"borders", "meddocan", "[TERRITORIO:04005]-005 y [TERRITORIO:04005]-0051", "[TERRITORIO:04005-005] y [TERRITORIO:04005]-0051"},
	{"borders", "meddocan", "[CALLE:Calle Luna, 5, 2. A]. 3", "[CALLE:Calle Luna, 5, 2. A]. 3"},
	{"borders", "meddocan", "[TERRITORIO:Sort D.F]. Fin", "[TERRITORIO:Sort D.F.] Fin"},
	{"borders", "meddocan", `[HOSPITAL:Hospital "Sol]" bien`, `[HOSPITAL:Hospital "Sol"] bien`},
	{"borders", "meddocan", "República [PAIS:Argentina]", "[PAIS:República Argentina]"},
	{"staff-id", "meddocan", "Médico: x NºCol: 28 28 70973. Fin", "Médico: x NºCol: [ID_TITULACION_PERSONAL_SANITARIO:28 28 70973]. Fin"},
	{"staff-id", "meddocan", "Nº Col. 08-08-12345", "Nº Col. [ID_TITULACION_PERSONAL_SANITARIO:08-08-12345]"},
	{"staff-id", "meddocan", "colegiado 12 veces", "colegiado 12 veces"},
	{"kin", "meddocan", "acude con su madre", "acude con su [FAMILIARES_SUJETO_ASISTENCIA:madre]"},
	{"titled", "primary-care", "Visto por Dr. Puig hoy", "Visto por Dr. [PERSON:Puig] hoy"},
	{"titled", "primary-care", "la Sra. Soler de la Vega refiere", "la Sra. [PERSON:Soler de la Vega] refiere"},
	{"titled", "primary-care", "VISTO POR DR GARCIA PACIENTE ESTABLE", "VISTO POR DR [PERSON:GARCIA] PACIENTE ESTABLE"},
	{"titled", "primary-care", "dr garcia dice; dr dice", "dr [PERSON:garcia] dice; dr dice"},
	{"titled", "primary-care", "hepatitis D. Juan no; D. Visita", "hepatitis D. [PERSON:Juan] no; D. Visita"},
	{"titled", "primary-care", "señora de 70 años", "señora de 70 años"},
	{"titled", "primary-care", "Sra. Puig Calle Luna, carrer del Dr. Soler", "Sra. [PERSON:Puig] Calle Luna, carrer del Dr. Soler"},
	{"titled", "primary-care", "Dr.\nJuan", "Dr.\nJuan"},
	{"titled", "primary-care", "Dr. [PERSON:Puig Soler] hoy", "Dr. [PERSON:Puig Soler] hoy"},
	{"centre", "primary-care", "deriv a Hospital Vall Verda de Dalt. Pac bien", "deriv a [LOCATION:Hospital Vall Verda de Dalt]. Pac bien"},
	{"centre", "primary-care", "el hospital de día", "el hospital de día"},
	{"centre", "primary-care", "HOSPITAL CERCANO", "HOSPITAL CERCANO"},
	{"centre", "primary-care", "cap al·lèrgia; CAP Tortuga", "cap al·lèrgia; [LOCATION:CAP Tortuga]"},
	{"postal", "meddocan", "28036 [TERRITORIO:Madrid], 99999", "[TERRITORIO:28036] [TERRITORIO:Madrid], 99999"},
	{"postal", "meddocan", "[CALLE:Calle Luna 3], 08036 bien 08037", "[CALLE:Calle Luna 3], [TERRITORIO:08036] bien 08037"},
	{"postal", "meddocan", "[TERRITORIO:Sort] 99001", "[TERRITORIO:Sort] 99001"},
	{"phone-fax", "meddocan", "Fax: [NUMERO_TELEFONO:934000000] Tel. [NUMERO_FAX:934000001]", "Fax: [NUMERO_FAX:934000000] Tel. [NUMERO_TELEFONO:934000001]"},
	{"phone-fax", "meddocan", "Fax\n[NUMERO_TELEFONO:934000000]", "Fax\n[NUMERO_TELEFONO:934000000]"},
	{"phone-fax", "meddocan", "Fax [NUMERO_FAX:934000002] / [NUMERO_TELEFONO:934000001]", "Fax [NUMERO_FAX:934000002] / [NUMERO_TELEFONO:934000001]"},
}

// TestEmailEnd checks that a pattern ends the model's address.
func TestEmailEnd(t *testing.T) {
	b := batchOf(t, "primary-care")
	text, spans, err := markup.Parse("correo [EMAIL:ana@sol.es.Vive] sola")
	if err != nil {
		t.Fatal(err)
	}
	own, err := pipeline.ParseCategory("EMAIL")
	if err != nil {
		t.Fatal(err)
	}
	add(b, text, spans, []pipeline.Match{{Start: 7, End: 17, Category: own, Score: 0.95}})
	run(t, only(t, "primary-care", "email-end"), b)
	if got, want := markup.Write(b.Text.At(0), b.Spans.At(0)), "correo [EMAIL:ana@sol.es].Vive sola"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestArticle checks names behind the article in a Catalan note.
func TestArticle(t *testing.T) {
	b := batchOf(t, "primary-care", "Parlo amb en Soler, la Maria i l'Anna Puig; la Rosa, en Robledal, Institut la Maria")
	b.Language = append(b.Language[:0], pipeline.Catalan)
	run(t, only(t, "primary-care", "article"), b)
	want := "Parlo amb en [PERSON:Soler], la [PERSON:Maria] i l'[PERSON:Anna Puig]; la Rosa, en Robledal, Institut la Maria"
	if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestScript checks words of other scripts, which have a view; Greek is no name.
func TestScript(t *testing.T) {
	b := batchOf(t, "primary-care", "con su hijo محمد العمراني, β-talasemia, µg y 王小明; Олександр Шевченко traduce")
	for i := range b.Text.Len() {
		text := b.Text.At(i)
		b.View.Append(text)
		from := make([]int32, len(text)+1)
		for k := range from {
			from[k] = int32(k)
		}
		b.ViewFrom.Append(from...)
	}
	run(t, only(t, "primary-care", "script"), b)
	want := "con su hijo [PERSON:محمد العمراني], β-talasemia, µg y [PERSON:王小明]; [PERSON:Олександр Шевченко] traduce"
	if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestBare checks names that nothing but the sentence tells, in a Catalan note.
func TestBare(t *testing.T) {
	for in, want := range map[string]string{
		"Segons Zzyzx no hi ha dolor. Zzyzx tampoc ha vingut":            "Segons [PERSON:Zzyzx] no hi ha dolor. [PERSON:Zzyzx] tampoc ha vingut",
		"Parla amb Puig i de Soler; el Puig, signe de Puig, a Sort":      "Parla amb [PERSON:Puig] i de [PERSON:Soler]; el Puig, signe de Puig, a Sort",
		"Oxigenoteràpia va bé, Color ha millorat, el Zzyzx ha anat":      "Oxigenoteràpia va bé, Color ha millorat, el Zzyzx ha anat",
		"diu que Van Zzyzx no ha anat. La infermera Zzyzx, el Pal Zzyzx": "diu que [PERSON:Van Zzyzx] no ha anat. La infermera [PERSON:Zzyzx], el Pal Zzyzx",
		"Institut Puig ha obert; a Puig Zzyzx DNA; amb Parkinson":        "Institut Puig ha obert; a Puig Zzyzx DNA; amb Parkinson",
	} {
		b := batchOf(t, "primary-care", in)
		b.Language = append(b.Language[:0], pipeline.Catalan)
		run(t, only(t, "primary-care", "bare"), b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestRules(t *testing.T) {
	covered := map[string]bool{}
	for _, tt := range ruleTests {
		covered[tt.rule] = true
		b := batchOf(t, tt.labels, tt.in)
		run(t, only(t, tt.labels, tt.rule), b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.rule, got, tt.out)
		}
	}
	for _, name := range RuleNames() {
		if !covered[name] {
			t.Errorf("rule %s has no case", name)
		}
	}
}

var repeatTests = []struct{ name, in, out string }{
	{"whole", "[PERSON:Ana Puig] viene. ANA PUIG bien", "[PERSON:Ana Puig] viene. [PERSON:ANA PUIG] bien"},
	{"accents and glue", "[PERSON:Mc Donald] y [PERSON:García Soler]; McDonald, GARCIA-SOLER", "[PERSON:Mc Donald] y [PERSON:García Soler]; [PERSON:McDonald], [PERSON:GARCIA-SOLER]"},
	{"decomposed", "[PERSON:Muñoz] y Mun\u0303oz", "[PERSON:Muñoz] y [PERSON:Mun\u0303oz]"},
	{"part", "[PERSON:Ana Tremps Puig]. Tremps mejora, ana no", "[PERSON:Ana Tremps Puig]. [PERSON:Tremps] mejora, ana no"},
	{"part in the surname list", "[PERSON:Ana Soler]: soler mejora", "[PERSON:Ana Soler]: [PERSON:soler] mejora"},
	{"part and its spellings", "tremps [PERSON:Ana Tremps] Tremps", "[PERSON:tremps] [PERSON:Ana Tremps] [PERSON:Tremps]"},
	{"common word", "[PERSON:Ana Blanco] color Blanco", "[PERSON:Ana Blanco] color Blanco"},
	{"eponym", "[PERSON:Ana Parkinson] con Parkinson", "[PERSON:Ana Parkinson] con Parkinson"},
	{"short", "[PERSON:Al] y al, [AGE:2] de 2", "[PERSON:Al] y al, [AGE:2] de 2"},
	{"number", "tel [TELEPHONE:93 400 00 00] o 934000000", "tel [TELEPHONE:93 400 00 00] o [TELEPHONE:934000000]"},
	{"inside a word", "[LOCATION:Sort] sortida resort", "[LOCATION:Sort] sortida resort"},
	{"before and behind", "Puig. [PERSON:Puig]. Puig.", "[PERSON:Puig]. [PERSON:Puig]. [PERSON:Puig]."},
	{"over a line", "[PERSON:Ana Puig] y Ana\nPuig", "[PERSON:Ana Puig] y [PERSON:Ana\nPuig]"},
	{"longest first", "[PERSON:Puig] [LOCATION:Puig Alt] . puig alt", "[PERSON:Puig] [LOCATION:Puig Alt] . [LOCATION:puig alt]"},
}

func TestRepeats(t *testing.T) {
	for _, tt := range repeatTests {
		b := batchOf(t, "primary-care", tt.in)
		o, _ := defaults("primary-care")
		o.Lexicons, o.Rules = testLexicons, nil
		run(t, o, b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.out)
		}
		for _, s := range b.Spans.At(0) {
			if s.Source != pipeline.FromModel && s.Source != pipeline.FromRepeat {
				t.Errorf("%s: source %v", tt.name, s.Source)
			}
		}
	}
}

var listTests = []struct{ name, in, out string }{
	{"lexicon", "enf de [PERSON:Parkinson] con [PERSON:Enalapril]", "enf de Parkinson con Enalapril"},
	{"title", "la Sra. [PERSON:Parkinson]", "la Sra. [PERSON:Parkinson]"},
	{"given name before", "Rosa [PERSON:Wilson] y rosa [PERSON:Wilson]", "Rosa [PERSON:Wilson] y rosa Wilson"},
	{"given name behind", "[PERSON:Wilson] Ana", "[PERSON:Wilson] Ana"},
	{"not wholly", "[PERSON:Ana Parkinson]", "[PERSON:Ana Parkinson]"},
	{"configured, several words", "signo de [PERSON:Pere Roca] y [PERSON:Roca]; [PERSON:Pere Roca Pi]", "signo de Pere Roca y [PERSON:Roca]; [PERSON:Pere Roca Pi]"},
	{"always", "vive en MÁS del pi, [PERSON:Ana]", "vive en [LOCATION:MÁS del pi], [PERSON:Ana]"},
	{"always over the model", "[PERSON:Mas] del Pi", "[LOCATION:Mas del Pi]"},
}

func TestLists(t *testing.T) {
	for _, tt := range listTests {
		o := only(t, "primary-care")
		o.Never = []string{"signo de Pere Roca"}
		o.Always = []Entry{{"Mas del Pi", "LOCATION"}}
		b := batchOf(t, "primary-care", tt.in)
		run(t, o, b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.out)
		}
	}
}

func TestNeverSparesPatterns(t *testing.T) {
	o := only(t, "primary-care")
	o.Never = []string{"61234567Q"}
	b := batchOf(t, "primary-care")
	dni, _ := pipeline.ParseCategory("DNI")
	add(b, []byte("dni 61234567Q"), nil, []pipeline.Match{{Start: 4, End: 13, Score: .9, Category: dni}})
	run(t, o, b)
	if len(b.Spans.At(0)) != 1 {
		t.Error("the never list dropped a pattern")
	}
}

func TestPatterns(t *testing.T) {
	const text = "x 12345678Z y 5/2 fin"
	dni, _ := pipeline.ParseCategory("DNI")
	date, _ := pipeline.ParseCategory("DATE")
	o := only(t, "primary-care")
	o.MinScore = map[string]float32{"DNI": .8, "DATE": .8}
	for _, tt := range []struct {
		name    string
		matches []pipeline.Match
		out     string
	}{
		{"low", []pipeline.Match{{Start: 14, End: 17, Score: .5, Category: date}}, text},
		{"high", []pipeline.Match{{Start: 14, End: 17, Score: .8, Category: date}}, "x 12345678Z y [DATE:5/2] fin"},
		{"low but checked", []pipeline.Match{{Start: 2, End: 11, Score: .3, Category: dni, Checked: true}}, "x [DNI:12345678Z] y 5/2 fin"},
		{"overlap", []pipeline.Match{{Start: 2, End: 13, Score: .9, Category: dni}, {Start: 12, End: 17, Score: .9, Category: date}}, "x [DNI:12345678Z y 5/2] fin"},
	} {
		b := batchOf(t, "primary-care")
		add(b, []byte(text), nil, tt.matches)
		run(t, o, b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.out)
		}
	}
}

func TestCounts(t *testing.T) {
	o := only(t, "primary-care", "titles")
	o.Never = []string{"Roca"}
	o.Always = []Entry{{"Mas del Pi", "LOCATION"}}
	o.Counts = new(Counts)
	step, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // two workers
		b := batchOf(t, "primary-care", "[PERSON:Roca] Mas del Pi", "[PERSON:Dr. Ana] con [PERSON:Parkinson] Mas del Pi")
		if err := step.New()(b); err != nil {
			t.Fatal(err)
		}
	}
	got := o.Counts.Take()
	if got.Never[0] != 2 || got.Always[0] != 4 || got.NeverLists[0] != 2 || got.NeverLists[1] != 0 {
		t.Errorf("lists: %+v", got)
	}
	if got.Sources[pipeline.FromModel] != 2 || got.Sources[pipeline.FromList] != 4 {
		t.Errorf("sources: %v", got.Sources)
	}
	if got.Rules[slices.Index(RuleNames(), "titles")] != 2 {
		t.Errorf("rules: %v", got.Rules)
	}
}

// A span of the model has its own probability, of a model that says one; what
// others find has theirs.
func TestSpanProbs(t *testing.T) {
	for name, tt := range map[string]struct {
		probs [][]float32
		want  []float32
	}{
		"none":           {nil, []float32{.25, .25, .5}},
		"each":           {[][]float32{{.75, .875}, {.9375}}, []float32{.75, .875, .9375}},
		"of one note":    {[][]float32{{}, {.9375}}, []float32{.25, .25, .9375}},
		"of other spans": {[][]float32{{.75}, {.9375, 1}}, []float32{.25, .25, .5}},
	} {
		b := batchOf(t, "primary-care", "[PERSON:Ana] en [LOCATION:Soto]", "[PERSON:Eva]")
		b.Conf = []float32{.25, .5}
		for _, probs := range tt.probs {
			b.SpanProbs.Append(probs...)
		}
		run(t, only(t, "primary-care"), b)
		var got []float32
		for _, s := range b.Spans.Items {
			got = append(got, s.Score)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	o := only(t, "primary-care")
	o.Always = []Entry{{"Mas del Pi", "LOCATION"}}
	b := batchOf(t, "primary-care", "[PERSON:Ana] en Mas del Pi con Ana")
	b.Conf = []float32{.25}
	b.SpanProbs.Append(.75)
	run(t, o, b)
	for _, s := range b.Spans.At(0) {
		if want := map[pipeline.SpanSource]float32{pipeline.FromModel: .75, pipeline.FromList: 1, pipeline.FromRepeat: .75}[s.Source]; s.Score != want {
			t.Errorf("source %v: %v, want %v", s.Source, s.Score, want)
		}
	}
}

func TestUnsoundNotes(t *testing.T) {
	b := batchOf(t, "primary-care", "[PERSON:Ana]", "[PERSON:Ana]")
	b.Reason[0] = pipeline.TooLong
	run(t, only(t, "primary-care"), b)
	if b.Spans.Len() != 2 || len(b.Spans.At(0)) != 0 || len(b.Spans.At(1)) != 1 {
		t.Errorf("spans %v", b.Spans)
	}
}

type panicking struct{}

func (panicking) Contains([]byte) bool { panic("a list is broken") }

func TestPanicIsQuarantined(t *testing.T) {
	o := only(t, "primary-care")
	o.Lexicons.Never = []NamedLexicon{{"broken", panicking{}}}
	b := batchOf(t, "primary-care", "sin nada", "[PERSON:Ana]", "sin nada")
	run(t, o, b)
	if b.Reason[0] != pipeline.Sound || b.Reason[1] != pipeline.Panicked || b.Spans.Len() != 3 || len(b.Spans.Items) != 0 {
		t.Errorf("reasons %v, spans %v", b.Reason, b.Spans)
	}
}

func TestBadOptions(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"labels":   func(o *Options) { o.Labels = "x" },
		"overlap":  func(o *Options) { o.Overlap = "x" },
		"category": func(o *Options) { o.Categories = map[string]string{"DNI": "x"} },
		"pattern":  func(o *Options) { o.Categories = map[string]string{"x": "DNI"} },
		"score":    func(o *Options) { o.MinScore = map[string]float32{"x": 1} },
		"source":   func(o *Options) { o.Priority = []string{"x"} },
		"priority": func(o *Options) { o.Priority = []string{"model:x"} },
		"rule":     func(o *Options) { o.Rules = map[string]bool{"x": false} },
		"repeat":   func(o *Options) { o.Repeat = []string{"x"} },
		"always":   func(o *Options) { o.Always = []Entry{{"Pi", "x"}} },
		"no word":  func(o *Options) { o.Always = []Entry{{"--", "PERSON"}} },
		"long":     func(o *Options) { o.Never = []string{strings.Repeat("a", 200)} },
	} {
		o := only(t, "primary-care")
		change(&o)
		if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), "resolve: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// What is found in the view of a note is a span of the note.
func TestSpansOfAView(t *testing.T) {
	b := batchOf(t, "primary-care", "veo a \u0410na Pu\u0069\u200bg, ojo o\ufb01cina")
	text := b.Text.At(0)
	b.View.Data, b.ViewFrom.Items = view.Append(nil, nil, text)
	b.View.End()
	b.ViewFrom.End()
	o := only(t, "primary-care")
	o.Always = []Entry{{"ana puig", "PERSON"}, {"oficina", "LOCATION"}}
	run(t, o, b)
	if got, want := markup.Write(text, b.Spans.At(0)), "veo a [PERSON:\u0410na Pui\u200bg], ojo [LOCATION:o\ufb01cina]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A span with 20,000 persons is parted in time linear in it.
func TestManyPersonsApart(t *testing.T) {
	const persons = 20_000
	b := batchOf(t, "primary-care", "["+"PERSON:"+strings.Repeat("Ana Puig, ", persons-1)+"Ana Puig]")
	o, _ := defaults("primary-care")
	o.Lexicons = testLexicons
	begin := time.Now()
	run(t, o, b)
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
	if got := len(b.Spans.At(0)); got != persons {
		t.Errorf("%d spans, want %d", got, persons)
	}
}

// TestKnownStaysWhole: no rule makes a known span smaller, nor what a list of the house
// says, and what lies across spans of the model is masked to its end.
func TestKnownStaysWhole(t *testing.T) {
	for _, c := range []struct{ known, model, want string }{ // of the same text
		{"ve [PERSON:amiga de Ana Puig]", "ve amiga de Ana Puig", "ve [PERSON:amiga de Ana Puig]"},
		{"ve [PERSON:Ana Puig, Juan Soler i Maria Puig]", "ve [PERSON:Ana Puig, Juan Soler i Maria] Puig", "ve [PERSON:Ana Puig, Juan Soler i Maria Puig]"},
		{"ve amiga [PERSON:de Ana Puig]", "ve [PERSON:amiga de Ana] Puig", "ve [PERSON:amiga de Ana Puig]"},
		{"nace [DATE:año 1998]", "nace año 1998", "nace [DATE:año 1998]"},
		{"de [DATE:2003-2006]", "de [DATE:2003-2006]", "de [DATE:2003-2006]"},
	} {
		text, known, err := markup.Parse(c.known)
		if err != nil {
			t.Fatal(err)
		}
		for i := range known {
			known[i].Source = pipeline.FromKnown
		}
		b := batchOf(t, "primary-care", c.model)
		b.Known.Append(known...)
		o := only(t, "primary-care", "apart", "date-borders")
		run(t, o, b)
		if got := markup.Write(text, b.Spans.At(0)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.known, got, c.want)
		}
	}
}

// TestKnownCovered: whatever model, rules and priority say, every letter of a known
// span is masked, and spans stay in order and apart.
func TestKnownCovered(t *testing.T) {
	words := []string{"Ana", "Puig,", "Juan", "i", "Soler", "de", "amiga", "Reus,", "1998", "-", "2003", "año", "Dra."}
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 12).Draw(r, "words"), " ")
		tokens := tokensOf(nil, []byte(text))
		spansIn := func(what string) (all []pipeline.Span) {
			at := 0
			for at < len(tokens) {
				first := at + rapid.IntRange(0, 3).Draw(r, what)
				last := first + rapid.IntRange(0, 4).Draw(r, what)
				if last >= len(tokens) {
					break
				}
				c := rapid.SampledFrom([]string{"PERSON", "DATE", "LOCATION"}).Draw(r, what)
				category, err := pipeline.ParseCategory(c)
				if err != nil {
					r.Fatal(err)
				}
				all = append(all, pipeline.Span{Start: tokens[first].Start, End: tokens[last].End, Category: category})
				at = last + 1
			}
			return all
		}
		set, err := pipeline.Labels("primary-care")
		if err != nil {
			r.Fatal(err)
		}
		b := &pipeline.Batch{TagSet: &pipeline.TagSet{Categories: set.Categories}}
		add(b, []byte(text), spansIn("model"), nil)
		known := spansIn("known")
		for i := range known {
			known[i].Source = pipeline.FromKnown
		}
		b.Known.Append(known...)
		o, err := defaults("primary-care")
		if err != nil {
			r.Fatal(err)
		}
		o.Lexicons = testLexicons
		run(t, o, b)
		at := int32(0)
		for _, s := range b.Spans.At(0) {
			if s.Start < at || s.End <= s.Start {
				r.Fatalf("spans %v", b.Spans.At(0))
			}
			at = s.End
		}
		for _, k := range known {
			for i := k.Start; i < k.End; i++ {
				in := slices.ContainsFunc(b.Spans.At(0), func(s pipeline.Span) bool { return s.Start <= i && i < s.End })
				if c := text[i]; !in && c != ' ' && c != ',' && c != '-' && c != '.' {
					r.Fatalf("byte %d of a known span is not masked: %v", i, b.Spans.At(0))
				}
			}
		}
	})
}

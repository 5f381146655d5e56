package page

import "testing"

// TestSaid: what others say of files, columns and dates is in the language of the page.
func TestSaid(t *testing.T) {
	for _, tt := range [][3]string{
		{"row group 0: a page cannot be decoded", "grupo de filas 0: una página no se puede descodificar", "grup de files 0: una pàgina no es pot descodificar"},
		{"is truncated: it begins as a Parquet file and does not end as one", "está truncado: empieza como un fichero Parquet y no acaba como tal", "està truncat: comença com un fitxer Parquet i no acaba com a tal"},
		{"is new: INT64", "es nueva: INT64", "és nova: INT64"},
		{"was INT64, is BYTE_ARRAY (UTF8)", "era INT64, es BYTE_ARRAY (UTF8)", "era INT64, és BYTE_ARRAY (UTF8)"},
		{"is missing", "falta", "hi falta"},
		{"stages failed on 40 of 200 notes, more than 10 in 10,000: nothing was committed",
			"unas etapas fallaron en 40 de 200 notas, más de 10 de cada 10\u202f000: nada pasó al resultado",
			"unes etapes van fallar en 40 de 200 notes, més de 10 de cada 10\u202f000: res no va passar al resultat"},
		{"writers and kinds of document left out: a, b", "quedaron fuera manos y tipos de documento: a, b", "van quedar fora mans i tipus de document: a, b"},
		{"all dates of a patient moved by one keyed offset of 30 to 365 days, whole weeks",
			"todas las fechas de un mismo ámbito (paciente) movidas por un solo desplazamiento con clave, de 30 a 365 días, en semanas enteras",
			"totes les dates d'un mateix àmbit (pacient) mogudes per un sol desplaçament amb clau, de 30 a 365 dies, en setmanes senceres"},
		{"what nobody knows", "what nobody knows", "what nobody knows"},
	} {
		for lang, want := range tt {
			if got := Language(lang).Said(tt[0]); got != want {
				t.Errorf("%s: %q, want %q", languageCodes[lang], got, want)
			}
		}
	}
}

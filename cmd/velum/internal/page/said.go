package page

import (
	"regexp"
	"strings"
	"sync"
)

// Said returns what another package says of a file, a column or the dates, in the
// language of the page: log and manifest have it in English. What the table does not
// know stays as it is there.
func (l Language) Said(text string) string {
	if l == 0 {
		return text
	}
	for _, p := range phrases() {
		text = p.english.ReplaceAllString(text, p.other[l-1])
	}
	return strings.NewReplacer(plainPhrases[l-1]...).Replace(text)
}

type phrase struct {
	english *regexp.Regexp
	other   [2]string // es, ca
}

// phrases have something put in. Most processes write no report, and compile none.
var phrases = sync.OnceValue(func() []phrase {
	return []phrase{
		{regexp.MustCompile(`all dates of a (\w+) moved by one keyed offset of (\d+) to (\d+) days`),
			[2]string{"todas las fechas de un mismo ámbito ($1) movidas por un solo desplazamiento con clave, de $2 a $3 días", "totes les dates d'un mateix àmbit ($1) mogudes per un sol desplaçament amb clau, de $2 a $3 dies"}},
		{regexp.MustCompile(`all dates of a (\w+) moved by one keyed offset of up to (\d+) years and (\d+) weeks of the year`),
			[2]string{"todas las fechas de un mismo ámbito ($1) movidas por un solo desplazamiento con clave, de hasta $2 años y $3 semanas del año", "totes les dates d'un mateix àmbit ($1) mogudes per un sol desplaçament amb clau, de fins a $2 anys i $3 setmanes de l'any"}},
		{regexp.MustCompile(`^row group (\d+): `), [2]string{"grupo de filas $1: ", "grup de files $1: "}},
		{regexp.MustCompile(`^row group (\d+), column (\S+): `), [2]string{"grupo de filas $1, columna $2: ", "grup de files $1, columna $2: "}},
		{regexp.MustCompile(`^line (\d+), column (\d+): `), [2]string{"línea $1, columna $2: ", "línia $1, columna $2: "}},
		{regexp.MustCompile(`^line (\d+): `), [2]string{"línea $1: ", "línia $1: "}},
		{regexp.MustCompile(`^was (.+), is (.+)$`), [2]string{"era $1, es $2", "era $1, és $2"}},
		{regexp.MustCompile(`^is new: `), [2]string{"es nueva: ", "és nova: "}},
		{regexp.MustCompile(`its footer says (\d+) rows, its row groups (\d+)`), [2]string{"su pie dice $1 filas; sus grupos de filas, $2", "el seu peu diu $1 files; els seus grups de files, $2"}},
	}
})

// plainPhrases are pairs for strings.NewReplacer: longer ones stand before those that they begin with.
var plainPhrases = func() (pairs [2][]string) {
	for _, row := range [][3]string{
		{"note)", "nota)", "nota)"}, {"patient)", "paciente)", "pacient)"}, {"archive)", "archivo)", "arxiu)"},
		{", whole weeks", ", en semanas enteras", ", en setmanes senceres"},
		{"is missing", "falta", "hi falta"},
		{"is truncated: it begins as a Parquet file and does not end as one", "está truncado: empieza como un fichero Parquet y no acaba como tal", "està truncat: comença com un fitxer Parquet i no acaba com a tal"},
		{"is truncated", "está truncado", "està truncat"},
		{"is no Parquet file", "no es un fichero Parquet", "no és un fitxer Parquet"},
		{"is an encrypted Parquet file; decrypt it first", "es un fichero Parquet cifrado; descífrelo antes", "és un fitxer Parquet xifrat; desxifreu-lo abans"},
		{"is encrypted; decrypt it first", "está cifrado; descífrelo antes", "està xifrat; desxifreu-lo abans"},
		{"the file is empty", "el fichero está vacío", "el fitxer és buit"},
		{"its footer is longer than the file", "su pie es más largo que el fichero", "el seu peu és més llarg que el fitxer"},
		{"its footer cannot be read", "su pie no se puede leer", "el seu peu no es pot llegir"},
		{"its footer has a schema that cannot be", "su pie tiene un esquema imposible", "el seu peu té un esquema impossible"},
		{"has not as many columns as the schema", "no tiene tantas columnas como el esquema", "no té tantes columnes com l'esquema"},
		{"a page does not have the checksum in its header", "una página no tiene la suma de comprobación de su cabecera", "una pàgina no té la suma de comprovació de la seva capçalera"},
		{"a page ends too early", "una página acaba antes de tiempo", "una pàgina acaba abans d'hora"},
		{"a page cannot be decoded", "una página no se puede descodificar", "una pàgina no es pot descodificar"},
		{"a page cannot be decompressed", "una página no se puede descomprimir", "una pàgina no es pot descomprimir"},
		{"a page header cannot be decoded", "la cabecera de una página no se puede descodificar", "la capçalera d'una pàgina no es pot descodificar"},
		{"the footer says that it stands outside the file", "el pie dice que está fuera del fichero", "el peu diu que és fora del fitxer"},
		{"the footer says that it stands where another column does", "el pie dice que está donde otra columna", "el peu diu que és on una altra columna"},
		{"the decode worker failed", "el proceso que descodifica falló", "el procés que descodifica va fallar"},
		{"the Parquet library panicked on it", "la biblioteca de Parquet falló con él", "la biblioteca de Parquet hi va fallar"},
		{"cannot be read to its end", "no se puede leer hasta el final", "no es pot llegir fins al final"},
		{"cannot be read", "no se puede leer", "no es pot llegir"},
		{"has changed since the run began", "ha cambiado desde que empezó la ejecución", "ha canviat des que va començar l'execució"},
		{"file of more than 1 GiB", "fichero de más de 1 GiB", "fitxer de més d'1 GiB"},
	} {
		for lang := range pairs {
			pairs[lang] = append(pairs[lang], row[0], row[lang+1])
		}
	}
	return pairs
}()

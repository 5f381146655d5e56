package report

import (
	"fmt"
	"slices"
	"strings"
)

var languageCodes = [...]string{"en", "es", "ca"}

// Language writes the words and numbers of a page.
type Language int

// LanguageOf returns the language of that code, English for another.
func LanguageOf(code string) Language { return Language(max(slices.Index(languageCodes[:], code), 0)) }

func (l Language) String() string { return languageCodes[l] }

// Text returns a text of the table with its arguments put in.
func (l Language) Text(key string, args ...any) string {
	row, ok := words[key]
	if !ok {
		panic("no words for " + key) // a bug: a test asks for all keys of the templates
	}
	if len(args) == 0 {
		return row[l]
	}
	return fmt.Sprintf(row[l], args...)
}

// Plural writes a number with what it counts: "3 notes". Nouns stand in the
// table as "note|notes".
func (l Language) Plural(n int64, noun string) string {
	one, many, _ := strings.Cut(l.Text(noun), "|")
	if n != 1 {
		one = many
	}
	return thousands(n) + " " + one
}

// Percent writes a share with three significant digits, or two of a small one.
func (l Language) Percent(share float64) string { return l.decimal(percent(share)) }

// Number writes a number with so many digits behind the point.
func (l Language) Number(x float64, digits int) string {
	return l.decimal(strings.Replace(fmt.Sprintf("%.*f", digits, x), "-", "\u2212", 1))
}

// Interval writes a share and the ends of its interval: "0.94 [0.92, 0.95]".
func (l Language) Interval(x float64, ends [2]float64, digits int) string {
	between := ", "
	if l != 0 {
		between = "; " // the comma is that of the numbers
	}
	return l.Number(x, digits) + "\u202f[" + l.Number(ends[0], digits) + between + l.Number(ends[1], digits) + "]"
}

// decimal puts the comma of Spanish and Catalan into a number.
func (l Language) decimal(text string) string {
	if l != 0 {
		return strings.Replace(text, ".", ",", 1)
	}
	return text
}

// words are all texts of the pages, in the order of languageCodes. What else stands
// on a page has one name everywhere: categories, reasons, rules, sources,
// options, files, and causes, which are those of the log.
var words = map[string][len(languageCodes)]string{
	// nouns
	"note":      {"note|notes", "nota|notas", "nota|notes"},
	"line":      {"line|lines", "línea|líneas", "línia|línies"},
	"file":      {"file|files", "fichero|ficheros", "fitxer|fitxers"},
	"unit":      {"unit|units", "unidad|unidades", "unitat|unitats"},
	"place":     {"place|places", "lugar|lugares", "lloc|llocs"},
	"entity":    {"entity|entities", "entidad|entidades", "entitat|entitats"},
	"token":     {"token|tokens", "token|tokens", "token|tokens"},
	"sequence":  {"sequence|sequences", "secuencia|secuencias", "seqüència|seqüències"},
	"source":    {"source|sources", "fuente|fuentes", "font|fonts"},
	"candidate": {"candidate|candidates", "candidata|candidatas", "candidata|candidates"},
	"example":   {"validation example|validation examples", "ejemplo de validación|ejemplos de validación", "exemple de validació|exemples de validació"},
	"dev note":  {"validation note|validation notes", "nota de validación|notas de validación", "nota de validació|notes de validació"},
	"a turn":    {"turn|turns", "vuelta|vueltas", "volta|voltes"},
	"draw":      {"draw|draws", "sorteo|sorteos", "sorteig|sortejos"},

	// the light and what is to be looked at
	"red":   {"red", "rojo", "vermell"},
	"amber": {"amber", "ámbar", "ambre"},
	"green": {"green", "verde", "verd"},

	"sentence empty": {"No note was read: there is nothing to judge.", "No se ha leído ninguna nota: no hay nada que juzgar.", "No s'ha llegit cap nota: no hi ha res a jutjar."},
	"sentence red":   {"Look at this before the output is used.", "Mire esto antes de usar el resultado.", "Mireu això abans de fer servir el resultat."},
	"sentence read": {"%s read: %s masked, %s in quarantine (%s, up to %s allowed).",
		"%s leídas: %s enmascaradas, %s en cuarentena (%s; se permite hasta %s).",
		"%s llegides: %s emmascarades, %s en quarantena (%s; se'n permet fins a %s)."},
	"sentence excluded": {"%s of people who object were left out.", "Se han dejado fuera %s de personas que se oponen.", "S'han deixat fora %s de persones que s'hi oposen."},
	"sentence unread": {"Nobody has read a random sample of this output, so the light can be amber at best.",
		"Nadie ha leído una muestra aleatoria de este resultado: la luz puede ser, como mucho, ámbar.",
		"Ningú no ha llegit una mostra aleatòria d'aquest resultat: el llum pot ser, com a molt, ambre."},
	"sentence unread red": {"Nobody has read a random sample of this output.",
		"Nadie ha leído una muestra aleatoria de este resultado.",
		"Ningú no ha llegit una mostra aleatòria d'aquest resultat."},
	"sentence proven": {"%s of a random sample of this output were read, and %s kept something: with 95 %% confidence at most %s of all do.",
		"Se han leído %s de una muestra aleatoria de este resultado y %s conservaban algo: con un 95 %% de confianza, a lo sumo el %s de todas.",
		"S'han llegit %s d'una mostra aleatòria d'aquest resultat i %s conservaven alguna cosa: amb un 95 %% de confiança, com a molt el %s de totes."},
	"sentence left": {"By the confidences of this run some %s [%s–%s] of %s are expected to keep something (95 %%; calibrated on %s of %s that the model had not seen).",
		"Según las confianzas de esta ejecución cabe esperar que unas %s [%s–%s] de %s conserven algo (95 %%; calibradas con %s de %s que el modelo no había visto).",
		"Segons les confiances d'aquesta execució cal esperar que unes %s [%s–%s] de %s conservin alguna cosa (95 %%; calibrades amb %s de %s que el model no havia vist)."},
	"sentence uncalibrated": {"How many keep something is not known: between none and all.",
		"No se sabe cuántas conservan algo: entre ninguna y todas.",
		"No se sap quantes conserven alguna cosa: entre cap i totes."},
	"sentence stopped": {"This run stopped, and nothing of it is in the output: %s.", "Esta ejecución se detuvo y nada de ella está en el resultado: %s.", "Aquesta execució es va aturar i res d'ella és al resultat: %s."},

	"find quarantine": {"%s of the notes are in quarantine; %s are allowed.", "El %s de las notas está en cuarentena; se permite el %s.", "El %s de les notes és en quarantena; se'n permet fins a %s."},
	"find files":      {"%s of the archive could not be read.", "No se ha podido leer %s del archivo.", "No s'ha pogut llegir %s de l'arxiu."},
	"find units":      {"%s could not be decoded; all of their notes are in quarantine.", "No se ha podido descodificar %s; todas sus notas están en cuarentena.", "No s'ha pogut descodificar %s; totes les seves notes són en quarantena."},
	"find others":     {"%s were masked by earlier runs with other options or another model; give their files again to mask them alike.", "%s se enmascararon en ejecuciones anteriores con otras opciones u otro modelo; dé sus ficheros otra vez para enmascararlas igual.", "%s es van emmascarar en execucions anteriors amb altres opcions o un altre model; doneu els fitxers un altre cop per emmascarar-les igual."},
	"find failure":    {"%s in quarantine for a failure of velum itself (%s).", "%s en cuarentena por un fallo de velum (%s).", "%s en quarantena per un error de velum (%s)."},
	"find duplicates": {"Ids come again: %s with the id of a note before.", "Hay identificadores repetidos: %s con el de una nota anterior.", "Hi ha identificadors repetits: %s amb el d'una nota anterior."},
	"find drift":      {"The columns of the files differ in %s.", "Las columnas de los ficheros difieren en %s.", "Les columnes dels fitxers difereixen en %s."},
	"find uncalibrated": {"The confidences of this model, as tag.confidence wants them, were never held against notes that it had not seen: velum models measure --held, with some hundred notes of several writers that a person has marked.",
		"Las confianzas de este modelo, tal como las pide tag.confidence, no se han contrastado con notas que no hubiera visto: velum models measure --held, con unos cientos de notas de varias manos marcadas por una persona.",
		"Les confiances d'aquest model, tal com les demana tag.confidence, no s'han contrastat amb notes que no hagués vist: velum models measure --held, amb uns centenars de notes de diverses mans marcades per una persona."},
	"find unread": {"To be green: draw a sample (velum run --audit N), have people read it, note what they found (velum audit prove), and start the same run again. It must show that at most %s of the notes keep something.",
		"Para el verde: saque una muestra (velum run --audit N), haga que la lean personas, anote lo que encontraron (velum audit prove) y repita la misma ejecución. Debe mostrar que a lo sumo el %s de las notas conserva algo.",
		"Per al verd: traieu una mostra (velum run --audit N), feu que la llegeixin persones, anoteu el que hi han trobat (velum audit prove) i repetiu la mateixa execució. Ha de mostrar que com a molt el %s de les notes conserva alguna cosa."},
	"find stale": {"A sample was read of an output that has changed since: it proves nothing of this one.",
		"Se leyó una muestra de un resultado que ha cambiado desde entonces: no prueba nada de este.",
		"Es va llegir una mostra d'un resultat que ha canviat des de llavors: no prova res d'aquest."},
	"find leaks": {"%s of the sample kept something, a larger share than %s.", "%s de la muestra conservaban algo, una proporción mayor que el %s.", "%s de la mostra conservaven alguna cosa, una proporció més gran que el %s."},
	"find few read": {"Too few notes were read to show that at most %s keep something (velum audit prove --rate).",
		"Se han leído demasiado pocas notas para mostrar que a lo sumo el %s conserva algo (velum audit prove --rate).",
		"S'han llegit massa poques notes per mostrar que com a molt el %s conserva alguna cosa (velum audit prove --rate)."},
	"find many": {"More than %s of the notes are expected to keep something (report.expected).",
		"Cabe esperar que más del %s de las notas conserve algo (report.expected).",
		"Cal esperar que més del %s de les notes conservi alguna cosa (report.expected)."},
	"find unlike language": {"%s of the notes are in a language that the model does not know, or are no running text; in the notes that it was held against %s to %s.",
		"El %s de las notas está en una lengua que el modelo no conoce, o no es texto seguido; en las notas con que se contrastó, del %s al %s.",
		"El %s de les notes és en una llengua que el model no coneix, o no és text seguit; en les notes amb què es va contrastar, del %s al %s."},
	"find unlike words": {"%s of the words are unknown; in the notes that the model was held against %s to %s.",
		"El %s de las palabras es desconocido; en las notas con que se contrastó el modelo, del %s al %s.",
		"El %s de les paraules és desconegut; en les notes amb què es va contrastar el model, del %s al %s."},
	"find unlike spans": {"A note has %s masked places; in the notes that the model was held against %s to %s.",
		"Una nota tiene %s lugares enmascarados; en las notas con que se contrastó el modelo, de %s a %s.",
		"Una nota té %s llocs emmascarats; en les notes amb què es va contrastar el model, de %s a %s."},
	"find unlike confidence": {"The model was never as sure, or as unsure, of notes that it was held against as of these (log odds of doubt %s; there %s to %s).",
		"El modelo nunca estuvo tan seguro, o tan inseguro, de las notas con que se contrastó como de estas (log-odds de duda %s; allí, de %s a %s).",
		"El model mai no va estar tan segur, o tan insegur, de les notes amb què es va contrastar com d'aquestes (log-odds de dubte %s; allà, de %s a %s)."},
	"find empty": {"No note was read. Look at --in and read.format.", "No se ha leído ninguna nota. Mire --in y read.format.", "No s'ha llegit cap nota. Mireu --in i read.format."},
	"find scramble": {"Values were scrambled: letters, digits, length and signs stay, so whoever has a list of names undoes most of them. Such an output is no release.",
		"Hay valores revueltos (scramble): quedan letras, cifras, longitud y signos, y quien tenga una lista de nombres recupera la mayoría. Un resultado así no se entrega a nadie.",
		"Hi ha valors barrejats (scramble): hi queden lletres, xifres, llargada i signes, i qui tingui una llista de noms en recupera la majoria. Un resultat així no es lliura a ningú."},
	"find before":       {"What follows is what earlier runs have left in the output.", "Lo que sigue es lo que ejecuciones anteriores dejaron en el resultado.", "El que segueix és el que execucions anteriors van deixar al resultat."},
	"title":             {"velum: %s, %s", "velum: %s, %s", "velum: %s, %s"},
	"scroll":            {"This table can be scrolled sideways.", "Esta tabla se puede desplazar hacia los lados.", "Aquesta taula es pot desplaçar cap als costats."},
	"run":               {"Run", "Ejecución", "Execució"},
	"run date":          {"Date", "Fecha", "Data"},
	"run id":            {"Run", "Ejecución", "Execució"},
	"run inputs":        {"Input", "Entrada", "Entrada"},
	"run output":        {"Output", "Resultado", "Resultat"},
	"run exit":          {"Exit code", "Código de salida", "Codi de sortida"},
	"run head":          {"Head of the audit log", "Cabeza del registro de auditoría", "Cap del registre d'auditoria"},
	"run elsewhere":     {"Date, run, input and head of the audit log stand on the page _audit/report.html of the private tree, so that the same input makes the same report.", "Fecha, ejecución, entrada y cabeza del registro de auditoría están en la página _audit/report.html del árbol privado, para que la misma entrada dé el mismo informe.", "Data, execució, entrada i cap del registre d'auditoria són a la pàgina _audit/report.html de l'arbre privat, perquè la mateixa entrada doni el mateix informe."},
	"notes read":        {"Notes read", "Notas leídas", "Notes llegides"},
	"masked":            {"Masked", "Enmascaradas", "Emmascarades"},
	"held something":    {"%s of them held something", "%s de ellas tenían algo", "%s d'elles tenien alguna cosa"},
	"in quarantine":     {"In quarantine", "En cuarentena", "En quarantena"},
	"allowed":           {"%s, %s allowed", "%s; se permite %s", "%s; se'n permet %s"},
	"masked spans":      {"Masked spans", "Marcas enmascaradas", "Marques emmascarades"},
	"expected left":     {"Notes that may keep something", "Notas que pueden conservar algo", "Notes que poden conservar alguna cosa"},
	"expected between":  {"%s to %s", "de %s a %s", "de %s a %s"},
	"not known":         {"not known", "no se sabe", "no se sap"},
	"unlike":            {"Are these notes like those that the model knows?", "¿Se parecen estas notas a las que el modelo conoce?", "S'assemblen aquestes notes a les que el model coneix?"},
	"unlike what":       {"Figure", "Cifra", "Xifra"},
	"unlike here":       {"Here", "Aquí", "Aquí"},
	"unlike from":       {"From", "De", "De"},
	"unlike to":         {"To", "A", "A"},
	"unlike language":   {"Notes in another language", "Notas en otra lengua", "Notes en una altra llengua"},
	"unlike words":      {"Unknown words", "Palabras desconocidas", "Paraules desconegudes"},
	"unlike spans":      {"Masked places a note", "Lugares enmascarados por nota", "Llocs emmascarats per nota"},
	"unlike confidence": {"Doubt (mean log odds)", "Duda (log-odds medio)", "Dubte (log-odds mitjà)"},
	"unlike is": {"From and to: the lowest and the highest of the sources on which the confidences were calibrated (%s of %s that the model had not seen; %s kept something). Red: further away than report.shift allows.",
		"De y a: la menor y la mayor de las fuentes con que se calibraron las confianzas (%s de %s que el modelo no había visto; %s conservaban algo). En rojo: más lejos de lo que report.shift permite.",
		"De i a: la menor i la major de les fonts amb què es van calibrar les confiances (%s de %s que el model no havia vist; %s conservaven alguna cosa). En vermell: més lluny del que report.shift permet."},
	"unlike plain": {"The model is not calibrated: from and to are those of notes in Spanish and Catalan.", "El modelo no está calibrado: de y a son los de notas en español y catalán.", "El model no està calibrat: de i a són els de notes en castellà i català."},
	"not measured": {"not measured", "sin medir", "sense mesurar"},
	"ids again":    {"Ids that come again", "Identificadores repetidos", "Identificadors repetits"},

	"by inverse":       {"Decided by the inverse model", "Decididas por el modelo inverso", "Decidides pel model invers"},
	"by inverse small": {"masked unless known to be safe", "enmascarado si no consta que es seguro", "emmascarat si no consta que és segur"},

	"what was masked": {"What was masked", "Qué se ha enmascarado", "Què s'ha emmascarat"},
	"category":        {"Category", "Categoría", "Categoria"},
	"who found it":    {"Who found it", "Quién la encontró", "Qui la va trobar"},
	"spans":           {"Spans", "Marcas", "Marques"},
	"share":           {"Share", "Parte", "Part"},
	"nothing masked":  {"No span was masked.", "No se ha enmascarado nada.", "No s'ha emmascarat res."},

	"quarantine":       {"Quarantine", "Cuarentena", "Quarantena"},
	"reason":           {"Reason", "Motivo", "Motiu"},
	"notes":            {"Notes", "Notas", "Notes"},
	"of all":           {"Of all", "Del total", "Del total"},
	"quarantine rows":  {"Rows and reasons stand in quarantine/ of the private tree.", "Las filas y los motivos están en quarantine/ del árbol privado.", "Les files i els motius són a quarantine/ de l'arbre privat."},
	"quarantine empty": {"No note is in quarantine.", "No hay notas en cuarentena.", "No hi ha notes en quarantena."},

	"confidence":       {"Confidence of the masked notes", "Confianza de las notas enmascaradas", "Confiança de les notes emmascarades"},
	"confidence label": {"Histogram of confidences", "Histograma de confianzas", "Histograma de confiances"},
	"confidence axis":  {"confidence", "confianza", "confiança"},
	"per cent above":   {"Per cent of the masked notes above each column.", "Tanto por ciento de las notas enmascaradas sobre cada columna.", "Tant per cent de les notes emmascarades sobre cada columna."},
	"no confidence":    {"No note was masked.", "No se ha enmascarado ninguna nota.", "No s'ha emmascarat cap nota."},
	"from to":          {"%s to %s: %s", "de %s a %s: %s", "de %s a %s: %s"},
	"review below":     {"review below", "revisión por debajo de", "revisió per sota de"},
	"candidates from":  {"candidates from", "candidatas desde", "candidates des de"},
	"taken from":       {"taken from", "tomadas desde", "agafades des de"},

	"languages":    {"Languages", "Idiomas", "Idiomes"},
	"language":     {"Language", "Idioma", "Idioma"},
	"no languages": {"No note was masked.", "No se ha enmascarado ninguna nota.", "No s'ha emmascarat cap nota."},
	"lang es":      {"Spanish", "castellano", "castellà"},
	"lang ca":      {"Catalan", "catalán", "català"},
	"lang en":      {"English", "inglés", "anglès"},
	"lang mixed":   {"Spanish and Catalan in one note", "castellano y catalán en una nota", "castellà i català en una nota"},
	"in vain":      {"What was masked in vain", "Lo que se enmascaró en vano", "El que es va emmascarar en va"},
	"in vain is": {
		"Masked words that a safe list has. Some belong to a name; the others cost the reader. Of forms only those of safe lists are shown, the commonest of each unit. `velum usefulness` says what was lost of doses, drugs and values.",
		"Palabras enmascaradas que están en una lista segura. Algunas forman parte de un nombre; las demás las pierde quien lee. Solo se muestran formas de listas seguras, las más frecuentes de cada unidad. `velum usefulness` dice qué se perdió de dosis, fármacos y valores.",
		"Paraules emmascarades que són en una llista segura. Algunes formen part d'un nom; les altres les perd qui llegeix. Només es mostren formes de llistes segures, les més freqüents de cada unitat. `velum usefulness` diu què es va perdre de dosis, fàrmacs i valors.",
	},
	"in vain what":     {"List, category, form", "Lista, categoría, forma", "Llista, categoria, forma"},
	"in vain list":     {"list %s", "lista %s", "llista %s"},
	"in vain category": {"as %s", "como %s", "com a %s"},
	"in vain form":     {"“%s”", "«%s»", "«%s»"},

	"lang unknown": {"too short to tell", "demasiado corta para saberlo", "massa curta per saber-ho"},

	"rules and lists": {"Rules and lists", "Reglas y listas", "Regles i llistes"},
	"used":            {"Used", "Usada", "Usada"},
	"times":           {"Times", "Veces", "Vegades"},
	"rule":            {"rule %s", "regla %s", "regla %s"},
	"operator":        {"operator %s", "operador %s", "operador %s"},
	"low score":       {"matches below resolve.min_score, dropped", "coincidencias bajo resolve.min_score, descartadas", "coincidències sota resolve.min_score, descartades"},
	"never list":      {"never: built-in list of %s", "nunca: lista incorporada de %s", "mai: llista incorporada de %s"},
	"always entry":    {"always: entry %s", "siempre: entrada %s", "sempre: entrada %s"},
	"never entry":     {"never: entry %s", "nunca: entrada %s", "mai: entrada %s"},
	"entries":         {"Entries of lists are numbered as the configuration has them. Rules that never applied are left out.", "Las entradas de las listas llevan el número que tienen en la configuración. Las reglas que no se aplicaron no aparecen.", "Les entrades de les llistes porten el número que tenen a la configuració. Les regles que no s'han aplicat no hi surten."},
	"no rules":        {"No rule and no list was used.", "No se ha usado ninguna regla ni lista.", "No s'ha fet servir cap regla ni llista."},

	"anonymity":        {"k-anonymity", "k-anonimato", "k-anonimat"},
	"anonymity is":     {"Any combination of the columns in quasi/ belongs to %s people or more; %s of the notes have theirs suppressed for that.", "Cualquier combinación de las columnas de quasi/ es de %s personas o más; para ello, el %s de las notas tiene las suyas suprimidas.", "Qualsevol combinació de les columnes de quasi/ és de %s persones o més; per a això, el %s de les notes té les seves suprimides."},
	"leak":             {"What may have leaked", "Qué puede haberse filtrado", "Què es pot haver filtrat"},
	"leak is":          {"By what the audit missed, a note holds an identifier that nobody found with a probability of %s (%s to %s).", "Según lo que escapó a la auditoría, una nota contiene un identificador que nadie encontró con una probabilidad del %s (%s a %s).", "Segons el que va escapar a l'auditoria, una nota conté un identificador que ningú no va trobar amb una probabilitat del %s (%s a %s)."},
	"leak category":    {"Category", "Categoría", "Categoria"},
	"leak missed":      {"Missed in the audit", "Escapados en la auditoría", "Escapats a l'auditoria"},
	"leak left":        {"Left, expected", "Quedan, esperados", "En queden, esperats"},
	"leak told":        {"Can be told", "Se reconocen", "Es reconeixen"},
	"strategy":         {"Surrogates", "Sustitutos", "Substituts"},
	"parrot is":        {"Surrogates were attacked: some names were left as they are, and a tagger that had learned from the surrogates pointed at as many.", "Se atacaron los sustitutos: algunos nombres quedaron como estaban, y un etiquetador que aprendió de los sustitutos señaló otros tantos.", "S'han atacat els substituts: alguns noms han quedat com eren, i un etiquetador que n'ha après n'ha assenyalat tants altres."},
	"parrot left":      {"Left", "Sin sustituir", "Sense substituir"},
	"parrot recall":    {"Found of these", "Hallados de estos", "Trobats d'aquests"},
	"parrot precision": {"Right", "Acertados", "Encertats"},
	"parrot chance":    {"By chance", "Por azar", "Per atzar"},
	"linkage is":       {"Linked with a table of %s people: %s match a note, %s a single one, %s fewer than %s.", "Cotejado con una tabla de %s personas: %s coinciden con alguna nota, %s con una sola, %s con menos de %s.", "Confrontat amb una taula de %s persones: %s coincideixen amb alguna nota, %s amb una de sola, %s amb menys de %s."},
	"level":            {"Level", "Nivel", "Nivell"},
	"of levels":        {"of", "de", "de"},
	"groups before":    {"Groups before any was suppressed.", "Grupos antes de suprimir ninguno.", "Grups abans de suprimir-ne cap."},
	"groups left":      {"Now %s are left, the smallest of %s people.", "Quedan %s; el menor es de %s personas.", "En queden %s; el més petit és de %s persones."},
	"fewer than":       {"Fewer notes than", "Menos notas que", "Menys notes que"},
	"groups":           {"Groups", "Grupos", "Grups"},

	"folders":           {"Folders", "Carpetas", "Carpetes"},
	"folder":            {"Folder", "Carpeta", "Carpeta"},
	"folder none":       {"(no folder)", "(sin carpeta)", "(sense carpeta)"},
	"folder unreadable": {"(unreadable)", "(ilegible)", "(il·legible)"},
	"spans per hundred": {"Spans in 100 notes", "Marcas en 100 notas", "Marques en 100 notes"},
	"against all":       {"Against all", "Frente al total", "Respecte del total"},
	"no folders":        {"No file was read.", "No se ha leído ningún fichero.", "No s'ha llegit cap fitxer."},

	"selection":                 {"Selection set", "Selección", "Selecció"},
	"selection of":              {"%s of %s (%s wanted, confidence from %s).", "%s de %s (%s pedidas, confianza desde %s).", "%s de %s (%s demanades, confiança des de %s)."},
	"selection least":           {"The least certain has %s.", "La menos segura tiene %s.", "La menys segura té %s."},
	"selection met":             {"All shares are within %s of the target.", "Todas las proporciones están a menos de %s del objetivo.", "Totes les proporcions són a menys de %s de l'objectiu."},
	"selection missed":          {"The shares miss the target by more than %s.", "Las proporciones se apartan del objetivo más de %s.", "Les proporcions s'aparten de l'objectiu més de %s."},
	"selection short":           {"There are too few notes with %s.", "Hay demasiado pocas notas con %s.", "Hi ha massa poques notes amb %s."},
	"selection review":          {"%s below %s for a curator (%s wanted).", "%s por debajo de %s para revisión (%s pedidas).", "%s per sota de %s per a revisió (%s demanades)."},
	"share wanted":              {"Share wanted", "Parte pedida", "Part demanada"},
	"share got":                 {"Share got", "Parte obtenida", "Part obtinguda"},
	"tokens wanted":             {"Tokens a span wanted", "Tokens por marca pedidos", "Tokens per marca demanats"},
	"got":                       {"Got", "Obtenidos", "Obtinguts"},
	"any":                       {"any", "cualquiera", "qualsevol"},
	"without spans":             {"notes without spans", "notas sin marcas", "notes sense marques"},
	"input":                     {"Input", "Entrada", "Entrada"},
	"unvouched":                 {"Files without page checksums: %s. Damage to them can change notes, and no reader can tell; read.sha256 or read.twice can.", "Ficheros sin sumas de control por página: %s. Un daño puede cambiar notas sin que ningún lector lo note; read.sha256 o read.twice sí lo notan.", "Fitxers sense sumes de control per pàgina: %s. Un dany pot canviar notes sense que cap lector ho noti; read.sha256 o read.twice sí que ho noten."},
	"bad files":                 {"Files that could not be read", "Ficheros que no se han podido leer", "Fitxers que no s'han pogut llegir"},
	"bad units":                 {"Parts of files that could not be decoded", "Partes de ficheros que no se han podido descodificar", "Parts de fitxers que no s'han pogut descodificar"},
	"file name":                 {"File", "Fichero", "Fitxer"},
	"bytes":                     {"Bytes", "Bytes", "Bytes"},
	"cause":                     {"Cause", "Causa", "Causa"},
	"drift":                     {"Columns that are not those of the first file", "Columnas que no son las del primer fichero", "Columnes que no són les del primer fitxer"},
	"column":                    {"Column", "Columna", "Columna"},
	"change":                    {"Change", "Cambio", "Canvi"},
	"model and config":          {"Model and configuration", "Modelo y configuración", "Model i configuració"},
	"model":                     {"Model", "Modelo", "Model"},
	"trained on":                {"Trained on", "Entrenado con", "Entrenat amb"},
	"started from":              {"Started from", "Parte de", "Parteix de"},
	"measured":                  {"Measured on real notes", "Medido en notas reales", "Mesurat en notes reals"},
	"measured on":               {"%s, %s: %s with %s; masking recall %s, precision %s", "%s, %s: %s con %s; exhaustividad %s, precisión %s", "%s, %s: %s amb %s; exhaustivitat %s, precisió %s"},
	"dial":                      {"Recall dial", "Ajuste de exhaustividad", "Ajust d'exhaustivitat"},
	"dial asked":                {"asked for %s; on the model's gold set masking recall %s at precision %s", "se pidió %s; en el conjunto de referencia del modelo, exhaustividad %s con precisión %s", "es va demanar %s; en el conjunt de referència del model, exhaustivitat %s amb precisió %s"},
	"configuration":             {"Configuration", "Configuración", "Configuració"},
	"config is":                 {"profile %s, policy %s, ids %s", "perfil %s, política %s, identificadores %s", "perfil %s, política %s, identificadors %s"},
	"dates":                     {"Dates", "Fechas", "Dates"},
	"purpose":                   {"Purpose", "Finalidad", "Finalitat"},
	"key":                       {"Key", "Clave", "Clau"},
	"own scores":                {"Scores of the model on its own gold set", "Puntuación del modelo en su conjunto de referencia", "Puntuació del model en el seu conjunt de referència"},
	"measure":                   {"Measure", "Medida", "Mesura"},
	"measure strict":            {"strict", "estricta", "estricta"},
	"measure span":              {"span", "solo lugares", "només llocs"},
	"measure merged":            {"merged", "marcas contiguas unidas", "marques contigües unides"},
	"measure joined":            {"joined", "marcas unidas", "marques unides"},
	"measure covering":          {"covering", "que cubren", "que cobreixen"},
	"measure overlapping":       {"overlapping", "que se solapan", "que se solapen"},
	"measure relaxed":           {"relaxed", "laxa", "laxa"},
	"measure tokens":            {"tokens", "palabras", "paraules"},
	"measure masked_tokens":     {"masked tokens", "palabras enmascaradas", "paraules emmascarades"},
	"measure masked_characters": {"masked characters", "caracteres enmascarados", "caràcters emmascarats"},
	"measure masked_entities":   {"masked entities", "entidades enmascaradas", "entitats emmascarades"},
	"measure clean_notes":       {"clean notes", "notas limpias", "notes netes"},
	"measure direct_notes":      {"notes without direct identifiers", "notas sin identificadores directos", "notes sense identificadors directes"},
	"precision":                 {"precision", "precisión", "precisió"},
	"recall":                    {"recall", "exhaustividad", "exhaustivitat"},
	"Recall":                    {"Recall", "Exhaustividad", "Exhaustivitat"},
	"counts only":               {"Counts only: this page holds no text and no ids of notes.", "Solo recuentos: esta página no contiene texto ni identificadores de notas.", "Només recomptes: aquesta pàgina no conté text ni identificadors de notes."},
	"is private":                {"It is for the house: the report beside the masked notes may be given away, this one may not.", "Es para uso interno: el informe que acompaña a las notas enmascaradas se puede entregar, este no.", "És per a ús intern: l'informe que acompanya les notes emmascarades es pot lliurar, aquest no."},
	"is public":                 {"The report in the private tree says more: reasons, confidences, languages, who found what.", "El informe del árbol privado dice más: motivos, confianzas, idiomas, quién encontró qué.", "L'informe de l'arbre privat diu més: motius, confiances, idiomes, qui va trobar què."},
	"same numbers":              {"The same numbers are in report.json and, as JSON, in this file.", "Los mismos números están en report.json y, como JSON, en este fichero.", "Els mateixos números són a report.json i, com a JSON, en aquest fitxer."},

	"why null_text":    {"The text is null: nothing to mask.", "El texto es nulo: no hay nada que enmascarar.", "El text és nul: no hi ha res a emmascarar."},
	"why bad_encoding": {"The text is not UTF-8. Ask for the export in UTF-8.", "El texto no es UTF-8. Pida la exportación en UTF-8.", "El text no és UTF-8. Demaneu l'exportació en UTF-8."},
	"why too_long":     {"Longer than read.max_note_bytes or tokenize.max_tokens.", "Más larga que read.max_note_bytes o tokenize.max_tokens.", "Més llarga que read.max_note_bytes o tokenize.max_tokens."},
	"why control_text": {"Control characters: the note was damaged on its way.", "Caracteres de control: la nota se dañó por el camino.", "Caràcters de control: la nota es va malmetre pel camí."},
	"why null_id":      {"The row has no id.", "La fila no tiene identificador.", "La fila no té identificador."},
	"why panicked":     {"velum failed on this note. Please report it.", "velum falló con esta nota. Comuníquelo, por favor.", "velum ha fallat amb aquesta nota. Comuniqueu-ho, si us plau."},
	"why timed_out": {
		"The note took too long, and is tried again at the next two starts. After three it stays here: --fresh tries it once more, run.note_timeout gives it more time. Please report it.",
		"La nota tardó demasiado y se intenta otra vez en los dos arranques siguientes. Tras tres se queda aquí: --fresh la intenta de nuevo, run.note_timeout le da más tiempo. Comuníquelo, por favor.",
		"La nota ha trigat massa i es torna a provar en les dues arrencades següents. Després de tres es queda aquí: --fresh la torna a provar, run.note_timeout li dona més temps. Comuniqueu-ho, si us plau.",
	},
	"why no_model":        {"The model or a list was missing.", "Faltaba el modelo o una lista.", "Faltava el model o una llista."},
	"why bad_tags":        {"The model gave tags that cannot be. Please report it.", "El modelo dio etiquetas imposibles. Comuníquelo, por favor.", "El model ha donat etiquetes impossibles. Comuniqueu-ho, si us plau."},
	"why changed_text":    {"The masked text differs outside its spans. Please report it.", "El texto enmascarado difiere fuera de las marcas. Comuníquelo, por favor.", "El text emmascarat difereix fora de les marques. Comuniqueu-ho, si us plau."},
	"why surviving_value": {"A masked value could still be read elsewhere in the note.", "Un valor enmascarado aún se podía leer en otro lugar de la nota.", "Un valor emmascarat encara es podia llegir en un altre lloc de la nota."},
	"why strict_finding":  {"The second look found something like an identifier.", "La segunda comprobación encontró algo parecido a un identificador.", "La segona comprovació va trobar alguna cosa semblant a un identificador."},
	"why bad_unit":        {"The file or row group cannot be decoded. Ask for it again.", "El fichero o grupo de filas no se puede descodificar. Pídalo otra vez.", "El fitxer o grup de files no es pot descodificar. Demaneu-lo un altre cop."},
	"why bad_row":         {"The row is not one: too few fields, or no JSON. Look at the file there.", "La fila no es válida: faltan campos, o no es JSON. Mire el fichero ahí.", "La fila no és vàlida: hi falten camps, o no és JSON. Mireu el fitxer allà."},
	"why too_costly": {
		"A file of patterns.files costs more on this note than one note may: simplify its expressions.",
		"Un fichero de patterns.files cuesta con esta nota más de lo que puede una nota: simplifique sus expresiones.",
		"Un fitxer de patterns.files costa amb aquesta nota més del que pot una nota: simplifiqueu-ne les expressions.",
	},
	"why excluded": {"The patient objects: the note was left out.", "El paciente se opone: la nota se ha dejado fuera.", "El pacient s'hi oposa: la nota s'ha deixat fora."},
	"why no_patient": {
		"People object, and the note has no patient's id: nobody knows whether it is theirs.",
		"Hay personas que se oponen y la nota no tiene paciente: nadie sabe si es suya.",
		"Hi ha persones que s'hi oposen i la nota no té pacient: ningú no sap si és seva.",
	},
	"why unsealed": {"The masked text was not the one that was verified. Please report it.", "El texto enmascarado no era el verificado. Comuníquelo, por favor.", "El text emmascarat no era el verificat. Comuniqueu-ho, si us plau."},

	// learning
	"learn title":      {"velum learn: strict F1 %s to %s", "velum learn: F1 estricta de %s a %s", "velum learn: F1 estricta de %s a %s"},
	"learn gain":       {"Strict F1 from %s to %s (turn %s) on %s.", "F1 estricta de %s a %s (vuelta %s) en %s.", "F1 estricta de %s a %s (volta %s) en %s."},
	"learn no gain":    {"No turn is better than the first model: strict F1 %s on %s.", "Ninguna vuelta es mejor que el primer modelo: F1 estricta %s en %s.", "Cap volta és millor que el primer model: F1 estricta %s en %s."},
	"learn unmeasured": {"%s, not measured: there are no validation notes.", "%s, sin medir: no hay notas de validación.", "%s, sense mesurar: no hi ha notes de validació."},
	"learn draws":      {"Gain of strict F1 over the supervised model: %s ± %s (mean and standard deviation of %s, best turn each).", "Ganancia de F1 estricta sobre el modelo supervisado: %s ± %s (media y desviación típica de %s, la mejor vuelta de cada uno).", "Guany de F1 estricta sobre el model supervisat: %s ± %s (mitjana i desviació típica de %s, la millor volta de cada un)."},
	"learn chance":     {"The gain of the model in use is within chance (p = %s): more validation notes would tell.", "La ganancia del modelo en uso puede ser azar (p = %s): harían falta más notas de validación.", "El guany del model en ús pot ser atzar (p = %s): caldrien més notes de validació."},
	"learn few":        {"%s decide little: the 95 %% interval of F1 is %s to %s.", "%s deciden poco: el intervalo del 95 %% de F1 va de %s a %s.", "%s decideixen poc: l'interval del 95 %% d'F1 va de %s a %s."},
	"learn base":       {"The model in use learned from the labelled notes and all answers. The model of turn %s did not pass the gate: strict F1 %s against %s.", "El modelo en uso aprendió de las notas marcadas y de todas las respuestas. El modelo de la vuelta %s no pasó el control: F1 estricta %s frente a %s.", "El model en ús va aprendre de les notes marcades i de totes les respostes. El model de la volta %s no va passar el control: F1 estricta %s davant de %s."},
	"learn taught":     {"The model in use, that of turn %s, learned from all answers.", "El modelo en uso, el de la vuelta %s, aprendió de todas las respuestas.", "El model en ús, el de la volta %s, va aprendre de totes les respostes."},
	"learn answers":    {"Answers of people: %s, of which %s came back as they were asked.", "Respuestas de personas: %s, de las cuales %s volvieron tal como se preguntaron.", "Respostes de persones: %s, de les quals %s van tornar tal com es van preguntar."},

	"supervised f1": {"Supervised F1", "F1 supervisada", "F1 supervisada"},
	"p and r":       {"P %s, R %s", "P %s, R %s", "P %s, R %s"},
	"best f1":       {"Best F1", "Mejor F1", "Millor F1"},
	"best turn":     {"turn %s: P %s, R %s", "vuelta %s: P %s, R %s", "volta %s: P %s, R %s"},
	"ends":          {"95 %%: %s to %s", "95 %%: de %s a %s", "95 %%: de %s a %s"},
	"gain":          {"Gain", "Ganancia", "Guany"},
	"learned from":  {"Learned from the archive", "Aprendido del archivo", "Après de l'arxiu"},
	"last set":      {"%s in the last training set", "%s en el último conjunto de entrenamiento", "%s en l'últim conjunt d'entrenament"},
	"in use":        {"In use", "En uso", "En ús"},
	"turn number":   {"turn %s", "vuelta %s", "volta %s"},
	"none lost":     {"no category lost recall", "ninguna categoría perdió exhaustividad", "cap categoria va perdre exhaustivitat"},

	"curve":        {"Strict F1, precision and recall by turn", "F1 estricta, precisión y exhaustividad por vuelta", "F1 estricta, precisió i exhaustivitat per volta"},
	"curve draws":  {"Strict F1 by turn, mean and standard deviation of the draws", "F1 estricta por vuelta, media y desviación típica de los sorteos", "F1 estricta per volta, mitjana i desviació típica dels sortejos"},
	"curve about":  {"On %s. Bars at the points of F1 are 95 %% intervals.", "En %s. Las barras en los puntos de F1 son intervalos del 95 %%.", "En %s. Les barres als punts d'F1 són intervals del 95 %%."},
	"draws about":  {"On the validation notes of each draw.", "En las notas de validación de cada sorteo.", "En les notes de validació de cada sorteig."},
	"base":         {"turn 0, labelled notes alone: F1 %s", "vuelta 0, solo notas marcadas: F1 %s", "volta 0, només notes marcades: F1 %s"},
	"ring":         {"best turn", "mejor vuelta", "millor volta"},
	"band":         {"mean ± standard deviation", "media ± desviación típica", "mitjana ± desviació típica"},
	"mean f1":      {"mean F1", "F1 media", "F1 mitjana"},
	"seeds":        {"one line a seed", "una línea por semilla", "una línia per llavor"},
	"turn":         {"turn", "vuelta", "volta"},
	"dot":          {"turn %s: %s %s", "vuelta %s: %s %s", "volta %s: %s %s"},
	"Turn":         {"Turn", "Vuelta", "Volta"},
	"Draws":        {"Draws", "Sorteos", "Sortejos"},
	"seed":         {"Seed", "Semilla", "Llavor"},
	"mean by turn": {"Mean by turn", "Media por vuelta", "Mitjana per volta"},
	"deviation":    {"Standard deviation", "Desviación típica", "Desviació típica"},

	"corpus grown":     {"%s corrected in %s: F1 of the rules %s.", "%s corregidas en %s: F1 de las reglas %s.", "%s corregides en %s: F1 de les regles %s."},
	"curve corpus":     {"F1 of the rules by turn and category", "F1 de las reglas por vuelta y categoría", "F1 de les regles per volta i categoria"},
	"corpus about":     {"On the corpus of each turn, overlap criterion: the corpus grows by notes that the rules doubt, so that F1 on it may fall.", "En el corpus de cada vuelta, criterio de solapamiento: el corpus crece con notas de las que dudan las reglas, de modo que su F1 puede bajar.", "En el corpus de cada volta, criteri de solapament: el corpus creix amb notes de què dubten les regles, de manera que la seva F1 pot baixar."},
	"validation f1":    {"Validation F1", "F1 validación", "F1 validació"},
	"ranks":            {"What the notes of the archive are worth, sorted", "Lo que valen las notas del archivo, por orden", "El que valen les notes de l'arxiu, per ordre"},
	"rank":             {"note", "nota", "nota"},
	"ranks about":      {"Turn %s: f(d) counts what the rules find in a note, weighted by how often they err and how rare the category is. Those above the elbow were asked about.", "Vuelta %s: f(d) cuenta lo que las reglas encuentran en una nota, según lo que yerran y lo rara que es la categoría. Se preguntó por las que están por encima del codo.", "Volta %s: f(d) compta el que les regles troben en una nota, segons el que erren i com de rara és la categoria. Es va preguntar per les que són per sobre del colze."},
	"bend":             {"elbow: %s above it, %s asked", "codo: %s por encima, %s preguntadas", "colze: %s per sobre, %s preguntades"},
	"validation notes": {"Validation notes: %s", "Notas de validación: %s", "Notes de validació: %s"},
	"enough":           {"done over %s", "acabado por encima de %s", "acabat per sobre de %s"},
	"on validation":    {"F1 on validation notes", "F1 en notas de validación", "F1 en notes de validació"},
	"ranked":           {"Ranked", "Puntuadas", "Puntuades"},
	"asked":            {"Asked", "Preguntadas", "Preguntades"},
	"elbow":            {"At the elbow", "En el codo", "Al colze"},
	"unchanged":        {"Unchanged", "Sin cambios", "Sense canvis"},
	"corrected":        {"Notes corrected", "Notas corregidas", "Notes corregides"},
	"errors between":   {"Errors of the rules, turn %s to turn %s", "Errores de las reglas, de la vuelta %s a la %s", "Errors de les regles, de la volta %s a la %s"},
	"errors went":      {"Went", "Desaparecidos", "Desapareguts"},
	"errors came":      {"Came", "Aparecidos", "Apareguts"},
	"errors added":     {"In notes added since", "En notas añadidas desde entonces", "En notes afegides des de llavors"},

	"turns":            {"Turns", "Vueltas", "Voltes"},
	"looked at":        {"Looked at", "Vistas", "Vistes"},
	"sure enough":      {"Sure enough", "Bastante seguras", "Prou segures"},
	"taken":            {"Taken", "Tomadas", "Agafades"},
	"training set":     {"Training set", "Conjunto de entrenamiento", "Conjunt d'entrenament"},
	"masking recall":   {"Masking recall", "Exhaustividad del enmascaramiento", "Exhaustivitat de l'emmascarament"},
	"in use?":          {"In use?", "¿En uso?", "En ús?"},
	"promoted":         {"promoted", "puesto en uso", "posat en ús"},
	"by chance":        {"promoted, within chance (p = %s)", "puesto en uso, quizá por azar (p = %s)", "posat en ús, potser per atzar (p = %s)"},
	"no better":        {"no better", "no es mejor", "no és millor"},
	"turns about":      {"Training set: labelled notes + what the archive gave, corrected notes between them. A model goes into use when its F1 is higher and no category loses recall or masking recall; what lost stands in the last column. Where the last column says within chance, an approximate randomization test finds as large a gain among models that are alike with probability p.", "Conjunto de entrenamiento: notas marcadas + lo que dio el archivo, con las corregidas entre ambas. Un modelo se pone en uso cuando su F1 es mayor y ninguna categoría pierde exhaustividad ni enmascaramiento; lo perdido está en la última columna. Donde pone azar, una prueba de aleatorización aproximada encuentra una ganancia así entre modelos iguales con probabilidad p.", "Conjunt d'entrenament: notes marcades + el que ha donat l'arxiu, amb les corregides entremig. Un model es posa en ús quan la seva F1 és més alta i cap categoria perd exhaustivitat ni emmascarament; el que s'ha perdut és a l'última columna. On diu atzar, una prova d'aleatorització aproximada troba un guany així entre models iguals amb probabilitat p."},
	"turns unmeasured": {"Training set: labelled notes + what the archive gave, corrected notes between them. Nothing was measured: the model of the last turn is in use.", "Conjunto de entrenamiento: notas marcadas + lo que dio el archivo, con las corregidas entre ambas. No se ha medido nada: está en uso el modelo de la última vuelta.", "Conjunt d'entrenament: notes marcades + el que ha donat l'arxiu, amb les corregides entremig. No s'ha mesurat res: és en ús el model de l'última volta."},
	"taken archive":    {"Taken from the archive", "Tomado del archivo", "Agafat de l'arxiu"},
	"nothing taken":    {"Nothing was taken from the archive.", "No se ha tomado nada del archivo.", "No s'ha agafat res de l'arxiu."},
	"last slice":       {"Confidence in the last slice", "Confianza en la última porción", "Confiança en l'última porció"},
	"slice about":      {"Per cent above each column, of those in which the model found something.", "Tanto por ciento sobre cada columna, de aquellas en las que el modelo encontró algo.", "Tant per cent sobre cada columna, d'aquelles en què el model va trobar alguna cosa."},
	"no slice":         {"No slice of the archive was looked at.", "No se ha mirado ninguna porción del archivo.", "No s'ha mirat cap porció de l'arxiu."},

	"are they shares":  {"Are confidences shares?", "¿Son proporciones las confianzas?", "Són proporcions les confiances?"},
	"as the model":     {"as the model says: error %s", "según el modelo: error %s", "segons el model: error %s"},
	"calibrated":       {"calibrated: %s", "calibrada: %s", "calibrada: %s"},
	"calibrated not":   {"calibrated (not in use): %s", "calibrada (sin usar): %s", "calibrada (sense usar): %s"},
	"diagonal":         {"where confidence is the share", "donde la confianza es la proporción", "on la confiança és la proporció"},
	"reliability":      {"Reliability curve", "Curva de fiabilidad", "Corba de fiabilitat"},
	"reliable dot":     {"%s: confidence %s, right %s", "%s: confianza %s, acierto %s", "%s: confiança %s, encert %s"},
	"share right":      {"share of right answers", "proporción de aciertos", "proporció d'encerts"},
	"reliable about":   {"Expected calibration error over %s in ten bins; bins with few are drawn as one, with the 95 %% interval of each. The calibrated curve is cross-validated: each fifth under the map of the others.", "Error de calibración esperado en %s, en diez tramos; los tramos con pocos se dibujan como uno, con el intervalo del 95 %% de cada uno. La curva calibrada está validada de forma cruzada: cada quinta parte con el mapa de las otras.", "Error de calibratge esperat en %s, en deu trams; els trams amb pocs es dibuixen com un, amb l'interval del 95 %% de cada un. La corba calibrada està validada de manera creuada: cada cinquena part amb el mapa de les altres."},
	"categories about": {"Categories, supervised and best", "Categorías, supervisado y mejor", "Categories, supervisat i millor"},
	"gold":             {"Gold", "Referencia", "Referència"},
	"base in use":      {"labelled notes and answers alone are in use", "en uso: solo notas marcadas y respuestas", "en ús: només notes marcades i respostes"},
	"learn foot":       {"This page holds no text and no ids of notes. The same numbers are in report.json.", "Esta página no contiene texto ni identificadores de notas. Los mismos números están en report.json.", "Aquesta pàgina no conté text ni identificadors de notes. Els mateixos números són a report.json."},
}

package review

import (
	"maps"
	"strings"

	"github.com/velum-health/velum/pipeline"
)

// Langs are the languages of the page.
var Langs = []string{"ca", "en", "es"}

// texts is every word of the page, by language. A test holds that none lacks one.
var texts = map[string]map[string]string{
	"en": {
		"title": "Review", "note": "Note", "of": "of", "decided": "decided", "left": "left", "accepted": "decided", "open": "open",
		"accept": "Accept and go on", "next": "Next note", "previous": "Previous note", "remove": "Remove the span", "everywhere": "Same value everywhere",
		"undo": "Undo", "search": "Search", "help": "Keys and guideline", "end": "End the session", "left_word": "Word before", "right_word": "Word after",
		"notfound": "Not found", "saved": "saved", "failed": "Not saved. Is velum still running?", "doubt": "doubt", "other": "As the other curator", "text": "Text of the note", "progress": "Notes decided", "categories": "Categories", "answers": "Answers",
		"ended":     "The session has ended. You may close this page.",
		"guideline": "Mark what says who, where or when: names without their title; centres, towns and streets with their head word; dates in any form; ages with their unit; telephones, numbers and addresses as they stand. Leave diseases, drugs and scales that are called after somebody, durations, and words of kinship.",
		"kept":      "Kept: what matters is still there", "lost-something": "Lost something that matters", "lost-all": "Lost all that matters",
		"guideline-audit":      "What is marked was masked. Mark what was not and should have been; take nothing away that was masked in vain.",
		"guideline-quarantine": "This note was set aside for the reason that stands above it. Mark what says who, where or when, as in any other note.",
		"guideline-usefulness": "This is the note as it leaves, with what was masked in brackets. Judge what a clinical reader of the masked note still learns: findings, doses, results, the course of the disease.",
		"extend":               "hold Shift to extend", "empty": "No notes here: nothing differs, or the file is empty.", "marked": "marked", "removed": "removed", "minutes": "min",
		"finished": "All notes are decided. End the session (F9), then:", "original": "Masked, or as it was",
	},
	"es": {
		"title": "Revisión", "note": "Nota", "of": "de", "decided": "decididas", "left": "quedan", "accepted": "decidida", "open": "pendiente",
		"accept": "Aceptar y seguir", "next": "Nota siguiente", "previous": "Nota anterior", "remove": "Quitar la marca", "everywhere": "El mismo valor en toda la nota",
		"undo": "Deshacer", "search": "Buscar", "help": "Teclas y guía", "end": "Terminar la sesión", "left_word": "Palabra anterior", "right_word": "Palabra siguiente",
		"notfound": "No se encuentra", "saved": "guardada", "failed": "No se ha guardado. ¿Sigue velum en marcha?", "doubt": "duda", "other": "Como la otra persona", "text": "Texto de la nota", "progress": "Notas decididas", "categories": "Categorías", "answers": "Respuestas",
		"ended":     "La sesión ha terminado. Puede cerrar esta página.",
		"guideline": "Marque lo que dice quién, dónde o cuándo: nombres sin su tratamiento; centros, poblaciones y calles con la palabra que los encabeza; fechas en cualquier forma; edades con su unidad; teléfonos, números y direcciones tal como están. Deje enfermedades, fármacos y escalas que llevan el nombre de alguien, las duraciones y las palabras de parentesco.",
		"kept":      "Conservado: lo importante sigue ahí", "lost-something": "Se perdió algo importante", "lost-all": "Se perdió todo lo importante",
		"guideline-audit":      "Lo marcado se enmascaró. Marque lo que no se enmascaró y debía; no quite lo que se enmascaró en vano.",
		"guideline-quarantine": "Esta nota se apartó por la razón que figura encima. Marque lo que dice quién, dónde o cuándo, como en cualquier otra nota.",
		"guideline-usefulness": "Así sale la nota: entre corchetes, lo enmascarado. Juzgue qué sabrá todavía quien lea la nota enmascarada: hallazgos, dosis, resultados, evolución.",
		"extend":               "con Mayúsculas se amplía", "empty": "No hay notas: nada difiere o el fichero está vacío.", "marked": "marcado", "removed": "quitado", "minutes": "min",
		"finished": "Todas las notas están decididas. Termine la sesión (F9) y después:", "original": "Enmascarada o como era",
	},
	"ca": {
		"title": "Revisió", "note": "Nota", "of": "de", "decided": "decidides", "left": "queden", "accepted": "decidida", "open": "pendent",
		"accept": "Accepta i continua", "next": "Nota següent", "previous": "Nota anterior", "remove": "Treu la marca", "everywhere": "El mateix valor a tota la nota",
		"undo": "Desfés", "search": "Cerca", "help": "Tecles i guia", "end": "Acaba la sessió", "left_word": "Paraula anterior", "right_word": "Paraula següent",
		"notfound": "No s'ha trobat", "saved": "desada", "failed": "No s'ha desat. Encara funciona velum?", "doubt": "dubte", "other": "Com l'altra persona", "text": "Text de la nota", "progress": "Notes decidides", "categories": "Categories", "answers": "Respostes",
		"ended":     "La sessió ha acabat. Podeu tancar aquesta pàgina.",
		"guideline": "Marqueu el que diu qui, on o quan: noms sense el tractament; centres, poblacions i carrers amb la paraula que els encapçala; dates de qualsevol forma; edats amb la unitat; telèfons, números i adreces tal com són. Deixeu malalties, fàrmacs i escales que porten el nom d'algú, les durades i les paraules de parentiu.",
		"kept":      "Conservat: l'important hi és", "lost-something": "S'ha perdut alguna cosa important", "lost-all": "S'ha perdut tot l'important",
		"guideline-audit":      "El que està marcat es va emmascarar. Marqueu el que no es va emmascarar i calia; no tragueu el que es va emmascarar en va.",
		"guideline-quarantine": "Aquesta nota es va apartar per la raó que hi ha a sobre. Marqueu el que diu qui, on o quan, com en qualsevol altra nota.",
		"guideline-usefulness": "Així surt la nota: entre claudàtors, el que s'ha emmascarat. Jutgeu què sabrà encara qui llegeixi la nota emmascarada: troballes, dosis, resultats, evolució.",
		"extend":               "amb Majúscules s'amplia", "empty": "No hi ha notes: res no difereix o el fitxer és buit.", "marked": "marcat", "removed": "tret", "minutes": "min",
		"finished": "Totes les notes estan decidides. Acabeu la sessió (F9) i després:", "original": "Emmascarada o com era",
	},
}

// wordsOf returns the words for a question: with its own guideline, if it has one.
func wordsOf(lang string, q *question) map[string]string {
	words := maps.Clone(texts[lang])
	if own := words["guideline-"+q.name]; own != "" {
		words["guideline"] = own
	}
	return words
}

// answersOf returns the answers of a question with their keys and words.
func answersOf(lang string, q *question) (out []map[string]string) {
	for i, a := range q.answers {
		out = append(out, map[string]string{"name": a, "key": keyOf(i), "word": texts[lang][a]})
	}
	return out
}

// Keys are the keys of the page by what they do, as browsers call them. Letters
// belong to categories.
func Keys() map[string]string {
	return map[string]string{
		"accept": "Enter", "next": "PageDown", "previous": "PageUp", "left_word": "ArrowLeft", "right_word": "ArrowRight", "remove": "Delete",
		"everywhere": "=", "undo": "Backspace", "other": "F8", "original": "F7", "search": "/", "help": "?", "end": "F9",
	}
}

// marking are the keys that change spans.
var marking = []string{"remove", "everywhere", "undo"}

// keysOf returns the keys that do something: those that the question and its
// options leave.
func keysOf(o *Options, q *question) map[string]string {
	keys := Keys()
	maps.Copy(keys, o.Keys)
	if !q.marks || o.Other == "" {
		delete(keys, "other")
	}
	if q.marks {
		delete(keys, "original") // the text is the note's own
	} else {
		for _, name := range marking {
			delete(keys, name)
		}
	}
	if q.answers != nil {
		delete(keys, "accept") // an answer goes on by itself
	}
	return keys
}

// lettered gives every category the first letter of its name that is free.
func lettered(labels []pipeline.Category) (out []map[string]string) {
	used := map[rune]bool{}
	for _, c := range labels {
		key := ""
		for _, r := range strings.ToLower(c.String()) + "1234567890abcdefghijklmnopqrstuvwxyz" {
			if r != '_' && !used[r] {
				used[r], key = true, string(r)
				break
			}
		}
		out = append(out, map[string]string{"name": c.String(), "key": key})
	}
	return out
}

package tokenize

import "strings"

// abbreviations do not end a sentence with their full stop: titles, streets,
// and what Spanish, Catalan and English notes shorten, without the stop and
// in lower case. A single letter never ends one either. Not in the list are
// words (no, mal, cap, sol), units (5 min. Alta) and what is written without
// a stop (rx, hta, uci): behind them the stop ends a sentence more often.
const abbreviations = `
dr dra dres dras drs sr sra sres sras srta srs sto sta fr pbro prof profa lic lcdo lcda ldo lda excmo excma ilmo ilma
mr mrs ms jr st rev messrs
av avda avgda avd ctra cra pza plz plza pça psg pg ps rda rbla trav trv urb pol edif esc izq izda izqda dcha dta
pral entlo bjs núm num nº nro nrs tel telf tlf tfno tlfno tfo ext fax apdo admón admon dpto depto
col colg ref reg exp hclin fdo firm pac pacs pte tto ttº ttm antec fam expl explor anal analit ingr hosp
serv urg hab cta cons diag neumo cardio trauma oftal derma gine uro nefro onco medic enf enfer inf
fem masc edo prov mun aprox máx mín comp comps caps cáps amp amps etc vs cf fig figs pág págs pag pags vol
eds cía cia ltda inc corp dept univ malal simp símpt abdom bilat prox
ene febr abr jul ago agt sept oct nov dic apr aug dec lun mié jue vie sáb dl dt dj dv ds
pt pts appt approx espec gral`

// abbreviationKeys holds the list as packed words; a word of more than eight
// bytes is not an abbreviation.
var abbreviationKeys = func() map[uint64]struct{} {
	keys := map[uint64]struct{}{}
	for word := range strings.FieldsSeq(abbreviations) {
		if key, ok := packed([]byte(word)); ok {
			keys[key] = struct{}{}
		}
	}
	return keys
}()

// packed folds the case of ASCII and of À to Þ and packs the bytes of word
// into a number.
func packed(word []byte) (key uint64, ok bool) {
	if len(word) > 8 {
		return 0, false
	}
	prev := byte(0)
	for _, b := range word {
		f := b
		if b >= 'A' && b <= 'Z' || prev == 0xC3 && b >= 0x80 && b <= 0x9E {
			f |= 0x20
		}
		key = key<<8 | uint64(f)
		prev = b
	}
	return key, true
}

// abbreviates tells whether a full stop behind word may belong to it.
func abbreviates(word []byte) bool {
	if c, n := classAt(word, 0); n == len(word) && c.letter() {
		return true
	}
	key, ok := packed(word)
	if !ok {
		return false
	}
	_, found := abbreviationKeys[key]
	return found
}

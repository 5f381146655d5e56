package resolve

// class is the kinds of trigger word that a word belongs to.
type class uint32

const (
	title        class = 1 << iota // stands before a name
	shortTitle                     // the same, but also a letter or a word of its own: needs a given name behind it
	particle                       // joins the words of a name
	article                        // may stand in the name of a place, never in one of a person
	institution                    // begins the name of a health centre
	telephone                      // stands before a telephone number
	fax                            // stands before a fax number
	person                         // a noun for the patient, before "de 70 años"
	relative                       // kin
	owner                          // stands before kin: su, un...
	unit                           // of an age
	numeral                        // written-out number
	ofAge                          // edad
	of                             // de
	sexLabel                       // sexo
	sexValue                       // what may stand behind it
	heading                        // ends a name: the next field of a report
	street                         // begins an address
	episode                        // stands before the number of a stay
	record                         // stands before a record number
	insurance                      // stands before a social security number
	sexed                          // a noun or adjective that tells the sex of the patient
	patient                        // may stand before such a word
	organisation                   // begins the name of an institution that is no health centre
	republic                       // belongs to the name of a country
	collegiate                     // stands before a collegiate number
	weekday                        // ends the name of a centre: an appointment begins
	expecting                      // before "de 20 semanas", which is no age
	general                        // with the head of a centre still the name of none: Centro de Salud
)

// triggerList is the words of a class, in any case and with or without
// accents.
type triggerList struct {
	class class
	words string
}

// triggers are Spanish and Catalan, with the English words that occur in
// Spanish reports. A word may stand in several lists.
var triggers = []triggerList{
	{title, "dr dra dres drs doctor doctora sr sra srta sres señor señora señorita senyor senyora don doña dña donya prof profesor profesora professor professora lic licenciado licenciada"},
	{shortTitle, "d da dn na en"},
	{particle, "de del la las los el lo i y da do dos di van von der san santa sant d l"},
	{article, "un una al a con en por que se"},
	{institution, "hospital hosp hospitalario hospitalari clinica clinic complejo centro centre ambulatorio ambulatori consultorio consultori residencia sanatorio policlinica policlinico geriatrico sociosanitario cap ceap"},
	{telephone, "tel telf tlf tlfn tlfno tfno tfn tfo telefono telefon telefonos telefons telephone phone movil mobil fijo fix"},
	{fax, "fax telefax"},
	{person, "varon mujer paciente pacient hombre home dona niño niña nen nena noi noia joven adolescente adolescent lactante lactant gestante embarazada masculino femenino masculina femenina anciano anciana enfermo enferma señor señora chico chica muchacho muchacha escolar neonato bebe puerpera caucasico caucasica blanco blanca"},
	{relative, "madre padre padres hermano hermana hermanos hermanas hijo hija hijos hijas abuelo abuela abuelos tio tia tios primo prima primos sobrino sobrina marido esposo esposa cuidador cuidadora nieto nieta mare pare pares germa germana germans fill filla fills avi avia oncle tieta cosi cosina nebot neboda marit muller"},
	{owner, "su sus un una dos tres el la los las seva seu seves seus"},
	{unit, "año años mes meses dia dias semana semanas any anys mesos dies setmana setmanes"},
	{numeral, "un uno una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve veinte veintiuno veintiun veintidos veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho veintinueve treinta cuarenta cincuenta sesenta setenta ochenta noventa dues quatre cinc sis set vuit nou deu vint trenta quaranta cinquanta seixanta vuitanta noranta"},
	{ofAge, "edad edat age"},
	{of, "de d"},
	{sexLabel, "sexo sexe sex genero"},
	{sexValue, "h m v f d hombre mujer varon masculino femenino masculina femenina home dona male female niño niña"},
	{street, "calle c cl avenida avda av avgda paseo paseig plaza pza plaza plaça carrer passeig ronda carretera ctra camino travesia glorieta urbanizacion apartado poligono"},
	{episode, "episodio episodi"},
	{record, "nhc"},
	{insurance, "nass nuss"},
	{sexed, "hombre mujer varon masculino femenino masculina femenina home dona niño niña"},
	{patient, "paciente pacient lactante sujeto individuo enfermo sexo sexe"},
	{organisation, "instituto institut fundacion fundacio universidad universitat facultad facultat escuela escola laboratorios ayuntamiento ajuntament"},
	{republic, "republica"},
	{collegiate, "colegiado colegiada col nocol ncol numcol collegiat collegiada"},
	{weekday, "lunes martes miercoles jueves viernes sabado dilluns dimarts dimecres dijous divendres dissabte"},
	{expecting, "gestante gestant embarazada embarassada primigesta secundigesta puerpera"},
	{general, "salud salut dia ancianos mayores asistida sanitario sociosanitari zona este aquest dicho nuestro"},
	{heading, "nhc nass dni nie cip cp ncol col colegiado sexo edad fecha medico paciente nombre apellidos domicilio localidad provincia telefono fax email correo servicio diagnostico tratamiento motivo visto control jefe medicina cirugia unidad departamento departament seccion"},
}

package resolve

// class is the kinds of trigger word that a word belongs to.
type class uint64

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
	house                          // short for a centre: H., Hº, HU
	opener                         // begins a clause, and so ends a name: Acudirá, Seguimiento
	breaker                        // never in the name of a centre: para, desde
	service                        // a part of a centre, before its name: Unidad de Crónicos del Hospital
	species                        // behind H. it is a microbe: H. Pylori
	until                          // between the ends of a range: al, hasta
	yearWord                       // before a year, no part of it: año
	bond                           // in the name of a centre, goes on behind it: Nuestra, Universitario
	month                          // abril
	plainHead                      // the head of a centre that means nothing else: hospital
	clinical                       // before clínica where it is an adjective: evolución
	kindWord                       // with the head of a centre still the name of none: comarcal
	eponymous                      // before an eponym: tendón de Aquiles
	comesFrom                      // before the place a person comes from: procedente, viaje
	region                         // before the name of a place: municipio
	place                          // before a place: en, desde
	specialty                      // behind the name of a doctor: Hematología
	acts                           // behind a person who is its subject: va dir, explica
	source                         // before a person who says so: segons
	namesake                       // a doctor after whom a hospital is named: Gran Canaria Dr. Negrín
	scale                          // before a town that names a scale or a disease: criterios de Roma
	role                           // what a person is, right before the name: president, infermera
	adverb                         // between a person and the verb: també, ja
	elliptic                       // an adjective for a hospital that is left out: el pediátrico de
	trait                          // a people, colour or leaning that tells of the patient: mujer blanca
	traitLabel                     // stands before such a word: de nacionalidad
	lasting                        // behind years that are no age: 20 años fumando
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
	{house, "h ho hu hgu huv"},
	{opener, "situacion acudira acudir acude acudio acudiendo seguimiento controles revision consulta consultas tto tratamiento dieta analitica jc seguira abdomen torax ingresa ingreso presenta refiere valoracion plan pendiente diagnostico exploracion solicita se los para tras por con previa remito llamar seguiment revisio tractament acudira anira valoracio pendent"},
	{breaker, "para porque por tras con sin que desde hasta donde cuando per perque fins des amb quan"},
	{comesFrom, "estando procedente procedentes procedia procede proveniente provenientes proviene provinent natural oriundo oriunda originario originaria nacido nacida residente residentes reside residia vecino vecina viaje viajes viajo viajado viajar emigro emigrado vive vivia procedent natal nascut nascuda resident veina vei viatge viatjat viu vivia"},
	{region, "municipio municipios provincia ciudad ciudades barrio distrito vereda canton localidad pueblo comarca isla islas aldea parroquia corregimiento poblado municipi ciutat barri districte localitat poble illa rural estado region zona poblacion cordillera sierra volcan rio delta puerto peninsula montaña montañas litoral selva calles regio poblacio serralada serra volca riu port"},
	{place, "en a desde hacia por al del a"},
	{service, "puertas caso echo reanimacion quirofano paritorio atencion atencio hemodialisis dialisis rea urpa cuidados medicina hospitalizacion domicilio guardia centro grado residencia unidad servicio servicios seccion consultas consulta urgencias uci umi uvi planta farmacia laboratorio oncologia comision unitat servei seccio consultes urgencies laboratori s c e ce ccee cex"},
	{bond, "nuestra nuestro nostra nostre ntra ntro nra nsra universitario universitari universitaria general comarcal regional provincial clinico municipal insular militar infantil materno psiquiatrico psiquiatric oncologico quirurgico maternal els les es sa santa santo sant sta sto"},
	{eponymous, "cateter proteinuria cuerpos rosetas protesis sd sdm estadio estadiaje valvula cisura anuloplastia plastia grado tipo protocolo modificacion tincion rojo bolsa tendon tendones signo signos sindrome sindromes sdme escala test tecnica maniobra clasificacion criterios indice trigono triangulo ligamento saco fondo trompa trompas reflejo fenomeno formula ecuacion bacilo virus tendo signe signes sindrome maniobra classificacio criteris index lligament sac fons reflex"},
	{clinical, "evolucion historia exploracion sospecha situacion mejoria respuesta remision recaida presentacion manifestacion impresion orientacion estabilidad progresion actividad practica mala buena evolucio exploracio situacio millora resposta"},
	{kindWord, "universitario universitari general comarcal regional provincial municipal local privado privada publico terciario concertado medica medico"},
	{plainHead, "hospital hosp sanatorio policlinico"},
	{month, "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre gener febrer març maig juny juliol agost setembre novembre desembre"},
	{until, "a al hasta fins"},
	{yearWord, "año años any anys year"},
	{specialty, "hematologia neumologia pneumologia cardiologia neurologia nefrologia urologia oncologia digestivo digestiu reumatologia endocrinologia endocrino traumatologia psiquiatria ginecologia dermatologia oftalmologia otorrino orl alergologia geriatria pediatria cirugia cirurgia rehabilitacion rehabilitacio anestesia medicina mir uci radiologia infecciosas paliativos"},
	{acts, "va van ha han havia hauria vol volen diu diuen explica considera assegura creu afirma sap viu viuen treballa recorda defensa reclama anuncia"},
	{role, "president presidenta ministre ministra alcalde alcaldessa diputat diputada entrenador entrenadora jugador jugadora escriptor escriptora actor actriu conseller consellera lider portaveu pintor pintora compositor metge metgessa infermer infermera fisioterapeuta psicologa psicoleg"},
	{adverb, "tambe ja no encara nomes tampoc hi li es s"},
	{trait, "blanca blanco negra negro caucasica caucasico caucasiana mestiza mestizo mulata mulato gitana gitano asiatica asiatico africana africano subsahariana subsahariano magrebi latina latino heterosexual homosexual bisexual colombiana colombiano ecuatoriana ecuatoriano boliviana boliviano peruana peruano argentina argentino venezolana venezolano dominicana dominicano cubana cubano mexicana mexicano brasileña brasileño paraguaya chilena chileno marroqui argelina argelino senegalesa senegales nigeriana nigeriano rumana rumano bulgara bulgaro ucraniana ucraniano rusa ruso polaca polaco alemana aleman inglesa ingles britanica britanico francesa frances italiana italiano portuguesa portugues china chino india indio pakistani filipina filipino española español"},
	{traitLabel, "nacionalidad procedencia"},
	{lasting, "fumando fumant paquete paquetes paquet paquets paq pack"},
	{elliptic, "pediatrico materno oncologico psiquiatrico provincial maternoinfantil clinicoquirurgico"},
	{source, "segons"},
	{namesake, "negrin balmis peset trueta lafora esquerdo moliner pujadas trigueros"},
	{scale, "declaracion criterios criterio consenso escala clasificacion gripe protocolo convenio virus sistema score indice test fiebre balsamo enfermedad sindrome puntuacion coma variante cepa rosa estudio cuestionario escalas guia guias balsam febre malaltia criteris declaracio classificacio"},
	{species, "pylori influenzae influenza simplex parainfluenzae haemolyticus alvei"},
	{general, "salud salut dia ancianos mayores asistida sanitario sociosanitari zona este aquest dicho nuestro"},
	{heading, "nhc nass dni nie cip cp ncol col colegiado sexo edad fecha medico paciente nombre apellidos domicilio localidad provincia telefono fax email correo servicio diagnostico tratamiento motivo visto control jefe medicina cirugia unidad departamento departament seccion"},
}

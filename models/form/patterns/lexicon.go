package patterns

// The words that the scanners know, folded: without accents, lower case. They
// are the authors' own list.

// numerals count from one.
var numerals = []string{
	"un uno una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieciseis|diecisiete|dieciocho|diecinueve|" +
		"veinte|veintiun veintiuno veintiuna|veintidos|veintitres|veinticuatro|veinticinco|veintiseis|veintisiete|veintiocho|veintinueve|treinta||||||||||cuarenta||||||||||" +
		"cincuenta||||||||||sesenta||||||||||setenta||||||||||ochenta||||||||||noventa||||||||||cien ciento",
	"un u una|dos dues|tres|quatre|cinc|sis|set|vuit|nou|deu|onze|dotze|tretze|catorze|quinze|setze|disset|divuit|dinou|vint||||||||||" +
		"trenta||||||||||quaranta||||||||||cinquanta||||||||||seixanta||||||||||setanta||||||||||vuitanta||||||||||noranta||||||||||cent",
	"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty||||||||||" +
		"thirty||||||||||forty||||||||||fifty||||||||||sixty||||||||||seventy||||||||||eighty||||||||||ninety||||||||||hundred",
}

var vocabulary = []struct {
	roles role
	words string
}{
	{filler, `n no num nro nr number numero numeros nums nos ns de del d la el els les los las l es son y i o e a al
		su sus seu seva paciente pacient patient contacto contacte contact social socials clinica clinic clinico
		sanitaria sanitari sanitario autonomico autonomica domicilio domicili personal particular trabajo treball familiar casa directo directe principal
		is of the his her codigo codi code actual nuevo nou corporatiu corporativo secundario
		hospital hospitalario hospitalari con amb with por per com 
		documento document nacional national electronica medica individual usuario usuari`},

	{forTelephone, `tel telf tfno tfn tlf tlfn tlfno telef telefono telefonos telefon telefons telephone telephones phone
		phones movil movils moviles mobil mobils mobile cell cellphone whatsapp whats wasap wp tno telefonico telefonica
		fax telefax faxs`},
	{forTelephone | everyday, `fono fijo fix busca buscas llamar trucar call llamado tf`},
	{forTelephone | filler, `extension ext`},
	{extension, `ext extension exten extn`},
	// Identity papers of Spain and of those who live there: cédula, CURP, RUT, CNP (Romania), EGN (Bulgaria), PESEL (Poland),
	// BSN (Netherlands), CNIE (Morocco), CPF (Brazil).
	{forDNI, `dni nif nie cif dnie documentacion identidad identitat identita identidade identite identity cedula curp rut cnp egn pesel bsn
		nuip cnie cpf`},
	{forDNI | everyday, `tie dui niss`},
	// With the mutual societies of civil servants.
	{forSocial, `nass nuss nss naf nssn seguridad seguretat security afiliacion afiliacio afiliado afiliat afiliada aseguramiento assegurament
		asegurado asegurada muface isfas mugeju mutualista`},
	{forSocial | everyday, `ss`},
	// Cards of the regions (CIA Aragón, CIPNA Navarra, NUHSA Andalucía, SIP València, TIS Euskadi, CIPA Madrid) and of insurers.
	{forCard, `cip cipa cipna cipar nuhsa nusa tis tsi tsie sip cipsns cipca nasnss catsalut catsalud sergas osakidetza ingesa tarjeta targeta
		poliza polissa adeslas asisa dkv mapfre`},
	{forCard | everyday, `cia cite sns card sanitas`},
	{forPostal, `cp postal zip dp provincia localidad poblacion poblacio municipio`},
	{forIBAN, `iban ccc bancaria bancari visa mastercard amex maestro`},
	{forIBAN | everyday, `cuenta compte account`},
	{forPlate, `bastidor bastidors vin matricula matricules matriculas plate`},
	{forPlate | everyday, `vehiculo vehicle coche cotxe turismo moto furgoneta`},
	{forCollegiate, `colegiado colegiada collegiat collegiada collegiate colegiat nocol ncol numcol`},
	{forCollegiate | everyday, `col colg coleg colegiad colegiacion colegial legiat legiada colleg colegio collegi license licence licencia`},
	{forRecord | forPatient, `nhc mrn nhist nhistoria`},
	{forRecord | everyday, `hc hcl hclin historia historial history nh hist histora episodio episodi episode expediente expedient exp
		id identificador identificacion identificacio record registro registre caso case cas peticion peticio contactid ic hci sap
		volante volant muestra mostra biopsia autopsia ingreso ingres citacion atencion atencio urgencia encuentro proceso proces`},
	{forPassport, `pasaporte pasaport passaport passport passeport passaporto passaporte reisepass`},
	{forPassport | everyday, `pass`},
	{forIP, `ip ipv ips`},
	{forDevice, `imei ethernet catastral cadastral`},
	{forDevice | everyday, `serie serial mac implante implant protesis udi`},
	{forHandle, `instagram twitter facebook telegram tiktok skype linkedin snapchat nick nickname`},
	{forDate, `fecha fechas data date dates dob fn nacimiento naixement nacido nacida nascut nascuda born birth nac fnac fna
		naix alta ingreso ingres fechado datado exitus admission discharge`},
	{forAge, `edad edat age edades`},

	{monthOf, `de del d of l mes the`},
	{monthOf, `ano any year`},
	{intoDate, `el dia desde des hasta fins on since until en in a al del dels from by para pel fecha data date
		l entre between till dias dies through to`},
	{lately, `pasado proximo pasados proximos mismo passat proper mateix`},
	{joins, `y i o u a al e and or to fins hasta till through`},

	{years, `anos ano anys any years year yrs yr yo aos`},
	{months, `meses mes mesos months month mo`},
	{weeks, `semanas semana setmanes setmana weeks week`},
	{days, `dias dia dies days day`},
	{person, `varon varones hombre mujer mujeres paciente pacientes nino nina ninos ninas nin senor senora sr sra joven chico chica
		lactante lactantes escolar adolescente anciano anciana bebe neonato rn recien nacido hijo hija
		hermano hermana padre madre abuelo abuela esposo esposa marido hijos hermanos pac pacte
		home dona pacient pacients nen nena nens noi noia senyor senyora lactant escolars avi avia fill filla germa germana pare mare
		infant jove tiene tenia te cumple cumplio
		man woman male female boy girl patient infant child lady gentleman son daughter brother sister mother father newborn
		v m h f d femenino femenina masculino masculina masculi femeni caucasica caucasico`},
	{lasts, `hace hacia fa durante durant desde des tras cada ultimos ultimas ultim ultims ultimes proximos proximas propers
		primeros primeras primers primer despues despres
		evolucion evolucio historia historial cuadro quadre clinica periodo periode seguimiento seguiment duracion durada
		tabaquismo antecedentes antecedents dolor tratamiento tractament unos unas uns unes casi quasi mas menos mes menys supervivencia
		for during after past last every within over siguientes previos durada sobrevida plazo termini
		ago lleva llevaba porta portava fumador fumadora fumant fumando latencia intervalo pauta maxima control revision ingreso
		permanencia estancia vigencia caducidad garantia`},
	{lasted, `evolucion evolucio despues despres antes abans atras enrere tarde tard seguimiento seguiment tratamiento tractament
		duracion durada postoperatorio postoperatori previos previo previas previs supervivencia sobrevida ago later before after
		experiencia experience antiguedad tabaquismo hd consumo latencia posteriores posterior consecutivos seguidos completos
		duration history follow libre libres estable estables hasta dialisis hemodialisis tto abstinencia
		matrimonio casados matrimoni casats condena prision residencia estancia estada remision remissio paquetes paquete
		media intervalo postrasplante postcirugia`},
	{ageOf, `mas de d con con amb of with i y`},
	{aged, `edad edat vida age`},
	{oldWord, `old`},
	{forAge, `aged ao`},
	{grows, `camina caminaba caminar caminava anda andaba andar deambula deambulacion deambulacio gatea gateo gateja
		sonrisa sonrie somriu sedestacion sedestacio balbucea menarquia menarca menarquea menopausia menopausa
		vacuna vacunas vacunes vacunacion vacunacio destete deslletament`},
	{half, `medio media mig mitja`},

	{street, `calle c carrer avenida avda av avinguda avgda plaza plaza pza pl placa plc paseo pso passeig carretera ctra crta camino
		cami ronda rda via travesia travessera rambla rbla glorieta callejon urbanizacion urb poligono barrio partida
		domicilio adreca domicili direccion street road avenue passatge pasaje ptge cuesta costanilla alameda pda`},
	{town, `albacete alicante alacant almeria alava araba asturias oviedo gijon aviles avila badajoz barcelona bilbao bizkaia vizcaya burgos caceres
		cadiz cantabria santander castellon castello ceuta cordoba coruna cuenca donostia gipuzkoa guipuzcoa girona gerona granada
		guadalajara huelva huesca jaen leon lleida lerida logrono lugo madrid malaga melilla murcia cartagena navarra nafarroa
		ourense orense palencia palma mallorca menorca ibiza eivissa pamplona iruna palmas pontevedra vigo rioja salamanca segovia sevilla soria
		tarragona tenerife teruel toledo valencia valladolid vitoria gasteiz zamora zaragoza saragossa
		badalona sabadell terrassa hospitalet mataro reus manresa igualada vic granollers figueres olot tortosa vilafranca vilanova
		sitges rubi cerdanyola gava viladecans castelldefels cornella getafe leganes mostoles alcorcon fuenlabrada alcala
		elche elx alcoy gandia marbella jerez algeciras ferrol santiago compostela talavera ponferrada espana espanya spain`},

	{unit, `mg mgr mgrs mcg ug g gr grs gramos grams kg kgs kilos ml cc cl dl l litros litres ui u iu mui meq mmol mol nmol pmol
		mm cm m km mts metros metres mmhg lpm bpm rpm ppm latidos pulsaciones ci mci gy cgy mev kev kv kcal cal
		leucocitos leucocits leucos linfocitos neutrofilos plaquetas plaquetes hematies hemates celulas cels cel copias copies
		eosinofilos unidades unitats units comp comprimidos comp cp caps gotas gts ampollas amp vial viales sobres puff puffs
		h hr hrs hora horas hores hour hours min mins minuto minutos minuts minutes seg segundos sg s segons
		veces vegades times euros eur pacientes pacients casos patients cases personas persones pasos passos metabolitos
		pg ng fl ph dioptrias grados graus degrees points puntos punts cigarrillos cigarretes cig paq pack packs mil millones milions
		hz khz w j ms kpa cmh mcgr microgramos miligramos mililitros puffs inhalaciones`},
}

"""Draws other persons and places for real notes, so that a model learns contexts and shapes and no list.

Where ../shared/tools/nubes_phi.py takes hospitals, towns and common surnames from one list each, these come from many:
surnames and given names of INE by frequency and by lot, those of 30 origins that ship with velum, Catalan ones, towns of
Spain and of the world, hospitals' tails, saints, streets, founders, and words that do not exist but could. A fifth of the
rarer entries of every list is kept for scoring ("unseen").
"""
import glob, os, random, re, sys, zlib

import notes

sys.path.insert(0, notes.tools)
from nubes_phi import HEAD, SMALL, case, plain, rows, title  # noqa: E402

LISTS = "models/word/gazetteer/lists"
MASCULINE = ["Hospital", "hospital", "H.", "Hosp.", "Hosp", "Hº", "H. U.", "HU", "Hospital Universitario", "Hospital General", "Hospital Comarcal",
             "Centro de Salud", "centro de salud", "CS", "C.S.", "C. S.", "CAP", "ambulatorio", "Ambulatorio", "Instituto", "Sanatorio", "Centro",
             "Centro Médico", "consultorio", "CSM", "Consultorio", "Complejo Hospitalario", "C. Salud", "Centro de Especialidades", "geriátrico"]
FEMININE = ["Clínica", "clínica", "Residencia", "residencia", "Mutua", "Fundación", "Policlínica", "Clinica", "Resid.", "residencia geriátrica", "ABS"]
OF_FEMININE = re.compile(r"(?i)^(cl[ií]nica|resid[eè]ncia|m[uú]tua|fundaci[oó]n?|policl[ií]nica|abs|eap)")
CATALAN = re.compile(r"(?i)^((?:hospital (?:universitari|general|comarcal)(?: de| del| d')?|hospital d'alta resoluci[oó]|hospital|centre (?:de salut|m[eè]dic|d'atenci[oó] prim[aà]ria|sanitari)|"
                     r"centre|institut|ambulatori|consultori(?: local)?|sanatori|resid[eè]ncia|fundaci[oó]|m[uú]tua|policl[ií]nica|cl[ií]nica|cap|eap|abs|cuap|ssibe)(?: |(?<=d')))(.+)$")
MASCULINO = ["Hospital", "hospital", "H.", "Hospital General", "Hospital Comarcal", "Hospital Universitari", "Centre", "centre", "Centre de Salut", "CAP", "Cap", "ambulatori",
             "Institut", "institut", "Sanatori", "Centre Mèdic", "consultori", "Consultori", "CAP de", "geriàtric", "CSMA", "CUAP"]
FEMENINO = ["Clínica", "clínica", "Residència", "residència", "Mútua", "Fundació", "Policlínica", "ABS", "Residencia", "residència geriàtrica", "EAP"]
SAINTS = ["San", "Santa", "Sant", "Santo", "Virgen de", "Virgen del", "Nuestra Señora de", "Ntra. Sra. de", "Nª Sª de", "Mare de Déu de", "Dr.", "Doctor",
          "Reina", "Príncipe", "Infanta", "Marqués de", "Hermanos", "Padre", "Sagrado", "Monte", "Fuente", "Alto", "Puerta de", "Valle de", "Parque", "Son", "Can",
          "Río", "Ciudad de", "Nuevo", "Villa", "Los", "Las", "Costa", "Torre", "Llanos de", "Jardín de", "Bajo", "Campo de"]


INITIALS = re.compile(r"(?:[^\W\d_]\. ?){1,4}[^\W\d_]?|[A-ZÀ-Ý](?: ?[A-ZÀ-Ý]){0,2}")
NUMBER = re.compile(r" \d+(?:[- ]?[A-Za-z]\b)?")
STREET = re.compile(r"(?i)((?:c/\s?|c\.\s?|calle |carrer |cr |avda?\.? |avenida |avinguda |pza?\.? |plaza |plaça |pl\.? |passatge |pasaje |ptge\.? |passeig |paseo |pg\.? |pº |ronda |rambla |rbla\.? |travessera |travessia |"
                    r"camino |camí |ctra\.? |carretera |urb\.? |urbanizaci[oó]n |urbanització |barri |barrio |polígono |polígon |partida |rúa |rua |bº )(?:de la |de les |de los |de las |dels |del |de |d'|d’)?)"
                    r"([^\W\d_][^\d,]*?)((?:[ ,]+(?:nº|num\.?|n\.|núm\.?|s/n|bajo|baix|ático|àtic)?\s*\d.*|[ ,]+(?:s/n|bajo|baix|ático|àtic).*)?)$")
HOUSE = re.compile(r"(?i)(hospital|h[.º]|cl[ií]nica|centr[eo]|institut|resid[eè]nci|ambulatori|sanatori|policl[ií]nica|m[uú]tua|fundaci)")
NUMBERS = re.compile(r"(\d+)([-/.])(\d+)(?:([-/.])(\d+))?$")
CALENDAR = ["enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
            "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre".split(),
            "lunes martes miércoles jueves viernes sábado domingo".split(),
            "dilluns dimarts dimecres dijous divendres dissabte diumenge".split()]


def entries(name):
    """The forms of a list of velum."""
    for path in sorted(glob.glob(os.path.join(LISTS, name))):
        for line in notes.lines(path):
            if not line.startswith("#") and line.strip():
                yield title(line.split("\t")[0])


def unseen(word):
    return zlib.crc32(plain(word).lower().encode()) % 5 == 0


class Words:
    """Makes words that look like those it has read: letters drawn by the three before."""

    def __init__(self, words):
        self.next = {}
        for w in words:
            w = "^^^" + w.lower() + "$"
            for i in range(3, len(w)):
                self.next.setdefault(w[i - 3 : i], []).append(w[i])

    def draw(self, r):
        while True:
            w = "^^^"
            while w[-1] != "$" and len(w) < 20:
                w += r.choice(self.next[w[-3:]])
            if 4 <= len(w) - 4 <= 13:
                return w[3:-1].title()


class Names:
    """Draws names; the same seed draws the same ones. held draws those that no training sees."""

    def __init__(self, seed, held=False, invented=(0.12, 0.05, 0.15)):
        """invented is the share of surnames, given names and towns that are in no list: what a model cannot look up it learns from what stands around."""
        self.r, self.held, self.invented = random.Random(seed), held, invented
        g = os.path.join(notes.data, "gazetteers")
        ine = os.path.join(g, "names-es-ine")
        one = lambda words: [w for w in words if " " not in w and len(w) > 2]
        self.surnames = self.ranked(one(self.column(os.path.join(ine, "apellidos-contextsafe.tsv.gz"), 0)))
        self.given = self.ranked(one(self.column(os.path.join(ine, "hombres.csv.gz"), 0)[:9000])) + self.ranked(one(self.column(os.path.join(ine, "mujeres.csv.gz"), 0)[:9000]))
        self.isgiven = {plain(w).lower() for w in self.given}
        bcn = one(self.column(os.path.join(g, "cognoms-barcelona", "cognoms-bcn-2024.tsv.gz"), 0))
        self.abroad = self.ranked(sorted(set(one(entries("*surnames.txt"))) | set(bcn)), 0)
        self.abroadgiven = self.ranked(sorted(set(one(entries("*given-names.txt")))), 0)
        self.short = [w for w in entries("own-origin-surnames.txt") if len(w) == 2]
        towns = [title(re.sub(r"^(.+), (.+)$", r"\2 \1", t).split("/")[0]) for t in self.column(os.path.join(g, "places-es", "municipios.csv.gz"), "nombre")]
        self.towns = self.ranked(sorted(set(towns) | set(map(title, self.column(os.path.join(g, "places-ca", "cataleg-abs-localitats.csv.gz"), 9)[::3]))), 0)
        self.world = self.ranked(sorted(set(entries("geonames-*.txt")) | set(entries("own-abroad.txt")) | set(entries("own-countries.txt")) | set(entries("own-provinces.txt"))), 0)
        tails = [HEAD.match(h) for h in self.column(os.path.join(g, "hospitals-es", "hospitals.tsv.gz"), 2)]
        self.tails = self.ranked(sorted({title(m[2]) for m in tails if m and 1 <= len(m[2].split()) <= 5 and not re.search(r"[(),/]|\d", m[2])}), 0)
        streets = self.column(os.path.join(g, "streets-barcelona", "nomenclator-bcn.csv.gz"), 3)
        self.streets = self.ranked(sorted({title(s) for s in streets if 1 <= len(s.split()) <= 3}), 0)
        self.inventedperson = Words(w for w in self.surnames + self.abroad if " " not in w)
        self.inventedplace = Words(w for w in self.towns + self.world if " " not in w)

    @staticmethod
    def column(path, k):
        head, *rest = rows(path)
        k = head.index(k) if isinstance(k, str) else k
        return [row[k] for row in rest if len(row) > k and row[k].strip()]

    def ranked(self, words, common=300):
        """The words in their order, the rarer of them divided between training and scoring."""
        words = [title(w) for w in words]
        return [w for i, w in enumerate(words) if (i < common and not self.held) or i >= common and unseen(w) == self.held]

    def pick(self, words):
        return words[int(len(words) * self.r.random() ** 3)]

    def surname(self):
        """One word, seldom several ("de la Cruz") or what is left of them ("De"), for that is how lists and hands cut them."""
        k = self.r.random()
        if k < 0.03:
            return self.r.choice(["de la ", "de ", "del ", "De ", "de los ", "San ", "da ", "El ", "Ben "]) + self.r.choice(self.surnames)
        if k < 0.045:
            return self.r.choice(["de", "del", "De", "Del", "de la", "el"])
        if self.r.random() < self.invented[0]:
            return self.inventedperson.draw(self.r)
        k = self.r.random()
        return self.pick(self.surnames) if k < 0.62 else self.r.choice(self.surnames) if k < 0.8 else self.r.choice(self.abroad)

    def givenname(self):
        if self.r.random() < self.invented[1]:
            return self.inventedperson.draw(self.r)
        k = self.r.random()
        return self.pick(self.given) if k < 0.58 else self.r.choice(self.given) if k < 0.79 else self.r.choice(self.abroadgiven)

    def shaped(self, value, small=0.1):
        """The name as another hand writes it: initials, a letter for the given name or the surname, one of the two alone, surname first, another case, a slip.
        What is no given name with a surname keeps its shape but for case and slips. small is the share that loses its capitals."""
        r = self.r
        words = [w for w in value.split(" ") if w]
        capital = [w for w in words if plain(w).lower() not in SMALL]
        k = r.random()
        if len(capital) > 1 and all(len(w) > 2 and w.isalpha() for w in capital):
            first, last, letters = capital[0], capital[1], [w[0].upper() for w in capital]
            if k < 0.1:
                join = r.choice([".", ".", "", ". ", " "])
                value = join.join(letters) + (join.strip() if join != " " else "")
            elif k < 0.2:
                value = letters[0] + r.choice([". ", ".", " ", ". "]) + " ".join(words[1:])
            elif k < 0.28:
                value = first + " " + letters[1] + r.choice([".", ".", ""])
            elif k < 0.38:
                value = last
            elif k < 0.45:
                value = first
            elif k < 0.53:
                value = " ".join(words[1:]) + r.choice([", ", ",", " "]) + first
        elif len(words) == 1 and value.isalpha() and len(value) > 3 and k < 0.06:
            value = r.choice([value[0] + "." + r.choice("ABCDEFGLMPRST") + ".", value[0] + r.choice("ABCDEFGLMPRST"), value[0] + r.choice("ABCDEFGLMPRST") + r.choice("ABCDEFGLMPRST"),
                              r.choice(self.short), value + " " + r.choice("ABCDEFGLMPRST") + "."])
        k = r.random()
        if k < small and value.upper() != value:
            return value.lower()
        if k < small + 0.1 and len(value) > 3:
            return value.upper()
        if k < small + 0.15:
            return slip(value, r)
        return value

    def person(self, value):
        if INITIALS.fullmatch(value):
            return re.sub(r"[^\W\d_]", lambda m: case(m[0], self.r.choice("ABCDEFGIJLMNOPRSTV")), value)
        out = []
        words = value.split(" ")
        for word in words:
            bare = plain(word).lower().strip(".,")
            if bare in SMALL or bare == "" or not bare[0].isalpha():
                out.append(word)
            elif len(bare) == 1:
                out.append(self.r.choice("ABCDEFGHIJLMNOPRSTUV") + word[1:])
            elif len(bare) <= 2:
                out.append(word)
            else:
                tail = word[len(word.rstrip(".,")) :]
                out.append(case(word, self.givenname() if bare in self.isgiven and len(words) > 1 else self.surname()) + tail)
        return " ".join(out)

    def town(self):
        """A town, a country, a hamlet that does not exist but could."""
        if self.r.random() < self.invented[2]:
            return self.inventedplace.draw(self.r)
        return self.r.choice(self.towns if self.r.random() < 0.6 else self.world)

    def proper(self):
        """What follows the head of a house's name."""
        k, r = self.r.random(), self.r
        if k < 0.34:
            return r.choice(self.tails)
        if k < 0.5:
            return self.town()
        if k < 0.62:
            return f"{self.givenname()} {self.surname()}"
        if k < 0.74:
            return f"{r.choice(SAINTS)} {r.choice([self.givenname, self.inventedplace_, self.surname, self.town])()}"
        if k < 0.86:
            return r.choice(self.streets)
        if k < 0.93:
            return self.inventedplace_()
        if k < 0.97:
            return f"{r.choice(['Ntra.Sra.', 'Ntra.Sra.De', 'N.S.', 'Dr.', 'Mª', 'Sta.', 'S.', 'Sto.'])} {r.choice([self.givenname, self.surname, self.town])()}"
        if k < 0.98:
            return f"{self.town()}-{self.town()}"
        return f"{self.proper()} {r.choice(['de', 'del', 'Internacional', 'Norte', 'Sur', 'I', 'II', 'de'])} {self.town()}"

    def inventedplace_(self):
        return self.inventedplace.draw(self.r)

    def house(self, value, m):
        head, catalan = m[1], m.re is CATALAN and not HEAD.match(m.string)
        if self.r.random() < 0.4:
            feminine, masculine = (FEMENINO, MASCULINO) if catalan or self.r.random() < 0.2 else (FEMININE, MASCULINE)
            head = self.r.choice(feminine if OF_FEMININE.match(head) else masculine) + " "
            head = head.upper() if m[1].isupper() and len(m[1]) > 5 else head
        number = NUMBER.search(m[2])  # "CAP Barcelona 2-C"
        name = self.proper()
        if number and self.r.random() < 0.7:
            name += re.sub(r"\d", lambda d: self.digits(d[0]), number[0])
        return head + case(m[2], name)

    def address(self, value, m):
        """The address with another street and other numbers."""
        kind = self.r.random()
        name = self.r.choice(self.streets) if kind < 0.5 else self.surname() if kind < 0.6 else f"{self.givenname()} {self.surname()}" if kind < 0.7 else self.town() if kind < 0.85 else self.inventedplace_()
        return m[1] + case(m[2], name) + re.sub(r"\d+", lambda d: self.digits(d[0]), m[3])

    def digits(self, value):
        """Another number of as many digits."""
        return "".join(self.r.choice("0123456789" if k else "123456789") for k in range(len(value)))

    def date(self, value):
        """Another date, most often in the form of the old one: other numbers, month and day of the week; seldom with other separators, with a
        name for a number, shortened, or with a slip between the numbers."""
        r = self.r
        if m := NUMBERS.match(value):
            return self.numbers(value, m)
        value = re.sub(r"\b(?:19|20)\d\d\b", lambda m: str(r.randint(1985, 2024)), value)
        value = re.sub(r"\b\d\d?\b(?![.]\d)", lambda m: str(r.randint(1, 31)) if int(m[0]) <= 31 else m[0], value)
        return re.sub(r"[^\W\d_]{3,}", self.named, value)

    def named(self, m):
        word, r = plain(m[0]).lower(), self.r
        for k, names in enumerate(CALENDAR):
            if word in map(plain, names):
                new = r.choice(names)
                if k < 2 and r.random() < 0.15:
                    new = new[: r.choice([3, 3, 4])]
                return new.upper() if m[0].isupper() else new.title() if m[0].istitle() else new
        return m[0]

    def numbers(self, value, m):
        """The date of two or three numbers, of which the last may be a year."""
        r, groups, seps = self.r, [m[1], m[3], m[5]], [m[2], m[4]]
        if max(map(len, groups[:2])) > 2 or not 0 < int(groups[0]) <= 31 or not 0 < int(groups[1]) <= 12:
            return value
        padded = any(len(g) == 2 and g[0] == "0" for g in groups[:2]) or r.random() < 0.15
        two = lambda x: f"{x:02d}" if padded else str(x)
        day, month = r.randint(1, 31), r.randint(1, 12)
        year = None if groups[2] is None else str(r.randint(1990, 2024))[-len(groups[2]) :]
        k = r.random()
        if k < 0.3:
            seps = [r.choice("//--." if year else "/-")] * 2
        elif k < 0.33:
            slip = r.choice([" / ", "/ ", " /", " - ", " ( ", "/ ( ", ". ", ",", "//", "-/"])
            seps = [seps[0], slip] if year and r.random() < 0.5 else [slip, seps[1]]
        elif k < 0.4:
            name = r.choice(CALENDAR[0])
            name = r.choice([name, name[:3], name[:4], name.title()])
            sep = r.choice([" de ", " de ", " ", "-", "/"])
            return f"{day}{sep}{name}" + ("" if year is None else f"{r.choice([' de ', ' ']) if sep[0] == ' ' else sep}{year}")
        return two(day) + seps[0] + two(month) + ("" if year is None else seps[1] + year)

    def location(self, value):
        m = HEAD.match(value) or CATALAN.match(value)
        if m:
            return self.house(value, m)
        if re.fullmatch(r"[A-ZÁÉÍÓÚÑ]{2,5}", value):
            letters = "".join(w[0] for w in self.proper().split() if w.lower() not in SMALL).upper()
            return self.r.choice("HHHCI") + (self.r.choice(["", "U", "G"]) + letters)[:4] if letters else value
        if m := STREET.match(value):
            return self.address(value, m)
        if re.search(r"\d", value):
            return value
        k = self.r.random()
        return case(value, self.town() if k < 0.9 else self.inventedplace_())


def renumber(text, r):
    """The text with other numbers of as many digits: what is no date is learned from more than those that stand there."""
    return re.sub(r"(?<![\w.,])\d{1,3}(?!\w)", lambda m: "".join(r.choice("123456789" if k == 0 and d != "0" else "0123456789") if len(m[0]) > 1 or d != "0" else d for k, d in enumerate(m[0])), text)


def rename(text, spans, names, dates=False, towns=0.0, shapes=0.0, small=0.1):
    """The note with another value for every person and place; with dates also for dates and all other numbers. Behind a share of the houses comes a town, a
    place of its own; a share of the persons is written in another shape, of these a share in small letters."""
    other = (lambda t: renumber(t, names.r)) if dates else str
    person = lambda value: names.shaped(names.person(value), small) if shapes and names.r.random() < shapes else names.person(value)
    out, moved, at, n = [], [], 0, 0
    for s, e, c in spans:
        value = text[s:e]
        draw = {"PERSON": person, "LOCATION": names.location, "DATE": names.date if dates else str}.get(c, str)
        parts = [("", draw(value), c)]
        if towns and c == "LOCATION" and HOUSE.match(value) and not re.match(r" d[e']", text[e:]) and names.r.random() < towns:
            town = names.town()
            parts.append((names.r.choice([" de ", " de ", " de ", " en ", " ( "]) if not re.match("(?i)[aeiou]", town) or not CATALAN.match(value) else " d'", town, c))
        out.append(other(text[at:s]))
        n += s - at
        for between, value, c in parts:
            out += [between, value]
            n += len(between)
            moved.append([n, n + len(value), c])
            n += len(value)
        at = e
    return "".join(out) + other(text[at:]), moved


def slip(word, r):
    """A word with one slip of the fingers: two letters exchanged, one left out, one twice, one beside it."""
    if len(word) < 5:
        return word
    at = r.randrange(1, len(word) - 2)
    if not word[at : at + 2].isalpha():
        return word
    return r.choice([word[:at] + word[at + 1] + word[at] + word[at + 2 :], word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:],
                     word[:at] + r.choice("aeioulnrst") + word[at + 1 :]])


def slips(text, spans, r, share):
    """The note with a slip in such a share of its words outside the spans."""
    out, moved, at, n = [], [], 0, 0
    for s, e, c in [*spans, (len(text), len(text), None)]:
        before = re.sub(r"[^\W\d_]{5,}", lambda m: slip(m[0], r) if r.random() < share else m[0], text[at:s])
        out += [before, text[s:e]]
        n += len(before)
        if c is not None:
            moved.append([n, n + e - s, c])
        n += e - s
        at = e
    return "".join(out), moved


LOOSE = re.compile(r" (?=[.,;:)?!%])|(?<=[(¿¡]) ")
ACCENTS = str.maketrans("áéíóúüàèòïÁÉÍÓÚÜÀÈÒÏ", "aeiouuaeoiAEIOUUAEOI")


def drop(text, spans, places):
    """The text without the characters at these places, none of them inside a span's first or last letter."""
    places = sorted(p for p in places if not any(s <= p < e for s, e, _ in spans))
    gone, out, k = [0] * (len(text) + 1), [], 0
    for i, c in enumerate(text):
        gone[i] = k
        if k < len(places) and places[k] == i:
            k += 1
        else:
            out.append(c)
    gone[len(text)] = k
    return "".join(out), [[s - gone[s], e - gone[e], c] for s, e, c in spans]


def noisy(text, spans, r, lower=0.18, upper=0.1, bare=0.3, untokenized=0.5, glued=0.15, typos=0.0):
    """A hurried hand: the whole note in one case, accents left out, punctuation as one writes it and not as NUBes is cut, words glued, slips."""
    if typos and r.random() < 0.4:
        text, spans = slips(text, spans, r, typos)
    if r.random() < untokenized:
        text, spans = drop(text, spans, [m.start() for m in LOOSE.finditer(text)])
    if r.random() < glued:
        blanks = [m.start() for m in re.finditer(r"(?<=[.,:;)/+-]) (?=\w)", text)]
        text, spans = drop(text, spans, [b for b in blanks if r.random() < 0.5])
    k = r.random()
    if k < lower:
        text = text.lower() if len(text.lower()) == len(text) else text
    elif k < lower + upper:
        text = text.upper() if len(text.upper()) == len(text) else text
    if r.random() < bare:
        text = text.translate(ACCENTS)
    return text, spans

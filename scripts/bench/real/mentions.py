"""Kin of LivingNER and professions of MEDDOPROF by the conventions of MEDDOCAN, where they fit.

MEDDOCAN marks the kin of the patient with number and line ("dos hermanas", "tío materno") but no "familiar", and what the patient works as,
but no clinician. The two corpora mark one kind each, in shuffled sentences: the rest is what a model finds, and a sentence in which either is
in doubt is left out.
"""
import os, random, re

import notes

KIN = re.compile(r"(?i)\b(?:(?:dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|ambos|\d{1,2}) )?"
                 r"(?:madres?|padres?|progenitor(?:es)?|herman[oa]s?|hij[oa]s?|familia|abuel[oa]s?|bisabuel[oa]s?|t[íi][oa]s?|prim[oa]s?|sobrin[oa]s?|niet[oa]s?|"
                 r"cu[ñn]ad[oa]s?|marido|espos[oa]|pareja|suegr[oa]s?)\b"
                 r"(?: (?:herman[oa]s?|mayor(?:es)?|menor(?:es)?|gemel[oa]s?|var(?:ón|ones)|matern[oa]s?|patern[oa]s?)\b)*")
CLINICIAN = re.compile(r"(?i)m[eé]dic|enfermer|psic[oó]|psiqu|[oó]log|iatra|doctor|\bdra?\b|\bmap\b|terapeut|sanitari|facultativ|especialista|profesional|equipo|cirujan|"
                       r"internista|cl[ií]nic|residente|personal|trabajador[ae]? social|responsable|matrona|oculista|intensivista|examinador|higienista")
WORKS = re.compile(r"(?i)(?:(?:profesi[oó]n|ocupaci[oó]n|trabaj\w+|ejerc\w+|emplead[oa])\b[^.;,]{0,25}|\b(?:var[oó]n|mujer|hombre|paciente)\b[^.;]{0,80}, )$")
VERB = re.compile(r"(?i)(?:hab[ií]a |comienza a |ha )?(?:trabaj(?:a|ó|aba|ado|ando|ar)|dedicad[oa])\b")


def joined(words):
    """The words of a sentence as they are written, and what BIO marks in it."""
    text, spans, glue = "", [], True
    for form, tag in words:
        if not glue and form not in notes.NOSPACE:
            text += " "
        at, text = len(text), text + form
        if tag.startswith("B-"):
            spans.append([at, len(text), tag[2:]])
        elif tag.startswith("I-") and spans:
            spans[-1][1] = len(text)
        glue = form.endswith(("(", "[", "¿", "¡"))
    return text, spans


def sentences(path):
    """The sentences of a BIO file of the labelled data, each once."""
    seen, words = set(), []
    for line in [*notes.lines(os.path.join(notes.data, "labelled", path)), "\n"]:
        columns = line.replace("\ufeff", "").rstrip("\n").split("\t")
        if len(columns) == 2:
            words.append(columns)
        elif words:
            text, spans = joined(words)
            if text not in seen:
                seen.add(text)
                yield text, spans
            words = []


def folded(text):
    return re.findall(r"\w+", text.lower())


class Reports:
    """Which sentences stand in the reports of MEDDOCAN: eight words in a row are theirs, or all of a shorter one."""

    def __init__(self):
        parts = [notes.brat(os.path.join(notes.data, "meddocan", part)) for part in ("train", "dev")]
        found = [folded(t) for part in parts for _, t, _ in part] + [folded(t) for _, t, _, _ in notes.background()]
        self.eights = {tuple(w[k : k + 8]) for w in found for k in range(len(w) - 7)}
        self.text = " | ".join(" ".join(w) for w in found)

    def hold(self, text):
        w = folded(text)
        if len(w) < 8:
            return " ".join(w) in self.text
        return any(tuple(w[k : k + 8]) in self.eights for k in range(len(w) - 7))


def kin(text, marked):
    """Kin as MEDDOCAN marks it; None where a mention holds kin and more."""
    found = []
    for s, e, _ in marked:
        m = next((m for m in KIN.finditer(text) if m.start() <= s < m.end()), None)
        if m and m.end() >= e:
            found.append([m.start(), m.end(), "FAMILIARES_SUJETO_ASISTENCIA"])
        elif KIN.search(text, s, e) and not CLINICIAN.search(text[s:e]):
            return None
    return notes.outermost(found)


def professions(text, marked):
    """What people work as; None where that is in doubt: a verb, a group, a housewife."""
    found = []
    for s, e, label in marked:
        if label == "SITUACION_LABORAL" and re.search(r"(?i)casa|hogar", text[s:e]) or label == "PROFESION" and VERB.match(text[s:e]):
            return None
        if label != "PROFESION" or CLINICIAN.search(text[s:e]) and not re.match("(?i)auxiliar|enfermer", text[s:e]):
            continue
        if not WORKS.search(text[:s]) and not text[e:].startswith(" de profesión"):
            return None
        found.append([s, e, "PROFESION"])
    return found


def merged(found, model, label):
    """Notes with what is marked and what the model finds of other kinds, and as many in which there is nothing; none in which the
    model finds more of the kind that is marked."""
    apart = lambda x, others: not any(a < x[1] and x[0] < b for a, b, _ in others)
    some, none = [], []
    for n, t, spans in found:
        rest = [x for x in model[n] if apart(x, spans)]
        if any(x[2] == label for x in rest):
            continue
        if spans:
            some.append((n, t, sorted(spans + rest)))
        elif not rest:
            none.append((n, t, []))
    return some + random.Random(1).sample(none, min(len(none), len(some)))


def sources(tag):
    """(name, notes) of both; tag gives what a model finds in notes, by id."""
    reports = Reports()
    for name, path, convert, label in (("kin", "kin/livingner-human.bio.gz", kin, "FAMILIARES_SUJETO_ASISTENCIA"), ("professions", "meddoprof/meddoprof.bio.gz", professions, "PROFESION")):
        found = [(f"{name}:{k}", t, convert(t, marked)) for k, (t, marked) in enumerate(sentences(path)) if not reports.hold(t)]
        found = [x for x in found if x[2] is not None]
        marked = [x for x in found if x[2]]
        found = marked + random.Random(2).sample([x for x in found if not x[2]], 3 * len(marked))
        yield name, merged(found, tag(found), label)

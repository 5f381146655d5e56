#!/usr/bin/env python3
"""Short notes with other names, for models of MEDDOCAN's labels: the reports name strangers in headers alone.

    scripts/bench/real/strangers.py TEACHER OUT.jsonl     notes-voices train and our own hands, redrawn, in MEDDOCAN's labels

The marks of the hands say what a person or a place is, not whose: what stands around says that. What MEDDOCAN marks and they do not (sex, kin, professions)
is what TEACHER, a model of reports, finds outside their marks. Same input, same bytes.
"""
import os, re, subprocess, sys, tempfile

import gold, notes, renaming

STAFF = re.compile(r"(?i)\b(?:dra?|drs|dres|doctora?|due|enf|enfermer[ao]s?|infermer[ae]s?|inf|mir|r[1-5]|fdo|firmado|signat|metge(?:ssa)?|m[eé]dic[ao]?|residente?|comadrona|llevadora|"
                   r"matrona|fisio\w*|psic[oó]log[oa]|ts|tsocial|trabajadora social|treballadora social|colegiad[oa]|col·legiad[ao]|adjunt[oa]|tutora?|farmac[eé]utic[oa]|auxiliar|celadora?)\b[.:]?[^.,;:\n]{0,4}$")
HOSPITAL = re.compile(r"(?i)hospital|\bh[.º]|cl[ií]nic|sanatori|\bhu\b")
CENTRE = re.compile(r"(?i)\bcap\b|centr[eo] de sal|\bc\.? ?s\b|ambulatori|consultori|\babs\b|\beap\b|\bcuap\b")
PLAIN = {"DATE": "FECHAS", "AGE": "EDAD_SUJETO_ASISTENCIA", "TELEPHONE": "NUMERO_TELEFONO", "EMAIL": "CORREO_ELECTRONICO", "SANITARY_CARD_ID": "ID_SUJETO_ASISTENCIA"}


def label(text, s, e, c):
    """The label of MEDDOCAN for a mark of the hands."""
    if c in PLAIN:
        return PLAIN[c]
    if c == "PERSON":
        return "NOMBRE_PERSONAL_SANITARIO" if STAFF.search(text[max(0, s - 30) : s]) else "NOMBRE_SUJETO_ASISTENCIA"
    value = text[s:e]
    if renaming.STREET.match(value):
        return "CALLE"
    return "HOSPITAL" if HOSPITAL.search(value) else "CENTRO_SALUD" if CENTRE.search(value) else "INSTITUCION" if renaming.HOUSE.match(value) else "TERRITORIO"


def tagged(velum, teacher, found):
    """What the teacher finds in the notes."""
    with tempfile.TemporaryDirectory() as work:
        plain, out = os.path.join(work, "in.jsonl"), os.path.join(work, "out.jsonl")
        notes.write(plain, ((n, t, []) for n, t, _ in found))
        subprocess.run([velum, "model", "tag", "--quiet", "--profile", "meddocan", "--in", plain, "--from", "jsonl", "--to", "jsonl", "--out", out, "--model", teacher], check=True, stdout=subprocess.DEVNULL)
        return [spans for _, _, spans in notes.read(out)]


OTHERS = {"SEXO_SUJETO_ASISTENCIA", "FAMILIARES_SUJETO_ASISTENCIA", "PROFESION", "OTROS_SUJETO_ASISTENCIA", "EDAD_SUJETO_ASISTENCIA"}


def short(teacher, out):
    made = []
    for name in ("voices", "hands"):
        found = list(gold.GOLD[name][0](None))
        made += gold.copies(name, [n for n in found if n[2]], 1)
        made += gold.disturbed(name, [n for n in found if not n[2]], 0)
    kept = []
    for (n, t, spans), seen in zip(made, tagged(os.environ.get("VELUM", "bin/velum"), teacher, made)):
        marks = [[s, e, label(t, s, e, c)] for s, e, c in spans]
        marks += [[s, e, c] for s, e, c in seen if c in OTHERS and not any(s < f and a < e for a, f, _ in spans)]
        kept.append((n, t, sorted(marks)))
    notes.write(out, kept)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    short(*sys.argv[1:])

#!/usr/bin/env python3
"""What the light of a report is worth: its colour on notes of kinds that a model does not know, and whether the number of notes
expected to keep something holds the true one.

    scripts/bench/real/light.py kinds [--model MODEL]                     the light on 200 notes of each kind
    scripts/bench/real/light.py draws --model MODEL --sets FILE... [--draws 10] [--notes 500]
                                                                          expected [interval] and true number, a line a draw

The draws are with replacement. MODEL must not have seen the sets, nor may its calibration have (velum models measure --held). The notes in
English, Swedish and French are invented: sentences by hand, in which names, days and telephones change.
"""
import argparse, json, os, random, subprocess, tempfile

import notes

PEOPLE = {
    "en": "Margaret Holloway|Dr. Kevin Abbott|Mrs. Priya Desai|Tom Whitfield|Nurse Joan Barlow|Siobhan Kearney|Mr. Derek Oyelaran|Emily Stanton",
    "sv": "Birgitta Lindqvist|Dr Anders Nyström|Maja Söderberg|sköterska Eva Hallgren|Karl-Erik Åkesson|Fatima Warsame|Lennart Öberg|Ingrid Fält",
    "fr": "Mme Odile Marchand|Dr Laurent Vasseur|M. Hugo Lefèvre|Chantal Aubry|Dr Nadia Benali|Lucie Perrault|M. Étienne Gaudin|Josiane Morel",
}
SENTENCES = {
    "en": ["{p} rang this morning, still short of breath, wants a call back on {t}.", "Seen with her daughter {p}, wound looks clean, stitches out on {d}.",
           "Fell at home last night, {p} found him on the floor, no head injury.", "Bloods discussed with {p}, potassium slightly raised, repeat on {d}.",
           "Did not attend. Letter sent to {p}, next appointment {d}.", "Referred by {p} because of weight loss and night sweats since {d}.",
           "Medication list checked, {p} will bring the new inhaler, phone {t}.", "Chest clear, temperature settled, {p} happy to go home tomorrow."],
    "sv": ["{p} ringde i morse, fortfarande andfådd, vill bli uppringd på {t}.", "Kommer med dottern {p}, såret ser rent ut, stygnen tas {d}.",
           "Föll hemma i natt, {p} hittade honom på golvet, ingen skallskada.", "Provsvaren diskuterade med {p}, lätt förhöjt kalium, nytt prov {d}.",
           "Uteblev från besöket. Brev skickat till {p}, ny tid {d}.", "Remitterad av {p} på grund av viktnedgång och nattsvettningar sedan {d}.",
           "Läkemedelslistan genomgången, {p} hämtar ny inhalator, telefon {t}.", "Lungorna utan anmärkning, feberfri, {p} följer patienten hem i morgon."],
    "fr": ["{p} a téléphoné ce matin, toujours essoufflée, souhaite être rappelée au {t}.", "Vue avec sa fille {p}, la plaie est propre, ablation des fils le {d}.",
           "Chute à domicile cette nuit, {p} l'a retrouvé par terre, pas de traumatisme crânien.", "Résultats expliqués à {p}, potassium un peu élevé, contrôle le {d}.",
           "Ne s'est pas présenté. Courrier envoyé à {p}, prochain rendez-vous le {d}.", "Adressé par {p} pour amaigrissement et sueurs nocturnes depuis le {d}.",
           "Ordonnance revue, {p} apportera le nouvel inhalateur, téléphone {t}.", "Auscultation libre, apyrétique depuis hier, {p} vient le chercher demain."],
}


def invented(language, n):
    r = random.Random(language)
    for i in range(n):
        fill = {"p": r.choice(PEOPLE[language].split("|")), "d": f"{r.randint(1, 28)}/{r.randint(1, 12)}", "t": f"0{r.randint(100, 999)} {r.randint(100000, 999999)}"}
        yield f"{language}:{i}", " ".join(s.format(**fill) for s in r.sample(SENTENCES[language], r.randint(1, 2))), []


def reports(n):
    folder = os.path.join(notes.data, "meddocan/train")
    for name in sorted(x for x in os.listdir(folder) if x.endswith(".txt"))[:n]:
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            yield name, f.read(), []


def run(a, archive, out):
    more = [x for s in a.set for x in ("--set", s)]
    done = subprocess.run([a.velum, "run", "--quiet", "--in", archive, "--out", out, "--id-column", "id", "--model", a.model, *more], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr)
    with open(out + ".private/report.json", encoding="utf-8") as f:
        return json.load(f)


def expected(report):
    left = report["risk"].get("expected_left")
    return f"{left['notes']} [{left['low']}-{left['high']}]" if left else "not known"


def kinds(a, work):
    made = {f"200 notes in {k}": list(invented(k, 200)) for k in PEOPLE}
    made["600 notes, 400 in en and 200 in sv"] = list(invented("en", 400)) + list(invented("sv", 200))
    made["200 hospital reports"] = list(reports(200))
    synth = os.path.join(work, "synth.jsonl")
    subprocess.run([a.velum, "synth", "--quiet", "--notes", "200", "--seed", "7", "--split", "test", "--density", "3", "--out", synth], check=True)
    made["200 generated notes"] = list(notes.read(synth))
    green = 0
    for k, (name, found) in enumerate(made.items()):
        archive = os.path.join(work, f"kind-{k}.jsonl")
        notes.write(archive, found)
        r = run(a, archive, os.path.join(work, f"out-{k}"))
        green += r["light"] == "green"
        beyond = ", ".join(f"{s['what']} {s.get('here', 0)}" for s in r["risk"]["unlike"] if s["beyond"])
        print(f"{name:36s} {r['light']:6s} {expected(r):16s} {beyond}", flush=True)
    return green


def leaks(found, out):
    """Notes with a letter or figure of a gold span that no span of the output covers."""
    import glob
    import pyarrow.parquet as pq
    covered = {}
    for part in glob.glob(out + ".private/original/*.parquet"):
        for r in pq.read_table(part, columns=["row", "start_char", "end_char"]).to_pylist():
            covered.setdefault(r["row"], set()).update(range(r["start_char"], r["end_char"]))
    masked = {r["row"] for part in glob.glob(out + ".private/notes/*.parquet") for r in pq.read_table(part, columns=["row"]).to_pylist()}
    keeps = lambda row, t, spans: any(t[i].isalnum() and i not in covered.get(row, ()) for s, e, _ in spans for i in range(s, e))
    return sum(keeps(row, t, spans) for row, (_, t, spans) in enumerate(found) if row in masked)


def draws(a, work):
    missed = 0
    for path in a.sets:
        found, r, held, lines = list(notes.read(path)), random.Random(a.seed), 0, []
        for k in range(a.draws):
            drawn = [(f"{i}:{n}", t, s) for i, (n, t, s) in enumerate(r.choices(found, k=a.notes))]
            archive, out = os.path.join(work, "draw.jsonl"), os.path.join(work, f"draw-{os.path.basename(path)}-{k}")
            notes.write(archive, drawn)
            report = run(a, archive, out)
            true, left = leaks(drawn, out), report["risk"].get("expected_left") or {"low": 0, "high": -1}
            held += left["low"] <= true <= left["high"]
            lines.append(f"{expected(report)}:{true}")
        print(f"{os.path.basename(path):28s} {held} of {a.draws} hold   {'  '.join(lines)}", flush=True)
        missed += held < 0.9 * a.draws
    return missed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["kinds", "draws"])
    p.add_argument("--model", default="primary-care")
    p.add_argument("--sets", nargs="*", default=[])
    p.add_argument("--draws", type=int, default=10)
    p.add_argument("--notes", type=int, default=500)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--set", action="append", default=[])
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        raise SystemExit(1 if (kinds if a.what == "kinds" else draws)(a, work) else 0)


if __name__ == "__main__":
    main()

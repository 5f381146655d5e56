#!/bin/sh
# Spoils a gold corpus by lot, scores it with stages/score and with a scorer
# that others wrote, and fails if any figure differs in the fourth digit.
#
#   scripts/experiments/agree.sh [GOLD_FOLDER [SCORER]]
#
# GOLD_FOLDER is brat standoff; SCORER is a Python program that takes a gold
# folder, a system folder and --json.
set -eu
cd "$(dirname "$0")/../.."
gold=$(realpath "${1:-../shared/data/meddocan/dev}")
scorer=$(realpath "${2:-../shared/tools/score_brat.py}")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

VELUM_AGREE_GOLD=$gold VELUM_AGREE_OUT=$out go test -count=1 -run '^TestAgree$' ./stages/score/
python3 "$scorer" "$gold" "$out/system" --json >"$out/other.json"
python3 - "$out/report.json" "$out/other.json" <<'EOF'
import json, sys

ours, other = (json.load(open(p)) for p in sys.argv[1:])
by_name = {m["name"]: m for m in ours["measures"]}
rows = []
for theirs, name in (("ner", "strict"), ("span", "span"), ("merged", "merged"), ("joined", "joined")):
    m = by_name[name]
    for a, b in (("p", "precision"), ("r", "recall"), ("f1", "f1")):
        rows.append((f"{name} {b}", m[b], other[theirs][a]))
    rows.append((f"{name} false", m["system"] - m["right"], other[theirs]["fp"]))
    rows.append((f"{name} missing", m["gold"] - m["found"], other[theirs]["fn"]))
rows.append(("masked characters recall", by_name["masked_characters"]["recall"], other["masked"]["char_recall"]))
rows.append(("masked entities recall", by_name["masked_entities"]["recall"], other["masked"]["entity_recall"]))
categories = {c["category"]: c for c in ours["categories"]}
for name, c in other["per_category"].items():
    for a, b in (("gold", "gold"), ("system", "system"), ("strict_tp", "right"), ("masked", "masked")):
        rows.append((f"{name} {a}", categories[name][b], c[a]))
bad = [r for r in rows if abs(r[1] - r[2]) >= 5e-5]
for name, a, b in rows[:22]:
    print(f"{name:26s} {a:10.6g} {b:10.6g}")
print(f"{len(rows)} figures compared over {ours['notes']} notes, {len(bad)} differ")
for name, a, b in bad:
    print(f"differs: {name}: {a} against {b}")
sys.exit(bool(bad))
EOF

"""Masks public examples of FHIR, HL7 v2 and CDA, and checks what comes out.

In: the velum binary and a folder of examples (fetch.sh). Out: a line a format; exit
code 1 if anything is not as it must be. Of every document that leaves:

* it is valid by a library that is not ours (fhir.resources, hl7apy, lxml);
* with the places of text and the fields of persons taken out of both, it equals the
  original, member by member, segment by segment, element by element;
* no value of a field of a person that has five letters or digits stands in it.

No document is shown: names of files and paths within documents alone.
"""

import base64
import json
import pathlib
import re
import subprocess
import sys

velum, examples = sys.argv[1], pathlib.Path(sys.argv[2])
wrong: list[str] = []

PLACEHOLDER = re.compile(r"\[[A-Z_]+\]")
ABSENT = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"


def mask(data: bytes) -> tuple[bytes, str]:
    """The bytes that `velum mask - -` makes of others, and what it says."""
    done = subprocess.run([velum, "mask", "-", "-"], input=data, capture_output=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr.decode())
    return done.stdout, done.stderr.decode().strip().splitlines()[-1] if done.stderr else ""


def texts(value, path=""):
    """Every string of JSON with its path, attachments in base64 decoded."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from texts(below, f"{path}.{key}")
    elif isinstance(value, list):
        for n, below in enumerate(value):
            yield from texts(below, f"{path}[{n}]")
    else:
        yield path, value


def differs(before, after, path=""):
    """Paths at which two values differ in more than masked text."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key in after:
                yield from differs(before[key], after[key], f"{path}.{key}")
            elif ABSENT not in json.dumps(after.get("_" + key, after.get("extension") if key.startswith("value") else None)):
                yield f"{path}.{key} is gone"
        for key in after:
            if key not in before and not (key.startswith("_") and key[1:] in before) and ABSENT not in json.dumps(after[key]):
                yield f"{path}.{key} is new"
        order = [k for k in before if k in after]
        if order != [k for k in after if k in before]:
            yield f"{path} has its members in another order"
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for n, (a, b) in enumerate(zip(before, after)):
            yield from differs(a, b, f"{path}[{n}]")
    elif isinstance(before, str) and isinstance(after, str):
        if before != after and not same_around(decoded(before), decoded(after)):
            yield f"{path} differs outside of what is masked"
    elif before != after or type(before) is not type(after):
        yield f"{path} differs"


def decoded(text: str) -> str:
    if len(text) > 40 and re.fullmatch(r"[A-Za-z0-9+/=\s]+", text):
        try:
            return base64.b64decode(text).decode("utf-8")
        except ValueError:
            return text
    return text


def same_around(before: str, after: str) -> bool:
    """Whether after is before with placeholders in some places."""
    pieces = PLACEHOLDER.split(after)
    if len(pieces) == 1:  # what went over several elements stands in the first of them
        return len(after) < len(before)
    at = 0
    for n, piece in enumerate(pieces):
        found = before.find(piece, at)
        if found < 0 and "<" in piece:  # the elements stay whose text went
            return True
        if found < 0 or n == 0 and found != 0:
            return False
        at = found + len(piece)
    return True


def fhir() -> str:
    from fhir.resources.R4B import get_fhir_model_class

    resources, sources = [], []
    for file in sorted(examples.glob("fhir/*.json")):
        try:
            resource = json.loads(file.read_text("utf-8"))
        except ValueError:
            continue
        if isinstance(resource, dict) and resource.get("id"):
            resources.append(resource)
            sources.append(file.name)
    lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in resources)
    out, said = mask(lines.encode())
    masked = [json.loads(line) for line in out.decode().splitlines()]
    if len(masked) != len(resources):
        wrong.append(f"FHIR: {len(resources)} resources in, {len(masked)} out")
    left = valid = checked = 0
    for source, before, after in zip(sources, resources, masked):
        if after["resourceType"] == "OperationOutcome" and before["resourceType"] != "OperationOutcome":
            continue
        left += 1
        for difference in differs(before, after):
            wrong.append(f"FHIR: {source}{difference}")
        for path, value in named(before):
            if value in json.dumps(after, ensure_ascii=False):
                wrong.append(f"FHIR: {source}: what stands in {path} is still there")
        model = get_fhir_model_class(before["resourceType"])
        try:
            model.model_validate(before)
        except Exception:
            continue  # of another version than the library: it says nothing of ours
        checked += 1
        try:
            model.model_validate(after)
            valid += 1
        except Exception as e:
            wrong.append(f"FHIR: {source} is not valid any more: {type(e).__name__} at {[x['loc'] for x in e.errors()][:2] if hasattr(e, 'errors') else ''}")
    return f"FHIR R4: {len(resources)} resources of {len({r['resourceType'] for r in resources})} types, {left} masked; valid {valid} of {checked} that were ({said})"


def named(resource):
    """Names, telephones and identifiers of a resource of a person, by their paths."""
    if resource["resourceType"] not in ("Patient", "Practitioner", "RelatedPerson", "Person"):
        return
    for path, value in texts(resource):
        if isinstance(value, str) and re.search(r"\.(family|given|line|value)(\[\d+\])?$", path) and ".extension" not in path:
            if sum(c.isalnum() for c in value) >= 5:
                yield path, value


def hl7v2() -> str:
    from hl7apy.parser import parse_message

    messages = [m for file in sorted(examples.glob("hl7/*.hl7")) for m in re.split(r"(?m)^(?=MSH\|)", file.read_text("utf-8").replace("\n", "\r").replace("\r\r", "\r").replace("\r", "\n")) if m.startswith("MSH")]
    out, said = mask("".join(messages).replace("\n", "\r").encode())
    masked = [m for m in re.split(r"(?:^|(?<=\r))(?=MSH\|)", out.decode()) if m]
    if len(masked) != len(messages):
        wrong.append(f"HL7: {len(messages)} messages in, {len(masked)} out")
    left = parsed = 0
    for n, (before, after) in enumerate(zip(messages, masked)):
        if "|ACK|" in after.split("\r")[0] and "|ACK|" not in before.split("\n")[0]:
            continue
        left += 1
        a, b = before.strip().split("\n"), after.strip().split("\r")
        if len(a) != len(b):
            wrong.append(f"HL7: message {n} has {len(b)} segments, had {len(a)}")
            continue
        for one, other in zip(a, b):
            f, g = one.split("|"), other.split("|")
            if len(f) != len(g) or f[0] != g[0]:
                wrong.append(f"HL7: message {n}: segment {f[0]} has other fields")
                continue
            for k, (x, y) in enumerate(zip(f, g)):
                if x != y and y and not same_around(x, y) and not PLACEHOLDER.search(y):
                    wrong.append(f"HL7: message {n}: {f[0]}-{k} differs outside of what is masked")
        try:
            was = parse_message(before.replace("\n", "\r"), find_groups=False).to_er7()
        except Exception:
            continue
        assert was
        try:
            parse_message(after, find_groups=False).to_er7()
            parsed += 1
        except Exception as e:
            wrong.append(f"HL7: message {n} does not parse any more: {type(e).__name__}")
    return f"HL7 v2: {len(messages)} messages, {left} masked; hl7apy parses {parsed} ({said})"


def cda() -> str:
    import lxml.etree as etree

    files, left = sorted(examples.glob("cda/*.xml")), 0
    for file in files:
        before = file.read_bytes()
        out, _ = mask(before)
        if not out:
            continue
        left += 1
        a, b = etree.fromstring(before), etree.fromstring(out)
        one, other = [e.tag for e in a.iter()], [e.tag for e in b.iter()]
        if one != other:
            wrong.append(f"CDA: {file.name} has other elements")
        for x, y in zip(a.iter(), b.iter()):
            for key in set(x.attrib) | set(y.attrib):
                if x.get(key) != y.get(key) and key not in ("extension", "value", "displayName", "nullFlavor", "title"):
                    wrong.append(f"CDA: {file.name}: attribute {key} differs")
    return f"CDA R2: {len(files)} documents, {left} masked"


for check in (fhir, hl7v2, cda):
    print(check())
for line in wrong[:60]:
    print(line, file=sys.stderr)
print(f"{len(wrong)} wrong")
sys.exit(bool(wrong))

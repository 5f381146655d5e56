"""Bare names in running text, by lists: sentences of general Spanish and Catalan in which every capitalised word is a person of
the lists (a given name and what follows it), a place of the lists, or the sentence's first word. Names without a title are
rare in the labelled notes; here they are subjects, objects and companions of all kinds of verbs. A sentence that holds any
other capitalised word is left out, for nothing says what that is.
"""
import random, re

import notes, renaming
from nubes_phi import plain

WORD = re.compile(r"[^\W\d_]+(?:[·'’-][^\W\d_]+)*|\d+|\S")
BORN = re.compile(r"nascu(t|da) a")  # a template of which one source has thousands
JOIN = {"de", "del", "i", "la", "d", "los", "y", "dels"}


def folded(words):
    return {plain(w).lower() for w in words}


class Lists:
    def __init__(self):
        self.given = folded(renaming.entries("*given-names.txt"))
        self.surnames = folded(renaming.entries("*surnames.txt"))
        self.places = folded(e for name in ("geonames-*.txt", "own-abroad.txt", "own-countries.txt", "own-provinces.txt", "own-municipalities.txt") for e in renaming.entries(name))
        self.common = folded(renaming.entries("*common.txt"))


def runs(words):
    """Runs of capitalised words, joined over particles: [(first, last+1)]."""
    k = 0
    while k < len(words):
        if not words[k].group()[0].isupper():
            k += 1
            continue
        end = k + 1
        while end < len(words):
            n = end
            while n < len(words) and n < end + 2 and words[n].group().lower() in JOIN:
                n += 1
            if n < len(words) and words[n].group()[0].isupper():
                end = n + 1
            else:
                break
        yield k, end
        k = end


def marked(text, lists):
    """Spans of a sentence, or None where a word says nothing of itself."""
    words, spans = list(WORD.finditer(text)), []
    for first, end in runs(words):
        at, stop = words[first].start(), words[end - 1].end()
        names = [plain(w.group()).lower() for w in words[first:end] if w.group()[0].isupper()]
        if first == 0 and len(names) == 1 and (names[0] in lists.common or names[0] not in lists.given | lists.places):
            continue  # begins the sentence
        if plain(text[at:stop]).lower() in lists.places and not (len(names) > 1 and names[0] in lists.given):
            spans.append([at, stop, "LOCATION"])
        elif names[0] in lists.given and names[0] not in lists.common and names[0] not in lists.places and (len(names) > 1 or first > 0) and all(n in lists.given | lists.surnames for n in names[1:]):
            spans.append([at, stop, "PERSON"])
        else:
            return None
    return spans


def sentences(path):
    for line in notes.lines(path):
        line = re.sub(r"^\d{5}\. ", "", line.strip())
        if 20 <= len(line) <= 240:
            yield line


def draw(paths, seed, persons, others, empty):
    """That many sentences with a person, with places alone, and with no name; half of the persons are other ones."""
    lists, r, kinds = Lists(), random.Random(seed), ([], [], [])
    for path in paths:
        for k, text in enumerate(sentences(path)):
            spans = None if BORN.search(text) and r.random() < 0.85 else marked(text, lists)
            if spans is not None:
                kinds[0 if any(c == "PERSON" for _, _, c in spans) else 1 if spans else 2].append((f"{path.split('/')[-1]}:{k}", text, spans))
    names = renaming.Names(seed)
    for found, n in zip(kinds, (persons, others, empty)):
        for note, text, spans in r.sample(found, min(n, len(found))):
            if r.random() < 0.5:
                text, spans = renaming.rename(text, spans, names)
            yield note, text, spans


def unknown(text, lists):
    """Every run of capitalised words within a sentence, whatever it names, and a first word that is a name of the lists and no common word:
    what an inverse tagger must not let in. None for a sentence with figures, or in capitals."""
    words, spans = list(WORD.finditer(text)), []
    if any(c.isdigit() for c in text) or sum(w.group()[0].isupper() for w in words) * 2 > len(words):
        return None
    for first, end in runs(words):
        if first == 0 or words[first - 1].group() in ".:?!«»\"'“”¿¡-–—…":  # begins a sentence
            name = plain(words[first].group()).lower()
            if end == first + 1 and (name in lists.common or name not in lists.given | lists.surnames | lists.places):
                continue
        spans.append([words[first].start(), words[end - 1].end(), "PHI"])
    return spans


def capitals(paths, seed, each):
    """So many sentences of every file, half of them with a name; a third in small letters, as hurried notes are."""
    lists = Lists()
    for path in paths:
        r, kinds = random.Random(f"{seed} {path.split('/')[-1]}"), ([], [])
        found = list(enumerate(sentences(path)))
        for k, text in r.sample(found, min(4 * each, len(found))):
            spans = unknown(text, lists)
            if spans is not None:
                kinds[0 if spans else 1].append((f"{path.split('/')[-1]}:{k}", text, spans))
        for found in kinds:
            for note, text, spans in r.sample(found, min(each // 2, len(found))):
                if r.random() < 0.33:
                    text = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
                yield note, text, spans

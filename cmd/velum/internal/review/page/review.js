// The curators' page. Everything from notes goes into the page as text, never as HTML.
"use strict";

const $ = (id) => document.getElementById(id);
const waiting = []; // keys that were typed while a note was on its way
let setup, note, spans = [], undo = [], cursor = 0, anchor = 0, decided = 0, began = 0, beganDecided = 0, busy = false, ended = false;
const kept = new Set(); // categories that are not marked in any note of this session

const ask = async (path, body) => {
  const answer = await fetch(path, body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
};

const say = (text, bad) => { $("message").textContent = text; $("message").classList.toggle("bad", !!bad); };

// keyName is how a key is shown.
const keyName = (key) => ({ ArrowLeft: "\u2190", ArrowRight: "\u2192" })[key] || key;

// element makes an element with a text and children.
const element = (name, properties, ...children) => {
  const e = document.createElement(name);
  Object.assign(e, properties);
  e.append(...children);
  return e;
};

const spanAt = (start, end) => spans.findIndex((s) => s.start < end && start < s.end);
const chosen = () => {
  const [a, b] = [Math.min(anchor, cursor), Math.max(anchor, cursor)];
  return note.tokens.length ? [note.tokens[a][0], note.tokens[b][1]] : [0, 0];
};

const sure = (score) => (score >= 0.95 ? 3 : score >= 0.8 ? 2 : score >= 0.5 ? 1 : 0);

// draw lays the text out: pieces between all borders of tokens and spans.
const draw = () => {
  const borders = new Set([0, note.text.length]);
  for (const [a, b] of note.tokens) { borders.add(a); borders.add(b); }
  for (const s of spans.concat(note.other)) { borders.add(s.start); borders.add(s.end); }
  const at = [...borders].sort((x, y) => x - y);
  const [from, to] = chosen();
  const box = $("text");
  box.replaceChildren();
  let open = null, into = box;
  for (let i = 0; i + 1 < at.length; i++) {
    const [a, b] = [at[i], at[i + 1]];
    const s = spans.find((x) => x.start <= a && b <= x.end);
    if (s !== open) {
      into = box;
      if (s) {
        into = element("span", { className: "span" });
        into.dataset.sure = sure(s.score);
        box.append(into);
      }
      open = s;
    }
    const piece = element("span", { textContent: note.text.slice(a, b) });
    if (note.other.some((x) => x.start <= a && b <= x.end)) piece.classList.add("other");
    if (a >= from && b <= to && note.tokens.length) piece.classList.add("cursor");
    piece.addEventListener("click", (e) => { const t = note.tokens.findIndex(([x, y]) => x < b && a < y); if (t >= 0) { cursor = t; if (!e.shiftKey) anchor = t; draw(); } });
    into.append(piece);
    if (s && b === s.end) into.append(element("span", { className: "tag", textContent: s.label, ariaHidden: "true" }));
    for (const x of note.other) if (x.end === b && !spans.some((y) => y.start === x.start && y.end === x.end && y.label === x.label)) into.append(element("span", { className: "tag theirs", textContent: x.label, ariaHidden: "true" }));
  }
  const here = spanAt(from, to);
  box.setAttribute("aria-label", note.text.slice(from, to) + (here >= 0 ? ", " + spans[here].label : ""));
  $("spoken").textContent = box.getAttribute("aria-label"); // of a label that changes, not every screen reader tells
  box.querySelector(".cursor")?.scrollIntoView({ block: "nearest" });
};

const head = () => {
  const w = setup.words;
  $("place").textContent = `${w.note} ${note.at + 1} ${w.of} ${setup.notes}`;
  $("progress").max = Math.max(setup.notes, 1);
  $("progress").value = decided;
  const left = setup.notes - decided, made = decided - beganDecided;
  const minutes = made > 0 && left > 0 ? ` (${Math.ceil(((Date.now() - began) / made) * left / 60000)} ${w.minutes})` : "";
  $("counts").textContent = `${decided} ${w.decided}, ${left} ${w.left}${minutes}`;
  const about = [note.id, note.decided ? (w[note.answer] || w.accepted) : w.open];
  if (note.about) about.push(note.about);
  if (setup.labels) about.push(w[note.doubt < 0.05 ? "sure" : note.doubt < 0.5 ? "hesitant" : "unsure"]);
  if (note.against) about.push(`${w.other}: ${w[note.against]}`);
  $("about").textContent = about.join(" · ");
  for (const b of document.querySelectorAll("#answers button")) b.setAttribute("aria-pressed", String(b.dataset.answer === note.answer));
};

const show = async (at) => {
  if (at < 0 || at >= setup.notes || busy) return;
  busy = true;
  try {
    const started = performance.now();
    note = await ask("/note?at=" + at);
    spans = note.decided ? note.spans : note.spans.filter((s) => !kept.has(s.label));
    undo = [];
    const least = spans.reduce((x, s) => (!x || s.score < x.score ? s : x), null);
    cursor = least ? Math.max(0, note.tokens.findIndex(([a, b]) => a < least.end && least.start < b)) : 0;
    anchor = cursor;
    head();
    draw();
    document.body.dataset.note = at;
    document.body.dataset.milliseconds = Math.round(performance.now() - started);
  } catch { say(setup.words.failed, true); }
  free();
};

// free takes the keys that came while the page was busy: they belong to the note that is there now.
const free = () => { busy = false; while (waiting.length && !busy) pressed(waiting.shift()); };

const change = (next) => { undo.push(spans); spans = next.sort((a, b) => a.start - b.start); draw(); };

// decide saves an answer and goes on to the next note.
const decide = async (body, said) => {
  if (busy) return;
  busy = true;
  try {
    decided = (await ask("/decide", { at: note.at, ...body })).decided;
    say(`${note.id}: ${said}`);
  } catch {
    waiting.length = 0; // they were meant for the notes behind this one
    busy = false;
    say(setup.words.failed, true);
    return;
  }
  busy = false;
  if (note.at + 1 < setup.notes) await show(note.at + 1); else { note.decided = true; note.answer = body.answer; head(); free(); }
  if (decided === setup.notes) say(`${setup.words.finished} ${(await ask("/setup")).next}`); // it counts what was decided
};

const choose = (a) => decide({ answer: a.name }, a.word);

const mark = (label) => {
  const [start, end] = chosen();
  if (start === end) return;
  const here = spans.find((s) => s.start < end && start < s.end);
  const place = anchor === cursor && here ? [here.start, here.end] : [start, end];
  change(spans.filter((s) => s.end <= place[0] || place[1] <= s.start).concat({ start: place[0], end: place[1], label, score: 1 }));
  say(`${note.text.slice(...place)}: ${label} ${setup.words.marked}`);
};

const commands = {
  accept: () => decide({ spans }, setup.words.saved),
  next: () => show(note.at + 1),
  previous: () => show(note.at - 1),
  left_word: (e) => { cursor = Math.max(0, cursor - 1); if (!e.shiftKey) anchor = cursor; draw(); },
  right_word: (e) => { cursor = Math.min(note.tokens.length - 1, cursor + 1); if (!e.shiftKey) anchor = cursor; draw(); },
  remove: () => {
    const [start, end] = chosen();
    const kept = spans.filter((s) => s.end <= start || end <= s.start);
    if (kept.length < spans.length) { change(kept); say(setup.words.removed); }
  },
  keep_all: () => {
    const s = spans[spanAt(...chosen())];
    if (!s) return;
    kept.add(s.label);
    change(spans.filter((x) => x.label !== s.label));
    say(`${s.label}: ${setup.words.kept_all}`);
  },
  everywhere: () => {
    const [start, end] = chosen();
    const s = spans[spanAt(start, end)];
    if (!s) return;
    const value = note.text.slice(s.start, s.end), all = spans.slice();
    const starts = new Set(note.tokens.map((t) => t[0])), ends = new Set(note.tokens.map((t) => t[1]));
    for (let i = note.text.indexOf(value); i >= 0; i = note.text.indexOf(value, i + 1)) {
      const j = i + value.length;
      if (starts.has(i) && ends.has(j) && !all.some((x) => x.start < j && i < x.end)) all.push({ start: i, end: j, label: s.label, score: 1 });
    }
    if (all.length > spans.length) change(all);
    say(`${value}: ${s.label} ${setup.words.marked}`);
  },
  other: () => change(note.other.map((x) => ({ ...x, score: 1 }))),
  undo: () => { if (undo.length) { spans = undo.pop(); draw(); } },
  search: () => { $("searching").hidden = false; $("query").focus(); },
  original: () => {
    const shown = { text: note.text, tokens: note.tokens, spans };
    ({ text: note.text, tokens: note.tokens, spans } = note.original);
    note.original = shown;
    cursor = anchor = 0;
    draw();
  },
  help: () => { $("guideline").hidden = !$("guideline").hidden; },
  end: async () => { ended = true; try { await ask("/end", {}); } catch { /* it has ended */ } document.querySelectorAll("main, nav").forEach((e) => { e.hidden = true; }); $("place").textContent = setup.words.ended; },
};

const search = async (e) => {
  e.preventDefault();
  const found = await ask(`/search?from=${note.at + 1}&q=${encodeURIComponent($("query").value)}`);
  $("searching").hidden = true;
  $("text").focus();
  if (found.at < 0) say(setup.words.notfound); else await show(found.at);
};

const pressed = (e) => {
  if (ended) return; // what is typed now is meant for another window
  if (busy && e.target !== $("query")) { if (!e.repeat) waiting.push(e); e.preventDefault(); return; }
  if (e.target === $("query")) { if (e.key === "Escape") { $("searching").hidden = true; $("text").focus(); e.stopPropagation(); } return; }
  if (e.ctrlKey || e.altKey || e.metaKey || !note || e.target.tagName === "BUTTON" && (e.key === "Enter" || e.key === " ")) return;
  const command = Object.keys(setup.keys).find((c) => setup.keys[c] === e.key);
  const label = (setup.labels || []).find((l) => l.key === e.key.toLowerCase());
  const answer = (setup.answers || []).find((a) => a.key === e.key);
  if (command) commands[command](e); else if (answer) choose(answer); else if (label) mark(label.name); else return;
  e.preventDefault();
};

const begin = async () => {
  setup = await ask("/setup");
  const w = setup.words;
  document.documentElement.lang = setup.lang;
  document.title = "velum: " + w.title;
  $("title").textContent = "velum · " + w.title;
  $("searchlabel").textContent = w.search;
  $("guideline").textContent = w.guideline;
  $("rule").textContent = w.rule;
  for (const [id, name] of [["text", w.text], ["progress", w.progress], ["labels", w.categories], ["answers", w.answers], ["keys", w.help]]) $(id).setAttribute("aria-label", name);
  for (const a of setup.answers || []) {
    const b = element("button", { onclick: () => choose(a) }, element("kbd", { textContent: a.key }), a.word);
    b.dataset.answer = a.name;
    $("answers").append(b);
  }
  for (const l of setup.labels || []) $("labels").append(element("button", { onclick: () => mark(l.name) }, element("kbd", { textContent: l.key }), l.name));
  for (const c of Object.keys(commands)) if (setup.keys[c]) $("keys").append(element("button", { onclick: (e) => commands[c](e) }, element("kbd", { textContent: keyName(setup.keys[c]) }), w[c] + (c === "right_word" ? ` (${w.extend})` : "")));
  decided = beganDecided = setup.decided;
  began = Date.now();
  document.addEventListener("keydown", pressed);
  $("searching").addEventListener("submit", search);
  if (setup.notes === 0) { say(w.empty); return; }
  await show(setup.first);
  $("text").focus();
};

begin().catch(() => { $("message").textContent = "velum?"; });

package main

// derived are extracts and attacks in the ways that verbs.go has not: values of
// other notes in two passes, k-anonymity and its table, known people, and findings
// of attacks, which are whole or not there.
var derived = []writer{
	{name: "mask shuffled", args: "mask --tagged {}/out --in {}/in --out ext --model {}/m.velum --set key.file={}/key --set mask.operators=PERSON=shuffle,LOCATION=shuffle,AGE=age --k 2 --set read.keep=center,language --set anonymity.columns=center=value,language=value --set anonymity.text=AGE=number", grows: true, quick: true},
	{name: "mask known", args: "mask --tagged {}/out --in {}/in --out ext --model {}/m.velum --policy research --set key.file={}/key --set read.columns.patient=patient_id --people {}/people.csv --exclude {}/objects.csv", grows: true},
	{name: "run with surrogates", args: "run --in {}/in --out out --model {}/m.velum --policy research --set key.file={}/key --set read.columns.patient=patient_id --k 2 --set read.keep=center --set anonymity.columns=center=value", grows: true, quick: true},
	{name: "attack", args: "attack --gold {}/gold.jsonl --mentions 1 --misses 0.1 --work tmp", grows: true, leaves: "tmp"},
}

// derive disturbs them as the other verbs that write.
func (t *torture) derive() (string, error) { return t.disturbed(derived) }

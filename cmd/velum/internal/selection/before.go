package selection

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/tagged"
)

// before holds the notes that the last commit selected. When a month is added, most of them are selected again and
// hardly any other old notes, so few parts of candidates have to be opened.
type before struct {
	notes  pipeline.Batch
	places map[string]map[int64]int // by part of candidates and place in it: the number of the note in notes
}

// placesKey is the key of the metadata that say where the notes of a file stand
// among candidates: for each part its path and the places of the notes in it.
const placesKey = "velum.places"

type placed struct {
	Path   string  `json:"path"`
	Places []int64 `json:"places"`
}

func placesOf(picked []picks) (string, error) {
	all := make([]placed, len(picked))
	for i := range picked {
		all[i].Path = picked[i].record.Path
		for _, k := range picked[i].notes {
			all[i].Places = append(all[i].Places, k.Row)
		}
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// mostBefore is the largest size in bytes of a selection file of the last commit that is read whole, to copy from it the
// notes that are chosen again. With a larger one, all chosen notes are copied from the units' candidates/ files, which
// hold the same notes and take longer to read.
const mostBefore = 8 << 20

// chosenBefore reads the notes of a kind that the last commit chose. What is not
// there any more, or not as it was, is none of them.
func chosenBefore(f *commit.Final, kind string) (*before, error) {
	b := &before{places: map[string]map[int64]int{}}
	for _, p := range f.Before {
		if p.Kind != kind || p.Bytes > mostBefore {
			continue
		}
		data, err := f.Read(p)
		if _, changed := errors.AsType[*durable.IntegrityError](err); changed {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		if err := b.read(data, p.Path); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *before) read(data []byte, path string) error {
	r, err := tagged.New(bytes.NewReader(data), int64(len(data)), path, tagged.Options{})
	if err != nil {
		return err
	}
	var notes pipeline.Batch
	for {
		notes.Reset()
		if err = r.Next(&notes); err != nil {
			break
		}
		for i := range notes.Len() {
			b.notes.AppendTagged(&notes, i)
		}
	}
	if err == io.EOF {
		b.place(r.Metadata(placesKey))
		err = nil
	}
	return errors.Join(err, r.Close())
}

// place takes the places of the notes, which are in the order of the notes.
func (b *before) place(text string) {
	var all []placed
	if text == "" || json.Unmarshal([]byte(text), &all) != nil {
		return // of another version
	}
	n := 0
	for _, p := range all {
		places := map[int64]int{}
		for _, at := range p.Places {
			places[at] = n
			n++
		}
		b.places[p.Path] = places
	}
	if n != b.notes.Len() {
		clear(b.places)
	}
}

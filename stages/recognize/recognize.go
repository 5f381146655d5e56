// Package recognize finds known people in notes, and leaves out the notes of people who object. It reads Text or View,
// Language, and the patient id in Extra. It fills Known and Avoid, and sets the Reason Excluded. Known also includes
// the fields of a document (see models/form/document) and the spans that other programs have found (Given).
//
// It runs before resolve, which treats its spans as certain, and also before the spans of an earlier run are read, so
// that an extract can use a table of people that did not exist when the notes were tagged. models/form/people does the
// search.
package recognize

import (
	"slices"

	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/models/form/people"
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
	"github.com/velum-health/velum/pipeline/patientid"
)

// Options holds the options of the stage. PatientColumn is required.
type Options struct {
	People        *people.Table    // nil: nobody is known
	Excluded      []*patientid.Set // patients who object; if there are any, notes without a patient are left out too
	PatientColumn string           // of Batch.Extra; a document names its patient itself, if there is no such column
	// column of Batch.Extra with the documents that notes stand in, if they are no cells of a table; "": fields are not looked at
	Source   string
	Document document.Options // how these are taken apart
	Labels   *pipeline.LabelSet
	Into     func(pipeline.Category) pipeline.Category // Labels' own category for that of a given span; None: there is none
	Workers  int                                       // 0 means 1
}

// New returns the stage. A note of a patient who objects gets that reason, whatever other reason it has; other notes in
// quarantine stay there.
func New(o Options) pipeline.Step {
	categories := categoriesOf(o.Labels)
	return pipeline.Step{Name: "recognize", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		w := &worker{Options: o, categories: categories}
		if o.People != nil {
			w.finder = people.NewFinder(o.People)
		}
		w.add = w.avoid
		return w.do
	}}
}

// worker is the scratch space of one goroutine.
type worker struct {
	Options
	categories categories
	finder     *people.Finder
	found      []people.Found
	spans      []pipeline.Span
	id         []byte
	batch      *pipeline.Batch
	source     *pipeline.Column  // of the batch; nil: notes stand in no documents
	add        func(word []byte) // w.avoid, made once
}

func (w *worker) do(b *pipeline.Batch) error {
	patients := b.ExtraNamed(w.PatientColumn)
	w.batch, w.source = b, b.ExtraNamed(w.Source)
	for i := range b.Len() {
		w.id = patients.AppendText(w.id[:0], i)
		if reason := Objection(w.Excluded, w.id); reason != pipeline.Sound {
			b.Reason[i] = reason
		}
		if b.Reason[i] == pipeline.Sound && (w.finder != nil || w.source != nil || b.Cells.Len() > 0 || b.Given.Len() > 0) {
			if err := w.guarded(b, i); err != nil {
				return err
			}
		}
		b.Known.End()
		b.Avoid.End()
	}
	return nil
}

// guarded finds the people of one note; a note on which it panics goes to
// quarantine.
func (w *worker) guarded(b *pipeline.Batch, i int) (err error) {
	known, avoid := len(b.Known.Items), len(b.Avoid.Data)
	if guard.Note(func() { err = w.note(b, i) }) {
		b.Known.Items, b.Avoid.Data = b.Known.Items[:known], b.Avoid.Data[:avoid]
		b.Quarantine(i, pipeline.Panicked)
	}
	return err
}

func (w *worker) note(b *pipeline.Batch, i int) (err error) {
	first := len(b.Known.Items)
	defer func() {
		slices.SortStableFunc(b.Known.Items[first:], pipeline.ByStart)
	}()
	w.fields(b, i)
	w.given(b, i)
	if w.finder == nil {
		return nil
	}
	text, from := b.Seen(i)
	language := pipeline.UnknownLanguage
	if i < len(b.Language) {
		language = b.Language[i]
	}
	if w.found, err = w.finder.Find(w.found[:0], w.id, text, language); err != nil {
		return err
	}
	w.finder.Words(w.add)
	w.spans = w.spans[:0]
	for _, f := range w.found {
		if c := w.categories.of(f); c != pipeline.None {
			w.spans = append(w.spans, pipeline.Span{Start: f.Start, End: f.End, Score: 1, Category: c, Source: pipeline.FromKnown})
		}
	}
	b.Known.Items = append(b.Known.Items, view.BackSpans(from, w.spans)...)
	return nil
}

// given adds the spans that came with note i as known persons. If the label set has no category for one, the note is
// quarantined: its text would leave unmasked otherwise.
func (w *worker) given(b *pipeline.Batch, i int) {
	if b.Given.Len() == 0 {
		return
	}
	for _, s := range b.Given.At(i) {
		if s.Category = w.Into(s.Category); s.Category == pipeline.None {
			b.Quarantine(i, pipeline.BadTags)
		}
		s.Source = pipeline.FromKnown
		b.Known.Items = append(b.Known.Items, s)
	}
}

// fields adds what the document of note i gives to persons, wherever it stands in it.
func (w *worker) fields(b *pipeline.Batch, i int) {
	var doc []byte
	o := w.Document
	if w.source != nil {
		doc = w.source.Bytes.At(i)
	} else if w.Source != "" && b.Cells.Len() > 0 {
		doc, o.UTF8 = b.Cells.At(i), true
	}
	if len(doc) == 0 {
		return
	}
	d, reason := document.Open(doc, o)
	b.Quarantine(i, reason)
	if len(w.id) == 0 {
		w.id = patientid.AppendText(w.id, d.Patient)
	}
	for _, f := range d.Fields {
		b.Known.Items = append(b.Known.Items, pipeline.Span{Start: int32(f.Start), End: int32(f.End), Score: 1,
			Category: w.categories.field(f.Kind), Source: pipeline.FromKnown})
	}
}

func (w *worker) avoid(word []byte) {
	w.batch.Avoid.Data = append(append(w.batch.Avoid.Data, word...), ' ')
}

// categories holds the category that the label set has for each kind of find.
type categories struct {
	name  [3]pipeline.Category // by role
	id    [3]pipeline.Category
	birth pipeline.Category
	place pipeline.Category
	phone pipeline.Category
}

func (c *categories) of(f people.Found) pipeline.Category {
	switch f.Kind {
	case people.PersonName:
		return c.name[f.Role]
	case people.BirthDate:
		return c.birth
	case people.Place:
		return c.place
	case people.PhoneNumber:
		return c.phone
	}
	return c.id[f.Role]
}

// field is the category of a field of a document.
func (c *categories) field(kind document.Kind) pipeline.Category {
	switch kind {
	case document.PatientName:
		return c.name[people.IsPatient]
	case document.RelativeName:
		return c.name[people.IsRelative]
	case document.StaffName:
		return c.name[people.IsStaff]
	case document.Address:
		return c.place
	case document.Phone:
		return c.phone
	case document.StaffID:
		return c.id[people.IsStaff]
	case document.Date, document.EventDate:
		return c.birth
	}
	return c.id[people.IsPatient]
}

// categoriesOf chooses for each kind of find the first of some names that the label set has.
func categoriesOf(set *pipeline.LabelSet) (c categories) {
	c.name = [3]pipeline.Category{
		set.First("PERSON", "NOMBRE_SUJETO_ASISTENCIA", "PATIENT", "PER", "NAME"),
		set.First("PERSON", "FAMILIARES_SUJETO_ASISTENCIA", "PATIENT", "PER", "NAME"),
		set.First("PERSON", "NOMBRE_PERSONAL_SANITARIO", "DOCTOR", "PER", "NAME"),
	}
	patient := set.First("DNI", "ID_SUJETO_ASISTENCIA", "MEDICALRECORD", "IDNUM", "ID", "MISC", "PHI")
	c.id = [3]pipeline.Category{patient, patient, set.First("DNI", "ID_TITULACION_PERSONAL_SANITARIO", "LICENSE", "ID", "MISC", "PHI")}
	c.birth = set.First("DATE", "FECHAS", "MISC", "PHI")
	c.place = set.First("LOCATION", "CALLE", "STREET", "LOC", "GEOGRAPHIC", "MISC", "PHI")
	c.phone = set.First("TELEPHONE", "NUMERO_TELEFONO", "PHONE", "MISC", "PHI")
	return c
}

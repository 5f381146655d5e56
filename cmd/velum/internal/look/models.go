// Package look implements verbs that describe something: the machine (`velum check machine`), compiled name lists
// (`velum teach gazetteer`), models and word vectors (`velum model list`, `inspect`). It also compiles lists and
// promotes models (`promote`, `rollback`). It reads paths, and prints tables or JSON.
package look

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/promote"
)

// ModelsOptions names a folder of promoted models, and a model to promote.
type ModelsOptions struct {
	Models, File string
	Force        bool // promote it even if it masks less
}

// Rollback puts the previously promoted model of a folder into use again.
func Rollback(_ context.Context, c *console.Console, o *ModelsOptions) error {
	back, err := (&promote.Folder{Dir: o.Models}).Rollback()
	if err != nil {
		return flow.ModelFolderError(err)
	}
	return promotedTo(c, o.Models, "rollback", back.SHA256)
}

// Promote puts a model file or an embedded model into use in a folder. Unless forced, it refuses a model whose masking
// recall is lower than that of the model in use, or was not measured while that of the model in use was.
func Promote(_ context.Context, c *console.Console, cfg *option.Config, o *ModelsOptions) error {
	data, err := flow.ModelData(o.File)
	if err != nil {
		return err
	}
	if _, err := flow.ParseModel(o.File, data, cfg); err != nil {
		return err
	}
	if !o.Force {
		if err := gateModel(o.Models, data); err != nil {
			return err
		}
	}
	folder := promote.Folder{Dir: o.Models}
	done, err := folder.Promote(data, time.Now())
	if err != nil {
		return err
	}
	if !done {
		return exit.Errorf(exit.Nothing, "", "nothing to do: that model is in use already")
	}
	return promotedTo(c, o.Models, "promote", fmt.Sprintf("%x", sha256.Sum256(data)))
}

// gateScore is the measure that must not be lower in a promoted model than in its predecessor, because masking recall
// matters most.
const gateScore = "masked_entities_recall"

// gateModel refuses a model that would mask less than the one in use.
func gateModel(dir string, data []byte) error {
	old, err := flow.PromotedModel(dir)
	if errors.Is(err, promote.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	was, known := describeModel(old).Scores[gateScore]
	now, measured := describeModel(data).Scores[gateScore]
	switch {
	case known && !measured:
		return exit.Errorf(exit.Privacy, "train it with --dev, or --force it",
			"the masking recall of this model was not measured; that of the one in use is %.4f", was)
	case known && now < was:
		return exit.Errorf(exit.Privacy, "train it further, or --force it",
			"the masking recall of this model is %.4f, that of the one in use %.4f", now, was)
	}
	return nil
}

// promotedTo records in the audit log of the folder which model is now in use, and prints it.
func promotedTo(c *console.Console, dir, event, sum string) error {
	_, err := audit.Append(audit.LogIn(dir), audit.Entry{Event: event, Model: sum})
	if err != nil {
		return fmt.Errorf("model %.12s is in use, but the audit log does not say so: %w", sum, err)
	}
	return c.Tell(map[string]string{"message_type": event, "models": dir, "model_sha256": sum},
		"{{.models}}: model {{printf `%.12s` .model_sha256}} is in use\n")
}

// modelInfo is the line of a model in the list.
type modelInfo struct {
	Name       string             `json:"name"` // to use with --model
	Kind       string             `json:"kind,omitempty"`
	Categories []string           `json:"categories,omitempty"`
	Scores     map[string]float64 `json:"scores,omitempty"`
	SHA256     string             `json:"sha256"`
	Bytes      int                `json:"bytes"`
	Embedded   bool               `json:"embedded"`
	State      string             `json:"state,omitempty"` // of a folder: in use, before, or empty
	Since      *time.Time         `json:"since,omitempty"` // when it came into use
	Damage     string             `json:"damage,omitempty"`
}

// describeModel reads the fields that the header of every kind of model has.
func describeModel(data []byte) modelInfo {
	info := modelInfo{SHA256: fmt.Sprintf("%x", sha256.Sum256(data)), Bytes: len(data)}
	info.describe(modelfile.Parse(data))
	return info
}

// describe adds the fields of the header of an opened file.
func (m *modelInfo) describe(f *modelfile.File, err error) {
	if err == nil && json.Unmarshal(f.RawHeader(), &struct {
		Kind       *string
		Categories *[]string
		Scores     *map[string]float64
	}{&m.Kind, &m.Categories, &m.Scores}) != nil {
		err = errors.New("header of another shape")
	}
	if err != nil {
		m.Damage = err.Error()
	}
}

// Models prints the embedded models, and the models of a folder if one is named.
func Models(_ context.Context, c *console.Console, o *ModelsOptions) error {
	all, err := listModels(o.Models)
	if err != nil {
		return err
	}
	return c.Tell(map[string]any{"message_type": "models", "models": all}, modelsText)
}

// listModels describes the embedded models and those of a folder.
func listModels(dir string) ([]modelInfo, error) {
	var all []modelInfo
	for _, name := range embedded.Names() {
		f, err := embedded.Open(name)
		info := modelInfo{Name: name, SHA256: fmt.Sprintf("%x", embedded.Digest(name)), Bytes: embedded.Size(name), Embedded: true}
		info.describe(f, err)
		all = append(all, info)
	}
	if dir == "" {
		return all, nil
	}
	promoted, err := listPromoted(dir)
	return append(all, promoted...), err
}

func listPromoted(dir string) ([]modelInfo, error) {
	folder := promote.Folder{Dir: dir}
	names, err := folder.Files()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Misconfigured(err, "name the folder of promoted models")
	}
	if err != nil {
		return nil, err
	}
	history, err := folder.History()
	if err != nil && !errors.Is(err, promote.ErrNone) {
		return nil, err
	}
	var all []modelInfo
	for _, name := range names {
		data, err := folder.Read(name)
		if err != nil {
			return nil, err
		}
		info := describeModel(data)
		info.Name = filepath.Join(dir, name)
		info.setState(name, history)
		all = append(all, info)
	}
	return all, nil
}

// setState sets whether a model of a folder is or was in use, and since when.
func (m *modelInfo) setState(name string, history []promote.Promotion) {
	for i, p := range history {
		if p.File != name {
			continue
		}
		m.State = "before"
		if !p.Time.IsZero() { // learning says none
			m.Since = &p.Time
		}
		if i == len(history)-1 {
			m.State = "in use"
		}
	}
	if !strings.HasPrefix(m.SHA256, strings.TrimSuffix(name, filepath.Ext(name))) {
		m.Damage = "is not the model that was promoted"
	}
}

const modelsText = `MODEL	KIND	MB	SPAN F1	MASKING RECALL	SHA-256	STATE	LABELS
{{range .models}}{{.name}}	{{or .kind "?"}}	{{times 1e-6 .bytes | figure "%.1f"}}	{{with .scores}}{{template "score" .span_f1}}	{{template "score" .masked_entities_recall}}{{else}}-	-{{end}}	{{printf "%.12s" .sha256}}	{{template "state" .}}	{{template "labels" .categories}}
{{end}}{{define "state"}}{{if .damage}}damaged{{else if .embedded}}embedded{{else}}{{or .state "-"}}{{end}}{{end -}}
{{define "labels"}}{{with .}}{{$few := .}}{{if gt (len .) 4}}{{$few = slice . 0 3}}{{end}}{{range $i, $name := $few}}{{if $i}} {{end}}{{.}}{{end}}{{if gt (len .) 4}} and {{len (slice . 3)}} more{{end}}{{end}}{{end -}}
{{define "score"}}{{if .}}{{figure "%.3f" .}}{{else}}-{{end}}{{end}}`

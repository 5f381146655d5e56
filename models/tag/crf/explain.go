package crf

import (
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// Reasons returns the weights of an attribute for all tags, none if the model
// does not know it. It parses the attribute's name: it is for `velum inspect`,
// not for tagging.
func (m *Model) Reasons(a features.Attribute) []tagger.Reason {
	group, offset, value, ok := splitAttribute(a.Name)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(m.template.Groups, func(g features.Group) bool { return g.Name == group })
	if i < 0 || offset > m.template.Groups[i].Hi || offset < m.template.Groups[i].Lo {
		return nil
	}
	row := m.template.Groups[i].Hi - offset
	var out []tagger.Reason
	slots, weights := m.find(features.Key(group, value))
	for k, s := range slots {
		if int(s)/m.stride == row {
			out = append(out, tagger.Reason{Attribute: a.Name, Tag: pipeline.Tag(int(s) % m.stride), Weight: weights[k] * a.Value})
		}
	}
	return out
}

// splitAttribute takes "word[-1]=calle" apart.
func splitAttribute(name string) (group string, offset int, value string, ok bool) {
	group, rest, ok1 := strings.Cut(name, "[")
	at, value, ok2 := strings.Cut(rest, "]=")
	offset, err := strconv.Atoi(at)
	return group, offset, value, ok1 && ok2 && err == nil
}

// Describe lists the attributes of a note's tokens, see features.Describe.
func (m *Model) Describe(text []byte, tokens []pipeline.Token, matches []pipeline.Match) [][][]features.Attribute {
	return features.Describe(m.template, m.res, text, tokens, matches)
}

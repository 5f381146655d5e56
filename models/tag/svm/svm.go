// Package svm is the linear support vector machine, one against the rest, that tags each
// token by itself (VIGI §4.2).
//
//	in:  tagged notes, a feature template
//	out: a model that is scored as a CRF is
//
//	f_y(x)   = w_y·x, its w_y the minimum of ½‖w‖² + Σ_i C_i ξ(1 - ±w·x_i)
//	z_y(x)   = log P_y/(1-P_y) = -(A_y f_y(x) + B_y)        Platt, on notes that were held out
//	P(y|x)   = e^(τ z_y) / Σ_y' e^(τ z_y')
//
// with ξ the hinge max(0, ·) or its square. The features are those of the CRF, so the
// context of a token is in its window and not in the tags beside it.
//
// Sigmoids and temperature are linear in logarithms: they are multiplied into the
// weights, and a model is one of package crf whose scores between tags are 0 where a
// span may be written so, and Forbidden elsewhere. So Viterbi over log P(y|x) makes
// the tags legal, the recall dial, marginals and cascades are those of the CRF, and
// what its features add up to explains a tag.
package svm

import (
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/features"
)

// Kind is what a model file of this package says it is.
const Kind = "svm"

// Load takes a model out of an opened file, as crf.Load does.
func Load(f *modelfile.File, r features.Resources) (*crf.Model, error) {
	return crf.LoadKind(Kind, f, r)
}

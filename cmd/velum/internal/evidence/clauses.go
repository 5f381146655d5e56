package evidence

import "slices"

// clauses are what a dossier is held against: the anchor, its clause, the words of what it
// asks for ("ev q ...") and the facts that answer it. All must be answered. A number
// stands where the text has one; guidance without numbers is called by its subject.
// Whether something is answered is reckoned from the facts that are there, and from
// nothing else.
var clauses = []struct {
	anchor, clause, asks string
	facts                []string
}{
	{iso, "6.2.2", "security", []string{"environment", "contract"}},
	{iso, "6.2.3", "motives", []string{"recipients", "recipient_means"}},
	{iso, "6.3.2", "transparency", []string{"transparency", "contact"}},
	{iso, "6.3.3", "harms", []string{"harms"}},
	{iso, "7.2.2", "principals", []string{"data_subjects", "patients"}},
	{iso, "7.2.3", "data type", []string{"notes_read", "input_files", "languages"}},
	{iso, "7.2.4", "attributes", []string{"categories", "columns"}},
	{iso, "7.2.5", "properties", []string{"notes_read", "unread", "duplicates"}},
	{iso, "7.3.2", "maximum", []string{"per_note", "per_patient"}},
	{iso, "7.3.3", "population", []string{"linkage"}},
	{iso, "7.3.4", "privacy model", []string{"k", "operators"}},
	{iso, "8.2.2", "quantified", []string{"expected", "bound"}},
	{iso, "8.2.3", "adversary", []string{"attacks", "attacks_power"}},
	{iso, "8.3.2", "reconfigured", []string{"environment", "contract"}},
	{iso, "8.3.3", "transformed", []string{"policy", "operators"}},
	{iso, "8.3.4", "re-evaluated", []string{"bound", "current", "review"}},
	{iso, "9.2.2", "roles", []string{"controller", "roles"}},
	{iso, "9.2.3", "procedures", []string{"procedures"}},
	{iso, "9.2.4", "disclosures", []string{"releases", "recipients"}},
	{iso, "9.2.5", "stakeholders", []string{"contact", "transparency"}},
	{iso, "9.3.2", "monitored", []string{"monitoring", "months"}},
	{iso, "9.4", "incidents", []string{"incident_plan", "known_incidents", "failed_runs"}},
	{iso, "B.1", "uniques", []string{"groups", "smallest"}},
	{iso, "B.2", "groups", []string{"k", "groups"}},

	{edpb, "", "domain", []string{"recipients", "recipient_means", "environment"}},
	{edpb, "", "objective", []string{"purpose", "legal_basis"}},
	{edpb, "", "transformation", []string{"operators", "key_id"}},
	{edpb, "", "apart", []string{"key_custody"}},
	{edpb, "", "quasi", []string{"columns", "linkage"}},
	{edpb, "", "third parties", []string{"recipients", "contract"}},
	{edpb, "", "rights", []string{"objections", "absent", "erasures"}},
	{edpb, "", "reversal", []string{"incident_plan"}},
	{edpb26, "", "each actor", []string{"recipients", "recipient_means"}},

	{cjeu, "", "recipient view", []string{"recipient_means", "environment", "contract"}},
	{cjeu, "", "controller view", []string{"key_custody", "controller"}},
	{cjeu, "", "informed", []string{"recipients", "transparency"}},

	{ico, "", "intruder", []string{"attacks", "attacks_power"}},
	{ico, "", "singling", []string{"groups", "bound"}},
	{ico, "", "linkability", []string{"linkage", "comparable"}},
	{ico, "", "means", []string{"recipient_means"}},
	{ico, "", "governance", []string{"roles", "review"}},

	{ehds, "66(1)", "necessary", []string{"purpose", "minimisation"}},
	{ehds, "66(2)", "anonymised", []string{"form", "operators"}},
	{ehds, "66(3)", "reverse", []string{"form", "key_custody"}},

	{aepd, "", "quasi", []string{"columns"}},
	{aepd, "", "k", []string{"k", "smallest"}},
	{aepd, "", "generalized", []string{"columns", "suppressed"}},
	{aepd, "", "distortion", []string{"suppressed", "words_lost"}},

	{nist, "", "goals", []string{"purpose", "data_subjects"}},
	{nist, "", "release risk", []string{"expected", "bound", "harms"}},
	{nist, "", "life cycle", []string{"retention", "erasures"}},
	{nist, "", "sharing model", []string{"environment", "contract"}},
	{nist, "", "board", []string{"roles"}},
	{nist, "", "performance", []string{"bound", "measured"}},
	{nist, "", "study", []string{"attacks_power"}},
	{nist, "", "validated", []string{"checked", "bound", "current"}},

	{hipaa, "(b)(1)(i)", "very small", []string{"bound", "attacks_power", "recipient_means"}},
	{hipaa, "(b)(1)(ii)", "methods", []string{"operators", "config_sha256", "model", "bound"}},
	{hipaa, "(b)(2)(i)", "eighteen", []string{"safe_harbor"}},
	{hipaa, "(b)(2)(ii)", "actual knowledge", []string{"actual_knowledge"}},
	{hipaa, "(c)", "codes", []string{"ids", "key_custody"}},

	{card, "", "details", []string{"model", "program"}},
	{card, "", "use", []string{"model_use"}},
	{card, "", "factors", []string{"languages", "unlike"}},
	{card, "", "metrics", []string{"measured", "dial"}},
	{card, "", "evaluation", []string{"measured_on"}},
	{card, "", "training", []string{"trained_on"}},
	{card, "", "quantitative", []string{"scores", "measured"}},
	{card, "", "ethics", []string{"ethics"}},
	{card, "", "caveats", []string{"unlike", "calibration"}},

	{sheet, "", "context", []string{"readers"}},
	{sheet, "", "scope", []string{"sample", "bound"}},
	{sheet, "", "structure", []string{"sample", "read"}},
	{sheet, "", "method", []string{"bound", "readers"}},
	{sheet, "", "alignment", []string{"kappa", "current"}},
}

const (
	iso    = "ISO/IEC 27559:2022"
	edpb   = "EDPB 01/2025"
	edpb26 = "EDPB 2026-02"
	cjeu   = "CJEU C-413/23 P"
	ico    = "ICO 2025"
	ehds   = "EHDS (EU) 2025/327"
	aepd   = "AEPD k-anonymity"
	nist   = "NIST SP 800-188"
	hipaa  = "HIPAA 164.514"
	card   = "Model card"
	sheet  = "Eval Factsheet"
)

// clausesOf says which clauses are answered by these answers.
func clausesOf(answers map[string]*Fact) (all []Clause) {
	for _, c := range clauses {
		k := Clause{Anchor: c.anchor, Clause: c.clause, Asks: c.asks}
		for _, f := range c.facts {
			if answers[f] == nil {
				k.Missing = append(k.Missing, f)
			} else {
				k.At = append(k.At, f)
			}
		}
		all = append(all, k)
	}
	return all
}

// sectionOf is the section with a fact.
func sectionOf(fact string) string {
	for _, s := range asked {
		if slices.ContainsFunc(s.facts, func(f [2]string) bool { return f[0] == fact }) {
			return s.section
		}
	}
	return ""
}

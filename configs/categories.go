package configs

// Schemes returns the label sets that categories.yaml relates to each other.
func Schemes() []string {
	return []string{"meddocan", "i2b2", "hipaa", "primary-care", "pattern", "names"}
}

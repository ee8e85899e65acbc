package policy

import "fmt"

// RuleError is what is wrong with a rule. The text names the rule, so that it is understood
// where the file is not at hand: by its name, or by its number where it has none.
type RuleError struct {
	Number int // among all rules, from 1
	Name   string
	Err    error
}

// Error implements error.
func (e *RuleError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("rule %d: %s", e.Number, e.Err)
	}
	return fmt.Sprintf("rule %q: %s", e.Name, e.Err)
}

// Unwrap implements errors.
func (e *RuleError) Unwrap() error { return e.Err }

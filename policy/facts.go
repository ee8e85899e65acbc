package policy

import (
	"reflect"
	"regexp"
	"strings"
)

// Facts are what rules can ask of a call that its audit record does not have. Who puts
// recorded calls to rules has to do without them.
type Facts struct {
	Claims   bool // of tokens
	Message  bool // what the call brings
	Skill    bool // what the call is for, where it was not found
	Task     bool // whose task the call is about, and since when
	Expiry   bool // when the credential ends
	Workload bool // what is more of the workload than its name
}

// words are how expressions come to facts. A word in another place counts as well, which
// is too often at worst.
var words = struct{ claims, message, skill, task, expiry, workload *regexp.Regexp }{
	claims:   regexp.MustCompile(`\bclaims\b|\bprincipal\s*([^.\s]|$)`),
	message:  regexp.MustCompile(`\bmessage\b`),
	skill:    regexp.MustCompile(`\bskill\b`),
	task:     regexp.MustCompile(`\btask\b`),
	expiry:   regexp.MustCompile(`\bexpires\b|\bprincipal\s*([^.\s]|$)`),
	workload: regexp.MustCompile(`\bworkload\b`),
}

// factsOf are the facts that an expression looks at.
func factsOf(text string) Facts {
	return Facts{
		Claims: words.claims.MatchString(text), Message: words.message.MatchString(text),
		Skill: words.skill.MatchString(text), Task: words.task.MatchString(text),
		Expiry: words.expiry.MatchString(text), Workload: words.workload.MatchString(text),
	}
}

// Or are the facts that are in f or in other.
func (f Facts) Or(other Facts) Facts {
	return Facts{
		Claims: f.Claims || other.Claims, Message: f.Message || other.Message, Skill: f.Skill || other.Skill,
		Task: f.Task || other.Task, Expiry: f.Expiry || other.Expiry, Workload: f.Workload || other.Workload,
	}
}

// And are the facts that are in f and in other.
func (f Facts) And(other Facts) Facts {
	return Facts{
		Claims: f.Claims && other.Claims, Message: f.Message && other.Message, Skill: f.Skill && other.Skill,
		Task: f.Task && other.Task, Expiry: f.Expiry && other.Expiry, Workload: f.Workload && other.Workload,
	}
}

// Any reports whether there is one.
func (f Facts) Any() bool { return f != Facts{} }

// String lists them, for people.
func (f Facts) String() string {
	var names []string
	for _, fact := range []struct {
		is   bool
		name string
	}{
		{f.Claims, "claims"}, {f.Message, "message"}, {f.Skill, "skill"}, {f.Task, "task"},
		{f.Expiry, "expiry of the credential"}, {f.Workload, "workload"},
	} {
		if fact.is {
			names = append(names, fact.name)
		}
	}
	return strings.Join(names, ", ")
}

// Asks are the facts that the conditions of the rule ask.
func (r *Rule) Asks() Facts {
	var f Facts
	for _, d := range conditions {
		if d.asks != nil {
			f = f.Or(d.asks(r))
		}
	}
	return f
}

// Without is the rule with no conditions on facts: it matches whenever the rule might.
func (r *Rule) Without(f Facts) Rule {
	// A copy: rules are shared by all who ask about them.
	lax := *r
	for _, d := range conditions {
		if d.asks != nil && d.asks(r).And(f).Any() {
			d.field(&lax).SetZero()
		}
	}
	return lax
}

// field is what the configuration of a rule says of the condition.
func (d *condition) field(r *Rule) reflect.Value {
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") == d.key {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

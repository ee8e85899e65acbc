package verdict

import (
	"fmt"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

// The verdicts.
const (
	Allowed = "allowed"
	Denied  = "denied"  // by the rules
	Refused = "refused" // for something else
)

// Explanation says what becomes of a call, and why, as `explain --output json` has it.
//
// Verdict, Rule and Reason are the answer; what follows says what would change it, what it depends
// on, and how it came about, in the order in which a gateway asks. Members that a call does not
// get as far as are left out, not empty.
type Explanation struct {
	// Error is the reason of an error as ErrorInfo carries it, such as
	// TASK_NOT_FOUND.
	Verdict string `json:"verdict"`
	Rule    string `json:"rule"`             // that decided, or default, credential, undeclared
	Reason  string `json:"reason,omitempty"` // of a verdict that is not allowed
	Error   string `json:"error,omitempty"`  // what the caller is told, by its reason in docs/errors.md

	MissingScopes []string    `json:"missingScopes,omitempty"`
	StepUp        *SignIn     `json:"stepUp,omitempty"`  // the sign-in that is missing
	Consent       []string    `json:"consent,omitempty"` // asked for by the rules that allow, and found
	Visible       bool        `json:"visible"`           // the caller may learn that the agent exists
	Shadow        []string    `json:"shadow,omitempty"`
	Skills        []string    `json:"skills,omitempty"`  // that the call is allowed for, where one is enough
	Faults        []string    `json:"faults,omitempty"`  // expressions that could not be evaluated, and why
	Sharing       string      `json:"sharing,omitempty"` // entry of policy.tasks.sharing that lets at the task
	Modes         []string    `json:"modes,omitempty"`   // media types that the skill does not take
	Files         []FileFault `json:"files,omitempty"`   // what is wrong with files of the message

	Agent  string        `json:"agent"`
	Method string        `json:"method"`
	Call   Circumstances `json:"call"`
	Caller Caller        `json:"caller"`
	Skill  Skill         `json:"skill"`

	Course
}

// Course is how an explanation came about: what the gateway asked, in its order, and what it was
// told. Its members are those of the explanation.
type Course struct {
	Rules       []Step      `json:"rules,omitempty"`       // in the order of the file; none where none was asked
	Limits      []Allowance `json:"limits,omitempty"`      // none where the call does not get that far
	Approvals   []Awaited   `json:"approvals,omitempty"`   // people who have to agree before the call is sent
	Authorizers []string    `json:"authorizers,omitempty"` // that the call concerns
	Asked       *Asked      `json:"asked,omitempty"`       // with --ask
	Guards      []string    `json:"guards,omitempty"`      // that look at the call or its answers

	Findings   []GuardFinding `json:"findings,omitempty"`   // of guards, in the message
	Extensions []ext.Account  `json:"extensions,omitempty"` // none where the call does not get that far
	Activation *Activation    `json:"activation,omitempty"`
	Notes      []string       `json:"notes,omitempty"`
}

// Awaited is what a rule with effect approve asks for.
type Awaited struct {
	Rule string `json:"rule"`
	Asks string `json:"asks"` // who has to agree, until when, and for which later calls it counts, in words
}

// Circumstances are how the call comes.
// Binding and Version are always there, the others where they were said.
type Circumstances struct {
	Binding string `json:"binding"`
	Version string `json:"version"`
	Source  string `json:"source,omitempty"`
	At      string `json:"at,omitempty"` // RFC 3339, where it is not now
	Task    string `json:"task,omitempty"`
}

// Skill is what the call is for.
// Why says who named it, or what is judged in its place.
type Skill struct {
	ID  string `json:"id,omitempty"`
	Why string `json:"why"`
}

// Step is what one rule had to say about the call (policy.Set.Trace).
// Failed is the key of the first condition that does not hold, as groups or content.mediaTypes.
type Step struct {
	Rule    string `json:"rule"`
	Effect  string `json:"effect"`
	Shadow  bool   `json:"shadow,omitempty"`
	Matches bool   `json:"matches"`
	Failed  string `json:"failed,omitempty"`

	Skills []string `json:"skills,omitempty"` // that it is about, of several that the call may be for
}

// Allowance is a limits.Applies.
// It says how much there is, not how much is left: that depends on the calls of the moment.
type Allowance struct {
	Limit  string `json:"limit"`
	Shadow bool   `json:"shadow,omitempty"`
	What   string `json:"what"`
	Units  int64  `json:"units"`
	Window string `json:"window,omitempty"` // as in the configuration
	Burst  int64  `json:"burst,omitempty"`
	Cost   *int64 `json:"cost,omitempty"` // of rate and quota
	Key    string `json:"key,omitempty"`
}

// Asked is what authorizers said.
// Notes are those of the audit record: failures that were passed over, and what shadow authorizers
// said.
type Asked struct {
	Allowed bool     `json:"allowed"`
	Notes   []string `json:"notes,omitempty"`
}

// Activation is what becomes of the extensions that the call asks for.
// All lists are of URIs. Sent are active at the agent, Visible are shown in answers; Ignored are
// extensions that nobody there knows, and Missing those without which the call is refused.
type Activation struct {
	Asked    []string `json:"asked,omitempty"`
	Sent     []string `json:"sent,omitempty"`
	Visible  []string `json:"visible,omitempty"`
	Injected []string `json:"injected,omitempty"`
	Provided []string `json:"provided,omitempty"`
	Required []string `json:"required,omitempty"`
	Refused  []string `json:"refused,omitempty"`
	Ignored  []string `json:"ignored,omitempty"`
	Missing  []string `json:"missing,omitempty"`
	Shadow   []string `json:"shadow,omitempty"`
}

// FileFault is something that is wrong with a file of the message.
// Text does not quote the file or its name.
type FileFault struct {
	Pointer string `json:"pointer"` // RFC 6901, into the call as one of 1.0 over JSON-RPC
	Fault   string `json:"fault"`   // as in records
	Text    string `json:"text"`
	Becomes string `json:"becomes"` // refused, stripped or recorded
}

// String is for people.
func (f *FileFault) String() string { return f.Pointer + ": " + f.Text + " (" + f.Becomes + ")" }

// GuardFinding is what a guard finds in the message: never the text.
type GuardFinding struct {
	Guard   string `json:"guard"`
	Kind    string `json:"kind"`
	Part    int    `json:"part"` // index of the part; -1 for none
	Count   int    `json:"count"`
	Becomes string `json:"becomes"` // refused, redacted or recorded
}

// String is for people.
func (f *GuardFinding) String() string {
	text := f.Guard + ": " + f.Kind
	if f.Count > 1 {
		text += fmt.Sprintf(" × %d", f.Count)
	}
	if f.Part >= 0 {
		text += fmt.Sprintf(" in part %d", f.Part)
	}
	return text + " (" + f.Becomes + ")"
}

// String is for people: what is not as it is in most calls; "" for nothing.
func (c *Circumstances) String() string {
	text := ""
	if c.Binding != "JSONRPC" || c.Version != "1.0" {
		text = c.Binding + " " + c.Version
	}
	for _, more := range []struct{ what, value string }{{"from", c.Source}, {"at", c.At}, {"on task", c.Task}} {
		if more.value != "" {
			text += " " + more.what + " " + more.value
		}
	}
	return strings.TrimSpace(text)
}

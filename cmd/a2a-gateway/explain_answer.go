package main

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

// The verdicts.
const (
	allowed = "allowed"
	denied  = "denied"  // by the rules
	refused = "refused" // for something else
)

// explanation is the answer, as `--output json` has it.
type explanation struct {
	Verdict string `json:"verdict"`
	Rule    string `json:"rule"`             // that decided, or default, credential, undeclared
	Reason  string `json:"reason,omitempty"` // of a verdict that is not allowed
	Error   string `json:"error,omitempty"`  // what the caller is told, by its reason in docs/errors.md

	MissingScopes []string    `json:"missingScopes,omitempty"`
	StepUp        *signIn     `json:"stepUp,omitempty"`  // the sign-in that is missing
	Consent       []string    `json:"consent,omitempty"` // asked for by the rules that allow, and found
	Visible       bool        `json:"visible"`           // the caller may learn that the agent exists
	Shadow        []string    `json:"shadow,omitempty"`
	Skills        []string    `json:"skills,omitempty"`  // that the call is allowed for, where one is enough
	Faults        []string    `json:"faults,omitempty"`  // expressions that could not be evaluated, and why
	Sharing       string      `json:"sharing,omitempty"` // entry of policy.tasks.sharing that lets at the task
	Modes         []string    `json:"modes,omitempty"`   // media types that the skill does not take
	Files         []fileFault `json:"files,omitempty"`   // what is wrong with files of the message

	Agent  string        `json:"agent"`
	Method string        `json:"method"`
	Call   circumstances `json:"call"`
	Caller caller        `json:"caller"`
	Skill  skill         `json:"skill"`

	Rules       []step        `json:"rules,omitempty"`       // in the order of the file; none where none was asked
	Limits      []allowance   `json:"limits,omitempty"`      // none where the call does not get that far
	Authorizers []string      `json:"authorizers,omitempty"` // that the call concerns
	Asked       *asked        `json:"asked,omitempty"`       // with --ask
	Extensions  []ext.Account `json:"extensions,omitempty"`  // none where the call does not get that far
	Activation  *activation   `json:"activation,omitempty"`
	Notes       []string      `json:"notes,omitempty"`
}

// circumstances are how the call comes.
type circumstances struct {
	Binding string `json:"binding"`
	Version string `json:"version"`
	Source  string `json:"source,omitempty"`
	At      string `json:"at,omitempty"` // RFC 3339, where it is not now
	Task    string `json:"task,omitempty"`
}

type skill struct {
	ID  string `json:"id,omitempty"`
	Why string `json:"why"`
}

// step is a policy.Step.
type step struct {
	Rule    string `json:"rule"`
	Effect  string `json:"effect"`
	Shadow  bool   `json:"shadow,omitempty"`
	Matches bool   `json:"matches"`
	Failed  string `json:"failed,omitempty"`

	Skills []string `json:"skills,omitempty"` // that it is about, of several that the call may be for
}

// allowance is a limits.Applies.
type allowance struct {
	Limit  string `json:"limit"`
	Shadow bool   `json:"shadow,omitempty"`
	What   string `json:"what"`
	Units  int64  `json:"units"`
	Window string `json:"window,omitempty"` // as in the configuration
	Burst  int64  `json:"burst,omitempty"`
	Cost   *int64 `json:"cost,omitempty"` // of rate and quota
	Key    string `json:"key,omitempty"`
}

// asked is what authorizers said.
type asked struct {
	Allowed bool     `json:"allowed"`
	Notes   []string `json:"notes,omitempty"`
}

// activation is what becomes of the extensions that the call asks for.
type activation struct {
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

func newExplanation(c *compiled, q *inquiry) *explanation {
	e := &explanation{
		Verdict: allowed, Agent: q.agent.ID, Method: q.method.Name, Visible: c.rules.Sees(q.caller, q.agent.ID),
		Call:   circumstances{Binding: q.binding.String(), Version: string(q.version)},
		Caller: newCaller(q.caller),
	}
	if q.source.IsValid() {
		e.Call.Source = q.source.String()
	}
	if q.dated {
		e.Call.At = q.now.Format(time.RFC3339)
	}
	if q.task != nil {
		e.Call.Task = q.task.ID
	}
	return e
}

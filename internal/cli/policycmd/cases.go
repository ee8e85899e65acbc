package policycmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// caseFile is a file with cases.
//
//	defaults: {agent: billing, caller: {subject: alice, issuer: https://idp.example}}
//	cases:
//	  - name: refunds need the scope
//	    skill: refund
//	    want: {decision: deny, scopes: [refund]}
type caseFile struct {
	// Defaults stand in for what a case leaves out.
	Defaults caseCall `yaml:"defaults"`
	// Cases in the order in which they are run.
	Cases []testCase `yaml:"cases"`
}

// testCase is one call, and what is wanted of it.
type testCase struct {
	// Name stands in reports and is what --run matches; without one the case is "case N".
	Name string   `yaml:"name"`
	Call caseCall `yaml:",inline"`
	// Skill is the one that the path names.
	Skill string `yaml:"skill"`
	// Extensions are URIs that the call asks for, Message is JSON of a message or of the params
	// around one, and Task is what is recorded of the task that the call names.
	Extensions []string    `yaml:"extensions"`
	Message    secret.JSON `yaml:"message"`
	Task       *caseTask   `yaml:"task"`
	Want       want        `yaml:"want"`
}

// caseCall is who calls whom, and how.
type caseCall struct {
	// Exactly one of Caller and Anonymous is given, in the case or in the defaults: a case that
	// forgets its caller would otherwise be tested as somebody without a credential, and pass for
	// the wrong reason.
	Caller    *caseCaller `yaml:"caller"`
	Anonymous bool        `yaml:"anonymous"`
	Agent     string      `yaml:"agent"`
	Method    string      `yaml:"method"`
	Binding   string      `yaml:"binding"`
	Version   string      `yaml:"version"`
	// Source is an IP address and At a moment in RFC 3339; without At the call is made now.
	Source string `yaml:"source"`
	At     string `yaml:"at"`
	// Card is a file with the agent's card, relative to this one.
	Card string `yaml:"card"`
}

// caseCaller is what a credential says.
// Its keys are those of the question that the administration API takes (verdict.Claimed), with
// YAML for JSON.
type caseCaller struct {
	Subject  string                 `yaml:"subject"`
	Issuer   string                 `yaml:"issuer"`
	Client   string                 `yaml:"client"`
	Workload string                 `yaml:"workload"`
	Tenant   string                 `yaml:"tenant"`
	Groups   []string               `yaml:"groups"`
	Scopes   []string               `yaml:"scopes"`
	Claims   map[string]secret.JSON `yaml:"claims"`
	Actors   []string               `yaml:"actors"`
	ACR      string                 `yaml:"acr"`
	AMR      []string               `yaml:"amr"`
	// A moment in RFC 3339, or how long before the call: 10m.
	AuthTime string `yaml:"authTime"`
	// Agents are those that the credential is bound to, Key and Owner are of an API key, and Proof
	// is how it was shown to be its sender's.
	Agents []string `yaml:"agents"`
	Key    string   `yaml:"key"`
	Owner  string   `yaml:"owner"`
	Proof  string   `yaml:"proof"`
}

// caseTask is the task that the call names.
// What is left out of owner, issuer and tenant is the caller's own, see explain.Inquiry.Recall.
type caseTask struct {
	ID      string `yaml:"id"`
	Context string `yaml:"context"`
	Skill   string `yaml:"skill"`
	Owner   string `yaml:"owner"`
	Issuer  string `yaml:"issuer"`
	Tenant  string `yaml:"tenant"`
}

// want is what has to become of the call. What is left out may be anything.
// Pointers tell a key that is left out from one that says "" or false: skill: "" wants a call that
// is for no skill.
type want struct {
	// Decision and Rule are what the audit record of the call would have.
	Decision string   `yaml:"decision"` // allow, deny (by the rules) or refused (for something else)
	Rule     string   `yaml:"rule"`
	Skill    *string  `yaml:"skill"`
	Reason   string   `yaml:"reason"` // a part of it
	Error    string   `yaml:"error"`  // what the caller is told, as in docs/errors.md
	Scopes   []string `yaml:"scopes"` // that are missing
	Visible  *bool    `yaml:"visible"`
	Shadow   []string `yaml:"shadow"`
	// Lists are compared as sets: the order of limits and shadow rules says nothing.
	Limits []string `yaml:"limits"` // the names of those that apply
	Skills []string `yaml:"skills"`
	// Approvals are the rules with effect approve that ask people to agree.
	Approvals []string `yaml:"approvals"`
	// Findings are what guards find in the message, as "guard: kind".
	Findings []string `yaml:"findings"`
}

// UnmarshalYAML reads the decision alone, or the mapping.
//
//	want: allow
//
// is short for want: {decision: allow}. Unknown keys are errors: a misspelt one would want
// nothing, and the case would pass.
func (w *want) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Load(&w.Decision)
	}
	type plain want // without this method
	return n.Load((*plain)(w), yaml.WithKnownFields())
}

// trial is a case that is ready to run.
// File and line are where the case begins, for reports that lead there.
type trial struct {
	*explain.Inquiry

	file, name string
	line       int
	want       want
}

// readCases reads files with cases. All that is wrong is said at once.
// The result is of no use with an error: cases that are wrong stand in it without a call. A file
// without cases is an error too, since a green run of nothing hides a moved or emptied file.
func (c *compiled) readCases(files []string, now time.Time) ([]*trial, error) {
	var all []*trial
	var errs []error
	for _, path := range files {
		var f caseFile
		// The document keeps the lines of its keys, for errors and for reports.
		doc, err := config.ReadDocument(path, &f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r := caseReader{compiled: c, doc: doc, path: path, now: now, defaults: f.Defaults, cards: map[string]*card.Card{}}
		if len(f.Cases) == 0 {
			errs = append(errs, doc.Wrong(errors.New("there is none"), keypath.Of("cases")))
		}
		for i := range f.Cases {
			t, err := r.read(i, &f.Cases[i])
			all, errs = append(all, t), append(errs, err)
		}
	}
	return all, errors.Join(errs...)
}

// caseReader makes the cases of one file ready.
type caseReader struct {
	*compiled

	doc  *config.Document
	path string
	now  time.Time
	// Cards are read once for all cases that name the same file. Names are those of the cases so
	// far.
	defaults caseCall
	cards    map[string]*card.Card
	names    []string
}

// read makes one ready. The error names the first key that is wrong.
// The trial has its file, line and name also with an error.
func (r *caseReader) read(i int, tc *testCase) (*trial, error) {
	at := keypath.Of("cases", i)
	t := &trial{file: r.path, name: tc.Name, line: r.doc.Line(at), want: tc.Want}
	if t.name == "" {
		t.name = fmt.Sprintf("case %d", i+1)
	}
	// Reports and --run go by the name, within a file.
	if slices.Contains(r.names, t.name) {
		return t, r.doc.Wrong(fmt.Errorf("another case has the same name %q", t.name), keypath.Of(at, "name"))
	}
	r.names = append(r.names, t.name)
	q, wrong, err := r.fill(tc)
	// What is wanted is looked at only of calls that can be made: the first mistake of a case is
	// told.
	key := keypath.Of(wrong)
	if err == nil {
		key, err = tc.Want.check()
	}
	if err != nil {
		return t, r.doc.Wrong(err, keypath.Of(at, key))
	}
	t.Inquiry = q
	return t, nil
}

// fill makes the call. With an error it returns the key that is wrong.
// The order of the checks is that of explain.Judge.Read; who calls is checked here in between, as
// only here a caller can be anonymous by a key of its own.
func (r *caseReader) fill(tc *testCase) (q *explain.Inquiry, key string, err error) {
	// A copy, as the defaults are filled into it.
	call := tc.Call
	call.merge(&r.defaults)
	asked := verdict.Question{
		Agent: call.Agent, Method: call.Method, Skill: tc.Skill, Extensions: tc.Extensions, Binding: call.Binding,
		Version: call.Version, Source: call.Source, At: call.At, Message: jsontext.Value(tc.Message),
	}
	if tc.Task != nil {
		task := verdict.Task(*tc.Task)
		asked.Task = &task
	}
	if call.Caller != nil {
		asked.Caller = call.Caller.claimed()
	}
	q, key, err = r.Read(&asked, r.now)
	// Mistakes are told in the order of the keys: that of the agent comes before that of the
	// caller.
	if bad := call.named(); bad != nil && (key == "caller" || q.Caller != nil) { // what comes before it is as it should be
		key, err = "caller", bad
	}
	if err != nil {
		return q, key, err
	}
	q.Card, err = r.card(call.Card)
	return q, "card", err
}

// named reports what is wrong with who calls.
// It is asked after the defaults were filled in.
func (c *caseCall) named() error {
	switch {
	case c.Caller == nil && !c.Anonymous:
		return errors.New("it is missing; a caller without a credential is anonymous: true")
	case c.Caller != nil && c.Anonymous:
		return errors.New("it is anonymous as well")
	}
	return nil
}

// claimed is the caller as it is asked about.
// Claims stay JSON until a question is read; secret.JSON has made JSON of their YAML.
func (c *caseCaller) claimed() *verdict.Claimed {
	a := &verdict.Claimed{
		Subject: c.Subject, Issuer: c.Issuer, Client: c.Client, Workload: c.Workload, Tenant: c.Tenant, Groups: c.Groups,
		Scopes: c.Scopes, Actors: c.Actors, ACR: c.ACR, AMR: c.AMR, AuthTime: c.AuthTime, Agents: c.Agents, Key: c.Key,
		Owner: c.Owner, Proof: c.Proof, Claims: make(map[string]jsontext.Value, len(c.Claims)),
	}
	for name, value := range c.Claims {
		a.Claims[name] = jsontext.Value(value)
	}
	return a
}

// merge takes over what is left out. A caller is taken over whole.
// Half a caller of the case and half of the defaults would be somebody whom neither describes. The
// method defaults to SendMessage, the call that most rules are about.
func (c *caseCall) merge(d *caseCall) {
	if c.Caller == nil && !c.Anonymous {
		c.Caller, c.Anonymous = d.Caller, d.Anonymous
	}
	// The default of the method stands last: it is taken where neither the case nor the defaults
	// name one.
	for _, f := range []struct {
		to   *string
		from string
	}{
		{&c.Agent, d.Agent}, {&c.Method, d.Method}, {&c.Binding, d.Binding}, {&c.Version, d.Version},
		{&c.Source, d.Source}, {&c.At, d.At}, {&c.Card, d.Card}, {&c.Method, wire.SendMessage},
	} {
		if *f.to == "" {
			*f.to = f.from
		}
	}
}

// card reads a card once.
// Nil for no path: the agent's card is then not known. A relative path is that from the case file.
func (r *caseReader) card(path string) (*card.Card, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // not known
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.path), path)
	}
	if c := r.cards[path]; c != nil {
		return c, nil
	}
	raw, err := os.ReadFile(path) //nolint:gosec // a path of the command line
	if err != nil {
		return nil, err
	}
	c, err := card.Parse(raw)
	r.cards[path] = c
	return c, err
}

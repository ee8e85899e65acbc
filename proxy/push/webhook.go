package push

import (
	"fmt"
	"io"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Alias is an id that goes by another name on the caller's side; both are empty where
// it does not.
type Alias struct{ Agent, Caller string }

// Registrant is who registered a webhook, as far as it has to be known when a notification comes: the
// call is over by then, and so is its authentication.
type Registrant struct {
	Owner   string `json:"owner"` // authn.Principal.Key: whose tasks they are
	Subject string `json:"subject"`
	Issuer  string `json:"issuer"`
	Tenant  string `json:"tenant,omitzero"`
	// Who is authn.Principal.Remember; "" where nobody asks whether they may still.
	Who string `json:"who,omitzero"`
}

// Webhook is one push notification config: what its caller registered, and what the
// agent was given in its place. It is stored sealed, and printed as whose it is only.
type Webhook struct {
	Agent    string       // configured id
	Speaks   wire.Version // the agent's, at the interface that the call went to
	Endpoint string       // that interface's address

	Registrant
	Skill string // what the call was allowed for

	Task    string       // the agent's id; "" until an answer or a notification names it
	Context string       // likewise
	Config  string       // id of the config; "" until an answer names it
	Version wire.Version // what the caller speaks
	Trace   string       // traceparent of the call that registered it; "" for none
	Renamed Alias        // the task, where a 0.1 caller chose its id
	Session Alias        // the context, where a 0.1 caller chose its id
	Foreign Alias        // the context, where somebody else's id had to be replaced

	// The caller's.
	URL         string
	Token       secret.Value
	Scheme      string
	Credentials secret.Value

	// The agent's: it shows one or both with each notification.
	Shown       secret.Value // as notification token
	Authorizing secret.Value // as bearer token

	Created time.Time
	Used    time.Time // about when a notification came last
	Ended   time.Time // when one said that the task has ended; zero before

	id string // digest of the relay token: the key it is stored under
}

// ID names the webhook in the state and in records. It gives nobody access.
func (h *Webhook) ID() string { return h.id }

// String says whose it is, and nothing of addresses and secrets.
func (h Webhook) String() string {
	return fmt.Sprintf("webhook of agent %s, task %s, config %s", h.Agent, h.Task, h.Config)
}

// Format prints what String says for every verb.
func (h Webhook) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, h.String()) }

// Registration is what the agent is given in the place of a caller's webhook.
type Registration struct {
	Path        string // of the relay URL, below the gateway's public URL
	Token       secret.Value
	Credentials secret.Value // of the scheme Bearer
	Webhook     *Webhook     // as it is stored
}

// written is a Webhook as it is stored, sealed.
type written struct {
	Agent       string       `json:"agent"`
	Speaks      wire.Version `json:"speaks"`
	Endpoint    string       `json:"endpoint,omitzero"`
	Registrant  Registrant   `json:",inline"`
	Skill       string       `json:"skill,omitzero"`
	Task        string       `json:"task,omitzero"`
	Context     string       `json:"context,omitzero"`
	Config      string       `json:"config,omitzero"`
	Version     wire.Version `json:"version"`
	Trace       string       `json:"trace,omitzero"`
	Renamed     Alias        `json:"renamed,omitzero"`
	Session     Alias        `json:"session,omitzero"`
	Foreign     Alias        `json:"foreign,omitzero"`
	URL         string       `json:"url"`
	Token       string       `json:"token,omitzero"`
	Scheme      string       `json:"scheme,omitzero"`
	Credentials string       `json:"credentials,omitzero"`
	Shown       string       `json:"shown"`
	Authorizing string       `json:"authorizing"`
	Created     time.Time    `json:"created"`
	Used        time.Time    `json:"used"`
	Ended       time.Time    `json:"ended,omitzero"`
}

// write is the webhook in the form that is sealed; fields are in the order of both structs.
func (h *Webhook) write() written {
	return written{
		h.Agent, h.Speaks, h.Endpoint, h.Registrant, h.Skill,
		h.Task, h.Context, h.Config, h.Version, h.Trace, h.Renamed, h.Session, h.Foreign,
		h.URL, h.Token.Reveal(), h.Scheme, h.Credentials.Reveal(), h.Shown.Reveal(), h.Authorizing.Reveal(),
		h.Created, h.Used, h.Ended,
	}
}

// read is the inverse of write. The id is the key that it was found under.
func (w *written) read(id string) *Webhook {
	return &Webhook{
		w.Agent, w.Speaks, w.Endpoint, w.Registrant, w.Skill,
		w.Task, w.Context, w.Config, w.Version, w.Trace, w.Renamed, w.Session, w.Foreign,
		w.URL, secret.New(w.Token), w.Scheme, secret.New(w.Credentials), secret.New(w.Shown), secret.New(w.Authorizing),
		w.Created, w.Used, w.Ended, id,
	}
}

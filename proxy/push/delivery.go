package push

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Queue is the name of the queue that deliveries wait in.
const Queue = "push"

// Delivery is one notification for one webhook, with all that is needed to deliver it
// long after the call that it came from, by whichever gateway takes it.
//
// It holds secrets and contents. It is stored sealed, and printed as who and where only.
type Delivery struct {
	// ID names the notification to the receiver (webhook-id), the same in every attempt:
	// 1 to 256 bytes, unique in the queue.
	ID string

	Agent  string // configured id
	Task   string // as the receiver knows it
	Config string // Webhook.ID: where agents deliver for it
	Name   string // id of the push config as the receiver knows it; "" while that is not known
	Owner  string // authn.Principal.Key of whoever registered it

	URL         string       // the client's webhook
	Version     wire.Version // of the receiver; decides content type and token headers
	ContentType string       // of Body; "" for the one that Version has
	Body        []byte       // in the receiver's version
	Traceparent string       // W3C Trace Context; "" for none
	Registered  string       // that of the call that registered the webhook; likewise
	Notified    string       // that of the agent's notification; likewise
	Began       string       // that of the call the task was first seen in, unless that is Registered; likewise

	Token       secret.Value // of the config
	Scheme      string       // of the config's authentication, such as Bearer; "" for none
	Credentials secret.Value // of the config's authentication
}

// lineOf is the line of the queue that the notifications of a task for a config wait in.
// It is a digest: ids may be longer than lines, and are nobody's who sees the store.
func lineOf(agent, task, config string) string {
	h := sha256.New()
	for _, s := range []string{agent, task, config} {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(s))))
		_, _ = io.WriteString(h, s)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// Line is where d waits: a line of its owner's (state.Item.Owner), who may have so much of
// the queue.
func (d *Delivery) Line() string { return ofOwner(d.Owner, lineOf(d.Agent, d.Task, d.Config)) }

// ofOwner makes a line one of an owner's.
func ofOwner(owner, line string) string { return digest(owner) + "/" + line }

// Host is the host of the webhook, which may be shown: what follows it, the query
// above all, may be a secret.
func (d *Delivery) Host() string {
	u, err := url.Parse(d.URL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// String says who and where, and nothing of secrets and contents.
func (d Delivery) String() string {
	return fmt.Sprintf("delivery %s of agent %s, task %s, config %s to %s", d.ID, d.Agent, d.Task, d.Config, d.Host())
}

// Format prints what String says for every verb.
func (d Delivery) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, d.String()) }

// LogValue is what slog writes.
func (d Delivery) LogValue() slog.Value { return slog.StringValue(d.String()) }

// MarshalJSON is what String says: whatever marshals a delivery would print it.
func (d Delivery) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// stored is a delivery as it lies in the queue, sealed.
type stored struct {
	Agent       string       `json:"agent"`
	Task        string       `json:"task"`
	Config      string       `json:"config"`
	Name        string       `json:"name,omitzero"`
	Owner       string       `json:"owner"`
	URL         string       `json:"url"`
	Version     wire.Version `json:"version"`
	ContentType string       `json:"content_type,omitzero"`
	Body        []byte       `json:"body"`
	Traceparent string       `json:"traceparent,omitzero"`
	Registered  string       `json:"registered,omitzero"`
	Notified    string       `json:"notified,omitzero"`
	Began       string       `json:"began,omitzero"`
	Token       string       `json:"token,omitzero"`
	Scheme      string       `json:"scheme,omitzero"`
	Credentials string       `json:"credentials,omitzero"`
}

// item is d for the queue, sealed and tied to its place there.
//
// What is sealed is bound to the item's id and line as associated data, so that an item which is
// moved to another place in the store does not open.
func (d *Delivery) item(c state.Cipher) (state.Item, error) {
	plain, err := json.Marshal(stored{
		d.Agent, d.Task, d.Config, d.Name, d.Owner, d.URL, d.Version, d.ContentType, d.Body, d.Traceparent,
		d.Registered, d.Notified, d.Began, d.Token.Reveal(), d.Scheme, d.Credentials.Reveal(),
	})
	if err != nil {
		return state.Item{}, fmt.Errorf("write %s: %w", d, err)
	}
	line := d.Line()
	return state.Item{ID: d.ID, Line: line, Data: c.Seal(plain, place(d.ID, line))}, nil
}

// errUnreadable is a delivery that was sealed with a key that is gone, or changed.
var errUnreadable = errors.New("the delivery was changed, or sealed with another key")

// openItem reads the delivery that an item of the queue holds.
//
// Items of before lines had owners are still in queues, and are accepted with their line.
func openItem(it state.Item, c state.Cipher) (*Delivery, error) {
	plain, err := c.Open(it.Data, place(it.ID, it.Line))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	var s stored
	if err := json.Unmarshal(plain, &s); err != nil {
		return nil, errUnreadable // the error would quote what it holds
	}
	d := &Delivery{
		ID: it.ID, Agent: s.Agent, Task: s.Task, Config: s.Config, Name: s.Name, Owner: s.Owner,
		URL: s.URL, Version: s.Version, ContentType: s.ContentType, Body: s.Body, Traceparent: s.Traceparent,
		Registered: s.Registered, Notified: s.Notified, Began: s.Began,
		Token: secret.New(s.Token), Scheme: s.Scheme, Credentials: secret.New(s.Credentials),
	}
	if line := lineOf(d.Agent, d.Task, d.Config); it.Line != line && it.Line != d.Line() { // lines had no owners once
		return nil, errUnreadable
	}
	return d, nil
}

// place ties what is sealed to its item. The id is length-prefixed, so that no choice of
// id and line makes the place of another pair.
func place(id, line string) []byte {
	aad := binary.AppendUvarint(nil, uint64(len(id)))
	return append(append(aad, id...), line...)
}

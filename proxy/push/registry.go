package push

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Path is where agents deliver; a relay token follows.
const Path = "/push/"

// Spaces of the state. A webhook lies under the digest of its relay token, so that who
// reads the state cannot deliver. Those of a task and of an owner are found by the two
// others, whose values are empty.
const (
	hookSpace  = "push"
	taskSpace  = "push-task"
	ownerSpace = "push-owner"
	seenSpace  = "push-seen"
)

// kept is how long a webhook is remembered after it was used last.
const kept = 30 * 24 * time.Hour

// touchEvery is how often its use is written down at most.
const touchEvery = 24 * time.Hour

// addressChecker reads an address that a caller names, and refuses those that the gateway must
// not send to. Its error is for the caller.
type addressChecker interface {
	Check(target string) (*url.URL, error)
}

// Registry keeps the webhooks of callers: what each registered, and the token that the
// agent was given in its place. It is safe for concurrent use.
//
// With makes a copy under another configuration, which shares state and locks: a reload swaps it
// while calls go on with the one they began with. locks are 64 mutexes, chosen by the webhook's
// id, since changes read, change and write.
type Registry struct {
	values  state.Values // as they are, for the indexes
	hooks   state.Values // sealed
	check   addressChecker
	config  Config // complete
	task    int    // most of a task
	owner   int    // most of a principal
	age     time.Duration
	now     func() time.Time
	keptFor time.Duration
	locks   *[64]sync.Mutex // of webhooks that are changed, by their ids

	underway *underway
}

// NewRegistry keeps webhooks in values, what is in them sealed by c.
func NewRegistry(values state.Values, c state.Cipher) *Registry {
	r := &Registry{
		values: values, hooks: state.Sealed(values, c), now: time.Now, keptFor: kept, locks: new([64]sync.Mutex),
		underway: newUnderway(time.Now()),
	}
	return r.With(Config{}, nil)
}

// With is the same registry under a configuration, with whoever checks addresses there.
func (r *Registry) With(cfg Config, check addressChecker) *Registry {
	cfg = cfg.complete()
	again := *r
	again.config = cfg
	again.check, again.task, again.owner, again.age = check, cfg.PerTask, cfg.PerPrincipal, cfg.Age.Std()
	return &again
}

// Outlast has webhooks remembered for no less than tasks are. It is for before the registry is
// used.
func (r *Registry) Outlast(retention time.Duration) { r.keptFor = max(r.keptFor, retention) }

// Config is the configuration with its defaults.
func (r *Registry) Config() Config { return r.config }

// RefusedError says why a webhook is not registered: its URL is not one that the gateway
// sends to, or its task or principal has as many as it may have.
type RefusedError struct {
	URL  error  // what is wrong with the URL; nil for too many
	Key  string // of the configuration, for too many
	Most int
}

// Error is for the caller.
func (e *RefusedError) Error() string {
	if e.URL != nil {
		return "the webhook's URL is refused: " + e.URL.Error()
	}
	return fmt.Sprintf("no more push notification configs may be registered (%s, %d)", e.Key, e.Most)
}

// Register remembers a webhook before the agent hears of it. The error is a
// *RefusedError, or of the state.
func (r *Registry) Register(ctx context.Context, h Webhook) (*Registration, error) {
	if _, err := r.check.Check(h.URL); err != nil {
		return nil, &RefusedError{URL: err}
	}
	token := random()
	h.id, h.Created = digest(token), r.now().UTC()
	h.Used = h.Created
	h.Shown, h.Authorizing = secret.New(random()), secret.New(random())
	if err := r.enter(ctx, &h); err != nil {
		return nil, err
	}
	if err := r.put(ctx, &h); err != nil {
		_ = r.leave(ctx, &h) // it runs out by itself, too
		return nil, err
	}
	return &Registration{Path: Path + token, Token: h.Shown, Credentials: h.Authorizing, Webhook: &h}, nil
}

// enter takes the webhook's places among those of its owner and task, and gives them
// back where there are none left: of several that come at once none is one too many.
func (r *Registry) enter(ctx context.Context, h *Webhook) error {
	err := r.index(ctx, h)
	if err == nil {
		err = r.room(ctx, ownerSpace, digest(h.Owner), "push.perPrincipal", r.owner)
	}
	if err == nil && h.Task != "" {
		err = r.roomOfTask(ctx, h)
	}
	if err != nil {
		_ = r.leave(ctx, h)
	}
	return err
}

// room refuses where a group has more than most members, this one included.
func (r *Registry) room(ctx context.Context, space, group, key string, most int) error {
	list, err := r.members(ctx, space, group, most+1)
	if err == nil && len(list) > most {
		err = &RefusedError{Key: key, Most: most}
	}
	return err
}

// roomOfTask does not count the one that the webhook is going to replace.
func (r *Registry) roomOfTask(ctx context.Context, h *Webhook) error {
	err := r.room(ctx, taskSpace, ofTask(h.Agent, h.Task), "push.perTask", r.task)
	if err == nil || h.Config == "" {
		return err
	}
	list, failed := r.OfTask(ctx, h.Agent, h.Task)
	if failed != nil {
		return failed
	}
	for _, other := range list {
		if other.Config == h.Config && other.id != h.id && len(list) <= r.task+1 {
			return nil
		}
	}
	return err
}

// Find is the webhook that an agent delivers to by a relay token; nil for none.
//
// A token of another length is nobody's, and the state is not asked.
func (r *Registry) Find(ctx context.Context, token string) (*Webhook, error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return nil, nil
	}
	return r.get(ctx, digest(token))
}

// FindURL is the webhook of a relay URL of base's, as agents show it; nil for any other.
func (r *Registry) FindURL(ctx context.Context, base *url.URL, shown string) (*Webhook, error) {
	token, ok := strings.CutPrefix(shown, base.JoinPath(Path).String())
	if !ok {
		return nil, nil
	}
	return r.Find(ctx, token)
}

// OfTask lists the webhooks of a task.
func (r *Registry) OfTask(ctx context.Context, agent, task string) ([]*Webhook, error) {
	ids, err := r.members(ctx, taskSpace, ofTask(agent, task), 2*r.task+2)
	if err != nil {
		return nil, err
	}
	list := make([]*Webhook, 0, len(ids))
	for _, id := range ids {
		h, err := r.get(ctx, id)
		if err != nil {
			return nil, err
		}
		if h != nil {
			list = append(list, h)
		}
	}
	return list, nil
}

// Bind keeps what has become known of a webhook: its task and context, and the id of
// its config. The config of a task that had that id before is forgotten; so are all of
// the task where only is set, because the agent's version has one per task. A webhook
// that has been forgotten stays so.
//
// What is known already is not changed by it: the first answer or notification decides.
func (r *Registry) Bind(ctx context.Context, h *Webhook, task, context, config string, only bool) error {
	named := false
	err := r.change(ctx, h, func(h *Webhook) bool {
		was := *h
		h.Task, h.Context, h.Config = orDefault(h.Task, task), orDefault(h.Context, context), orDefault(h.Config, config)
		named = h.Config != was.Config || config != ""
		return *h != was
	})
	if err != nil || h.Task == "" || !named && !only {
		return err
	}
	list, err := r.OfTask(ctx, h.Agent, h.Task)
	for _, other := range list {
		if err == nil && other.id != h.id && other.Owner == h.Owner && (only || other.Config == h.Config) {
			err = r.Forget(ctx, other)
		}
	}
	return err
}

// Used notes a notification, and whether it said that the task has ended.
func (r *Registry) Used(ctx context.Context, h *Webhook, ended bool) error {
	now := r.now().UTC()
	if (!ended || !h.Ended.IsZero()) && now.Sub(h.Used) < touchEvery {
		return nil
	}
	err := r.change(ctx, h, func(h *Webhook) bool {
		h.Used = now
		if ended && h.Ended.IsZero() {
			h.Ended = now
		}
		return true
	})
	if err == nil && ended { // its place is free: a principal may have more finished tasks than configs
		err = r.values.Delete(ctx, ownerSpace, digest(h.Owner)+"/"+h.id)
	}
	return err
}

// Renew has the webhooks of a task remembered on, as notifications do: the task is in use.
func (r *Registry) Renew(ctx context.Context, agent, task string) error {
	list, err := r.OfTask(ctx, agent, task)
	for _, h := range list {
		if err == nil {
			err = r.Used(ctx, h, false)
		}
	}
	return err
}

// change writes down what by makes of a webhook as it is now, and leaves that in h. It
// does not bring back one that was forgotten in the meantime.
func (r *Registry) change(ctx context.Context, h *Webhook, by func(*Webhook) bool) error {
	lock := &r.locks[h.id[0]%byte(len(r.locks))]
	lock.Lock()
	defer lock.Unlock()
	stands, err := r.get(ctx, h.id)
	if err != nil || stands == nil || !by(stands) {
		return err
	}
	*h = *stands
	if err := r.index(ctx, h); err != nil {
		return err
	}
	data, err := json.Marshal(h.write())
	if err == nil {
		var there bool
		if there, err = r.hooks.Replace(ctx, hookSpace, h.id, data, r.keptFor); err == nil && !there {
			return r.leave(ctx, h) // another gateway has forgotten it since
		}
	}
	if err != nil {
		return fmt.Errorf("remember a webhook: %w", err)
	}
	return nil
}

// Forget ends a webhook: what an agent delivers to it is unknown from then on.
func (r *Registry) Forget(ctx context.Context, h *Webhook) error {
	lock := &r.locks[h.id[0]%byte(len(r.locks))]
	lock.Lock()
	defer lock.Unlock()
	if err := r.hooks.Delete(ctx, hookSpace, h.id); err != nil {
		return fmt.Errorf("forget a webhook: %w", err)
	}
	return r.leave(ctx, h)
}

// get reads one webhook; nil without an error where there is none.
func (r *Registry) get(ctx context.Context, id string) (*Webhook, error) {
	data, ok, err := r.hooks.Get(ctx, hookSpace, id)
	if err != nil || !ok {
		return nil, err
	}
	var w written
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("a webhook cannot be read: %w", errUnreadable) // the error would quote it
	}
	return w.read(id), nil
}

// put writes a new webhook down.
func (r *Registry) put(ctx context.Context, h *Webhook) error {
	data, err := json.Marshal(h.write())
	if err == nil {
		err = r.hooks.Put(ctx, hookSpace, h.id, data, r.keptFor)
	}
	if err != nil {
		return fmt.Errorf("remember a webhook: %w", err)
	}
	return nil
}

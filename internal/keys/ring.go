package keys

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
)

const (
	// pollInterval is how soon a change of the files is seen. They are few and small, and
	// the directories of replicas are often on networks that send no events.
	pollInterval = 5 * time.Second
	// A file of another replica may be seen while it is written, where there are no
	// links. Open looks this often, and this long apart.
	openLooks = 40
	openPause = 50 * time.Millisecond
)

// Ring is a set of keys in use. It is safe for concurrent use.
//
// Readers load set and seals without a lock, each a whole state: a signature and the key set that is
// published beside it never come from two states.
type Ring struct {
	log    *slog.Logger
	now    func() time.Time
	source source
	set    atomic.Pointer[set] // nil in a zero Ring only
	master sealing
	seals  atomic.Pointer[[]*sealer] // the first seals, all open; nil in a zero Ring only

	mu   sync.Mutex // serialises Refresh
	said string     // the last errors that were logged

	end        sync.Once
	stop, done chan struct{} // nil without a watch
}

// source is where keys come from.
//
// There are two: files of the configuration, in its order, and the directory with generated keys.
type source interface {
	// keys are those to publish now, the signing one first. Without any, the error says
	// why, and the keys of before stay; beside some, it is about others.
	keys(now time.Time) ([]*key, error)
}

// set is an immutable state of the ring.
type set struct {
	keys []*key // the first signs
	jwks []byte
}

// Open reads the keys that c names, or those in its Dir, and makes one there if there is
// none. It looks at the files every 5 s until Close.
func Open(c Config, log *slog.Logger) (*Ring, error) {
	r, err := open(c, log, time.Now)
	if err != nil {
		return nil, err
	}
	r.stop, r.done = make(chan struct{}), make(chan struct{})
	go r.watch()
	return r, nil
}

// open is Open without the watch.
func open(c Config, log *slog.Logger, now func() time.Time) (*Ring, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("open keys: %w", err)
	}
	r := &Ring{log: log, now: now}
	if err := r.connect(c); err != nil {
		return nil, err
	}
	list, err := r.look()
	if len(list) == 0 {
		return nil, err
	}
	seals, failed := r.master.open()
	if failed != nil {
		return nil, fmt.Errorf("sealing: %w", failed)
	}
	r.seals.Store(&seals)
	r.report(err)
	r.adopt(list)
	return r, nil
}

// connect finds the source. It warns of private keys that lie open, and no more: in
// containers secrets are often mounted like that, with nobody else there.
//
// Files of the configuration win over Dir: who names files manages his keys himself, and nothing is
// generated beside them.
func (r *Ring) connect(c Config) error {
	paths := c.Signing
	if len(paths) > 0 {
		r.source = files(paths)
	} else {
		if c.Dir == "" {
			return errors.New("open keys: neither signing nor dir says where they are")
		}
		s, err := openStore(c.Dir, c.schedule(), r.now())
		if err != nil {
			return err
		}
		r.source, paths = s, []string{c.Dir}
	}
	r.master = sealing{files: c.Sealing, dir: c.Dir}
	paths = slices.Concat(paths, c.Sealing)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o007 != 0 {
			r.log.Warn("private keys are open to everybody on this machine",
				"path", path, "mode", info.Mode().Perm().String())
		}
	}
	return nil
}

// look waits for a key that somebody is writing, if it is the only one.
//
// A store of files of the configuration is not waited for: nobody writes those while a gateway starts.
func (r *Ring) look() (list []*key, err error) {
	for range openLooks {
		list, err = r.source.keys(r.now())
		if _, shared := r.source.(*store); !shared || len(list) > 0 || !errors.Is(err, errNoKey) {
			break
		}
		<-time.After(openPause)
	}
	if len(list) == 0 && err == nil {
		err = errNoKey // made, and removed by somebody at once
	}
	return list, err
}

// Refresh looks at the files now. Keys that cannot be used leave those of before in
// force, and are reported in the log once.
//
// It is called by the watch, and by tests and a reload that do not want to wait for it.
func (r *Ring) Refresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, err := r.source.keys(r.now())
	r.report(errors.Join(err, r.reseal()))
	if len(list) > 0 {
		r.adopt(list)
	}
}

// reseal reads the files with sealing keys again. A generated one stays as it is: what
// took its place would not open what it sealed.
func (r *Ring) reseal() error {
	if len(r.master.files) == 0 {
		return nil
	}
	seals, err := r.master.read()
	if err != nil {
		return fmt.Errorf("sealing: %w", err)
	}
	r.seals.Store(&seals)
	return nil
}

// report logs an error when it is another than the last: the files are looked at every five seconds,
// and one bad file would fill the log.
func (r *Ring) report(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != r.said {
		r.log.Error("keys not usable; those that are stay in force", "err", text)
	}
	r.said = text
}

// adopt puts keys in force, unless they are.
func (r *Ring) adopt(list []*key) {
	list = distinct(list)
	old := r.set.Load()
	if old != nil && slices.EqualFunc(old.keys, list, same) {
		return
	}
	public := jose.JSONWebKeySet{}
	for _, k := range list {
		public.Keys = append(public.Keys, k.public)
	}
	jwks, err := json.Marshal(public)
	if err != nil {
		r.log.Error("keys not published; those of before stay in force", "err", err)
		return
	}
	r.set.Store(&set{keys: list, jwks: jwks})
	r.log.Info("signing keys in use", "kid", list[0].public.KeyID, "alg", list[0].public.Algorithm,
		"published", len(list))
}

// distinct leaves every key once: while files change places, one may be in two.
func distinct(list []*key) []*key {
	var out []*key
	for _, k := range list {
		if !slices.ContainsFunc(out, func(o *key) bool { return same(k, o) }) {
			out = append(out, k)
		}
	}
	return out
}

func same(a, b *key) bool { return a.public.KeyID == b.public.KeyID }

func (r *Ring) watch() {
	defer close(r.done)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
			r.Refresh()
		}
	}
}

// Sign makes a compact JWS (RFC 7515) over payload with the key that signs now. typ
// becomes the header parameter of that name, if it is not empty; kid is the key's
// RFC 7638 thumbprint.
func (r *Ring) Sign(typ string, payload []byte) (string, error) {
	s := r.set.Load()
	if s == nil {
		return "", errors.New("sign: no keys are open")
	}
	return s.keys[0].jws(typ, payload)
}

// JWKS is the JWK set (RFC 7517) of all published keys, the signing one first. It must
// not be changed.
func (r *Ring) JWKS() []byte {
	if s := r.set.Load(); s != nil {
		return s.jwks
	}
	return []byte(`{"keys":[]}`)
}

// Close ends the watch. What is open stays usable.
func (r *Ring) Close() {
	r.end.Do(func() {
		if r.stop != nil {
			close(r.stop)
			<-r.done
		}
	})
}

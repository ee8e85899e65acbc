package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/breaker"
	"github.com/a2a-gateway/a2a-gateway/internal/share"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Options are what a configuration does not say.
type Options struct {
	Egress *tunnel.Proxy // the way to the service; nil is direct
	Log    *slog.Logger
	// Asked is told how each question ended (clean, found, error, cached) and how long it took.
	Asked func(result string, took time.Duration)
}

// Found is one thing that a service found: its kind by the service's name, and what stands from Begin
// to End of a text, in bytes; End is 0 where the service does not say where.
type Found struct {
	Text       int // index of the text
	Begin, End int
	Kind       string
}

// ErrTooLarge is about texts that are larger than is asked about. It is never passed over.
var ErrTooLarge = fmt.Errorf("the texts are larger than %d bytes, and so are not sent to the service", maxQuestion)

// protocol is how a kind of service is asked.
type protocol struct {
	path  string
	ask   func(c *Config, texts []string) ([]byte, error)
	parse func(c *Config, texts []string, answer []byte) ([]Found, error)
}

// Service is a Config made ready. Any number of goroutines may use it.
type Service struct {
	config   Config
	protocol protocol
	url      string
	token    string
	timeout  time.Duration
	client   *http.Client
	breaker  breaker.Breaker
	turns    *share.Turns
	log      *slog.Logger
	asked    func(result string, took time.Duration)

	mu    sync.Mutex
	known map[digest]remembered
	order []digest // a ring, as long as known was at its largest
	first int      // index of the oldest
}

// digest tells texts apart without keeping them.
type digest [sha256.Size]byte

// remembered is an answer.
type remembered struct {
	found []Found
	until time.Time
}

// mostRemembered is how many answers are remembered, the oldest going first.
const mostRemembered = 10_000

// New makes a valid Config ready, and reads its files. Errors have the path of their key.
func New(kind Kind, c Config, o Options) (*Service, error) {
	files, err := c.TLS.load()
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Asked == nil {
		o.Asked = func(string, time.Duration) {}
	}
	s := &Service{
		config: c, token: c.Token.Reveal(), timeout: cmp.Or(c.Timeout.Std(), defaultTimeout),
		client: newClient(files, o.Egress), turns: share.NewTurns(maxAsking / 2),
		log: o.Log, asked: o.Asked, known: map[digest]remembered{},
		protocol: protocol{"/analyze", askPresidio, parsePresidio},
	}
	if kind == Moderation {
		s.protocol = protocol{"/moderations", askModeration, parseModeration}
	}
	s.url = strings.TrimSuffix(c.URL.Reveal(), "/") + s.protocol.path
	return s, nil
}

// Passes reports whether a question without an answer means that there is nothing to be found.
func (s *Service) Passes() bool { return s.config.OnFailure == failAllow }

// Find asks about texts, for a caller who has no more than a share of the connections. The error says
// that nothing is known of them.
func (s *Service) Find(ctx context.Context, who string, texts []string) ([]Found, error) {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	switch {
	case size == 0:
		return nil, nil
	case size > maxQuestion:
		s.asked("error", 0)
		return nil, ErrTooLarge
	}
	key := digestOf(texts)
	if found, ok := s.recall(key); ok {
		s.asked("cached", 0)
		return found, nil
	}
	start := time.Now()
	found, err := s.ask(ctx, who, texts)
	took := time.Since(start)
	switch {
	case err != nil:
		s.asked("error", took)
	case len(found) > 0:
		s.asked("found", took)
	default:
		s.asked("clean", took)
	}
	if err == nil {
		s.remember(key, found, start)
	}
	return found, err
}

// digestOf is that of texts, with their lengths: two lists are never one.
func digestOf(texts []string) (d digest) {
	h := sha256.New()
	for _, text := range texts {
		h.Write(binary.AppendUvarint(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	h.Sum(d[:0])
	return d
}

// ask puts a question, and keeps count of how that goes.
func (s *Service) ask(ctx context.Context, who string, texts []string) ([]Found, error) {
	if err := s.breaker.Enter(time.Now(), who); err != nil {
		return nil, err
	}
	own, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.turns.Enter(own, who); err != nil {
		s.breaker.Leave(time.Now(), who, breaker.Unknown)
		return nil, fmt.Errorf("this caller's questions before it take too long: %w", err)
	}
	found, err := s.once(own, texts)
	s.turns.Leave(who)
	shown := breaker.Alive
	switch {
	case err != nil && ctx.Err() != nil: // nobody waits for the answer any more
		shown = breaker.Unknown
	case err != nil && breaker.Unreached(err):
		shown = breaker.Away
	case err != nil:
		shown = breaker.Failed
	}
	if s.breaker.Leave(time.Now(), who, shown) {
		if err != nil {
			s.log.Warn("the guard's service does not answer and is left alone for a while", "error", err)
		} else {
			s.log.Info("the guard's service answers again")
		}
	}
	return found, err
}

// once writes the question, and reads the answer.
func (s *Service) once(ctx context.Context, texts []string) ([]Found, error) {
	body, err := s.protocol.ask(&s.config, texts)
	if err != nil {
		return nil, errors.New("the question cannot be written")
	}
	answer, err := s.post(ctx, body)
	if err != nil {
		return nil, err
	}
	return s.protocol.parse(&s.config, texts, answer)
}

// recall is the answer to a question that was put before, where it still holds.
func (s *Service) recall(key digest) ([]Found, bool) {
	if s.config.Cache == 0 {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.known[key]
	if !ok || !time.Now().Before(r.until) {
		return nil, false
	}
	return r.found, true
}

// remember keeps an answer to a question that was put at a time.
func (s *Service) remember(key digest, found []Found, at time.Time) {
	if s.config.Cache == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, again := s.known[key]
	s.known[key] = remembered{found, at.Add(s.config.Cache.Std())}
	switch {
	case again: // its place in the order is the old one: it goes a little early, at worst
	case len(s.order) < mostRemembered:
		s.order = append(s.order, key)
	default:
		delete(s.known, s.order[s.first])
		s.order[s.first] = key
		s.first = (s.first + 1) % mostRemembered
	}
}

// Close ends the connections that are idle.
func (s *Service) Close() { s.client.CloseIdleConnections() }

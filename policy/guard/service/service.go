package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/breaker"
	"github.com/a2a-gateway/a2a-gateway/internal/share"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Options are what a configuration does not say.
type Options struct {
	Guard  string        // name of the guard
	Egress *tunnel.Proxy // the way to the service; nil is direct
	Log    *slog.Logger
	// Asked is told how each question ended (clean, found, error, cached) and how long it took.
	Asked func(result string, took time.Duration)
}

// Question is what a service is asked about.
type Question struct {
	Who   string     // whose call it is: nobody has more than a share of the connections
	Phase hook.Phase // request is what callers send; everything else is what agents say
	Texts []string
	// Parts are numbers of the parts that the texts are of: neighbours with the same number may go
	// together. Nil where all are of one.
	Parts []int

	guard string
}

// Found is one thing that a service found: its kind by the service's name, and what stands from Begin
// to End of a text, in bytes; End is 0 where the service does not say where.
type Found struct {
	Text       int // index of the text
	Begin, End int
	Kind       string
}

// ErrTooLarge is about texts that are more than is asked about. It is never passed over.
var ErrTooLarge = errors.New("the texts are not sent to the service")

// ErrProvoked is about questions whose failure may be the doing of whoever sent the texts. It is never passed over.
var ErrProvoked = errors.New("the caller may have provoked that")

// Service is a Config made ready. Any number of goroutines may use it.
type Service struct {
	config   Config
	protocol protocol
	guard    string
	timeout  time.Duration
	client   *http.Client
	breaker  breaker.Breaker
	turns    *share.Turns
	log      *slog.Logger
	asked    func(result string, took time.Duration)

	cache cache
	told  atomic.Int64 // when the log was last told that texts pass, in Unix nanoseconds
}

// New makes a valid Config ready, and reads its files. Errors have the path of their key.
func New(use string, c Config, o Options) (*Service, error) {
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
	p, ok := protocolOf(use)
	if !ok {
		return nil, fmt.Errorf("%q is no use that asks a service", use)
	}
	s := &Service{
		config: c, protocol: p, guard: o.Guard, timeout: cmp.Or(c.Timeout.Std(), defaultTimeout),
		client: newClient(files, o.Egress), turns: share.NewTurns(maxAsking / 2),
		log: o.Log, asked: o.Asked, cache: cache{keep: c.Cache.Std()},
	}
	// Where failures let texts pass, nobody may have them pass by failures of their own.
	s.breaker.Persist = c.OnFailure == failAllow
	return s, nil
}

// Passes reports whether a question that failed means that there is nothing to be found.
func (s *Service) Passes(err error) bool {
	return s.config.OnFailure == failAllow && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrProvoked)
}

// Find asks about texts. The error says that nothing is known of them.
func (s *Service) Find(ctx context.Context, q Question) ([]Found, error) {
	q.guard = s.guard
	size := 0
	for _, text := range q.Texts {
		size += len(text)
	}
	list := passages(&q, s.protocol.most)
	switch {
	case len(list) == 0:
		return nil, nil
	case size > maxQuestion:
		s.asked("error", 0)
		return nil, fmt.Errorf("%w: they are larger than %d bytes", ErrTooLarge, maxQuestion)
	case len(list) > maxPassages:
		s.asked("error", 0)
		return nil, fmt.Errorf("%w: they need more than %d questions", ErrTooLarge, maxPassages)
	}
	key := digestOf(&q)
	start := time.Now()
	if found, ok := s.cache.recall(key, start); ok {
		s.asked("cached", 0)
		return found, nil
	}
	found, err := s.ask(ctx, &q, list)
	took := time.Since(start)
	switch {
	case err != nil:
		s.asked("error", took)
		if provoked(ctx, err, len(list) > 1 || size > fewBytes) {
			err = fmt.Errorf("%w (%w)", err, ErrProvoked)
		}
		s.tell(err, start)
		return nil, err
	case len(found) > 0:
		s.asked("found", took)
	default:
		s.asked("clean", took)
	}
	s.cache.remember(key, found, start)
	return found, nil
}

// tellEvery is how often the log says at most that texts pass which the service has said nothing of.
const tellEvery = time.Minute

// tell has the log say why texts pass, as no error of a call does.
func (s *Service) tell(err error, now time.Time) {
	last := s.told.Load()
	if s.Passes(err) && now.UnixNano()-last >= int64(tellEvery) && s.told.CompareAndSwap(last, now.UnixNano()) {
		s.log.Warn("the guard's service gives no answer, and texts pass without one", "error", err)
	}
}

// provoked reports whether a failure may be the doing of whoever sent the texts: who sends many parts or long
// texts can have any service take too long or refuse, who sends many calls waits for the own ones, and who gives
// up has not waited. That nobody was there to be asked is nobody's doing.
func provoked(ctx context.Context, err error, much bool) bool {
	switch {
	case errors.Is(err, breaker.ErrResting):
		return false
	case errors.Is(err, errTurn), ctx.Err() != nil:
		return true
	}
	return much && (!breaker.Unreached(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded))
}

// errTurn is about questions that others of the same caller have kept waiting.
var errTurn = errors.New("this caller's questions before it take too long")

// ask puts a question about each passage, and keeps count of how that goes.
func (s *Service) ask(ctx context.Context, q *Question, list []passage) ([]Found, error) {
	if err := s.breaker.Enter(time.Now(), q.Who); err != nil {
		return nil, err
	}
	own, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	found, err := s.each(own, q, list)
	shown := breaker.Alive
	switch {
	case err != nil && ctx.Err() != nil, errors.Is(err, errTurn): // it says nothing about the service
		shown = breaker.Unknown
	case err != nil && breaker.Unreached(err):
		shown = breaker.Away
	case err != nil:
		shown = breaker.Failed
	}
	if s.breaker.Leave(time.Now(), q.Who, shown) {
		if err != nil {
			s.log.Warn("the guard's service does not answer and is left alone for a while", "error", err)
		} else {
			s.log.Info("the guard's service answers again")
		}
	}
	return found, err
}

// each asks about all passages, some beside each other. The first failure is one of the whole: nobody
// knows then what the others are worth.
func (s *Service) each(ctx context.Context, q *Question, list []passage) (found []Found, _ error) {
	answers := make([][]Found, len(list))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxBeside)
	for i, p := range list {
		group.Go(func() (err error) {
			if err = s.turns.Enter(ctx, q.Who); err != nil {
				return fmt.Errorf("%w: %w", errTurn, err)
			}
			defer s.turns.Leave(q.Who)
			answers[i], err = s.once(ctx, q, p)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, of := range answers {
		found = append(found, of...)
	}
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(a.Text-b.Text, a.Begin-b.Begin, a.End-b.End, strings.Compare(a.Kind, b.Kind))
	})
	return slices.Compact(found), nil // pieces of a text overlap
}

// once writes one question, and reads the answer. What does not count by the configuration is left out.
func (s *Service) once(ctx context.Context, q *Question, p passage) ([]Found, error) {
	path, question := s.protocol.ask(&s.config, q, p)
	body, err := json.Marshal(question)
	if err != nil {
		return nil, errors.New("the question cannot be written")
	}
	answer, err := s.post(ctx, path, body)
	if err != nil {
		return nil, err
	}
	found, err := s.protocol.parse(&s.config, q, p, answer)
	if err != nil {
		return nil, err
	}
	if s.config.Categories != nil {
		found = slices.DeleteFunc(found, func(f Found) bool { return !s.counts(f.Kind) })
	}
	for i := range found {
		if found[i].Kind = kindOf(found[i].Kind); found[i].Kind == "" {
			return nil, errAnswer
		}
	}
	return found, nil
}

// counts reports whether something of a kind counts by the configured categories. What the service has not sorted
// does, as it may be of any of them, and so does that of a filter of which only some types are configured.
func (s *Service) counts(kind string) bool {
	return kind == s.protocol.unsorted || slices.ContainsFunc(s.config.Categories, func(c string) bool {
		return c == kind || kindOf(c) == kindOf(kind) || strings.HasPrefix(c, kind+".")
	})
}

// Close ends the connections that are idle.
func (s *Service) Close() { s.client.CloseIdleConnections() }

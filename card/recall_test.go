package card_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// keeper takes every card, and recalls what it is told to.
type keeper struct {
	recalled trust.Ruling
	err      error
}

func (keeper) Judge(_ context.Context, doc []byte) (trust.Ruling, error) {
	return trust.Ruling{Entry: trust.Entry{State: trust.Accepted}, InForce: doc}, nil
}

func (k keeper) Recall(context.Context) (trust.Ruling, error) { return k.recalled, k.err }

// TestFollow: a source in the place of another goes on with its card, until it knows better.
func TestFollow(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"name":"of before","skills":[{"id":"a"},{"id":"b"}]}`)
	}))
	old := card.NewSource(card.Config{URL: secret.URL(srv.URL)}, srv.Client(), nil)
	if err := old.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	srv.Close()
	at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	kept := trust.Ruling{Entry: trust.Entry{State: trust.Accepted}, InForce: []byte(`{"name":"kept"}`), Since: at}
	for name, tt := range map[string]struct {
		keeper keeper
		limits card.Limits
		want   string // name of the current card; "" for none
		since  bool
		why    string
	}{
		"nothing is kept":      {want: "of before", why: "connect"},
		"the state is away":    {keeper: keeper{err: errors.New("away")}, want: "of before", why: "connect"},
		"another card is kept": {keeper: keeper{recalled: kept}, want: "kept", since: true, why: "connect"},
		"it is refused now": {
			keeper: keeper{recalled: trust.Ruling{Entry: trust.Entry{State: trust.Refused, Why: "its key is gone"}}},
			why:    "the card that was kept is not used: it is refused: its key is gone",
		},
		"it has too many skills": {limits: card.Limits{Skills: 1}, why: "connect"},
		"so has the one that is kept": {
			limits: card.Limits{Skills: 1}, why: "2 skills, at most 1",
			keeper: keeper{recalled: trust.Ruling{Entry: kept.Entry, InForce: old.Current().Raw, Since: at}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := card.NewSource(card.Config{URL: secret.URL(srv.URL), Limits: tt.limits}, srv.Client(), nil)
			s.JudgedBy(tt.keeper)
			s.Follow(old)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); s.Run(ctx) }()
			err := s.Wait(ctx)
			cancel()
			<-ended
			got := ""
			if c := s.Current(); c != nil {
				got = c.Name
			}
			if since, ok := s.Kept(); got != tt.want || ok != tt.since || ok && !since.Equal(at) {
				t.Errorf("current is %q, kept since %v (%t)", got, since, ok)
			}
			if err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("%v, want %q", err, tt.why)
			}
		})
	}
}

package e2e

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// post is a notification as a webhook got it.
type post struct {
	id, task, signature, token string

	n    int
	body []byte
	at   time.Time
}

// mailroom is where webhooks are. It keeps what it takes.
type mailroom struct {
	t       *testing.T
	address string

	mu     sync.Mutex
	mood   string
	posts  []post
	last   map[string]int // the highest n of each task's
	server *http.Server   // nil while it is away
}

func newMailroom(t *testing.T) *mailroom {
	t.Helper()
	m := &mailroom{t: t, address: gatewaytest.FreeAddress(), last: map[string]int{}}
	m.turn("well")
	t.Cleanup(func() { m.turn("away") })
	return m
}

func (m *mailroom) url() string { return "http://" + m.address }

// turn changes the mood: well; slow, which for some is too slow; ill, which is 500; or
// away, where nobody listens.
func (m *mailroom) turn(mood string) {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mood = mood
	switch {
	case mood == "away" && m.server != nil:
		_ = m.server.Close()
		m.server = nil
	case mood != "away" && m.server == nil:
		l, err := net.Listen("tcp", m.address)
		if err != nil {
			m.t.Fatal(err)
		}
		m.address = l.Addr().String()
		server := &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
		m.server = server
		go func() { _ = server.Serve(l) }()
	}
}

func (m *mailroom) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var doc struct {
		StatusUpdate struct {
			TaskID   string
			Metadata struct{ N int }
		}
	}
	if err != nil || json.Unmarshal(body, &doc) != nil || "/"+doc.StatusUpdate.TaskID != r.URL.Path {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	mood := m.mood
	if mood != "ill" {
		task := strings.TrimPrefix(r.URL.Path, "/")
		m.last[task] = max(m.last[task], doc.StatusUpdate.Metadata.N)
		m.posts = append(m.posts, post{
			id: r.Header.Get("Webhook-Id"), task: task, n: doc.StatusUpdate.Metadata.N, body: body,
			signature: r.Header.Get("A2a-Notification-Signature"), token: r.Header.Get("X-A2a-Notification-Token"), at: time.Now(),
		})
	}
	m.mu.Unlock()
	switch mood {
	case "ill":
		w.WriteHeader(http.StatusInternalServerError)
	case "slow":
		select {
		case <-time.After(time.Duration(100+100*(doc.StatusUpdate.Metadata.N%13)) * time.Millisecond): // the gateway waits for 1s
		case <-r.Context().Done():
		}
	}
}

// latest is the last notification of a task that came.
func (m *mailroom) latest(task string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last[task]
}

func (m *mailroom) all() []post {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]post(nil), m.posts...)
}

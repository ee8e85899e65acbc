package proxytest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// HookCall is what a service of an operator's is told.
type HookCall struct {
	hook.Callout
	Document jsontext.Value `json:"document"`
}

// HookService is one that answers as it is told.
type HookService struct {
	*httptest.Server
	Mu      sync.Mutex
	handler func(HookCall) string // "" for 204
	Heard   []HookCall
}

// NewHookService starts one that has nothing to say of any call (204), until told otherwise.
func NewHookService(t *testing.T) *HookService {
	s := &HookService{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler. An answer of digits is a status; "hang" is none.
func (s *HookService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var c HookCall
	if err := json.Unmarshal(body, &c); err != nil {
		panic(err)
	}
	s.Mu.Lock()
	s.Heard = append(s.Heard, c)
	handler := s.handler
	s.Mu.Unlock()
	answer := ""
	if handler != nil {
		answer = handler(c)
	}
	switch answer {
	case "":
		w.WriteHeader(http.StatusNoContent)
	case "500":
		w.WriteHeader(http.StatusInternalServerError)
	case "hang":
		<-r.Context().Done()
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}
}

// Answers sets what the service does from now on.
func (s *HookService) Answers(f func(HookCall) string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.handler = f
}

// Hooked is an entry of profile with a hook for every phase.
func (s *HookService) Hooked(edit ...func(*hook.Config)) ext.Entry {
	c := hook.Config{
		URL: secret.URL(s.URL + "?key=secret"), Phases: []hook.Phase{hook.Request, hook.Response, hook.Event},
		Timeout: quantity.Duration(30 * time.Second), // the longest there is
	}
	for _, f := range edit {
		f(&c)
	}
	return ext.Entry{URI: ExtensionURI, Hooks: []hook.Config{c}}
}

// Mutated is an answer with another document.
func Mutated(c HookCall, from, to string) string {
	return `{"action":"mutate","document":` + strings.ReplaceAll(string(c.Document), from, to) + `}`
}

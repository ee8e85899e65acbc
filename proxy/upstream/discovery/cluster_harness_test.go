package discovery

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// fakeCluster is an API server with the endpoint slices of one service. It tells watchers
// what changes, as far as it still knows.
type fakeCluster struct {
	t      *testing.T
	server *httptest.Server
	dir    string // token, ca.crt, namespace

	mu      sync.Mutex
	changed *sync.Cond
	slices  map[string]map[string]any
	version int
	log     []logged // all changes
	forgot  int      // changes up to this version are gone
	refuse  int      // status of every answer, if not 0
	lists   int
	watches int
	breaks  int  // watches that are cut off with every change of this number
	small   bool // lists come in pages of one
	raw     func(w http.ResponseWriter, watch bool) bool
}

type logged struct {
	version int
	line    []byte
}

func newFakeCluster(t *testing.T) *fakeCluster {
	t.Helper()
	f := &fakeCluster{t: t, dir: t.TempDir(), slices: map[string]map[string]any{}, version: 10}
	f.changed = sync.NewCond(&f.mu)
	f.server = httptest.NewUnstartedServer(http.HandlerFunc(f.serve))
	f.server.EnableHTTP2 = true
	f.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	f.server.StartTLS()
	t.Cleanup(func() {
		f.server.CloseClientConnections()
		f.server.Close()
	})
	put(t, filepath.Join(f.dir, "token"), "the-token\n")
	put(t, filepath.Join(f.dir, "namespace"), "agents")
	put(t, filepath.Join(f.dir, "ca.crt"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.server.Certificate().Raw})))
	return f
}

func (f *fakeCluster) serve(w http.ResponseWriter, r *http.Request) {
	token, _ := os.ReadFile(filepath.Join(f.dir, "token"))
	q := r.URL.Query()
	f.mu.Lock()
	refuse, raw := f.refuse, f.raw
	f.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+strings.TrimSpace(string(token)):
		refuse = http.StatusUnauthorized
	case r.URL.Path != "/apis/discovery.k8s.io/v1/namespaces/agents/endpointslices" || q.Get("labelSelector") != "kubernetes.io/service-name=billing":
		refuse = http.StatusNotFound
	}
	if refuse != 0 {
		w.WriteHeader(refuse)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "code": refuse, "message": "no, said the fake"})
		return
	}
	if raw != nil && raw(w, q.Get("watch") == "1") {
		return
	}
	if q.Get("watch") == "1" {
		f.watch(w, r)
		return
	}
	f.list(w, q.Get("continue"))
}

func (f *fakeCluster) list(w http.ResponseWriter, after string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists++
	var names []string
	for name := range f.slices {
		if name > after {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	metadata := map[string]any{"resourceVersion": strconv.Itoa(f.version)}
	if f.small && len(names) > 1 {
		names = names[:1]
		metadata["continue"] = names[0]
	}
	items := []any{}
	for _, name := range names {
		items = append(items, f.slices[name])
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"metadata": metadata, "items": items})
}

func (f *fakeCluster) watch(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil || r.URL.Query().Get("allowWatchBookmarks") != "true" || r.URL.Query().Get("timeoutSeconds") == "" {
		f.t.Errorf("watch %s", r.URL.RawQuery)
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-r.Context().Done():
		case <-stop:
		}
		f.mu.Lock() // or it is between having looked and waiting
		defer f.mu.Unlock()
		f.changed.Broadcast()
	}()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches++
	if from < f.forgot {
		fmt.Fprintln(w, `{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}`)
		return
	}
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	for sent := from; r.Context().Err() == nil; f.changed.Wait() {
		for _, l := range f.log {
			if l.version <= sent {
				continue
			}
			if f.breaks > 0 && l.version%f.breaks == 0 {
				f.breaks = 0
				_, _ = w.Write(l.line[:len(l.line)/2])
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			_, _ = w.Write(append(l.line, '\n'))
			_ = http.NewResponseController(w).Flush()
			sent = l.version
		}
	}
}

// endpointOf is a ready endpoint; conditions and the like come on top.
func endpointOf(address string, more ...map[string]any) map[string]any {
	e := map[string]any{"addresses": []string{address}, "conditions": map[string]any{"ready": true}}
	for _, m := range more {
		for k, v := range m {
			e[k] = v
		}
	}
	return e
}

// set makes a slice of endpoints behind port 8080; nil takes it away.
func (f *fakeCluster) set(name string, endpoints ...map[string]any) {
	f.put(name, map[string]any{
		"addressType": "IPv4", "endpoints": endpoints,
		"ports": []any{map[string]any{"name": "a2a", "port": 8080, "protocol": "TCP"}},
	})
}

func (f *fakeCluster) put(name string, slice map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	kind := modified
	switch {
	case slice == nil:
		kind, slice = deleted, f.slices[name]
		delete(f.slices, name)
	case f.slices[name] == nil:
		kind = added
		fallthrough
	default:
		f.slices[name] = slice
	}
	slice["metadata"] = map[string]any{"name": name, "resourceVersion": strconv.Itoa(f.version)}
	line, err := json.Marshal(map[string]any{"type": kind, "object": slice})
	if err != nil {
		f.t.Error(err)
	}
	f.log = append(f.log, logged{f.version, line})
	f.changed.Broadcast()
}

// say sends a line to all watchers.
func (f *fakeCluster) say(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	f.log = append(f.log, logged{f.version, []byte(line)})
	f.changed.Broadcast()
}

func (f *fakeCluster) with(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// follow runs a source toward the fake that is quick to try again.
func (f *fakeCluster) follow(change func(*Config, *cluster)) *observed {
	f.t.Helper()
	o := &observed{t: f.t}
	c := Config{
		Kubernetes: &Kubernetes{Service: "billing", Namespace: "agents", Server: secret.URL(f.server.URL),
			Token: filepath.Join(f.dir, "token"), CA: filepath.Join(f.dir, "ca.crt")},
		Timeout: quantity.Duration(10 * time.Second),
	}
	if change != nil {
		change(&c, &cluster{})
	}
	s, err := New(c, o.options())
	if err != nil {
		f.t.Fatal(err)
	}
	source := s.(*cluster)
	source.pause, source.watches = time.Millisecond, 2*time.Minute
	source.server.account = f.dir
	if change != nil {
		change(&c, source)
	}
	o.run(s)
	return o
}

package discovery

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

func TestServicesValidate(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Services{
		"":                           {},
		"address: want name":         {Address: "ip"},
		"selector: want labels":      {Selector: "a=b&limit=1"},
		"namespace: want the name":   {Namespace: "a/b"},
		"namespace: required beside": {Server: "https://k.example"},
		"server: http is for this":   {Namespace: "a", Server: "http://k.example"},
		"timeout: want more than 0":  {Timeout: -1},
		"limit: want at least 1":     {Limit: -1},
		"answer: want more than 0":   {Answer: -1},
		"domain: ":                   {Domain: "a b"},
	} {
		if err := s.Validate(); want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}

// object is a service in the words of the API server.
func object(name, created string, version int, ports string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"agents","resourceVersion":"%d","creationTimestamp":%q},`+
		`"spec":{"clusterIP":"10.0.0.1","ports":[%s]}}`, name, version, created, ports)
}

const (
	older, newer = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
	portA2A      = `{"name":"a2a","port":80}`
	portUDP      = `{"name":"dns","port":53,"protocol":"UDP"}`
)

// TestServiceWatch lists page by page, is told of changes, and lists again when the server
// has forgotten, breaks off or says what nobody understands. Too many are an error.
func TestServiceWatch(t *testing.T) {
	t.Parallel()
	var lists atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch page := `{"metadata":{"resourceVersion":"7","continue":%q},"items":[%s]}`; {
		case r.URL.Path != "/api/v1/namespaces/agents/services" || q.Get("labelSelector") != "a2a-gateway.dev/agent=true":
			w.WriteHeader(http.StatusNotFound)
		case q.Get("watch") == "" && q.Get("continue") == "":
			lists.Add(1)
			_, _ = fmt.Fprintf(w, page, "more", object("b", newer, 5, portA2A))
		case q.Get("watch") == "":
			_, _ = fmt.Fprintf(w, page, "", object("a", newer, 6, portUDP+","+portA2A))
		case lists.Load() == 1:
			_, _ = fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8"}}}`+"\n"+
				`{"type":"ADDED","object":%s}`+"\n"+`{"type":"DELETED","object":%s}`+"\n"+`{"type":"ERROR","object":{"code":410}}`+"\n",
				object("z", older, 9, ""), object("b", newer, 10, portA2A))
		case lists.Load() == 2:
			_, _ = fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n"+`{"type":"ADDED","object":%s}`+"\n",
				object("c", newer, 9, ""), object("d", newer, 10, ""))
		default:
			<-r.Context().Done()
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	var failures []string
	w := NewServiceWatch(Services{Namespace: "agents", Server: secret.URL(server.URL), Limit: 3}, slog.New(slog.DiscardHandler), func(err error) {
		if err != nil {
			failures = append(failures, err.Error())
		}
	})
	w.pause = time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var seen []string
	w.Run(ctx, func(list []Service) {
		var names []string
		for _, s := range list {
			names = append(names, fmt.Sprint(s.Name, s.Ports))
			if s.Host != s.Name+".agents.svc" {
				t.Errorf("%s is called by %s", s.Name, s.Host)
			}
		}
		seen = append(seen, strings.Join(names, " "))
		if lists.Load() == 3 {
			cancel()
		}
	})
	first := "a[{a2a 80}] b[{a2a 80}]"
	want := []string{
		first, "z[] " + first, "z[] a[{a2a 80}]", // and the version is gone
		first, first + " c[]", // d is one too many
		first,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := "watch services: 4 services are more than limit (3)"; !slices.Equal(failures, []string{want}) {
		t.Errorf("%q, want %q", failures, want)
	}
}

// FuzzServiceEvents: whatever the API server says, what is found stays within the limit.
func FuzzServiceEvents(f *testing.F) {
	f.Add([]byte(`{"type":"ADDED","object":` + object("a", older, 1, portA2A) + "}\n" + `{"type":"DELETED","object":` + object("a", older, 2, "") + "}"))
	f.Add([]byte(`{"type":"MODIFIED","object":{"metadata":{"name":"x","resourceVersion":"1","creationTimestamp":"never"}}}`))
	f.Add([]byte(`{"type":"ADDED","object":null}` + "\nnull\n{}"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		w := NewServiceWatch(Services{Limit: 2}, slog.New(slog.DiscardHandler), func(error) {})
		w.found = map[string]service{}
		for line := range strings.SplitSeq(string(lines), "\n") {
			e, err := readEvent[service]([]byte(line))
			if err != nil {
				continue
			}
			if _, err := w.apply(e); err != nil {
				return // it begins with a list again
			}
			if list := w.all(); len(list) > 2 || slices.ContainsFunc(list, func(s Service) bool { return s.Name == "" }) {
				t.Errorf("%+v", list)
			}
		}
	})
}

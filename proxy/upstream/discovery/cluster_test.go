package discovery

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

func TestClusterFollows(t *testing.T) {
	t.Parallel()
	f := newFakeCluster(t)
	f.set("one", endpointOf("10.0.0.1", map[string]any{"zone": "z1"}))
	f.set("two", endpointOf("10.0.0.2"))
	f.set("three", endpointOf("10.0.0.2")) // a slice that is being moved to
	f.small = true
	o := f.follow(nil)
	o.now("10.0.0.1:8080@z1", "10.0.0.2:8080")
	f.set("two", endpointOf("10.0.0.3"), endpointOf("10.0.0.4"))
	o.now("10.0.0.1:8080@z1", "10.0.0.2:8080", "10.0.0.3:8080", "10.0.0.4:8080")
	f.put("one", nil)
	o.now("10.0.0.2:8080", "10.0.0.3:8080", "10.0.0.4:8080")
	f.put("three", nil)
	o.now("10.0.0.3:8080", "10.0.0.4:8080")
	if _, errs := o.count(); errs != 0 || f.watches != 1 {
		t.Errorf("%d errors, %d watches", errs, f.watches)
	}
}

// TestClusterNone believes that the last endpoint went away when a list says so too.
func TestClusterNone(t *testing.T) {
	t.Parallel()
	f := newFakeCluster(t)
	f.set("one", endpointOf("10.0.0.1"))
	o := f.follow(nil)
	o.now("10.0.0.1:8080")
	f.with(func() { f.refuse = 503 }) // the watch goes on, lists do not
	f.put("one", nil)
	o.fails("503")
	if lists, _ := o.count(); lists != 1 {
		t.Error("an event that nobody repeated was believed")
	}
	f.with(func() { f.refuse = 0 })
	o.now()
	f.set("one", endpointOf("10.0.0.2"))
	o.now("10.0.0.2:8080")
}

// TestClusterBeginsAgain has everything go wrong that ends a watch.
func TestClusterBeginsAgain(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(f *fakeCluster){
		"gone":          func(f *fakeCluster) { f.with(func() { f.forgot = f.version + 100 }); f.server.CloseClientConnections() },
		"gone event":    func(f *fakeCluster) { f.say(`{"type":"ERROR","object":{"code":410}}`) },
		"error event":   func(f *fakeCluster) { f.say(`{"type":"ERROR","object":{"code":500,"message":"etcd"}}`) },
		"disconnected":  func(f *fakeCluster) { f.server.CloseClientConnections() },
		"cut off":       func(f *fakeCluster) { f.with(func() { f.breaks = 1 }) },
		"garbage":       func(f *fakeCluster) { f.say("<html>") },
		"unknown event": func(f *fakeCluster) { f.say(`{"type":"MOVED","object":{}}`) },
		"no object":     func(f *fakeCluster) { f.say(`{"type":"ADDED"}`) },
		"no version":    func(f *fakeCluster) { f.say(`{"type":"ADDED","object":{"metadata":{"name":"x"}}}`) },
		"no name":       func(f *fakeCluster) { f.say(`{"type":"ADDED","object":{"metadata":{"resourceVersion":"9999"}}}`) },
		"huge event":    func(f *fakeCluster) { f.say(`{"type":"ADDED","object":"` + strings.Repeat("x", 1<<20) + `"}`) },
		"address": func(f *fakeCluster) {
			f.say(`{"type":"ADDED","object":{"metadata":{"name":"x","resourceVersion":"1"},"addressType":"IPv4",` +
				`"endpoints":[{"addresses":["http://evil"]}],"ports":[{"port":8080}]}}`)
		},
		"refused": func(f *fakeCluster) {
			f.with(func() { f.refuse = 403 })
			f.server.CloseClientConnections()
			time.AfterFunc(20*time.Millisecond, func() { f.with(func() { f.refuse = 0 }) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeCluster(t)
			f.set("one", endpointOf("10.0.0.1"))
			o := f.follow(func(c *Config, _ *cluster) { c.Answer = 64 << 10 })
			o.now("10.0.0.1:8080")
			o.until("a watch", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.watches > 0 })
			harm(f)
			f.set("one", endpointOf("10.0.0.2"))
			f.with(func() { // what was garbage is history
				if f.forgot > f.version {
					f.forgot = f.version
				}
			})
			o.now("10.0.0.2:8080")
			o.until("another list", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.lists > 1 })
		})
	}
}

// TestClusterEndedWatch goes on where it was, without a list.
func TestClusterEndedWatch(t *testing.T) {
	t.Parallel()
	f := newFakeCluster(t)
	f.set("one", endpointOf("10.0.0.1"))
	f.raw = func(w http.ResponseWriter, watch bool) bool {
		if !watch {
			return false
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.watches >= 20 {
			return false
		}
		f.watches++
		f.version++
		fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"kind":"EndpointSlice","metadata":{"resourceVersion":"%d"}}}`+"\n", f.version)
		f.forgot = f.version // older versions are gone
		return true
	}
	o := f.follow(nil)
	o.now("10.0.0.1:8080")
	o.until("watches", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.watches > 20 })
	f.set("one", endpointOf("10.0.0.2"))
	o.now("10.0.0.2:8080")
	f.with(func() {
		if f.lists != 1 {
			t.Errorf("%d lists", f.lists)
		}
	})
}

// TestClusterAnswers has lists that are no good; what was known stays.
func TestClusterAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ answer, why string }{
		"garbage":      {"<html>", "invalid character"},
		"no version":   {`{"items":[]}`, "without a version"},
		"endless":      {`{"metadata":{"resourceVersion":"1","continue":"x"},"items":[]}`, "empty page"},
		"huge":         {`{"metadata":{"resourceVersion":"1"},"x":"` + strings.Repeat("x", 1<<17) + `"}`, "more than answer (65536 bytes)"},
		"many":         {manySlices(9), "more than limit (8)"},
		"several":      {onePort(`{"port":1},{"port":2}`), "kubernetes.port must say which"},
		"no TCP":       {onePort(`{"port":1,"protocol":"UDP"}`), "no port of endpoint slice"},
		"bad address":  {strings.Replace(onePort(`{"port":1}`), "10.0.0.9", "10.0.0.9/8", 1), `endpoint slice "s"`},
		"wrong format": {`{"metadata":{"resourceVersion":"1"},"items":{}}`, "cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeCluster(t)
			f.set("one", endpointOf("10.0.0.1"))
			o := f.follow(func(c *Config, _ *cluster) { c.Answer, c.Limit = 64<<10, 8 })
			o.now("10.0.0.1:8080")
			f.with(func() {
				f.raw = func(w http.ResponseWriter, watch bool) bool {
					if !watch {
						_, _ = w.Write([]byte(tt.answer))
					}
					return !watch
				}
			})
			f.say("garbage") // ends the watch
			o.fails(tt.why)
			if lists, _ := o.count(); lists != 1 {
				t.Error("another list was told")
			}
			f.with(func() { f.raw = nil })
			o.works()
		})
	}
}

func manySlices(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = `{"metadata":{"name":"s` + strconv.Itoa(i) + `"}}`
	}
	return `{"metadata":{"resourceVersion":"1"},"items":[` + strings.Join(items, ",") + `]}`
}

func onePort(ports string) string {
	return `{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"s"},"addressType":"IPv4",` +
		`"endpoints":[{"addresses":["10.0.0.9"]}],"ports":[` + ports + `]}]}`
}

// TestClusterSlow has an API server that accepts and says nothing.
func TestClusterSlow(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	f := newFakeCluster(t)
	o := f.follow(func(c *Config, s *cluster) {
		c.Kubernetes.Server, c.Timeout = secret.URL("https://"+listener.Addr().String()), quantity.Duration(50*time.Millisecond)
	})
	o.until("two failures", func() bool { return len(o.errs) >= 2 })
	if lists, _ := o.count(); lists != 0 {
		t.Error("a list was told")
	}
}

// TestClusterSilentWatch is over when its time is, though nobody said so.
func TestClusterSilentWatch(t *testing.T) {
	t.Parallel()
	f := newFakeCluster(t)
	f.set("one", endpointOf("10.0.0.1"))
	o := f.follow(func(c *Config, s *cluster) {
		c.Timeout = quantity.Duration(2 * time.Second)
		s.watches, s.server.timeout = time.Millisecond, 300*time.Millisecond
	})
	o.now("10.0.0.1:8080")
	o.fails("deadline exceeded")
	f.set("one", endpointOf("10.0.0.2"))
	o.now("10.0.0.2:8080")
}

// TestClusterInside finds the API server as a pod does.
func TestClusterInside(t *testing.T) {
	f := newFakeCluster(t)
	f.set("one", endpointOf("10.0.0.1"))
	pod := func(c *Config, _ *cluster) { c.Kubernetes = &Kubernetes{Service: "billing"} }
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	o := f.follow(pod)
	o.fails("kubernetes.server must name")
	o.stop()
	host, port, _ := net.SplitHostPort(f.server.Listener.Addr().String())
	t.Setenv("KUBERNETES_SERVICE_HOST", host)
	t.Setenv("KUBERNETES_SERVICE_PORT", port)
	o = f.follow(pod)
	o.now("10.0.0.1:8080")

	// The token is another one from now on; so says the file.
	replace(t, filepath.Join(f.dir, "token"), "next")
	f.server.CloseClientConnections()
	f.set("one", endpointOf("10.0.0.2"))
	o.now("10.0.0.2:8080")
}

// TestClusterTrust talks to whom the roots vouch for alone, and follows nobody elsewhere.
func TestClusterTrust(t *testing.T) {
	t.Parallel()
	f := newFakeCluster(t)
	var got []string
	evil := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.URL.Path) }))
	t.Cleanup(evil.Close)
	o := f.follow(func(c *Config, _ *cluster) { c.Kubernetes.CA = "" })
	o.fails("certificate")
	o.stop()

	put(t, filepath.Join(f.dir, "none.pem"), "nothing")
	o = f.follow(func(c *Config, _ *cluster) { c.Kubernetes.CA = filepath.Join(f.dir, "none.pem") })
	o.fails("kubernetes.ca holds no certificate")
	o.stop()

	put(t, filepath.Join(f.dir, "bad"), "two words")
	o = f.follow(func(c *Config, _ *cluster) { c.Kubernetes.Token = filepath.Join(f.dir, "bad") })
	o.fails("kubernetes.token")
	o.stop()

	f.raw = func(w http.ResponseWriter, _ bool) bool {
		w.Header().Set("Location", evil.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
	o = f.follow(nil)
	o.fails("answers 307")
	o.stop()
	if evil.Close(); len(got) != 0 {
		t.Errorf("the API server's redirect was followed: %v", got)
	}
	if strings.Contains(o.lines.String(), "the-token") {
		t.Error("the token is in the log")
	}
}

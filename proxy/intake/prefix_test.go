package intake_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/catalog"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// prefixed has the gateway known by a path of its host.
func prefixed(here string) func(*proxytest.Setup) {
	return func(s *proxytest.Setup) {
		s.Server.PublicURL, s.Server.BasePath = "http://127.0.0.1/a2a", here
		s.Authn.OIDC = []jwt.Issuer{{Issuer: "https://issuer.test", Audiences: []string{"gateway"}}}
		s.Agent.Card.Visibility, s.Catalog.Access = card.Public, catalog.Public
	}
}

// front is a server of Go's that leads what begins with /a2a to a gateway.
func front(w *proxytest.Gateway, strips bool) string {
	to, err := url.Parse(w.URL)
	proxytest.Must(w, err)
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, FlushInterval: -1}
	mux := http.NewServeMux()
	mux.Handle("/.well-known/oauth-protected-resource/a2a", forward)
	mux.Handle("/.well-known/oauth-protected-resource/a2a/", forward)
	if strips {
		mux.Handle("/a2a/", http.StripPrefix("/a2a", forward))
	} else {
		mux.Handle("/a2a/", forward)
	}
	s := httptest.NewServer(mux)
	w.Cleanup(s.Close)
	return s.URL
}

const nginxConf = `daemon off; master_process off; pid "%[1]s/pid"; error_log "%[1]s/error.log"; events {}
http {
  access_log off; client_body_temp_path "%[1]s/a"; proxy_temp_path "%[1]s/b"; fastcgi_temp_path "%[1]s/c";
  uwsgi_temp_path "%[1]s/d"; scgi_temp_path "%[1]s/e";
  server {
    listen 127.0.0.1:%[2]s; proxy_http_version 1.1; proxy_buffering off;
    location /a2a/ { proxy_pass %[3]s%[4]s; }
    location /.well-known/oauth-protected-resource/a2a { proxy_pass %[3]s; }
  }
}
`

// nginx is the same as front.
func nginx(w *proxytest.Gateway, program string, strips bool) string {
	dir := w.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	proxytest.Must(w, err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close() // nginx takes it in a moment
	slash := ""
	if strips {
		slash = "/"
	}
	conf := filepath.Join(dir, "nginx.conf")
	proxytest.Must(w, os.WriteFile(conf, fmt.Appendf(nil, nginxConf, dir, port, w.URL, slash), 0o600))
	cmd := exec.Command(program, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", conf) //nolint:noctx // killed
	proxytest.Must(w, cmd.Start())
	w.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for end := time.Now().Add(proxytest.Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			_ = c.Close()
			break
		}
	}
	return "http://127.0.0.1:" + port
}

// TestPrefix: behind what leads a path to the gateway, everything that clients are given
// leads back there, whether or not the path is taken off on the way.
func TestPrefix(t *testing.T) {
	t.Parallel()
	for _, here := range []string{"", "/", "/a2a"} {
		w := proxytest.NewGateway(t, prefixed(here))
		for _, strips := range []bool{false, true} {
			if here == "/" && !strips || here == "/a2a" && strips {
				continue
			}
			behind(w, fmt.Sprintf("basePath %q, strips %v", here, strips), front(w, strips))
		}
	}
}

// TestPrefixNginx is TestPrefix with nginx.
func TestPrefixNginx(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/nginx")
	}
	if err != nil {
		testenv.Missing(t, "nginx is not installed")
	}
	w := proxytest.NewGateway(t, prefixed(""))
	behind(w, "nginx", nginx(w, program, false))
	behind(w, "nginx, stripping", nginx(w, program, true))
}

// behind uses the gateway through a front.
func behind(w *proxytest.Gateway, name, front string) {
	w.Helper()
	public := w.URL + "/a2a"
	out := func(target string) string { return strings.Replace(target, w.URL, front, 1) }
	in := func(what string, got proxytest.Response, want ...string) {
		w.Helper()
		for _, text := range want {
			if all := got.Body + fmt.Sprint(got.Header); !strings.Contains(all, text) {
				w.Errorf("%s: %s: %d %v %s\nwant %s", name, what, got.Status, got.Header, got.Body, text)
			}
		}
	}
	base := public + "/agents/rec"
	got := w.Do("", "GET", out(base+"/.well-known/agent-card.json"), "")
	in("card", got, `"`+base+`"`)
	if strings.Contains(got.Body, "GRPC") {
		w.Errorf("%s: the card offers gRPC: %s", name, got.Body)
	}
	in("card at the base", w.Do("", "GET", out(base+"/"), ""), `"`+base+`"`)
	for _, path := range []string{base, base + "/", base + "/skills/read"} {
		in("call", w.Do("alice", "POST", out(path), `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":`+proxytest.Message("")+`}`, "A2A-Version: 1.0"), `"id":7,"result"`)
	}
	in("HTTP+JSON", w.Do("alice", "POST", out(base+"/message:send"), proxytest.Message(""), "A2A-Version: 1.0"), `"task"`)
	in("shared", w.Do("alice", "POST", out(public+"/a2a"), `{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"tenant":"rec","id":"none"}}`, "A2A-Version: 1.0"), "not found")
	in("catalog", w.Do("", "GET", out(public+catalog.Own.Path), ""), base)
	metadata := w.URL + "/.well-known/oauth-protected-resource/a2a/agents/rec"
	in("challenge", w.Do("", "POST", out(base), "{}"), `resource_metadata="`+metadata+`"`)
	for _, path := range []string{metadata, public + "/.well-known/oauth-protected-resource/agents/rec"} {
		in("metadata", w.Do("", "GET", out(path), ""), `"resource":"`+base+`"`)
	}
	challenged(w, name, out)
	in("metadata of all", w.Do("", "GET", out(public+"/.well-known/oauth-protected-resource"), ""), `"resource":"`+public+`"`)
	in("nothing", w.Do("alice", "GET", out(public+"/nothing"), ""), "no such path")
}

// TestL46_OneSpelling: with server.basePath a path has one spelling.
func TestL46_OneSpelling(t *testing.T) {
	t.Parallel()
	for here, paths := range map[string]map[string]int{
		"/a2a": {"/a2a/agents/rec/": 200, "/agents/rec/": 404, "/a2a/a2a/agents/rec/": 404, "/a2abc/agents/rec/": 404, "/a2a//agents/rec/": 400, "/a2a/../agents/rec/": 400},
		"/":    {"/agents/rec/": 200, "/a2a/agents/rec/": 404},
		"/in":  {"/in/agents/rec/": 200, "/a2a/agents/rec/": 404, "/agents/rec/": 404},
		"":     {"/agents/rec/": 200, "/a2a/agents/rec/": 200, "/a2a/a2a/agents/rec/": 404},
	} {
		w := proxytest.NewGateway(t, prefixed(here))
		for path, want := range paths {
			got := w.Do("alice", "GET", w.URL+path, "")
			if got.Status != want {
				t.Errorf("%q: %s: %d %s, want %d", here, path, got.Status, got.Body, want)
			}
			if want == 404 && len(here) > 1 && !strings.HasPrefix(path, here+"/") && !strings.Contains(got.Body, "begin with "+here+" (server.basePath)") {
				t.Errorf("%q: %s: %s", here, path, got.Body)
			}
			if here == "/" && want == 404 && !strings.Contains(got.Body, "begin with / (server.basePath), without /a2a in front") {
				t.Errorf("%q: %s: %s", here, path, got.Body)
			}
			if want == 200 && !strings.Contains(got.Body, `"`+w.URL+`/a2a/agents/rec"`) {
				t.Errorf("%q: %s: the card is %s", here, path, got.Body)
			}
		}
	}
}

// TestPrefixSaysWhereAgentsAre: who has dropped the path of an agent is told the whole of it.
func TestPrefixSaysWhereAgentsAre(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Server.PublicURL = "http://127.0.0.1/gw"
		s.Docs = map[string]func(string) string{"two": proxytest.Card}
		s.More = []agents.Config{{ID: "two"}}
	}, func(s *proxytest.Setup) {
		s.More[0].Card.URL = secret.URL(strings.Replace(string(s.Agent.Card.URL), "/card", "/card?two", 1))
	})
	for _, path := range []string{"/", "/gw/", "/gw/.well-known/agent-card.json", "/.well-known/agent.json"} {
		if got := w.Do("alice", "GET", w.URL+path, ""); got.Status != 404 || !strings.Contains(got.Body, "agents are below /gw/agents/") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
}

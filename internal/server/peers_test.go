package server

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// needs finds a program, or ends the test.
func needs(t *testing.T, program string, places ...string) string {
	t.Helper()
	for _, name := range append([]string{program}, places...) {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	testenv.Missing(t, "%v", program+" is not installed")
	return ""
}

// early refuses before it has read anything of a body.
func early(limit int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > limit || r.ContentLength < 0 {
			failure.Write(w, nil, wire.Errorf(wire.TooLarge, "the body exceeds %d bytes", limit))
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	})
}

// postTooMuch posts bodies that are refused unread, by fetch, by http and https, by length and
// in chunks, and over HTTP/2 where there is any, and prints what came of it.
const postTooMuch = `
const [url, two] = [process.argv[1], process.argv[2] === 'h2'];
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
process.removeAllListeners('warning');
const h1 = require(url.startsWith('https') ? 'https' : 'http'), h2 = require('http2');
const size = 5 << 20, body = 'x'.repeat(size), seen = {};
const count = what => { seen[what] = (seen[what] || 0) + 1 };
const fetched = async () => { const r = await fetch(url, {method: 'POST', body}); await r.text(); return r.status };
const requested = chunked => new Promise((yes, no) => {
  const r = h1.request(url, {method: 'POST', headers: chunked ? {} : {'content-length': size}}, a => {
    let text = '';
    a.on('data', d => { text += d });
    a.on('end', () => { JSON.parse(text); yes(a.statusCode) });
    a.on('error', no);
  });
  r.on('error', no);
  for (let i = 0; i < size; i += 1 << 16) r.write(body.slice(i, i + (1 << 16)));
  r.end();
});
const overH2 = () => new Promise((yes, no) => {
  const c = h2.connect(url, {rejectUnauthorized: false}), r = c.request({':method': 'POST', ':path': '/', 'content-length': size});
  c.on('error', no);
  r.on('error', no);
  let status, text = '';
  r.on('response', h => { status = h[':status'] });
  r.on('data', d => { text += d });
  r.on('end', () => { JSON.parse(text); c.close(); yes(status) });
  r.end(body);
});
(async () => {
  for (let i = 0; i < 10; i++) {
    for (const [name, f] of Object.entries(two ? {overH2} : {fetched, byLength: () => requested(false), inChunks: () => requested(true)})) {
      try { count(name + ' ' + await f()) } catch (e) { count(name + ' ' + (e.cause || e).code) }
    }
  }
  for (const what of Object.keys(seen).sort()) console.log(what, seen[what]);
})();
`

// TestNodeReadsEarlyAnswers: what Node's clients are answered before their body is read they
// get to read, and not that their connection is reset.
func TestNodeReadsEarlyAnswers(t *testing.T) {
	t.Parallel()
	node := needs(t, "node")
	for way, s := range map[string]*Server{
		"plaintext": start(t, plaintext(), early(1000)),
		"TLS":       start(t, secured(identity(t, t.TempDir(), "localhost")), early(1000)),
	} {
		for version, want := range map[string]string{"h1": "byLength 413 10\nfetched 413 10\ninChunks 413 10\n", "h2": "overH2 413 10\n"} {
			var out, errs bytes.Buffer
			cmd := exec.CommandContext(t.Context(), node, "-e", postTooMuch, s.URL(), version)
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil || out.String() != want {
				t.Errorf("%s, %s: %v: %s%s", way, version, err, out.String(), errs.String())
			}
		}
	}
}

// nginxConf has the lines for WebSockets that are on every page about nginx.
const nginxConf = `daemon off; master_process off; pid "%[1]s/pid"; error_log "%[1]s/error.log"; events {}
http {
  access_log off; client_body_temp_path "%[1]s/a"; proxy_temp_path "%[1]s/b"; fastcgi_temp_path "%[1]s/c";
  uwsgi_temp_path "%[1]s/d"; scgi_temp_path "%[1]s/e";
  server { listen 127.0.0.1:%[2]s; location / {
    proxy_pass %[3]s; proxy_http_version 1.1; proxy_set_header Host localhost;
    proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";
  } }
}
`

// behindNginx starts it in front of s and says where.
func behindNginx(t *testing.T, s *Server) string {
	t.Helper()
	nginx, dir := needs(t, "nginx", "/usr/sbin/nginx"), t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close() // nginx takes it in a moment
	conf := filepath.Join(dir, "nginx.conf")
	must(t, os.WriteFile(conf, fmt.Appendf(nil, nginxConf, dir, port, s.URL()), 0o600))
	cmd := exec.Command(nginx, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", conf)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, "nginx", func() bool {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return "http://127.0.0.1:" + port
}

// TestNginxWithUpgrade: calls pass an nginx that says "Connection: upgrade" of all of them,
// and so does what a client answers that wants another protocol.
func TestNginxWithUpgrade(t *testing.T) {
	t.Parallel()
	var rec recorder
	url := behindNginx(t, start(t, plaintext(), &rec))
	for i, upgrade := range []string{"", "", "h2c", "websocket"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/agents/a", strings.NewReader("{}"))
		must(t, err)
		if upgrade != "" {
			r.Header.Set("Upgrade", upgrade)
			r.Header.Set("Connection", "Upgrade")
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		must(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusNoContent || rec.reached.Load() != int64(i+1) {
			t.Errorf("Upgrade %q: status %d", upgrade, resp.StatusCode)
		}
	}
}

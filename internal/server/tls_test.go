package server

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func empty() http.Handler { return http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}) }

// client speaks HTTP/1.1, or HTTP/2 as well, to a server whose certificate it
// does not check.
func client(t *testing.T, h2 bool) *http.Client {
	t.Helper()
	var p http.Protocols
	p.SetHTTP1(true)
	p.SetHTTP2(h2)
	tr := &http.Transport{Protocols: &p, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: patience}
}

func TestTLSVersionsOfHTTP(t *testing.T) {
	t.Parallel()
	s := start(t, secured(identity(t, t.TempDir(), "localhost")), empty())
	if !strings.HasPrefix(s.URL(), "https://127.0.0.1:") || strings.HasSuffix(s.URL(), ":0") {
		t.Errorf("URL %s", s.URL())
	}
	for _, h2 := range []bool{false, true} {
		resp, err := client(t, h2).Get(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if (resp.ProtoMajor == 2) != h2 || resp.TLS.Version != tls.VersionTLS13 {
			t.Errorf("h2 %v: %s over %x", h2, resp.Proto, resp.TLS.Version)
		}
		if got := resp.Header.Values("Strict-Transport-Security"); len(got) != 1 || got[0] != "max-age=31536000" {
			t.Errorf("HSTS %q", got)
		}
	}
}

func TestPlaintextHasNoHSTS(t *testing.T) {
	t.Parallel()
	s := start(t, plaintext(), empty())
	resp, err := http.Get(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if got := resp.Header.Get("Strict-Transport-Security"); got != "" {
		t.Errorf("HSTS %q", got)
	}
}

func TestL24_TLSVersionsAndSuites(t *testing.T) {
	t.Parallel()
	files := identity(t, t.TempDir(), "localhost")
	old := secured(files)
	old.TLS.MinVersion = "1.2"
	tests := []struct {
		name   string
		cfg    Config
		client *tls.Config
		ok     bool
	}{
		{"1.3", secured(files), &tls.Config{}, true},
		{"1.2 to 1.3 only", secured(files), &tls.Config{MaxVersion: tls.VersionTLS12}, false},
		{"1.2 permitted", old, &tls.Config{MaxVersion: tls.VersionTLS12}, true},
		{"1.1", old, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, false},
		{"CBC", old, &tls.Config{
			MaxVersion:   tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_128_GCM_SHA256},
		}, false},
		{"AEAD", old, &tls.Config{
			MaxVersion:   tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256},
		}, true},
	}
	for _, tt := range tests {
		s := start(t, tt.cfg, empty())
		tt.client.InsecureSkipVerify = true
		c, err := tls.Dial("tcp", s.Addr().String(), tt.client)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil {
			_ = c.Close()
		}
	}
}

func TestCertificateBySNI(t *testing.T) {
	t.Parallel()
	s := start(t, secured(
		identity(t, t.TempDir(), "first.example"),
		identity(t, t.TempDir(), "second.example", "also.example"),
		identity(t, t.TempDir(), "*.wild.example"),
	), empty())
	for name, want := range map[string]string{
		"first.example": "first.example", "second.example": "second.example", "also.example": "second.example",
		"x.wild.example": "*.wild.example", "unknown.example": "first.example", "": "first.example",
	} {
		if got := served(s, name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// TestL24_SessionsEndWithTheirGeneration: a session resumes while nothing
// changes, and not across new certificates.
func TestL24_SessionsEndWithTheirGeneration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := secured(identity(t, dir, "old.example"))
	s := start(t, cfg, empty())
	cache := tls.NewLRUClientSessionCache(4)
	resumed := func() bool {
		tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: "x",
			ClientSessionCache: cache}}
		defer tr.CloseIdleConnections()
		resp, err := (&http.Client{Transport: tr, Timeout: patience}).Get(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp.TLS.DidResume
	}
	if resumed() {
		t.Error("the first connection resumed")
	}
	if !resumed() {
		t.Error("the second connection did not resume")
	}
	if err := s.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	if !resumed() {
		t.Error("a reload without a change ended sessions")
	}
	identity(t, dir, "new.example")
	if err := s.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	if resumed() {
		t.Error("a session survived its certificates")
	}
}

func TestR03_NewCertificateIsUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, secured(identity(t, dir, "old.example")), empty())
	identity(t, dir, "new.example")
	eventually(t, "new certificate", func() bool { return served(s, "") == "new.example" })
}

// TestR03_LinkSwap renews as Kubernetes does: the files are links through
// ..data, which is swapped for another directory in one rename.
func TestR03_LinkSwap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	publish := func(version, name string) {
		must(t, os.Mkdir(filepath.Join(dir, version), 0o700))
		identity(t, filepath.Join(dir, version), name)
		must(t, os.Symlink(version, filepath.Join(dir, "..data_tmp")))
		must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	publish("..1", "one.example")
	files := Certificate{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	must(t, os.Symlink("..data/tls.crt", files.Cert))
	must(t, os.Symlink("..data/tls.key", files.Key))
	s := start(t, secured(files), empty())
	if got := served(s, ""); got != "one.example" {
		t.Fatalf("serves %s", got)
	}
	publish("..2", "two.example")
	eventually(t, "second certificate", func() bool { return served(s, "") == "two.example" })
	must(t, os.RemoveAll(filepath.Join(dir, "..1")))
	publish("..3", "three.example")
	eventually(t, "third certificate", func() bool { return served(s, "") == "three.example" })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestR03_BadFilesKeepTheOldCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := secured(identity(t, dir, "good.example"))
	var log lines
	s, err := New(cfg, empty(), log.logger())
	must(t, err)
	must(t, s.Start())
	defer func() { _ = s.Shutdown(t.Context()) }()

	write(t, cfg.TLS.Certificates[0].Cert, "garbage")
	eventually(t, "a line about the bad file", func() bool { return log.count("old ones stay") > 0 })
	if log.count(cfg.TLS.Certificates[0].Cert) == 0 {
		t.Error("the log does not name the file")
	}
	if got := served(s, ""); got != "good.example" {
		t.Errorf("serves %s", got)
	}
	if err := s.Reload(cfg); err == nil || !strings.Contains(err.Error(), "tls.crt") {
		t.Errorf("reload: %v", err)
	}
	before := log.count("old ones stay")
	s.refresh()
	s.refresh()
	if got := log.count("old ones stay"); got != before {
		t.Errorf("the same error was logged again")
	}
	identity(t, dir, "better.example")
	eventually(t, "the good file", func() bool { return served(s, "") == "better.example" })
}

func TestNewNamesTheBadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := identity(t, dir, "a.example")
	other := identity(t, filepath.Join(dir, mkdir(t, dir, "other")), "b.example")
	blank := filepath.Join(dir, "blank")
	write(t, blank, "")
	tests := []struct {
		name string
		pair Certificate
		want []string
	}{
		{"missing", Certificate{filepath.Join(dir, "none"), good.Key}, []string{"certificates[0]", "none"}},
		{"empty", Certificate{good.Cert, blank}, []string{"blank", "empty"}},
		{"not PEM", Certificate{good.Key, good.Cert}, []string{"tls.key", "tls.crt"}},
		{"another's key", Certificate{good.Cert, other.Key}, []string{good.Cert, other.Key,
			"private key does not match"}},
	}
	for _, tt := range tests {
		_, err := New(secured(tt.pair), empty(), nil)
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", tt.name, err, want)
			}
		}
	}
}

func mkdir(t *testing.T, dir, name string) string {
	t.Helper()
	must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	return name
}

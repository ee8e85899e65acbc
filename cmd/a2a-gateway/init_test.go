package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// secretive is an agent whose certificate no public CA vouches for, and the file of the one
// that does.
func secretive(t *testing.T) (url, ca string) {
	t.Helper()
	var srv *httptest.Server
	srv = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprintf(w, `{"name":"Secretive","supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, srv.URL+"/")
			return
		}
		var call struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.NewDecoder(r.Body).Decode(&call)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"Task not found"}}`, call.ID)
	}))
	t.Cleanup(srv.Close)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return srv.URL, ca
}

// TestInitCA: an agent behind a private CA is found with --ca, which the file then has, and
// without it the error says so.
func TestInitCA(t *testing.T) {
	t.Parallel()
	url, ca := secretive(t)
	path := filepath.Join(t.TempDir(), "config.yaml")
	command := []string{"init", url, "-c", path, "--key", "", "--address", "127.0.0.1:0"}
	var out, errs bytes.Buffer
	if code := run(t.Context(), command, &out, &errs); code != verb.ExitFailed || !strings.Contains(errs.String(), "--ca FILE") || !strings.Contains(errs.String(), "agents[].tls.ca") {
		t.Errorf("without a CA: exit code %d: %s", code, &errs)
	}
	errs.Reset()
	if code := run(t.Context(), append(command, "--ca", ca), &out, &errs); code != 0 || !strings.Contains(out.String(), "it answers as it should") {
		t.Fatalf("with the CA: exit code %d: %s%s", code, &out, &errs)
	}
	if code := run(t.Context(), []string{"validate", "--online", "-c", path}, &out, &errs); code != 0 {
		t.Errorf("what was written: exit code %d: %s", code, &errs)
	}
	errs.Reset()
	if code := run(t.Context(), append(command[:2:2], "-c", path+".2", "--ca", path+".none"), io.Discard, &errs); code != verb.ExitUsage || !strings.Contains(errs.String(), "--ca: ") {
		t.Errorf("no such CA: exit code %d: %s", code, &errs)
	}
}

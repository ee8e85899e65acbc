package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const document = `{"message" : {"parts":[{"text":"1.0e2 \u00e9"}]}, "n":12345678901234567890}`

func callout() hook.Callout {
	return hook.Callout{
		Phase: hook.Request, Extension: "urn:e", Agent: "travel", Method: "SendMessage", Version: "1.0",
		Binding: "JSONRPC", RequestID: "r1", Document: []byte(document),
	}
}

// service answers every callout with f and returns a hook to it.
func service(t *testing.T, c hook.Config, f http.HandlerFunc) *hook.Hook {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	c.URL = secret.URL(server.URL + "/judge?code=hush")
	c.Phases = []hook.Phase{hook.Request, hook.Event}
	h, err := hook.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func says(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{media}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestCalloutOnTheWire(t *testing.T) {
	t.Parallel()
	var got []byte
	var header http.Header
	var query string
	h := service(t, hook.Config{Headers: []hook.Header{{Name: "x-key", Value: secret.New("k1")}}},
		func(w http.ResponseWriter, r *http.Request) {
			got, _ = io.ReadAll(r.Body)
			header, query = r.Header, r.Method+" "+r.RequestURI
			w.WriteHeader(http.StatusNoContent)
		})
	c := callout()
	c.Skill, c.Principal, c.Tenant, c.TaskID = "book", `al"ice`, "acme", "t1"
	doc, err := h.Call(t.Context(), c)
	if err != nil || string(doc) != document {
		t.Fatalf("%s, %v", doc, err)
	}
	want := `{"phase":"request","extension":"urn:e","agent":"travel","method":"SendMessage","version":"1.0",` +
		`"binding":"JSONRPC","skill":"book","principal":"al\"ice","tenant":"acme","requestId":"r1","taskId":"t1",` +
		`"document":` + document + `}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if query != "POST /judge?code=hush" {
		t.Error(query)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json", "X-Key": "k1", "Accept-Encoding": "",
	} {
		if header.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, header.Get(name), value)
		}
	}
}

func TestOptionalMembersAreLeftOut(t *testing.T) {
	t.Parallel()
	var got map[string]any
	h := service(t, hook.Config{}, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	c := callout()
	c.Document = nil
	if doc, err := h.Call(t.Context(), c); doc != nil || err != nil {
		t.Errorf("%s, %v", doc, err)
	}
	if _, ok := got["document"]; !ok || got["document"] != nil {
		t.Errorf("document is %v", got["document"])
	}
	for _, name := range []string{"skill", "principal", "tenant", "taskId"} {
		if _, ok := got[name]; ok {
			t.Errorf("%s is there, though empty", name)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("m", 257)
	tests := []struct {
		name   string
		status int
		media  string
		body   string
		want   string // document
		denied string // message of a *Denied; "-" for an empty one
		fail   string // part of any other error
	}{
		{name: "no content", status: 204, want: document},
		{name: "pass", body: `{"action":"pass"}`, want: document},
		{name: "charset", media: "Application/JSON; charset=utf-8", body: `{"action":"pass"}`, want: document},
		{name: "mutate", body: `{"action":"mutate","document":{"a":1.50, "b":"\u00e9/"}}`, want: `{"a":1.50,"b":"\u00e9/"}`},
		{name: "lines", body: "{\"action\":\"mutate\",\"document\":{\r\n \"a\":\n[ ]}}\n", want: `{"a":[]}`},
		{name: "deny", body: `{"action":"deny","message":"not on sundays"}`, denied: "not on sundays"},
		{name: "deny alone", body: `{"action":"deny"}`, denied: "-"},
		{name: "deny with null", body: `{"action":"deny","message":null}`, denied: "-"},
		{name: "deny at length", body: `{"action":"deny","message":"` + long[1:] + `"}`, denied: long[1:]},
		{name: "deny too long", body: `{"action":"deny","message":"` + long + `"}`, denied: "-"},
		{name: "deny with controls", body: `{"action":"deny","message":"a\r\nb"}`, denied: "-"},
		{name: "deny with C1", body: `{"action":"deny","message":"a\u009bb"}`, denied: "-"},

		{name: "created", status: 201, body: `{"action":"pass"}`, fail: "status 201"},
		{name: "error", status: 500, body: `{"action":"pass"}`, fail: "status 500"},
		{name: "text", media: "text/plain", body: `{"action":"pass"}`, fail: "application/json"},
		{name: "no media type", media: "", body: `{"action":"pass"}`, fail: ""},
		{name: "empty", body: "", fail: "malformed JSON"},
		{name: "half", body: `{"action":"pass"`, fail: "malformed JSON"},
		{name: "two", body: `{"action":"pass"}{}`, fail: "malformed JSON"},
		{name: "twice", body: `{"action":"pass","action":"deny"}`, fail: "malformed JSON"},
		{name: "twice inside", body: `{"action":"mutate","document":{"a":1,"a":2}}`, fail: "malformed JSON"},
		{name: "bad UTF-8", body: "{\"action\":\"mutate\",\"document\":{\"a\":\"\xff\"}}", fail: "malformed JSON"},
		{name: "array", body: `["pass"]`, fail: "not an object"},
		{name: "null", body: `null`, fail: "action other than"},
		{name: "no action", body: `{}`, fail: "action other than"},
		{name: "unknown action", body: `{"action":"Pass"}`, fail: "action other than"},
		{name: "action number", body: `{"action":1}`, fail: "not an object"},
		{name: "unknown member", body: `{"action":"pass","reason":"hush"}`, fail: "member beside"},
		{name: "other case", body: `{"Action":"pass"}`, fail: "member beside"},
		{name: "mutate nothing", body: `{"action":"mutate"}`, fail: "not an object"},
		{name: "mutate to an array", body: `{"action":"mutate","document":[]}`, fail: "not an object"},
		{name: "mutate to null", body: `{"action":"mutate","document":null}`, fail: "not an object"},
		{name: "pass with document", body: `{"action":"pass","document":{}}`, fail: "does not go with it"},
		{name: "pass with message", body: `{"action":"pass","message":"x"}`, fail: "does not go with it"},
		{name: "mutate with message", body: `{"action":"mutate","document":{},"message":"x"}`, fail: "does not go with it"},
		{name: "deny with document", body: `{"action":"deny","document":{}}`, fail: "does not go with it"},
		{name: "too much", body: `{"action":"pass"}` + strings.Repeat(" ", 4<<20), fail: "more than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.status == 0 {
				tt.status = http.StatusOK
			}
			if tt.media == "" && tt.name != "no media type" {
				tt.media = "application/json"
			}
			doc, err := service(t, hook.Config{}, says(tt.status, tt.media, tt.body)).Call(t.Context(), callout())
			var denied *hook.Denied
			switch {
			case tt.want != "":
				if err != nil || string(doc) != tt.want {
					t.Errorf("%s, %v, want %s", doc, err, tt.want)
				}
			case tt.denied != "":
				if !errors.As(err, &denied) || denied.Message != strings.TrimPrefix(tt.denied, "-") || doc != nil {
					t.Errorf("%s, %v, want denial %q", doc, err, tt.denied)
				}
			default:
				if err == nil || errors.As(err, &denied) || doc != nil || !strings.Contains(err.Error(), tt.fail) {
					t.Errorf("%s, %v, want error with %q", doc, err, tt.fail)
				}
				if err != nil && strings.Contains(err.Error(), "hush") {
					t.Errorf("%v shows what it must not", err)
				}
			}
		})
	}
}

func TestOnFailurePass(t *testing.T) {
	t.Parallel()
	tests := map[string]http.HandlerFunc{
		"status": says(500, "application/json", `{}`),
		"hangup": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"action":"pass"}`)
		},
		"malformed": says(200, "application/json", `{`),
	}
	for name, f := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := callout()
			if doc, err := service(t, hook.Config{OnFailure: "deny"}, f).Call(t.Context(), c); err == nil {
				t.Errorf("a failure let %s pass", doc)
			}
			h := service(t, hook.Config{OnFailure: "pass"}, f)
			if doc, err := h.Call(t.Context(), c); err != nil || string(doc) != document {
				t.Errorf("%s, %v", doc, err)
			}
			var failed []error
			c.Failed = func(err error) { failed = append(failed, err) }
			if _, err := h.Call(t.Context(), c); err != nil || len(failed) != 1 || strings.Contains(failed[0].Error(), "hush") {
				t.Errorf("%v; told of %v", err, failed)
			}
		})
	}
	t.Run("a no stays a no", func(t *testing.T) {
		t.Parallel()
		h := service(t, hook.Config{OnFailure: "pass"}, says(200, "application/json", `{"action":"deny","message":"\n"}`))
		_, err := h.Call(t.Context(), callout())
		if denied := new(hook.Denied); !errors.As(err, &denied) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		h := service(t, hook.Config{}, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, status)
		})
		if _, err := h.Call(t.Context(), callout()); err == nil {
			t.Errorf("%d was taken for an answer", status)
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	h := service(t, hook.Config{Timeout: quantity.Duration(20e6)}, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is the hang-up noticed
		<-r.Context().Done()
	})
	if _, err := h.Call(t.Context(), callout()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestCallerHangsUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	h := service(t, hook.Config{Timeout: quantity.Duration(30e9)}, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	if _, err := h.Call(ctx, callout()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestErrorsHideTheQuery(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	h, err := hook.New(hook.Config{URL: secret.URL(server.URL + "/x?code=hush"), Phases: []hook.Phase{hook.Event}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Call(t.Context(), callout())
	if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), server.URL+"/x") {
		t.Errorf("got %v", err)
	}
	if at := new(url.Error); errors.As(err, &at) {
		t.Error("the error still has the URL inside")
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	h := service(t, hook.Config{}, func(w http.ResponseWriter, r *http.Request) {
		var c struct{ RequestID, Document json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"action":"mutate","document":{"seen":`+string(c.RequestID)+`}}`)
	})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			c := callout()
			c.RequestID = strings.Repeat("r", i)
			doc, err := h.Call(t.Context(), c)
			if want := `{"seen":"` + c.RequestID + `"}`; err != nil || string(doc) != want {
				t.Errorf("%s, %v, want %s", doc, err, want)
			}
		})
	}
	wg.Wait()
}

func TestHandles(t *testing.T) {
	t.Parallel()
	h := service(t, hook.Config{}, nil)
	if !h.Handles(hook.Request) || h.Handles(hook.Response) || !h.Handles(hook.Event) || h.Handles("") {
		t.Error("phases are mixed up")
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	const rest = "\nphases: [request]\n"
	tests := []struct{ name, in, want string }{
		{"least", "url: http://h/" + rest, ""},
		{"all", "url: https://h:8443/x?code=1\nphases: [request, response, event]\ntimeout: 30s\nonFailure: pass\n" +
			"headers: [{name: X-Key, value: v}, {name: Authorization, value: Bearer v}]", ""},
		{"no url", "phases: [request]", "url: not"},
		{"relative", "url: /x" + rest, "url: not"},
		{"scheme", "url: ftp://h/" + rest, "url: not"},
		{"no host", "url: http://:80/" + rest, "url: not"},
		{"user", "url: http://u:hush@h/" + rest, "url: not"},
		{"empty fragment", "url: 'http://h/#'" + rest, "url: not"},
		{"control", `url: "http://h/hush\n"` + rest, "url: not"},
		{"no phases", "url: http://h/", "phases: none"},
		{"phase", "url: http://h/\nphases: [Request]", `phases: "Request"`},
		{"phase twice", "url: http://h/\nphases: [event, event]", `"event" is given twice`},
		{"short", "url: http://h/\ntimeout: 999us" + rest, "timeout: "},
		{"long", "url: http://h/\ntimeout: 30001ms" + rest, "timeout: "},
		{"on failure", "url: http://h/\nonFailure: allow" + rest, "onFailure: "},
		{"header name", "url: http://h/\nheaders: [{name: 'a b', value: hush}]" + rest, "headers[0].name: "},
		{"no header name", "url: http://h/\nheaders: [{value: hush}]" + rest, "headers[0].name: "},
		{"host", "url: http://h/\nheaders: [{name: host, value: hush}]" + rest, "Host is set by"},
		{"length", "url: http://h/\nheaders: [{name: content-length, value: hush}]" + rest, "set by"},
		{"te", "url: http://h/\nheaders: [{name: TE, value: hush}]" + rest, "set by"},
		{"header twice", "url: http://h/\nheaders: [{name: x-a, value: hush}, {name: X-A, value: hush}]" + rest,
			"headers[1].name: X-A is given twice"},
		{"no value", "url: http://h/\nheaders: [{name: x-a}]" + rest, "headers[0].value: "},
		{"value", `url: http://h/` + "\n" + `headers: [{name: x-a, value: "hush\r\n"}]` + rest, "headers[0].value: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var c hook.Config
			if err := yaml.Load([]byte(tt.in), &c, yaml.WithKnownFields()); err != nil {
				t.Fatal(err)
			}
			err := c.Validate()
			if _, made := hook.New(c); (made == nil) != (err == nil) {
				t.Errorf("New says %v, Validate %v", made, err)
			}
			if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("err = %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hush") {
				t.Errorf("%v shows what it must not", err)
			}
		})
	}
}

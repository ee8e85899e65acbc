package pdp

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/breaker"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// raw answers with exactly this.
func raw(code int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// undecided answers: none of them is a yes, and none is a no either.
func undecidedAnswers() map[string]http.HandlerFunc {
	const typeJSON = "application/json"
	yes := `{"decision": true}`
	return map[string]http.HandlerFunc{
		"no decision":      raw(200, typeJSON, `{}`),
		"null":             raw(200, typeJSON, `{"decision": null}`),
		"text":             raw(200, typeJSON, `{"decision": "true"}`),
		"number":           raw(200, typeJSON, `{"decision": 1}`),
		"list":             raw(200, typeJSON, `{"decision": [true]}`),
		"other case":       raw(200, typeJSON, `{"Decision": true}`),
		"twice":            raw(200, typeJSON, `{"decision": false, "decision": true}`),
		"twice, escaped":   raw(200, typeJSON, `{"decision": true, "\u0064ecision": false}`),
		"twice in context": raw(200, typeJSON, `{"decision": true, "context": {"a": 1, "a": 2}}`),
		"two documents":    raw(200, typeJSON, yes+yes),
		"in a list":        raw(200, typeJSON, `[`+yes+`]`),
		"bare":             raw(200, typeJSON, `true`),
		"empty":            raw(200, typeJSON, ``),
		"truncated":        raw(200, typeJSON, `{"decision": true`),
		"not UTF-8":        raw(200, typeJSON, "{\"decision\": true, \"x\": \"\xff\"}"),
		"comment":          raw(200, typeJSON, `{"decision": true /* yes */}`),
		"html":             raw(200, "text/html", yes),
		"no type":          raw(200, "", yes),
		"bad type":         raw(200, "application/json; =", yes),
		"other JSON":       raw(200, "application/problem+json", yes),
		"too large":        raw(200, typeJSON, `{"decision": true, "context": {"a": "`+strings.Repeat("a", maxAnswer)+`"}}`),
		"large header": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("a", 2*maxAnswer))
			say(w, yes)
		},
		"created":    raw(201, typeJSON, yes),
		"accepted":   raw(202, typeJSON, yes),
		"partial":    raw(206, typeJSON, yes),
		"no content": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"moved":      func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"moved for good": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusPermanentRedirect)
		},
		"unauthorized":        raw(401, typeJSON, yes),
		"forbidden":           raw(403, typeJSON, yes),
		"not found":           raw(404, typeJSON, yes),
		"too many":            raw(429, typeJSON, yes),
		"internal":            raw(500, typeJSON, yes),
		"bad gateway":         raw(502, "text/html", "<html>"),
		"packed":              func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "gzip"); say(w, yes) },
		"to another question": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Request-Id", "req-2"); say(w, yes) },
		"broken off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			say(w, yes)
		},
		"hung up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
}

// TestUndecided: what is neither yes nor no is a failure, to be refused or passed over as
// the configuration says, and shows in the record in any case.
func TestUndecided(t *testing.T) {
	t.Parallel()
	for name, answer := range undecidedAnswers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPointFunc(t, answer)
			for _, several := range []bool{false, true} {
				q := newQuestion(t)
				if several {
					q.Skill, q.Skills = "", []string{"refund", "invoice"}
				}
				var s setup
				deny := Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), Timeout: quantity.Duration(10 * time.Second), Token: secret.New("t")}
				_, err := ask(t, s.panel(t, deny), q)
				var refused *Refused
				if !errors.As(err, &refused) || refused.Err == nil || refused.By != "pdp" || refused.Reason == "" {
					t.Errorf("deny: got %v", err)
				}
				allow := deny
				allow.OnFailure = failAllow
				notes, err := ask(t, s.panel(t, allow), q)
				if err != nil || len(notes) != 1 || !strings.HasSuffix(notes[0], "passed over") {
					t.Errorf("allow: got %q, %v", notes, err)
				}
				if n := s.tally.of("pdp error"); n != 2 {
					t.Errorf("%d errors were counted", n)
				}
			}
			for _, q := range p.questions() {
				if q.path != "/access/v1/evaluation" {
					t.Errorf("asked at %s", q.path)
				}
			}
		})
	}
}

// TestUnacceptable: a question that the service finds bad is never passed over.
func TestUnacceptable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code   int
		change func(*Question)
	}{
		"bad":       {400, nil},
		"too large": {413, nil},
		"too long":  {414, nil},
		"wrong":     {422, nil},
		"headers":   {431, nil},
		"no UTF-8":  {200, func(q *Question) { q.TaskID = "a\xff" }},
		"huge":      {200, func(q *Question) { q.Extensions = []string{strings.Repeat("a", maxQuestion)} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPointFunc(t, raw(test.code, "application/json", `{"decision": true}`))
			panel := newPanel(t, Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), OnFailure: failAllow})
			q := newQuestion(t)
			if test.change != nil {
				test.change(q)
			}
			for range 2 * breaker.Failures { // nor do such questions have the service left alone
				var refused *Refused
				if _, err := ask(t, panel, q); !errors.As(err, &refused) || refused.Err == nil || errors.Is(err, breaker.ErrResting) {
					t.Fatalf("got %v", err)
				}
			}
		})
	}
}

// TestDecided are answers that are to be understood.
func TestDecided(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]verdict{
		`{"decision": true}`:  {allow: true},
		`{"decision": false}`: {},
		`{"decision": false, "context": {"reason": "no\nmore\u0000 money"}}`:                   {reason: "no more  money"},
		`{"decision": false, "context": {"reason_admin": {"de": "nein", "en": "no"}}}`:         {reason: "no"},
		`{"decision": false, "context": {"reason_admin": {"fr": "non", "de": "nein"}}}`:        {reason: "nein"},
		`{"decision": false, "context": {"error": {"status": 404, "message": "no such"}}}`:     {reason: "no such"},
		`{"decision": false, "context": {"id": "0", "reason": 7}}`:                             {reason: "0"},
		`{"decision": false, "context": "because"}`:                                            {},
		`{"decision": true, "obligations": [{"a": 1}], "context": null}`:                       {allow: true},
		`{"decision": false, "context": {"reason": "` + strings.Repeat("ü", maxReason) + `"}}`: {reason: strings.Repeat("ü", maxReason/2)},
	} {
		if got, err := readEvaluation([]byte(body)); err != nil || got != want {
			t.Errorf("%s is %+v, %v; want %+v", body, got, err, want)
		}
	}
	for body, want := range map[string]string{ // of two questions
		`{"evaluations": [{"decision": true}, {"decision": true}]}`:                      "yes",
		`{"evaluations": [{"decision": true}, {"decision": true}], "decision": false}`:   "yes",
		`{"evaluations": [{"decision": false}, {"decision": true}]}`:                     "no",
		`{"evaluations": [{"decision": false}]}`:                                         "no",
		`{"evaluations": [{"decision": true}]}`:                                          "nothing",
		`{"evaluations": []}`:                                                            "nothing",
		`{"decision": true}`:                                                             "nothing",
		`{"evaluations": [{"decision": true}, {}]}`:                                      "nothing",
		`{"evaluations": [{"decision": true}, {"decision": true}, {"decision": true}]}`:  "nothing",
		`{"evaluations": [{"decision": false}, {"decision": true}, {"decision": true}]}`: "nothing",
		`{"evaluations": {"0": {"decision": true}}}`:                                     "nothing",
	} {
		v, err := readEvaluations([]byte(body), []string{"a", "b"})
		got := map[bool]string{true: "yes", false: "no"}[v.allow]
		if err != nil {
			got = "nothing"
		}
		if got != want {
			t.Errorf("%s is %s, want %s", body, got, want)
		}
	}
}

// FuzzReadEvaluation holds the reader against the standard library's, which takes more.
func FuzzReadEvaluation(f *testing.F) {
	for _, seed := range []string{
		`{"decision": true}`, `{"decision": false, "context": {"reason": "x"}}`, `{"decision": "true"}`,
		`{"evaluations": [{"decision": true}, {"decision": true}]}`, `{"evaluations": [{"decision": false}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var lax map[string]any
		_ = json.Unmarshal(body, &lax)
		v, err := readEvaluation(body)
		if err == nil && lax["decision"] != v.allow {
			t.Errorf("%q is %v", body, v)
		}
		if err != nil && v != (verdict{}) || len(v.reason) > maxReason {
			t.Errorf("%q is %+v, %v", body, v, err)
		}
		v, err = readEvaluations(body, []string{"a", "b"})
		if err != nil || !v.allow {
			return
		}
		list, _ := lax["evaluations"].([]any)
		if len(list) != 2 || pointer(list[0], "decision") != true || pointer(list[1], "decision") != true {
			t.Errorf("%q allows both", body)
		}
	})
}

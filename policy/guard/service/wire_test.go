package service_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
)

// call is a question as a service documents it.
type call struct{ uri, body string }

// documented is a service that takes these calls, in any order, and no others. The answer is the same for
// all.
type documented struct {
	t      *testing.T
	header map[string]string // by name, what it has to match; "" for a header that must not be there
	calls  []call
	answer string

	mu   sync.Mutex
	seen []bool
}

func (d *documented) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" ||
		r.Header.Get("Accept") != "application/json" || r.ContentLength != int64(len(body)) {
		d.t.Errorf("%s with %v, %v", r.Method, r.Header, err)
	}
	for name, want := range d.header {
		if got := r.Header.Get(name); !regexp.MustCompile("^(" + want + ")$").MatchString(got) {
			d.t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = slices.Grow(d.seen, len(d.calls))[:len(d.calls)]
	for i, c := range d.calls {
		if !d.seen[i] && r.RequestURI == c.uri && same(d.t, string(body), c.body) {
			d.seen[i] = true
			says(d.answer)(w, r)
			return
		}
	}
	d.t.Errorf("asked at %s: %s", r.RequestURI, body)
	http.Error(w, "no", http.StatusBadRequest)
}

// same compares JSON.
func same(t *testing.T, a, b string) bool {
	t.Helper()
	var is, want any
	if err := json.Unmarshal([]byte(a), &is); err != nil {
		t.Errorf("%s: %v", a, err)
	}
	if err := json.Unmarshal([]byte(b), &want); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return reflect.DeepEqual(is, want)
}

// TestOnTheWire: what the services are told, where, and with which credential.
func TestOnTheWire(t *testing.T) {
	t.Parallel()
	const armor = "projects/my-project/locations/europe-west3/templates/strict_1"
	const clean = `{"choices":[{"index":0,"message":{"role":"assistant","content":"safe"},"finish_reason":"stop"}]}`
	token := secret.New("t")
	bearer := map[string]string{"Authorization": "Bearer t", "X-Amz-Date": ""}
	keyed := map[string]string{"Authorization": "", "Ocp-Apim-Subscription-Key": "k"}
	keys := service.AWS{Region: "eu-central-1", AccessKeyID: secret.New("AKIDEXAMPLE"), SecretAccessKey: secret.New("s"), SessionToken: secret.New("st")}
	signed := map[string]string{
		"Authorization": `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/[0-9]{8}/eu-central-1/bedrock/aws4_request, ` +
			`SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}`,
		"X-Amz-Date": time.Now().UTC().Format("2006") + "[0-9]{4}T[0-9]{6}Z", "X-Amz-Security-Token": "st",
	}
	for i, tt := range []struct {
		use    string
		config service.Config
		phase  hook.Phase
		header map[string]string
		calls  []call
		answer string
	}{
		{"presidio", service.Config{Token: token, Language: "de", Entities: []string{"PERSON"}, Score: 70}, hook.Request, bearer,
			[]call{{"/v1/analyze", `{"text":"a\n\nb","language":"de","entities":["PERSON"],"score_threshold":0.7}`}}, `[]`},
		{"moderation", service.Config{Token: token, Model: "m"}, hook.Request, bearer,
			[]call{{"/v1/moderations", `{"model":"m","input":["a","b"]}`}}, `{"results":[{"flagged":false},{"flagged":false}]}`},
		{"modelArmor", service.Config{Token: token, Template: armor}, hook.Request, bearer, []call{
			{"/v1/v1/" + armor + ":sanitizeUserPrompt", `{"userPromptData":{"text":"a"}}`},
			{"/v1/v1/" + armor + ":sanitizeUserPrompt", `{"userPromptData":{"text":"b"}}`},
		}, `{"sanitizationResult":{"filterMatchState":"NO_MATCH_FOUND","invocationResult":"SUCCESS","filterResults":{}}}`},
		{"modelArmor", service.Config{Token: token, Template: armor}, hook.Event, bearer, []call{
			{"/v1/v1/" + armor + ":sanitizeModelResponse", `{"modelResponseData":{"text":"a"}}`},
			{"/v1/v1/" + armor + ":sanitizeModelResponse", `{"modelResponseData":{"text":"b"}}`},
		}, `{"sanitizationResult":{"filterMatchState":"NO_MATCH_FOUND","invocationResult":"SUCCESS","filterResults":{}}}`},
		{"bedrock", service.Config{AWS: keys, Guardrail: "arn:aws:bedrock:eu-central-1:123456789012:guardrail/abc1", Version: "3"}, hook.Request, signed, []call{
			{"/v1/guardrail/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Aguardrail%2Fabc1/version/3/apply", `{"source":"INPUT","content":[{"text":{"text":"a"}}]}`},
			{"/v1/guardrail/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Aguardrail%2Fabc1/version/3/apply", `{"source":"INPUT","content":[{"text":{"text":"b"}}]}`},
		}, `{"action":"NONE","outputs":[],"assessments":[{}],"usage":{"topicPolicyUnits":1}}`},
		{"bedrock", service.Config{Token: token, Guardrail: "abc1"}, hook.Response, bearer, []call{
			{"/v1/guardrail/abc1/version/DRAFT/apply", `{"source":"OUTPUT","content":[{"text":{"text":"a"}}]}`},
			{"/v1/guardrail/abc1/version/DRAFT/apply", `{"source":"OUTPUT","content":[{"text":{"text":"b"}}]}`},
		}, `{"action":"NONE"}`},
		{"contentSafety", service.Config{APIKey: secret.New("k"), Categories: []string{"Hate", "Violence"}}, hook.Response, keyed, []call{
			{"/v1/contentsafety/text:analyze?api-version=2024-09-01", `{"text":"a","categories":["Hate","Violence"],"outputType":"EightSeverityLevels"}`},
			{"/v1/contentsafety/text:analyze?api-version=2024-09-01", `{"text":"b","categories":["Hate","Violence"],"outputType":"EightSeverityLevels"}`},
		}, `{"blocklistsMatch":[],"categoriesAnalysis":[{"category":"Hate","severity":0},{"category":"Violence","severity":3}]}`},
		{"promptShields", service.Config{APIKey: secret.New("k")}, hook.Request, keyed, []call{
			{"/v1/contentsafety/text:shieldPrompt?api-version=2024-09-01", `{"userPrompt":"a","documents":[]}`},
			{"/v1/contentsafety/text:shieldPrompt?api-version=2024-09-01", `{"userPrompt":"b","documents":[]}`},
		}, `{"userPromptAnalysis":{"attackDetected":false},"documentsAnalysis":[]}`},
		{"promptShields", service.Config{Token: token}, hook.Response, bearer, []call{
			{"/v1/contentsafety/text:shieldPrompt?api-version=2024-09-01", `{"userPrompt":"","documents":["a"]}`},
			{"/v1/contentsafety/text:shieldPrompt?api-version=2024-09-01", `{"userPrompt":"","documents":["b"]}`},
		}, `{"documentsAnalysis":[{"attackDetected":false}]}`},
		{"llamaGuard", service.Config{Token: token, Model: "meta-llama/Llama-Guard-4-12B"}, hook.Request, bearer, []call{
			{"/v1/chat/completions", `{"model":"meta-llama/Llama-Guard-4-12B","messages":[{"role":"user","content":"a"}],"temperature":0,"max_tokens":64}`},
			{"/v1/chat/completions", `{"model":"meta-llama/Llama-Guard-4-12B","messages":[{"role":"user","content":"b"}],"temperature":0,"max_tokens":64}`},
		}, clean},
		{"llamaGuard", service.Config{Model: "m"}, hook.Event, map[string]string{"Authorization": ""}, []call{
			{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Please answer."},{"role":"assistant","content":"a"}],"temperature":0,"max_tokens":64}`},
			{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Please answer."},{"role":"assistant","content":"b"}],"temperature":0,"max_tokens":64}`},
		}, clean},
		{"shieldGemma", service.Config{Model: "m", Policy: "No spam."}, hook.Request, nil, []call{
			{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"a"}],"temperature":0,"max_tokens":64,"guideline":"No spam.","chat_template_kwargs":{"guideline":"No spam."}}`},
			{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"b"}],"temperature":0,"max_tokens":64,"guideline":"No spam.","chat_template_kwargs":{"guideline":"No spam."}}`},
		}, strings.Replace(clean, "safe", "No", 1)},
		{"hook", service.Config{Token: token}, hook.Response, bearer, []call{
			{"/v1/", `{"phase":"response","guard":"g","document":{"texts":["a"]}}`},
			{"/v1/", `{"phase":"response","guard":"g","document":{"texts":["b"]}}`},
		}, `{"action":"pass"}`},
	} {
		d := &documented{t: t, header: tt.header, calls: tt.calls, answer: tt.answer}
		s := asking(t, tt.use, tt.config, d.ServeHTTP)
		found, err := s.Find(t.Context(), service.Question{Who: "alice", Phase: tt.phase, Texts: []string{"a", "b"}, Parts: []int{0, 1}})
		if err != nil || found != nil || slices.Contains(d.seen, false) {
			t.Errorf("%d %s: %v, %v, asked %v", i, tt.use, found, err, d.seen)
		}
	}
}

// TestAnswers: what is found, by text and byte; and what is no answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	uses := minimal()
	for _, tt := range answers() {
		c := uses[tt.use]
		c.Categories = tt.categories
		s := asking(t, tt.use, c, says(tt.answer))
		found, err := s.Find(t.Context(), question("alice", "ich heiße Jörg", "und du?"))
		if got := fmt.Sprint(found); (err == nil) != (tt.want != "") || err == nil && got != tt.want {
			t.Errorf("%s %s: %s, %v", tt.use, tt.answer, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "Jörg") {
			t.Errorf("%v quotes the text", err)
		}
	}
}

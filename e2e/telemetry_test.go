package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// collectorProgram is what make collector builds.
const collectorProgram = "../bin/collector"

// collector is a running OpenTelemetry Collector that writes what it gets to a file.
type collector struct {
	grpc, http string // where it listens
	file       string
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	if _, err := os.Stat(collectorProgram); err != nil {
		testenv.Missing(t, "no collector was built; make collector does")
	}
	dir := t.TempDir()
	c := &collector{grpc: vacant(t), http: vacant(t), file: filepath.Join(dir, "received.jsonl")}
	config := filepath.Join(dir, "collector.yaml")
	write(t, config, fmt.Sprintf(`receivers: {otlp: {protocols: {grpc: {endpoint: %q}, http: {endpoint: %q}}}}
exporters: {file: {path: %q}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], exporters: [file]}
    metrics: {receivers: [otlp], exporters: [file]}
`, c.grpc, c.http, c.file))
	launch(t, collectorProgram, nil, "--config", "file:"+config)
	for _, address := range []string{c.grpc, c.http} {
		within(t, "the collector listens", func() bool {
			conn, err := net.Dial("tcp", address)
			if err == nil {
				_ = conn.Close()
			}
			return err == nil
		})
	}
	return c
}

// vacant is an address that nobody listens at.
func vacant(t *testing.T) string {
	t.Helper()
	address := gatewaytest.FreeAddress()
	if address == "" {
		t.Fatal("no port is free")
	}
	return address
}

// within waits for what must happen soon, on a machine that may be slow.
func within(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !happened(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// text is all that it has been sent.
func (c *collector) text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(c.file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// received is one line of the collector's file, of what the tests look at.
type received struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes []attribute }
		ScopeSpans []struct{ Spans []span }
	}
	ResourceMetrics []struct {
		Resource     struct{ Attributes []attribute }
		ScopeMetrics []struct{ Metrics []struct{ Name string } }
	}
}

type attribute struct {
	Key   string
	Value struct{ StringValue string }
}

type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int // 2 server, 3 client
	Attributes                          []attribute
	Events                              []struct{ Name string }
	Links                               []struct{ TraceID, SpanID string }
}

func (s span) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue
		}
	}
	return ""
}

// read gives the spans and the names of the metrics, and who sent them.
func (c *collector) read(t *testing.T) (spans []span, metrics, about map[string]string) {
	t.Helper()
	metrics, about = map[string]string{}, map[string]string{}
	for line := range strings.Lines(c.text(t)) {
		var r received
		if json.Unmarshal([]byte(line), &r) != nil {
			continue // not yet whole
		}
		for _, s := range r.ResourceSpans {
			for _, a := range s.Resource.Attributes {
				about[a.Key] = a.Value.StringValue
			}
			for _, scope := range s.ScopeSpans {
				spans = append(spans, scope.Spans...)
			}
		}
		for _, m := range r.ResourceMetrics {
			for _, scope := range m.ScopeMetrics {
				for _, metric := range scope.Metrics {
					metrics[metric.Name] = line
				}
			}
		}
	}
	return spans, metrics, about
}

// teller is an agent whose every answer is a task of the same name, and in whose words
// there is a mark.
func teller(t *testing.T, mark string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = fmt.Fprintf(w, `{"name":"Teller","description":"d","version":"1","supportedInterfaces":[{"url":"http://%s/rpc",`+
				`"protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true,"pushNotifications":true},`+
				`"defaultInputModes":[],"defaultOutputModes":[],"skills":[{"id":"s","name":"S","description":"s","tags":[]}]}`, r.Host)
			return
		}
		var call struct {
			ID     json.RawMessage
			Method string
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &call)
		task := `{"id":"the-task","contextId":"the-context","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m",` +
			`"role":"ROLE_AGENT","parts":[{"text":"` + mark + `"}]}},"metadata":{"` + mark + `":"` + mark + `"}}`
		w.Header().Set("X-Mark", mark)
		if call.Method == "SendStreamingMessage" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"task\":%s}}\n\n", call.ID, task)
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"statusUpdate\":{\"taskId\":\"the-task\","+
				"\"contextId\":\"the-context\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\"}}}}\n\n", call.ID)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch {
		case bytes.Contains(body, []byte("please fail")):
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"%s","data":"%[2]s"}}`, call.ID, mark)
		case call.Method == "SendMessage":
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"task":%s}}`, call.ID, task)
		default:
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, task)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// watched is a gateway in front of a teller, with an environment.
type watched struct {
	*process
	url, status string
	dir         string
}

func watch(t *testing.T, agent *httptest.Server, env []string, more string) *watched {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{dir: t.TempDir()}
	config := filepath.Join(w.dir, "config.yaml")
	write(t, config, fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "127.0.0.1:0", publicURL: "http://127.0.0.1", dataDir: data, limits: {delay: 1h}}
admin: {address: "off"}
authn: {anonymous: true}
policy: {rules: [{name: all, effect: allow}]}
agents: [{id: teller, card: "%s/card"}]
%s`, agent.URL, more))
	w.process = launch(t, path, env, "serve", "-c", config)
	serving := w.await(`"msg":"serving"`)
	w.url, w.status = between(serving, `"url":"`), between(serving, `"status_url":"`)
	return w
}

// between is what stands behind a mark, up to the next quote.
func between(line, mark string) string {
	_, rest, _ := strings.Cut(line, mark)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

// ask makes a call and reads the answer.
func (w *watched) ask(t *testing.T, method, params string, header ...string) string {
	t.Helper()
	return w.say(t, http.MethodPost, w.url+"/agents/teller",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), header...)
}

func (w *watched) say(t *testing.T, verb, target, body string, header ...string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), verb, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, _ := io.ReadAll(resp.Body)
	return string(answer)
}

const hello = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`

// TestCollector sends spans and metrics to an OpenTelemetry Collector, by gRPC and by
// HTTP, with nothing but the standard variables.
func TestCollector(t *testing.T) {
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			c := startCollector(t)
			endpoint := "http://" + c.http
			if protocol == "grpc" {
				endpoint = "http://" + c.grpc
			}
			w := watch(t, teller(t, "x"), []string{
				"OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=" + protocol,
				"OTEL_METRICS_EXPORTER=otlp", "OTEL_METRIC_EXPORT_INTERVAL=500", "OTEL_BSP_SCHEDULE_DELAY=200",
				"OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=1",
				"OTEL_SERVICE_NAME=front", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test",
			}, "")
			const trace = "0af7651916cd43dd8448eb211c80319c"
			w.ask(t, "SendStreamingMessage", hello, "Traceparent: 00-"+trace+"-b7ad6b7169203331-00")
			w.ask(t, "GetTask", `{"id":"the-task"}`)
			within(t, "spans and metrics come", func() bool {
				spans, metrics, _ := c.read(t)
				return len(spans) >= 4 && strings.Contains(metrics["a2a_gateway_requests_total"], "GetTask")
			})
			spans, metrics, about := c.read(t)
			if about["service.name"] != "front" || about["deployment.environment.name"] != "test" || about["service.version"] == "" {
				t.Errorf("resource %v", about)
			}
			server, client := map[string]span{}, map[string]span{}
			for _, s := range spans {
				if s.Kind == 2 {
					server[s.Name] = s
				} else {
					client[s.Name] = s
				}
			}
			first, second := server["SendStreamingMessage"], server["GetTask"]
			if first.TraceID != trace || len(first.Events) != 2 || client[first.Name].ParentSpanID != first.SpanID ||
				first.attribute("a2a.task.id") != "the-task" || first.attribute("a2a.task.state") != "TASK_STATE_COMPLETED" {
				t.Errorf("first call: %+v and %+v", first, client[first.Name])
			}
			if len(second.Links) != 1 || second.Links[0].SpanID != first.SpanID {
				t.Errorf("second call: %+v", second)
			}
			if !strings.Contains(metrics["a2a_gateway_request_duration_seconds"], `"exponentialHistogram"`) {
				t.Errorf("duration: %.300s", metrics["a2a_gateway_request_duration_seconds"])
			}
			if code := w.signal(syscall.SIGTERM); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// canaries are marks, one for each place that a caller or an agent can write to, and the
// outputs that may show it, by what docs/telemetry.md says: the log, spans, metrics, audit.
var canaries = map[string]string{
	"agent-text": "", "text": "", "data": "", "file": "", "metadata": "", "query": "", "header": "", "cookie": "", "language": "",
	"idempotency": "", "tracestate": "", "baggage": "", "bearer": "", "apikey": "", "basic": "", "hook-path": "", "hook-query": "",
	"hook-token": "", "hook-credentials": "", "jsonrpc-id": "", "method": "log audit", "part-name": "", "unknown-member": "", "fragment": "",
	"user-agent": "log audit", "message-id": "log spans audit", "context-id": "log spans audit", "task-id": "log spans audit",
	"reference-id": "spans", "extension": "log spans audit", "path": "log audit", "host": "log audit", "forwarded": "",
}

func canary(name string) string { return "canary-" + name + "-yranac" }

// TestA28_NothingLeaks puts a mark into everything that a caller or an agent can write, and
// looks for it in all that the gateway puts out: its log at debug level, what a collector
// gets, /metrics and the audit files.
func TestA28_NothingLeaks(t *testing.T) {
	t.Parallel()
	c := startCollector(t)
	w := watch(t, teller(t, canary("agent-text")), []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + c.http, "OTEL_METRICS_EXPORTER=otlp",
		"OTEL_METRIC_EXPORT_INTERVAL=500", "OTEL_BSP_SCHEDULE_DELAY=200",
	}, "telemetry: {logs: {level: debug}, metrics: {exemplars: true}}\npush: {mode: relay, allowPrivateNetworks: true}\n")
	k := canary
	part := `{"text":"` + k("text") + `"},{"data":{"x":"` + k("data") + `"}},{"raw":"Y2FuYXJ5","filename":"` + k("file") + `"},` +
		`{"text":"x","metadata":{"` + k("part-name") + `":1}}`
	send := `{"message":{"messageId":"` + k("message-id") + `","contextId":"` + k("context-id") + `","role":"ROLE_USER","parts":[` + part + `],` +
		`"metadata":{"` + k("metadata") + `":"` + k("metadata") + `"},"extensions":["urn:` + k("extension") + `"]},` +
		`"configuration":{"taskPushNotificationConfig":{"url":"http://127.0.0.1:1/` + k("hook-path") + `?` + k("hook-query") + `=1",` +
		`"token":"` + k("hook-token") + `","authentication":{"scheme":"Bearer","credentials":"` + k("hook-credentials") + `"}}}}`
	header := []string{
		"User-Agent: " + k("user-agent"), "X-Canary: " + k("header"), "Cookie: a=" + k("cookie"), "Accept-Language: " + k("language"),
		"Idempotency-Key: " + k("idempotency"), "A2A-Extensions: urn:" + k("extension"), "Tracestate: a=" + k("tracestate"),
		"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Baggage: a=" + k("baggage"),
		"X-Forwarded-For: " + k("forwarded"),
	}
	w.ask(t, "SendMessage", send, header...)
	w.ask(t, "SendStreamingMessage", send, header...)
	w.ask(t, "SendMessage", strings.Replace(send, `"role"`, `"please fail":"`+k("unknown-member")+`","role"`, 1), header...)
	w.ask(t, "SendMessage", strings.Replace(send, `"role"`, `"taskId":"`+k("task-id")+`","referenceTaskIds":["`+k("reference-id")+`"],"role"`, 1))
	w.ask(t, "GetTask", `{"id":"`+k("task-id")+`"}`)
	w.ask(t, k("method"), hello)
	w.say(t, http.MethodPost, w.url+"/agents/teller?x="+k("query"), `{"jsonrpc":"2.0","id":"`+k("jsonrpc-id")+`","method":"GetTask","params":{"id":"t"}}`)
	w.say(t, http.MethodPost, w.url+"/agents/"+k("path"), `{`+k("text"))
	w.say(t, http.MethodGet, w.url+"/agents/teller/tasks/"+k("task-id")+"?pageToken="+k("query"), "")
	w.say(t, http.MethodGet, w.url+"/agents/teller/.well-known/agent-card.json", "", "Host: "+k("host")+".example")
	for _, credential := range []string{"Authorization: Bearer " + k("bearer"), "X-API-Key: a2a_x_" + k("apikey"), "Authorization: Basic " + k("basic")} {
		w.ask(t, "SendMessage", hello, credential)
	}
	within(t, "spans and metrics come", func() bool {
		spans, metrics, _ := c.read(t)
		return len(spans) >= 12 && len(metrics) > 10
	})
	metrics := w.say(t, http.MethodGet, w.status+"/metrics", "", "Accept: application/openmetrics-text")
	if code := w.signal(syscall.SIGTERM); code != 0 { // all is written then
		t.Errorf("exit code %d", code)
	}
	outputs := map[string]string{"log": w.out.text(), "metrics": metrics, "audit": "", "spans": ""}
	for line := range strings.Lines(c.text(t)) {
		if strings.Contains(line, `"resourceMetrics"`) {
			outputs["metrics"] += line
		} else {
			outputs["spans"] += line
		}
	}
	files, _ := filepath.Glob(filepath.Join(w.dir, "data", "audit", "*"))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		outputs["audit"] += string(text)
	}
	for where, text := range outputs {
		if len(text) < 1000 {
			t.Errorf("%s: %d bytes only, is it all there?", where, len(text))
		}
		for name, allowed := range canaries {
			shown := strings.Contains(text, k(name)) || strings.Contains(text, url.QueryEscape(k(name)))
			if permitted := strings.Contains(allowed, where); shown != permitted {
				t.Errorf("%s: shows %s: %v, want %v: %s", where, name, shown, permitted, excerpt(text, k(name)))
			}
		}
	}
}

// excerpt is what stands around a mark.
func excerpt(text, mark string) string {
	i := strings.Index(text, mark)
	if i < 0 {
		return ""
	}
	return text[max(0, i-200):min(len(text), i+100)]
}

// TestPrometheus has a Prometheus scrape a gateway: native histograms and exemplars come,
// and the rules that deploy has work on what is there.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	need(t, "prometheus")
	rules, err := filepath.Abs("../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	w := watch(t, teller(t, "x"), []string{"OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_ENDPOINT=http://" + vacant(t)},
		"telemetry: {metrics: {exemplars: true}}\n")
	dir, address := t.TempDir(), vacant(t)
	config := filepath.Join(dir, "prometheus.yml")
	write(t, config, fmt.Sprintf(`global: {scrape_interval: 500ms, evaluation_interval: 500ms}
rule_files: [%q]
scrape_configs: [{job_name: a2a-gateway, static_configs: [{targets: [%q]}]}]
`, rules, strings.TrimPrefix(w.status, "http://")))
	launch(t, "prometheus", nil, "--config.file="+config, "--web.listen-address="+address, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--enable-feature=native-histograms,exemplar-storage")
	for range 20 {
		w.ask(t, "SendMessage", hello)
	}
	for _, query := range []string{
		"query?query=" + url.QueryEscape(`a2a_gateway_requests_total{agent="teller",code="OK"} == 20`),
		"query?query=" + url.QueryEscape(`histogram_count(a2a_gateway_request_duration_seconds{agent="teller",method="SendMessage"}) == 20`),
		"query?query=" + url.QueryEscape(`histogram_quantile(0.9, a2a_gateway_request_duration_seconds{agent="teller"}) > 0`),
		"query_exemplars?query=a2a_gateway_request_duration_seconds&start=0&end=" + fmt.Sprint(time.Now().Add(time.Hour).Unix()),
	} {
		var answer string
		within(t, query, func() bool {
			resp, err := http.Get("http://" + address + "/api/v1/" + query)
			if err != nil {
				return false
			}
			defer func() { _ = resp.Body.Close() }()
			body, _ := io.ReadAll(resp.Body)
			answer = string(body)
			return strings.Contains(answer, `"value":`) || strings.Contains(answer, `"trace_id":`)
		})
	}
	within(t, "all rules are well", func() bool {
		body := w.say(t, http.MethodGet, "http://"+address+"/api/v1/rules", "")
		return strings.Count(body, `"health":"ok"`) >= 38 && !strings.Contains(body, `"health":"err"`)
	})
}

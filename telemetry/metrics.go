package telemetry

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics is every instrument of the gateway, one field each; this struct is
// the documentation of /metrics. Names have the prefix a2a_gateway_, units are
// base units. Beside these there are the go_ and process_ metrics.
//
// Every label takes its values from a closed set, so that no client can make a
// series: "agent" the configured ids, "method" the 1.0 names of wire.Methods and
// the names of the methods that registered extensions bring,
// "binding" JSONRPC, HTTP+JSON or GRPC, "rule" the configured rules and what
// decides where none does, "uri" the registered extensions, "provider" the
// configured issuers, api-keys and unknown. A value from outside its set is counted as "other", an absent one as
// "none". "code" is OK, the reason of a refusal or an agent's error (docs/errors.md),
// or HTTP_4XX and HTTP_5XX for an error status without a reason. The sets are
// replaced by SetLabels when the configuration is.
//
// Histograms are native (bucket factor 1.1) with classic buckets beside them
// for scrapers that do not ask for native ones.
type Metrics struct {
	// build_info{version,go_version}: 1.
	buildInfo *prometheus.GaugeVec

	// requests_total{agent,method,binding,code}: finished calls, streams included.
	requests *prometheus.CounterVec
	// request_duration_seconds{agent,method}: arrival to last byte, of calls that
	// are answered at once; streams are in stream_duration_seconds.
	requestDuration *prometheus.HistogramVec
	// requests_in_flight: calls being served now, open streams included.
	requestsInFlight prometheus.Gauge
	// request_size_bytes{agent,method}: request bodies.
	requestSize *prometheus.HistogramVec
	// response_size_bytes{agent,method}: answer bodies, those of streams in full.
	responseSize *prometheus.HistogramVec

	// shed_total{reason}: calls and connections that were not taken on; reason is the
	// limit below server.limits: delay, softMemory, memory, requests, streams, descriptors,
	// connections or connectionsPerIP.
	shed *prometheus.CounterVec
	// malformed_requests_total{wrong}: HTTP/1.1 connections that ended because of how a
	// request was written; wrong is the rule of internal/server/strict that it broke.
	malformed *prometheus.CounterVec
	// floods_total{frame}: HTTP/2 connections that ended because of frames that serve no
	// call; frame is the kind that most of server.limits.connectionFrames went for.
	flooded *prometheus.CounterVec
	// memory_used_bytes: memory that no collection would give back, which
	// server.limits.memory bounds.
	memoryUsed prometheus.Gauge
	// memory_limit_bytes: server.limits.memory or its default, 0 for none.
	memoryLimit prometheus.Gauge
	// memory_soft_limit_bytes: server.limits.softMemory or its default, 0 for none.
	memorySoft prometheus.Gauge
	// queueing_delay_seconds: how long work waits for a processor, the shortest wait of the
	// last tenth of a second, which server.limits.delay bounds; 0 while nothing is called.
	delay prometheus.Gauge
	// overloaded{rung}: 1 while calls are refused for what a limit below server.limits is
	// compared with: delay, softMemory, memory or descriptors.
	overloaded *prometheus.GaugeVec

	// stream_buffer_bytes: what is kept of all event streams.
	streamBuffered prometheus.Gauge
	// stream_buffer_limit_bytes: streams.buffer.total.
	streamBuffer prometheus.Gauge

	// quirks_total{agent,quirk}: calls for which a tolerance of agents[].quirks was used.
	quirks *prometheus.CounterVec

	// upstream_requests_total{agent,method,code}: calls sent to agents; code is
	// HTTP_2XX to HTTP_5XX by the agent's status, or none when it gave none.
	upstreamRequests *prometheus.CounterVec
	// upstream_request_duration_seconds{agent,method}: from sending until the
	// agent's answer was read, for streams until its head.
	upstreamDuration *prometheus.HistogramVec

	// upstream_instances{agent}: instances that are known; 1 where none are configured.
	// upstream_healthy{agent}: those of them that would get the next call.
	// circuit_state{agent}: 0 closed, 1 waiting for a probe, 2 open; with several
	// instances, the best of theirs.
	// agent_state{agent,state}: whether calls reach an agent, and why not: 1 for its state.
	// instance_healthy{agent,address}: whether one would get the next call; of an agent, 32 have
	// these series: those that would not first, then those that take longest.
	// instance_latency_seconds{agent,address}: until it answers, smoothed; absent until it has.
	// instance_calls{agent,address}: in flight, streams included.
	// instance_ejections{agent,address}: times that it was left alone because it fails calls.
	upstreams *upstreams
	// retries_total{agent}: calls sent to a further instance.
	retries *prometheus.CounterVec
	// ejections_total{agent}: instances left alone for a while because they fail calls.
	ejections *prometheus.CounterVec

	// streams_active{agent}: event streams open now.
	streamsActive *prometheus.GaugeVec
	// stream_events_total{agent}: events passed on to clients, counted as they
	// pass; heartbeats are not events.
	streamEvents *prometheus.CounterVec
	// stream_events_skipped_total{agent}: events of agents that are none of A2A's.
	streamSkipped *prometheus.CounterVec
	// stream_resumes_total{agent,result}: clients who came back to a stream; result is
	// exact, gap (they got the task as it is) or refused.
	streamResumes *prometheus.CounterVec
	// stream_events_replayed_total{agent}: events given to clients who had missed them.
	streamReplayed *prometheus.CounterVec
	// stream_joins_total{agent}: streams that share an agent's with others.
	streamJoins *prometheus.CounterVec
	// stream_regains_total{agent,result}: agents' streams that broke while their task went
	// on; result is regained, polled, or lost.
	streamRegains *prometheus.CounterVec
	// stream_events_dropped_total{agent}: events that an agent sent and clients whose
	// streams the gateway had ended with an error were not given.
	streamDropped *prometheus.CounterVec
	// stream_grammar_violations_total{agent,rule}: breaches of the rules of what agents may
	// say of their tasks.
	streamGrammar *prometheus.CounterVec
	// stream_duration_seconds{agent,method}: arrival to the end of the stream.
	streamDuration *prometheus.HistogramVec
	// time_to_first_event_seconds{agent,method}: arrival to the first event
	// passed on; streams without any are not in it.
	firstEvent *prometheus.HistogramVec

	// push_deliveries_total{agent,result}: attempts to deliver notifications of an agent to
	// webhooks; result is delivered, failed (it will be tried again), dead (given up), gone
	// (given up, the webhook is no more) or refused (given up, nothing was sent).
	pushDeliveries *prometheus.CounterVec
	// push_delivery_duration_seconds{agent}: time that webhooks took, of attempts that
	// reached out to one.
	pushDuration *prometheus.HistogramVec
	// push_queue_depth: notifications that wait to be delivered, counted every 10 s.
	// Gateways that share a state all say the same.
	// push_dead: those that were given up and are still kept.
	// push_queue_oldest_seconds: how long the oldest that waits has done so; 0 for none.
	pushDepth, pushDead, pushOldest prometheus.Gauge

	// authn_total{provider,result}: credentials looked at; result is ok,
	// refused or unavailable.
	authn *prometheus.CounterVec
	// jwks_refreshes_total{result}: fetches of an issuer's keys; result is ok or error.
	jwksRefreshes *prometheus.CounterVec
	// state_file_lost: 1 while the file of the state (state.sqlite) is not where it was opened:
	// somebody deleted, moved or replaced it.
	stateLost prometheus.Gauge
	// state_evicted_total: keys that a Redis evicted since the gateway began to watch it.
	stateEvicted prometheus.Counter
	// audit_records_gone_total: audit records that were not there any more when the gateway started.
	auditGone prometheus.Counter
	// jwks_keys_skipped_total{reason}: keys of JWK sets, of issuers and of those who sign
	// cards, that cannot be used, counted once when a set first has them; reason is other (for
	// another use or algorithm), malformed, weak, secret or excess.
	jwksSkipped *prometheus.CounterVec
	// authn_throttled_total: refused credentials answered 429, because too many came
	// from one address.
	throttled prometheus.Counter
	// upstream_tokens_total{agent,kind,result}: fetches of tokens to show to agents;
	// kind is oauth2, exchange or actor, result ok, declined or failed.
	upstreamTokens *prometheus.CounterVec
	// authz_decisions_total{decision,rule}: decision is allow, deny or error; beside it
	// shadow is counted for each shadow rule that would have decided otherwise, and
	// overruled for a rule that let a call through which something else denied. rule is
	// default, credential, undeclared or skill-scopes where no rule decided, and none where
	// something else than the rules did: what comes before them, such as authentication,
	// or behind, such as a limit.
	authz *prometheus.CounterVec
	// rate_limited_total{limit}: calls that a limit refused.
	limited *prometheus.CounterVec
	// limits_uncounted_total{limit}: times that a limit could not be counted where it is
	// kept, and policy.limits.onLoss decided.
	limitsFell *prometheus.CounterVec
	// authorizer_requests_total{authorizer,result}: questions to an authorizer; result is
	// allow, deny, error, or cached for an answer that was known.
	authorizers *prometheus.CounterVec
	// authorizer_request_duration_seconds{authorizer}: how long it took to answer.
	authorizerSeconds *prometheus.HistogramVec
	// state_store_operations_total{operation,result}: what was asked of the state, where it
	// is not in memory; result is ok or error. What its caller did not wait for is not in
	// it, and an answer such as that there is no room is ok.
	state *prometheus.CounterVec
	// state_store_operation_duration_seconds{operation}: how long it took.
	stateSeconds *prometheus.HistogramVec
	// extensions_negotiated_total{uri,result}: extensions that clients asked
	// for, once each, and those that the gateway injected; result is activated or
	// inactive by what the agent said, provided by the gateway in its place,
	// refused where known and not permitted, or injected.
	extensions *prometheus.CounterVec
	// extension_violations_total{uri,fault,enforced}: what bodies held against
	// an extension, or files against the rules; fault is unrequested, undeclared, schema,
	// transition, conformance, not_activated, hook, modes, file_uri, file_type, file_size
	// or file_name; enforced is true where the call was refused or the place removed,
	// false where it was only reported.
	violations *prometheus.CounterVec
	// card_fetch_total{agent,result}: fetches of agent cards; result is ok,
	// unchanged or error.
	cardFetch *prometheus.CounterVec
	// agents_left_out: agents that should be served and are not, since what was registered
	// or found contradicts the configuration; /readyz?verbose names them.
	leftOut prometheus.Gauge

	// card_warnings{agent}: what is odd about the extensions of an agent's card, as
	// last fetched; the log says what.
	// card_state{agent,state}: 1 for what became of the card that an agent serves.
	// card_drift{agent}: 1 while an agent serves another card than the one in force.
	// card_lint_score{agent}: what is in the card that should not be, from 0 to 100.
	cardGauges *cardGauges
	// card_rulings_total{agent,state}: cards that were ruled on for the first time.
	cardRulings *prometheus.CounterVec
	// card_signature_verifications_total{result}: looks at the signatures of cards.
	cardSignatures map[string]prometheus.Counter
	// audit_records_total{result}: audit records; result is written or failed,
	// or unsynced for records that were acknowledged and whose later fsync failed.
	audit map[string]prometheus.Counter
	// audit_content_total{result}: calls of which content was captured; result is kept, or
	// lost when it could not be written.
	content map[string]prometheus.Counter
	// audit_sink_records_total{sink}: audit records that a sink has.
	// audit_sink_failures_total{sink}: times that it did not take some, or that they could
	// not be read.
	// audit_sink_lost_records_total{sink}: records that were removed before it had them, or
	// that it rejects.
	sinkRecords, sinkFailures, sinkLost *prometheus.CounterVec
	// audit_sink_lag_records{sink}: records that it does not have yet.
	// audit_sink_lag_seconds{sink}: how old the oldest of them is.
	// audit_sink_failing{sink}: how many of its kind take none at the moment.
	sinks *sinks
	// anomalies_total{detector,agent}: anomalies that have begun; detector is the name of a
	// key of telemetry.anomalies.
	anomalies *prometheus.CounterVec
	// anomalies_active{detector}: anomalies that go on.
	anomaliesActive *prometheus.GaugeVec
	// anomalies_throttled_total{detector}: calls refused because their caller is held back.
	anomaliesThrottled *prometheus.CounterVec
	// log_lines_dropped_total: access-log lines dropped because whoever reads
	// the log does not keep up.
	logDropped prometheus.Counter

	// config_last_reload_successful: 1 when the last load or reload took effect, else 0.
	configSuccessful prometheus.Gauge
	// config_last_reload_success_timestamp_seconds: when that last happened, Unix time.
	configTimestamp prometheus.Gauge
	// config_reloads_total{result}: loads and reloads; result is ok or error.
	configReloads *prometheus.CounterVec
	// config_hash: the first 48 bits of the SHA-256 of the configuration in
	// force, as a number; replicas that show different values differ.
	configHash prometheus.Gauge

	condition // of the gateway itself, see condition.go

	made       []instrument // all of them, in the order of their making
	operations []string     // values of the label operation
	exemplars  bool
	codes      codeIndex
	sets       atomic.Pointer[labelSet] // the closed sets in force
	setting    sync.Mutex               // held while sets is replaced
}

const prefix = "a2a_gateway_"

func newMetrics(registry *prometheus.Registry, config MetricsConfig, version string) *Metrics {
	m := &Metrics{exemplars: config.Exemplars, codes: newCodeIndex(), operations: operations()}
	f := factory{registry, &m.made}
	m.buildInfo = f.gauges("build_info", "Version of the gateway, always 1.", "version", "go_version")
	m.buildInfo.WithLabelValues(version, runtime.Version()).Set(1)
	f.calls(m)
	f.streams(m)
	f.push(m)
	f.decisions(m)
	f.anomalies(m)
	f.sinks(m)
	f.cards(m)
	f.config(m)
	f.condition(&m.condition)
	m.logDropped = f.counter("log_lines_dropped_total", "Access-log lines dropped before a slow reader.")
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.SetLabels(Labels{})
	return m
}

func (f factory) calls(m *Metrics) {
	m.requests = f.counters("requests_total", "Finished calls.", "agent", "method", "binding", "code")
	m.requestDuration = f.seconds("request_duration_seconds",
		"Time from arrival to the last byte of calls that do not stream.", callSeconds, "agent", "method")
	m.requestsInFlight = f.gauge("requests_in_flight", "Calls being served now.")
	m.shed = f.counters("shed_total", "Calls and connections that were not taken on.",
		"reason="+shedReasons)
	m.malformed = f.counters("malformed_requests_total",
		"HTTP/1.1 connections that ended because of how a request was written.", "wrong="+wrong)
	m.flooded = f.counters("floods_total",
		"HTTP/2 connections that ended because of frames that serve no call.", "frame="+frames)
	m.memoryUsed = f.gauge("memory_used_bytes", "Memory in use, garbage not counted.")
	m.memoryLimit = f.gauge("memory_limit_bytes", "Memory in use beyond which calls are refused, 0 for none.")
	m.memorySoft = f.gauge("memory_soft_limit_bytes", "Memory in use beyond which streams and large bodies are refused, 0 for none.")
	m.delay = f.gauge("queueing_delay_seconds", "How long work waits for a processor, at least.")
	m.overloaded = f.gauges("overloaded", "Whether calls are refused for what is measured.", "rung="+rungs+"|other")
	m.streamBuffered = f.gauge("stream_buffer_bytes", "Bytes kept of all event streams.")
	m.streamBuffer = f.gauge("stream_buffer_limit_bytes", "Bytes that may be kept of all event streams.")
	m.requestSize = f.bytes("request_size_bytes", "Size of request bodies.", "agent", "method")
	m.responseSize = f.bytes("response_size_bytes", "Size of answer bodies.", "agent", "method")
	m.upstreamRequests = f.counters("upstream_requests_total",
		"Calls sent to agents.", "agent", "method", "code=HTTP_1XX|HTTP_2XX|HTTP_3XX|HTTP_4XX|HTTP_5XX|none")
	m.upstreamDuration = f.seconds("upstream_request_duration_seconds",
		"Time agents took to answer, for streams until the head.", callSeconds, "agent", "method")
	m.quirks = f.counters("quirks_total",
		"Calls for which a tolerance of agents[].quirks was used.", "agent", "quirk="+strings.Join(quirkNames[:], "|")+"|other")
	m.upstreams = f.upstreams()
	m.retries = f.counters("retries_total", "Calls sent to a further instance.", "agent")
	m.ejections = f.counters("ejections_total", "Instances left alone because they fail calls.", "agent")
}

func (f factory) streams(m *Metrics) {
	m.streamsActive = f.gauges("streams_active", "Event streams open now.", "agent")
	m.streamEvents = f.counters("stream_events_total", "Events passed on to clients.", "agent")
	m.streamSkipped = f.counters("stream_events_skipped_total",
		"Events of agents that are none of A2A's, and were not passed on.", "agent")
	m.streamResumes = f.counters("stream_resumes_total",
		"Streams that clients came back to: exact, gap (the task as it is in the place of what is not kept), or refused.",
		"agent", "result=exact|gap|refused")
	m.streamReplayed = f.counters("stream_events_replayed_total", "Events given to clients who had missed them.", "agent")
	m.streamJoins = f.counters("stream_joins_total", "Streams that share an agent's with others.", "agent")
	m.streamRegains = f.counters("stream_regains_total",
		"Agents' streams that broke: regained, polled, or lost.", "agent", "result=regained|polled|lost|other")
	m.streamDropped = f.counters("stream_events_dropped_total",
		"Events that clients were not given, as the gateway had ended their streams with an error.", "agent")
	m.streamGrammar = f.counters("stream_grammar_violations_total", "Breaches of the rules of what agents may say of their tasks.",
		"agent", "rule="+strings.Join(grammarRules[:], "|")+"|other")
	m.streamDuration = f.seconds("stream_duration_seconds",
		"Time from arrival to the end of streams.", streamSeconds, "agent", "method")
	m.firstEvent = f.seconds("time_to_first_event_seconds",
		"Time from arrival to the first event of streams.", callSeconds, "agent", "method")
}

func (f factory) decisions(m *Metrics) {
	m.authn = f.counters("authn_total", "Credentials looked at.", "provider", "result=ok|refused|unavailable|other")
	m.jwksRefreshes = f.counters("jwks_refreshes_total", "Fetches of issuers' keys.", "result=ok|error")
	m.jwksSkipped = f.counters("jwks_keys_skipped_total", "Keys of JWK sets that cannot be used.", "reason=other|malformed|weak|secret|excess")
	m.throttled = f.counter("authn_throttled_total", "Refused credentials answered 429.")
	m.upstreamTokens = f.counters("upstream_tokens_total",
		"Fetches of tokens to show to agents.",
		"agent", "kind=oauth2|exchange|actor|other", "result=ok|declined|failed|other")
	m.authz = f.counters("authz_decisions_total", "Authorization decisions; rule is none where something else than the rules decided.",
		"decision="+strings.Join(decisionNames[:], "|"), "rule")
	m.limited = f.counters("rate_limited_total", "Calls that a limit refused.", "limit")
	m.limitsFell = f.counters("limits_uncounted_total", "Limits that could not be counted where they are kept.", "limit")
	m.authorizers = f.counters("authorizer_requests_total", "Questions to authorizers.",
		"authorizer", "result=allow|deny|error|cached|other")
	m.authorizerSeconds = f.seconds("authorizer_request_duration_seconds",
		"Time that authorizers took to answer.", callSeconds, "authorizer")
	m.state = f.counters("state_store_operations_total", "Operations of the state.", "operation", "result=ok|error")
	m.auditGone = f.counter("audit_records_gone_total", "Audit records that were not there any more when the gateway started.")
	m.stateEvicted = f.counter("state_evicted_total", "Keys that the server of the state dropped for want of memory: of this gateway's, or of others that use it.")
	m.stateLost = f.gauge("state_file_lost", "Whether the file of the state was deleted, moved or replaced under the gateway.")
	m.stateSeconds = f.seconds("state_store_operation_duration_seconds",
		"Time that operations of the state took.", storeSeconds, "operation")
	m.extensions = f.counters("extensions_negotiated_total",
		"Extensions that clients asked for, and those that were injected.", "uri", "result=activated|inactive|refused|injected|provided")
	m.violations = f.counters("extension_violations_total",
		"What bodies held against extensions, or of files against the rules for them.", "uri",
		"fault="+strings.Join(faultNames[:], "|"), "enforced=true|false")
	m.leftOut = f.gauge("agents_left_out", "Agents that should be served and are not, as /readyz?verbose says.")
	m.audit = f.fixed("audit_records_total", "Audit records.", "written", "failed", "unsynced")
	m.content = f.fixed("audit_content_total", "Calls of which content was captured.", "kept", "lost")
}

func (f factory) config(m *Metrics) {
	m.configSuccessful = f.gauge("config_last_reload_successful",
		"Whether the last load of the configuration took effect.")
	m.configTimestamp = f.gauge("config_last_reload_success_timestamp_seconds",
		"When a configuration last took effect, in Unix time.")
	m.configReloads = f.counters("config_reloads_total", "Loads of the configuration.", "result=ok|error")
	m.configHash = f.gauge("config_hash", "First 48 bits of a SHA-256 of what replicas have in common of the configuration in force.")
}

package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// requirement is one thing that A2A 1.0 asks of a server and that a client can see.
// Its id is the one under which the protocol's own compatibility kit has it, as
// far as the kit has it.
type requirement struct {
	id    string
	level string // must or should
	on    string // transports, separated by spaces; all if empty
	check func(c *conversation)
}

// requirements are all of them.
func requirements() []requirement {
	return slices.Concat(coreRequirements, listRequirements, streamRequirements, pushRequirements,
		modelRequirements, bindingRequirements, versionRequirements, cardRequirements)
}

// TestConformance makes a client of 1.0, on each of its transports, find in front of
// every agent, of whichever version, what 1.0 promises it; or a sample of them.
func TestConformance(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i, a := range s.agents {
		for j, on := range []string{"jsonrpc", "http_json", "grpc"} {
			if !gatewaytest.Sampled(i, j) {
				continue
			}
			t.Run(a.ID+"/"+on, func(t *testing.T) {
				t.Parallel()
				place := s.place(t, a.ID, on)
				for _, r := range requirements() {
					if r.on != "" && !strings.Contains(r.on, on) {
						continue
					}
					s.meets(t, r, a, place)
				}
			})
		}
	}
}

// meets checks one requirement, or that an exception to it still is one: in front of
// the gateway and, where the agent speaks 1.0 itself, without it.
func (s *site) meets(t *testing.T, r requirement, a *gatewaytest.Agent, place *conversation) {
	t.Helper()
	problems := place.check(t, r)
	direct := s.direct[a.ID]
	own := direct != nil && direct.on == place.on
	i := slices.IndexFunc(exceptions, func(e exception) bool {
		return e.id == r.id && matches(e.agent, a.ID) && (e.on == "own" && own || e.on != "own" && matches(e.on, place.on))
	})
	switch {
	case i < 0:
		for _, p := range problems {
			t.Errorf("%s (%s): %s", r.id, r.level, p)
		}
	case len(problems) == 0:
		t.Errorf("%s: met, in spite of the exception %q", r.id, exceptions[i].why)
	case own:
		if problems := direct.check(t, r); len(problems) == 0 {
			t.Errorf("%s: the agent alone meets it: no exception %q", r.id, exceptions[i].why)
		}
	}
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// conversation is a client of one agent on one transport, checking one requirement.
type conversation struct {
	transport

	t      *testing.T
	site   *site
	on     string // jsonrpc, http_json or grpc
	base   string // of the JSON bindings
	agent  string // its id
	tenant string
	ctx    context.Context

	wrong *[]string
}

// check runs a check and gives what is wrong.
func (c *conversation) check(t *testing.T, r requirement) []string {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	asking := *c
	asking.t, asking.ctx, asking.wrong = t, ctx, new([]string)
	r.check(&asking)
	return *asking.wrong
}

func (c *conversation) errorf(format string, args ...any) {
	*c.wrong = append(*c.wrong, fmt.Sprintf(format, args...))
}

// want notes a difference.
func (c *conversation) want(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.errorf("%s is %v, want %v", what, got, want)
	}
}

// ok makes a call that must succeed and gives its result, which has the shape that
// 1.0 gives it.
func (c *conversation) ok(method string, params object) any {
	result, refused, err := c.call(c.ctx, method, params)
	return c.judged(method, result, refused, err)
}

// judged notes what is wrong with the outcome of a call that must succeed.
func (c *conversation) judged(method string, result any, refused *refusal, err error) any {
	switch {
	case err != nil:
		c.errorf("%s: %v", method, err)
	case refused != nil:
		c.errorf("%s refused: %v", method, refused)
	default:
		for _, w := range misshapen(results[method], method, result) {
			c.errorf("%s", w)
		}
	}
	return result
}

// refused makes a call that must be refused as one of the kinds.
func (c *conversation) refused(method string, params object, kinds ...refusal) {
	var r *refusal
	var err error
	if results[method] != "StreamResponse" {
		_, r, err = c.call(c.ctx, method, params)
	} else {
		var s *eventStream
		s, r, err = c.open(c.ctx, method, params)
		if s != nil {
			_, r, err = s.next()
			s.close()
		}
	}
	if err != nil {
		c.errorf("%s: %v", method, err)
		return
	}
	c.is(method, r, kinds...)
}

// is compares a refusal with the kinds that it may be of, in the words of the
// transport.
func (c *conversation) is(method string, r *refusal, kinds ...refusal) {
	for _, k := range kinds {
		if r == nil || r.message == "" || r.reason != k.reason || r.domain != "a2a-protocol.org" {
			continue
		}
		switch {
		case c.on == "jsonrpc" && r.code == k.code,
			c.on == "http_json" && r.http == k.http && r.grpc == k.grpc,
			c.on == "grpc" && r.grpc == k.grpc:
			return
		}
	}
	c.errorf("%s: %v, want %v", method, r, kinds)
}

// The refusals of A2A 1.0 §5.4, and the gateway's words for those of JSON-RPC.
var (
	taskNotFound  = refusal{-32001, 404, codes.NotFound, "TASK_NOT_FOUND", "", ""}
	notCancelable = refusal{-32002, 400, codes.FailedPrecondition, "TASK_NOT_CANCELABLE", "", ""}
	noPush        = refusal{-32003, 400, codes.FailedPrecondition, "PUSH_NOTIFICATION_NOT_SUPPORTED", "", ""}
	unsupported   = refusal{-32004, 400, codes.FailedPrecondition, "UNSUPPORTED_OPERATION", "", ""}
	contentType   = refusal{-32005, 400, codes.InvalidArgument, "CONTENT_TYPE_NOT_SUPPORTED", "", ""}
	badAgent      = refusal{-32006, 502, codes.Internal, "INVALID_AGENT_RESPONSE", "", ""}
	noExtended    = refusal{-32007, 400, codes.FailedPrecondition, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", "", ""}
	needExtension = refusal{-32008, 400, codes.FailedPrecondition, "EXTENSION_SUPPORT_REQUIRED", "", ""}
	noVersion     = refusal{-32009, 400, codes.FailedPrecondition, "VERSION_NOT_SUPPORTED", "", ""}
	invalidParams = refusal{-32602, 400, codes.InvalidArgument, "INVALID_PARAMS", "", ""}
)

// stream reads a stream to its end.
func (c *conversation) stream(method string, params object) []any {
	s := c.opened(method, params)
	if s == nil {
		return nil
	}
	defer s.close()
	var events []any
	for {
		e := c.event(s)
		if e == nil {
			return events
		}
		events = append(events, e)
	}
}

// opened begins a stream that must not be refused.
func (c *conversation) opened(method string, params object) *eventStream {
	s, r, err := c.open(c.ctx, method, params)
	if err != nil || r != nil {
		c.errorf("%s: %v, %v", method, r, err)
		return nil
	}
	return s
}

// event is the next event of a stream, or nil at its end.
func (c *conversation) event(s *eventStream) any {
	if s == nil {
		return nil
	}
	e, r, err := s.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil || r != nil:
		c.errorf("event: %v, %v", r, err)
		return nil
	}
	for _, w := range misshapen("StreamResponse", "event", e) {
		c.errorf("%s", w)
	}
	return e
}

// hear is the parameters of a send whose message begins with the word that the
// agents act on. more is merged into the message.
func hear(word string, more ...object) object {
	message := object{
		"messageId": fmt.Sprintf("m-%s-%d", word, time.Now().UnixNano()), "role": "ROLE_USER",
		"parts": []any{object{"text": word}},
	}
	for _, m := range more {
		for name, v := range m {
			message[name] = v
		}
	}
	return object{"message": message}
}

// configured is a send with a configuration.
func configured(send, configuration object) object {
	send["configuration"] = configuration
	return send
}

// task makes a task by a word and gives it.
func (c *conversation) task(word string, more ...object) any {
	task := at(c.ok("SendMessage", hear(word, more...)), "task")
	if text(task, "id") == "" {
		c.errorf("no task of %q", word)
	}
	return task
}

// plaintext is a gRPC connection that ends with the test.
func plaintext(t testing.TB, target string) *grpc.ClientConn {
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// over is the transport by its name in the table.
func over(on string, hc *http.Client, conn *grpc.ClientConn, base, tenant string) transport {
	http := overHTTP{hc, base, tenant}
	switch on {
	case "jsonrpc":
		return &overJSONRPC{overHTTP: http}
	case "http_json":
		return &overREST{http}
	}
	return &overGRPC{conn, tenant}
}

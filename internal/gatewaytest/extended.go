package gatewaytest

import (
	"context"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	a2asrv03 "github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// Act is what an agent with extensions does with a message: the events that it
// answers with. requested is what it was asked to activate, declared or not.
type Act func(ec *a2asrv.ExecutorContext, requested []string) []a2a.Event

// StartWith runs an agent until the test ends whose card declares extensions and
// that does with messages what act says, in the place of the words of [Executor].
// It activates what it declares and is asked for by its SDK's means: over gRPC the
// answer says so, over HTTP the Go SDKs never do.
func StartWith(t testing.TB, f Flavour, declared []a2a.AgentExtension, act Act) *Agent {
	t.Helper()
	ex := newExecutor()
	ex.declared, ex.act = declared, act
	return start(t, f, ex)
}

// StartBehind runs an agent until the test ends whose calls pass front first, which may
// read, refuse or answer them; its card does not. act may be nil. It is not for gRPC.
func StartBehind(t testing.TB, f Flavour, front func(http.Handler) http.Handler, act Act) *Agent {
	t.Helper()
	ex := newExecutor()
	ex.front, ex.act = front, act
	return start(t, f, ex)
}

func requested(ec *a2asrv.ExecutorContext) []string {
	uris, _ := ec.ServiceParams.Get(a2a.SvcParamExtensions)
	return uris
}

func sequence(events []a2a.Event) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// activating activates what the caller asks for of what the card declares.
type activating struct {
	a2asrv.PassthroughCallInterceptor
	ex *Executor
}

// Before implements a2asrv.CallInterceptor.
func (a activating) Before(
	ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request,
) (context.Context, any, error) {
	for i := range a.ex.declared {
		if e := &a.ex.declared[i]; call.Extensions().Requested(e) {
			call.Extensions().Activate(e)
		}
	}
	return ctx, nil, nil
}

// activating03 is activating under the 0.3 SDK.
type activating03 struct {
	a2asrv03.PassthroughCallInterceptor
	ex *Executor
}

// Before implements a2asrv.CallInterceptor of the 0.3 SDK.
func (a activating03) Before(
	ctx context.Context, call *a2asrv03.CallContext, _ *a2asrv03.Request,
) (context.Context, error) {
	for _, e := range extensions03(a.ex.declared) {
		if call.Extensions().Requested(&e) {
			call.Extensions().Activate(&e)
		}
	}
	return ctx, nil
}

// params10 has what was requested under the name of 1.0.
func params10(ctx context.Context) *a2asrv.ServiceParams {
	extensions, ok := a2asrv03.ExtensionsFrom(ctx)
	if !ok {
		return nil
	}
	return a2asrv.NewServiceParams(map[string][]string{a2a.SvcParamExtensions: extensions.RequestedURIs()})
}

// Activated gives the extensions that the last answer to a client of [HTTPClient]
// says are active, by the name of the header or trailer that says it.
func Activated(hc *http.Client) map[string][]string {
	t, ok := hc.Transport.(*tape)
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	all := map[string][]string{}
	for name, values := range t.last {
		if !strings.HasSuffix(strings.ToLower(name), "a2a-extensions") {
			continue
		}
		for uri := range strings.SplitSeq(strings.Join(values, ","), ",") {
			if uri = strings.TrimSpace(uri); !slices.Contains(all[name], uri) {
				all[name] = append(all[name], uri)
			}
		}
	}
	return all
}

// Heard gives the header of the last answer to a client of [HTTPClient], with the
// trailer where the binding is gRPC.
func Heard(hc *http.Client) http.Header {
	t, ok := hc.Transport.(*tape)
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// InProgress reports whether an error of a client on an http.Client of [HTTPClient]
// says that a task cannot be continued yet: the Go SDKs answer before they have put
// an execution away, and refuse to continue the task until they have.
func InProgress(err error, hc *http.Client) bool {
	t, ok := hc.Transport.(*tape)
	return ok && err != nil && inProgress(err, t)
}

// Send sends a message again and again until it is no longer refused for that.
func Send(
	ctx context.Context, c Client, hc *http.Client, r *a2a.SendMessageRequest,
) (a2a.SendMessageResult, error) {
	for {
		result, err := c.SendMessage(ctx, r)
		if !InProgress(err, hc) {
			return result, err
		}
		runtime.Gosched()
	}
}

package explain

import (
	"errors"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/proxy"
)

// guard names the guards that look at the call and its answers, and has those look at the message that
// look at requests. What hooks and extensions would make of it before is not known.
func (j *judgement) guard() error {
	selected := j.Guards.For(j.ask)
	j.e.Guards = selected.Names()
	on := selected.On(guard.Request)
	if len(on) > len(on.Offline()) {
		j.note("guards that ask a service are not asked, and may still refuse or redact the message")
	}
	if j.Message == nil || len(on) == 0 {
		return nil
	}
	cs, err := wire.ReadCarriers(wire.Side{Version: wire.V10, Binding: wire.JSONRPC}, j.Method, false, j.call.Body, j.Wire)
	if err != nil {
		return err
	}
	r := proxy.GuardMessage(j.ctx, on, cs)
	becomes := map[string]string{"refuse": verdict.Refused, "redact": "redacted", "report": "recorded"}
	for _, f := range r.Findings {
		one := verdict.GuardFinding{Guard: f.Guard, Kind: f.Kind, Part: f.Part, Count: f.Count, Becomes: becomes[f.Action]}
		if f.Shadow {
			one.Becomes = "recorded (shadow of " + one.Becomes + ")"
		}
		j.e.Findings = append(j.e.Findings, one)
	}
	if r.Refused == nil {
		return nil
	}
	return wire.Errorf(wire.ContentRefused, "").Because(errors.New(strings.TrimSpace(r.Refused.Error())))
}

package exchange

import (
	"context"
	"net/http"
)

// DetachedRequest is a request to an agent that may outlive the call it was made for.
type DetachedRequest struct {
	Ctx    context.Context
	Cancel context.CancelCauseFunc
	Unhook func() bool
	kept   bool
}

// Keep lets the request go on without the call, whose context it holds no longer. Its end is then that of the
// feed which reads the answer.
func (d *DetachedRequest) Keep() {
	if d.Unhook != nil {
		d.Unhook()
	}
	d.Unhook, d.kept = nil, true
}

// Stop ends the request. Several goroutines may call it, once Keep has returned.
func (d *DetachedRequest) Stop() {
	if d.Unhook != nil {
		d.Unhook()
	}
	d.Cancel(nil)
}

// LetGo is done with an answer, unless a feed is reading it. d is nil where the request
// could not outlive the call.
func (d *DetachedRequest) LetGo(resp *http.Response) {
	if d == nil || !d.kept {
		_ = resp.Body.Close() // nothing is left to do with it
	}
}

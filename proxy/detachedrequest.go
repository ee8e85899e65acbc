package proxy

import (
	"context"
	"net/http"
)

// detachedRequest is a request to an agent that may outlive the call it was made for.
type detachedRequest struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	unhook func() bool
	kept   bool
}

// detach begins one; until keep is called it ends with ctx.
func detach(ctx context.Context) *detachedRequest {
	d := new(detachedRequest)
	d.ctx, d.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	d.unhook = context.AfterFunc(ctx, func() { d.cancel(context.Cause(ctx)) })
	return d
}

// keep lets the request go on without the call. Its end is then that of the feed which
// reads the answer.
func (d *detachedRequest) keep() {
	d.unhook()
	d.kept = true
}

// stop ends the request.
func (d *detachedRequest) stop() {
	d.unhook()
	d.cancel(nil)
}

// letGo is done with an answer, unless a feed is reading it. d is nil where the request
// could not outlive the call.
func (d *detachedRequest) letGo(resp *http.Response) {
	if d == nil || !d.kept {
		_ = resp.Body.Close() // nothing is left to do with it
	}
}

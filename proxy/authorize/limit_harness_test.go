package authorize_test

import (
	"context"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// lost is a store that cannot be reached.
type lost struct{}

func (lost) Draw(context.Context, []state.Draw) ([]state.Drawn, error) {
	return nil, fmt.Errorf("%w: dial tcp 192.0.2.1:6379", state.ErrUnavailable)
}

func (lost) Release(context.Context, []state.Draw) error {
	return fmt.Errorf("%w: dial tcp 192.0.2.1:6379", state.ErrUnavailable)
}

// lastRecord waits for n records of calls and gives the last.
func lastRecord(w *proxytest.Gateway, n int) map[string]any {
	w.Helper()
	var all []map[string]any
	proxytest.Eventually(w, "record", func() bool { all = w.Audited("call"); return len(all) >= n })
	return all[len(all)-1]
}

// free waits until a caller has room for a call, whose agent answers it at once.
func free(w *proxytest.Gateway, who, after string) {
	w.Helper()
	w.Agent.Answers(proxytest.Fluent)
	deadline := time.Now().Add(proxytest.Patience)
	for {
		got := w.Call(who, "SendMessage", proxytest.Message(""))
		if got.Status != 429 {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("after %s there is no room: %s", after, got.Body)
		}
		time.Sleep(time.Millisecond)
	}
}

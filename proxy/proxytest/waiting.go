package proxytest

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// CallWaiting makes a call that finds a task waiting: one that it begins, or the one
// that is named, which is to be the caller's.
func (w *Gateway) CallWaiting(caller wire.Side, method, task string, header ...string) Reply {
	a := Ask{Method: method, Header: header}
	if MethodOf(method).Subject == wire.OfTask {
		a.Task = task
	}
	return w.Speak("tied", w.Base, caller, a)
}

// CRM is the other system, and crmHeader what a token for it is shown in.
const (
	CRM       = "https://crm.example"
	CRMHeader = "X-Crm-Token"
)

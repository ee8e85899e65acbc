package notifications_test

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

func fail(m *proxytest.Mailbox, err error) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.Err = err
}

// latest is what the latest was to be delivered as.
func latest(m *proxytest.Mailbox) string {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	return m.Last
}

// wantMail compares what is to be delivered, in its order, with the bodies of it.
func wantMail(w *proxytest.Gateway, bodies ...string) {
	w.Helper()
	var got []string
	for _, d := range w.Mail.All("") {
		got = append(got, string(d.Body))
	}
	if !slices.Equal(got, bodies) {
		w.Errorf("to be delivered: %q\nwant %q", got, bodies)
	}
}

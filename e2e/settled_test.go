package e2e

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// held is what a gateway holds at a moment.
type held struct{ goroutines, files, sockets int }

// held reads it; false where a process cannot be looked into, or has ended.
func (p *place) held() (h held, ok bool) {
	dir := fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid)
	list, err := os.ReadDir(dir)
	if err != nil {
		return h, false
	}
	for _, e := range list {
		switch to, err := os.Readlink(dir + "/" + e.Name()); {
		case err != nil: // closed in the meantime
		case strings.HasPrefix(to, "socket:"):
			h.sockets++
		default:
			h.files++
		}
	}
	text, err := p.scrape()
	if err != nil {
		return h, false
	}
	h.goroutines = int(value(text, "go_goroutines"))
	return h, h.goroutines > 0
}

// What a gateway may hold when its callers are gone beyond what it held before the first:
// connections that lie idle, to agents for 90 s, with two goroutines each, and what the
// first call of its kind opens once and for all, such as the connections of a database.
const (
	perSocket      = 2
	goroutineSlack = 24
	fileSlack      = 24
)

// settles fails the test if the gateway, once its callers are gone, does not come back to
// what it held before they came: then something was forgotten that belonged to one of them.
func (p *place) settles(before held) {
	p.client.CloseIdleConnections()
	const within = 20 * time.Second
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		now, ok := p.held()
		if !ok || p.t.Failed() {
			return // it was ended, or there is more to say about it
		}
		idle := max(0, now.sockets-before.sockets)
		if now.goroutines <= before.goroutines+perSocket*idle+goroutineSlack && now.files <= before.files+fileSlack {
			p.t.Logf("%d goroutines, %d files and %d sockets are left; it began with %d, %d and %d",
				now.goroutines, now.files, now.sockets, before.goroutines, before.files, before.sockets)
			return
		}
		if time.Since(begun) > within {
			p.t.Errorf("%v after the last call there are %d goroutines, %d files and %d sockets; it began with %d, %d and %d",
				within, now.goroutines, now.files, now.sockets, before.goroutines, before.files, before.sockets)
			return
		}
	}
}

package push

import (
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"
)

func careful() Config {
	c := open()
	c.Challenge = challengeRequired
	return c
}

// agrees is a webhook that repeats tokens.
func agrees(w http.ResponseWriter, g got) {
	if g.method == http.MethodGet {
		q, _ := url.ParseQuery(g.query)
		_, _ = io.WriteString(w, q.Get("validationToken"))
	}
}

func methods(all []got) (gets, posts int) {
	for _, g := range all {
		if g.method == http.MethodGet {
			gets++
		} else {
			posts++
		}
	}
	return gets, posts
}

// TestTargetsAreAskedOnce: before the first notification, and then for all webhooks of
// that address.
func TestTargetsAreAskedOnce(t *testing.T) {
	t.Parallel()
	b := work(t, careful())
	r := receive(t, b.clock, agrees)
	for n := range 5 {
		d := notification(r.URL, "t1", n)
		d.URL += "?tenant=a%20b"
		b.push(t, d)
	}
	b.await(t, Delivered, 5)
	all := r.seen()
	if gets, posts := methods(all); gets != 1 || posts != 5 || all[0].method != http.MethodGet {
		t.Errorf("%d questions, %d notifications", gets, posts)
	}
	if q, err := url.ParseQuery(all[0].query); err != nil || q.Get("tenant") != "a b" || len(q.Get("validationToken")) < 20 {
		t.Errorf("asked with %q", all[0].query)
	}
	for _, name := range []string{"Authorization", "X-A2a-Notification-Token", "A2a-Notification-Token", "Webhook-Id"} {
		if all[0].header.Get(name) != "" {
			t.Errorf("the question carries %s", name)
		}
	}
	// Another webhook where one has agreed is asked for itself, at once.
	b.push(t, notification(r.URL, "t2", 0))
	b.await(t, Delivered, 6)
	if gets, posts := methods(r.seen()); gets != 2 || posts != 6 {
		t.Errorf("%d questions, %d notifications", gets, posts)
	}
}

// TestA21_StrangersAreAskedOnce: a thousand webhooks that somebody says are at a victim's
// come to one question, and no notification.
func TestA21_StrangersAreAskedOnce(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(http.ResponseWriter, got){
		"takes everything": func(http.ResponseWriter, got) {},
		"knows nothing":    func(w http.ResponseWriter, _ got) { w.WriteHeader(http.StatusNotFound) },
		"sends elsewhere": func(w http.ResponseWriter, _ got) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusFound)
		},
		"echoes with an error": func(w http.ResponseWriter, g got) {
			w.WriteHeader(http.StatusAccepted)
			agrees(w, g)
		},
		"echoes the query": func(w http.ResponseWriter, g got) { _, _ = io.WriteString(w, g.query) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := work(t, careful())
			r := receive(t, b.clock, answer)
			b.pushAll(t, oneEach(r.URL, 1000)...)
			b.clock.stop(b.clock.Now().Add(5 * time.Minute))
			wait(t, "five minutes", b.clock.stands)
			if gets, posts := methods(r.seen()); gets != 1 || posts != 0 {
				t.Errorf("%d questions, %d notifications", gets, posts)
			}
			if n := b.outcomes(outcomeFailed); n != 1 {
				t.Errorf("%d attempts were counted", n)
			}
		})
	}
}

// TestNobodyAgrees: what may never be sent is given up when its time is over.
func TestNobodyAgrees(t *testing.T) {
	t.Parallel()
	b := work(t, careful())
	r := receive(t, b.clock, func(w http.ResponseWriter, _ got) { w.WriteHeader(http.StatusNotFound) })
	b.push(t, notification(r.URL, "t1", 0))
	b.push(t, notification(r.URL, "t2", 0))
	b.await(t, outcomeDead, 2)
	if _, posts := methods(r.seen()); posts != 0 {
		t.Errorf("%d notifications were sent", posts)
	}
}

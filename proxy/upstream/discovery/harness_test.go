package discovery

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// observed is a running source, and all that it has said.
type observed struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	lists  [][]Instance
	errs   []error // nil: it works again
	lines  strings.Builder
	inside bool
}

// options are those of a source that tells the test what goes wrong.
func (o *observed) options() Options {
	return Options{Logger: slog.New(slog.NewTextHandler(o, nil)), OnError: func(err error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.errs = append(o.errs, err)
	}}
}

// Write takes log lines.
func (o *observed) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lines.Write(p)
}

// run runs the source until the test ends, or stop.
func (o *observed) run(s Source) {
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel, o.done = cancel, make(chan struct{})
	go func() {
		defer close(o.done)
		s.Run(ctx, func(list []Instance) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.lists = append(o.lists, slices.Clone(list))
			for i := range list {
				list[i].Address = "theirs" // the list is ours to change
			}
		})
	}()
	o.t.Cleanup(o.stop)
}

func (o *observed) stop() {
	o.cancel()
	select {
	case <-o.done:
	case <-time.After(time.Minute):
		o.t.Error("the source does not end with its context")
	}
}

// count is how many lists and errors there were.
func (o *observed) count() (lists, errs int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.lists), len(o.errs)
}

// until waits for a state of what was observed.
func (o *observed) until(what string, ok func() bool) {
	o.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		o.mu.Lock()
		is := ok()
		o.mu.Unlock()
		if is {
			return
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.t.Fatalf("%s: never; lists %v, errors %v", what, o.lists[max(len(o.lists)-5, 0):], o.errs[max(len(o.errs)-3, 0):])
}

// now waits until the last list has these addresses (and weights other than 1, and zones).
func (o *observed) now(want ...string) {
	o.t.Helper()
	o.until("list "+strings.Join(want, " "), func() bool {
		return len(o.lists) > 0 && slices.Equal(texts(o.lists[len(o.lists)-1]), want)
	})
}

// fails waits for a failure that says something.
func (o *observed) fails(want string) {
	o.t.Helper()
	o.until("error "+want, func() bool {
		return slices.ContainsFunc(o.errs, func(err error) bool { return err != nil && strings.Contains(err.Error(), want) })
	})
}

// works waits until the last that was said of errors is that there is none.
func (o *observed) works() {
	o.t.Helper()
	o.until("recovery", func() bool { return len(o.errs) > 0 && o.errs[len(o.errs)-1] == nil })
}

// logged counts lines with a text.
func (o *observed) logged(text string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Count(o.lines.String(), text)
}

func texts(list []Instance) []string {
	var s []string
	for _, i := range list {
		text := i.Address
		if i.Weight != 1 {
			text += "*" + string(rune('0'+i.Weight%10))
		}
		if i.Zone != "" {
			text += "@" + i.Zone
		}
		s = append(s, text)
	}
	return s
}

func TestKeeper(t *testing.T) {
	t.Parallel()
	o := &observed{t: t}
	var told [][]Instance
	c := Config{EmptyAfter: 3, Limit: 2}
	k := newKeeper(c, o.options(), func(l []Instance) { told = append(told, l) }, "test")
	a, b, d := Instance{Address: "a", Weight: 1}, Instance{Address: "b", Weight: 1}, Instance{Address: "d", Weight: 1}

	k.settle(nil, errors.New("early"))
	if len(told) != 0 {
		t.Fatal("a failure before the first answer told a list")
	}
	steps := []struct {
		list  []Instance
		err   error
		lists int
		last  string
	}{
		{nil, nil, 1, ""}, // nothing to hold on to
		{[]Instance{b, a}, nil, 2, "a b"},
		{[]Instance{a, b, a}, nil, 2, "a b"},
		{[]Instance{a, b, d}, nil, 2, "a b"}, // too many
		{nil, nil, 2, "a b"},
		{nil, errors.New("away"), 2, "a b"},
		{nil, nil, 2, "a b"},
		{nil, nil, 3, ""}, // the third in a row
		{nil, nil, 3, ""},
		{[]Instance{a}, nil, 4, "a"},
		{nil, nil, 4, "a"},
		{[]Instance{a}, nil, 4, "a"},
		{nil, nil, 4, "a"},
		{nil, nil, 4, "a"},
	}
	for i, s := range steps {
		k.settle(s.list, s.err)
		if len(told) != s.lists || strings.Join(texts(told[len(told)-1]), " ") != s.last {
			t.Fatalf("step %d: told %v, want %d lists and %q", i, told, s.lists, s.last)
		}
	}
	var got []string
	for _, err := range o.errs {
		if got = append(got, ""); err != nil {
			got[len(got)-1] = err.Error()
		}
	}
	want := []string{"early", "", "3 instances are more than limit (2)", "", "away", ""}
	if !slices.Equal(got, want) {
		t.Errorf("errors %q, want %q", got, want)
	}
}

func TestStatic(t *testing.T) {
	t.Parallel()
	s, err := Static([]Instance{{Address: "B.example:8080"}, {Address: "[::1]:1", Weight: 3, Zone: "z"}, {Address: "::1"}})
	if err != nil {
		t.Fatal(err)
	}
	o := &observed{t: t}
	o.run(s)
	o.now("::1", "[::1]:1*3@z", "b.example:8080")
	o.stop()
	if n, _ := o.count(); n != 1 {
		t.Errorf("told %d times", n)
	}
	if _, err := Static([]Instance{{Address: "a:1"}, {Address: "A.:1"}}); err == nil {
		t.Error("an address twice was taken")
	}
	if _, err := Static([]Instance{{Address: "a:1"}, {Address: "http://b"}}); err == nil || !strings.HasPrefix(err.Error(), "[1]: ") {
		t.Errorf("a URL: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want, hostPort string }{
		{"10.0.0.1", "10.0.0.1", "10.0.0.1:443"},
		{"10.0.0.1:080", "10.0.0.1:80", "10.0.0.1:80"},
		{"::ffff:10.0.0.1", "10.0.0.1", "10.0.0.1:443"},
		{"2001:DB8::1", "2001:db8::1", "[2001:db8::1]:443"},
		{"[2001:DB8:0::1]:9", "[2001:db8::1]:9", "[2001:db8::1]:9"},
		{"Agents.Example.", "agents.example", "agents.example:443"},
		{"a_b.svc:1", "a_b.svc:1", "a_b.svc:1"},
		{in: ""},
		{in: ":80"},
		{in: "a:"},
		{in: "a:0"},
		{in: "a:65536"},
		{in: "a:b"},
		{in: "a:+1"},
		{in: "a b:1"},
		{in: "a..b"},
		{in: "user@a:1"},
		{in: "a/b:1"},
		{in: "http://a:1"},
		{in: "2001:db8::1:99999"},
		{in: "fe80::1%eth0"},
		{in: "[fe80::1%eth0]:1"},
		{in: strings.Repeat("a", 64)},
		{in: strings.Repeat("a.", 127) + "a"},
	} {
		i, err := Instance{Address: tt.in}.canonical()
		if (err != nil) != (tt.want == "") || i.Address != tt.want {
			t.Errorf("%q: %q, %v; want %q", tt.in, i.Address, err, tt.want)
		}
		if err == nil && i.HostPort("443") != tt.hostPort {
			t.Errorf("%q with a port: %q, want %q", tt.in, i.HostPort("443"), tt.hostPort)
		}
	}
	for _, i := range []Instance{{Address: "a", Weight: -1}, {Address: "a", Weight: 65536}, {Address: "a", Zone: "a b"}} {
		if _, err := i.canonical(); err == nil {
			t.Errorf("%+v was taken", i)
		}
	}
}

package stream_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/agentevents"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// messages frames texts as a gRPC body.
func messages(texts ...string) string {
	var b []byte
	for _, text := range texts {
		b = grpcframe.Append(b, []byte(text))
	}
	return string(b)
}

// TestFramings: each side has its own, and what is relayed is the same.
func TestFramings(t *testing.T) {
	t.Parallel()
	const events = "event: e\ndata: a\n\n: hi\n\ndata\n\ndata: b\n\n"
	tests := map[string]struct {
		from     func(io.Reader, int) agentevents.Source
		to       relay.Framing
		in, want string
	}{
		"SSE to SSE":   {nil, nil, events, "event: e\ndata: a\n\ndata: \n\ndata: b\n\n"},
		"SSE to gRPC":  {agentevents.SSE, relay.MessageFrames{}, events, messages("a", "", "b")},
		"gRPC to SSE":  {agentevents.GRPC, relay.EventFrames{}, messages("a", "", "b"), "data: a\n\ndata: \n\ndata: b\n\n"},
		"gRPC to gRPC": {agentevents.GRPC, relay.MessageFrames{}, messages("a", "", "b"), messages("a", "", "b")},
	}
	for name, tt := range tests {
		var c client
		stats, err := relay.Relay{Limits: limits(), See: same, To: tt.to}.Run(
			t.Context(), &c, of(io.NopCloser(strings.NewReader(tt.in)), tt.from, limits()))
		if err != nil || c.text() != tt.want || c.flushes != 3 {
			t.Errorf("%s: %v, %q in %d flushes", name, err, c.text(), c.flushes)
		}
		if stats.Events != 3 || stats.Bytes != int64(len(tt.want)) {
			t.Errorf("%s: %+v", name, stats)
		}
	}
}

// TestMessageEnds: what became of the messages is told apart as with events.
func TestMessageEnds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want error
		out  string
	}{
		"clean":       {messages("a", "b"), nil, messages("a", "b")},
		"nothing":     {"", nil, ""},
		"in a head":   {messages("a") + "\x00\x00", ending.ErrBroken, messages("a")},
		"in a body":   {messages("a") + "\x00\x00\x00\x00\x05b", ending.ErrBroken, messages("a")},
		"too large":   {messages("a", strings.Repeat("x", 1001)), ending.ErrTooLarge, messages("a")},
		"compressed":  {messages("a") + "\x01\x00\x00\x00\x01b", ending.ErrBroken, messages("a")},
		"just fits":   {messages(strings.Repeat("x", 1000)), nil, messages(strings.Repeat("x", 1000))},
		"a huge head": {"\x00\xff\xff\xff\xff", ending.ErrTooLarge, ""},
	}
	for name, tt := range tests {
		var c client
		l := limits()
		l.Event = 1000
		_, err := relay.Relay{Limits: l, See: same, To: relay.MessageFrames{}}.Run(
			t.Context(), &c, of(io.NopCloser(strings.NewReader(tt.in)), agentevents.GRPC, l))
		if !errors.Is(err, tt.want) || c.text() != tt.out {
			t.Errorf("%s: %v, %q", name, err, c.text())
		}
	}
}

var errRefused = errors.New("refused")

// spell emits every letter of an event by itself; "!" is refused.
func spell(e stream.Entry, emit relay.Emit) error {
	one := make([]byte, 1)
	for _, one[0] = range e.Data { // the same memory again and again
		if one[0] == '!' {
			return errRefused
		}
		if err := emit("", "", one); err != nil {
			return err
		}
	}
	return nil
}

// TestEmit: an event becomes none, one or several, which are flushed together.
func TestEmit(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in, want string
		events   int64
		flushes  int
		err      error
	}{
		"several":         {"data: abc\n\ndata: d\n\n", "data: a\n\ndata: b\n\ndata: c\n\ndata: d\n\n", 4, 2, nil},
		"none":            {"data\n\ndata\n\n", "", 0, 0, nil},
		"some":            {"data\n\ndata: a\n\ndata\n\n", "data: a\n\n", 1, 1, nil},
		"refused":         {"data: !\n\ndata: a\n\n", "", 0, 0, errRefused},
		"refused midways": {"data: a\n\ndata: bc!d\n\n", "data: a\n\ndata: b\n\ndata: c\n\n", 3, 2, errRefused},
	}
	for name, tt := range tests {
		var c client
		stats, err := relay.Relay{Limits: limits(), See: spell}.Run(t.Context(), &c, text(tt.in))
		if !errors.Is(err, tt.err) || c.text() != tt.want || c.flushes != tt.flushes {
			t.Errorf("%s: %v, %q in %d flushes", name, err, c.text(), c.flushes)
		}
		if stats.Events != tt.events || (stats.First > 0) != (tt.events > 0) {
			t.Errorf("%s: %+v", name, stats)
		}
	}
}

// TestEmitMany: what one event becomes is written as it grows, and stops with
// the client.
func TestEmitMany(t *testing.T) {
	t.Parallel()
	const n = 1000
	data := bytes.Repeat([]byte("x"), 1000)
	var emitted int
	many := func(_ stream.Entry, emit relay.Emit) error {
		for range n {
			emitted++
			if err := emit("", "", data); err != nil {
				return err
			}
		}
		return nil
	}
	run := func(c *client) (relay.Stats, error) {
		emitted = 0
		return relay.Relay{Limits: limits(), See: many}.Run(t.Context(), c, text("data: a\n\n"))
	}
	var c client
	stats, err := run(&c)
	if err != nil || stats.Events != n || len(c.text()) != n*(len(data)+len("data: \n\n")) || c.flushes < 50 || c.flushes > 70 {
		t.Errorf("%v, %+v, %d bytes in %d flushes", err, stats, len(c.text()), c.flushes)
	}
	stats, err = run(&client{gone: true})
	if !errors.Is(err, ending.ErrGone) || stats.Events != 0 || emitted > n/10 {
		t.Errorf("%v, %+v, %d emitted to nobody", err, stats, emitted)
	}
}

// closer is a body that tells when it was read or closed.
type closer struct {
	io.Reader
	read, closed bool
}

func (c *closer) Read(p []byte) (int, error) { c.read = true; return c.Reader.Read(p) }
func (c *closer) Close() error               { c.closed = true; return nil }

// TestLead: the gateway's own events come first, and an error of them before
// anything of the agent's.
func TestLead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lead func(relay.Emit) error
		want string
		err  error
	}{
		"events": {func(emit relay.Emit) error {
			return errors.Join(emit("", "", []byte("1")), emit("", "e", []byte("2")))
		},
			"data: 1\n\nevent: e\ndata: 2\n\ndata: a\n\n", nil},
		"none":    {func(relay.Emit) error { return nil }, "data: a\n\n", nil},
		"error":   {func(relay.Emit) error { return errRefused }, "", errRefused},
		"midways": {func(emit relay.Emit) error { return errors.Join(emit("", "", []byte("1")), errRefused) }, "data: 1\n\n", errRefused},
	} {
		var c client
		body := &closer{Reader: strings.NewReader("data: a\n\n")}
		stats, err := relay.Relay{Limits: limits(), See: same, Lead: tt.lead}.Run(t.Context(), &c, of(body, nil, limits()))
		if !errors.Is(err, tt.err) || c.text() != tt.want || stats.Events != int64(strings.Count(tt.want, "data")) {
			t.Errorf("%s: %v, %q, %+v", name, err, c.text(), stats)
		}
		if body.read != (tt.err == nil) || !body.closed {
			t.Errorf("%s: read %v, closed %v", name, body.read, body.closed)
		}
	}
	_, err := relay.Relay{Limits: limits(), See: same, Lead: func(emit relay.Emit) error { return emit("", "", nil) }}.Run(
		t.Context(), &client{gone: true}, text(""))
	if !errors.Is(err, ending.ErrGone) {
		t.Errorf("nobody there: %v", err)
	}
}

// TestNothingIsWrittenEarly: the client's response is open to anything until
// there is an event or, where the framing has it, a heartbeat.
func TestNothingIsWrittenEarly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		to    relay.Framing
		beats int
	}{
		"SSE": {relay.EventFrames{}, 2}, "gRPC": {relay.MessageFrames{}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var c client
			to, done := run(t.Context(), &c, relay.Relay{Limits: limits(), See: spell, To: tt.to}, nil)
			_, _ = io.WriteString(to, ": hi\n\ndata\n\n")
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if text, flushes := c.text(), c.flushed(); text != "" || flushes != 0 {
				t.Errorf("%s: %q and %d flushes before any event", name, text, flushes)
			}
			time.Sleep(25 * time.Second)
			synctest.Wait()
			if text, flushes := c.text(), c.flushed(); flushes != tt.beats || (text == "") != (tt.beats == 0) {
				t.Errorf("%s: %q and %d flushes in silence", name, text, flushes)
			}
			_, _ = io.WriteString(to, "data: !\n\n")
			if err := <-done; !errors.Is(err, errRefused) || c.flushed() != tt.beats {
				t.Errorf("%s: %v, %d flushes", name, err, c.flushed())
			}
		})
	}
}

// TestSlowReaderOfMessages is cut off without a heartbeat to notice it by.
func TestSlowReaderOfMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := client{stalled: make(chan struct{})}
		to, done := run(t.Context(), &c, relay.Relay{Limits: limits(), See: same, To: relay.MessageFrames{}}, agentevents.GRPC)
		began := time.Now()
		_, _ = io.WriteString(to, messages("a"))
		if err := <-done; !errors.Is(err, ending.ErrSlow) {
			t.Error(err)
		}
		if lasted := time.Since(began); lasted != 10*time.Second {
			t.Errorf("cut off after %v", lasted)
		}
	})
}

func BenchmarkMessage(b *testing.B) {
	frame := []byte(messages(strings.Repeat("x", 600)))
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	_, err := relay.Relay{Limits: limits(), See: same, To: relay.MessageFrames{}}.Run(
		b.Context(), null{}, of(&endless{frame: frame, n: b.N}, agentevents.GRPC, limits()))
	if err != nil {
		b.Fatal(err)
	}
}

// TestLargeEvents: events that are written from where they lie come as others do, between
// others, and who does not take one is cut off.
func TestLargeEvents(t *testing.T) {
	t.Parallel()
	long, longer, lines := strings.Repeat("a", 16<<10), strings.Repeat("b", 40<<10), strings.Repeat("c\n", 10<<10)
	three := func(e stream.Entry, emit relay.Emit) error {
		for _, data := range []string{"before", string(e.Data), "behind"} {
			if err := emit("7", "n", []byte(data)); err != nil {
				return err
			}
		}
		return nil
	}
	l := limits()
	l.Event = 1 << 20
	for _, data := range []string{long, longer, lines} {
		want := ""
		for _, each := range []string{"before", data, "behind"} {
			want += "event: n\nid: 7\ndata: " + strings.ReplaceAll(each, "\n", " ") + "\n\n"
		}
		var c client
		stats, err := relay.Relay{Limits: l, See: three}.Run(t.Context(), &c,
			of(io.NopCloser(strings.NewReader(messages(data))), agentevents.GRPC, l))
		if err != nil || c.text() != want || stats.Events != 3 || stats.Bytes != int64(len(want)) {
			t.Errorf("SSE: %v, %+v, %d bytes, want %d", err, stats, len(c.text()), len(want))
		}
		c = client{}
		want = messages("before", data, "behind")
		stats, err = relay.Relay{Limits: l, See: three, To: relay.MessageFrames{}}.Run(t.Context(), &c,
			of(io.NopCloser(strings.NewReader(messages(data))), agentevents.GRPC, l))
		if err != nil || c.text() != want || stats.Events != 3 || stats.Bytes != int64(len(want)) {
			t.Errorf("gRPC: %v, %+v, %d bytes, want %d", err, stats, len(c.text()), len(want))
		}
		for name, c := range map[string]*client{"gone": {gone: true}, "slow": {stalled: make(chan struct{})}} {
			synctest.Test(t, func(t *testing.T) {
				stats, err := relay.Relay{Limits: l, See: three}.Run(t.Context(), c,
					of(io.NopCloser(strings.NewReader(messages(data))), agentevents.GRPC, l))
				want := map[string]error{"gone": ending.ErrGone, "slow": ending.ErrSlow}[name]
				if !errors.Is(err, want) || stats.Events != 0 || stats.Bytes != 0 {
					t.Errorf("%s: %v, %+v", name, err, stats)
				}
			})
		}
	}
}

package redis

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/statetest"
)

// stored is a record as the script of a claim writes it.
func stored(r state.Record) string {
	return string(append(appendCreated([]byte{formOf(r)}, r.Created), encode(r)...))
}

func TestRecordsComeBack(t *testing.T) {
	t.Parallel()
	text := rapid.StringN(0, 300, -1)
	rapid.Check(t, func(t *rapid.T) {
		want := state.Record{
			Agent: "billing", Kind: state.Task, ID: "id",
			Owner: text.Draw(t, "owner"), Tenant: text.Draw(t, "tenant"), Skill: text.Draw(t, "skill"),
			Context: text.Draw(t, "context"), Endpoint: text.Draw(t, "endpoint"), Version: text.Draw(t, "version"),
			Extensions: rapid.SliceOfN(text, 1, 3).Draw(t, "extensions"),
			Created:    time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
			Trace:      text.Draw(t, "trace"),
		}
		got, err := decode(stored(want), "billing", state.Task, "id")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// The order of created as bytes is that of time: lists are in that order.
func TestCreatedIsOrdered(t *testing.T) {
	t.Parallel()
	times := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := times.Draw(t, "a"), times.Draw(t, "b")
		if got := strings.Compare(string(appendCreated(nil, a)), string(appendCreated(nil, b))); got != a.Compare(b) {
			t.Fatalf("%v and %v compare as %d, want %d", a, b, got, a.Compare(b))
		}
	})
}

func TestBadRecordsAreErrors(t *testing.T) {
	t.Parallel()
	whole := stored(statetest.Example())
	for name, bad := range map[string]string{
		"another form":  "\x03" + whole[1:],
		"text":          "hello",
		"one too long":  whole + "x",
		"a long length": whole[:createdSize+1] + "\xff\xff\xff\xff" + whole[createdSize+5:],
		"many extensions": stored(state.Record{})[:createdSize+1] + strings.Repeat("\x00", 12) +
			"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
		"a varint too long": stored(state.Record{})[:createdSize+1] + strings.Repeat("\x00", 8) + strings.Repeat("\xff", 20),
	} {
		if r, err := decode(bad, "billing", state.Task, "id"); !errors.Is(err, errRecord) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for n := range len(whole) {
		if r, err := decode(whole[:n], "billing", state.Task, "id"); !errors.Is(err, errRecord) {
			t.Errorf("%d of %d bytes: %+v, %v", n, len(whole), r, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(stored(statetest.Example()))
	f.Add(stored(state.Record{Created: time.Unix(math.MinInt32, 0)}))
	f.Add("")
	f.Add("\x01")
	f.Fuzz(func(t *testing.T, in string) {
		r, err := decode(in, "billing", state.Task, "id")
		if err != nil {
			if !errors.Is(err, errRecord) {
				t.Errorf("%q: %v", in, err)
			}
			return
		}
		// What can be read says the same when it is written again.
		again, err := decode(stored(r), "billing", state.Task, "id")
		if diff := cmp.Diff(r, again); !r.Created.IsZero() && (err != nil || diff != "") {
			t.Errorf("%q: %v\n%s", in, err, diff)
		}
	})
}

// Records of gateways that kept no trace are read, and what has none is written as they
// do, so that they can read it.
func TestRecordsWithoutTrace(t *testing.T) {
	t.Parallel()
	s, plain := fresh(t), everybody(t).client(t)
	want := state.Record{
		Agent: "billing", Kind: state.Task, ID: "T", Context: "C", Owner: "o", Skill: "s",
		Created: time.Unix(1<<30, 5).UTC(),
	}
	const former = "\x01\x80\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x05" + "\x00\x00\x00\x01C" + "\x00\x00\x00\x01o" + "\x00\x01s\x00\x00" + "\x00"
	if got := stored(want); got != former {
		t.Errorf("it is written as %q, want %q", got, former)
	}
	traced := want
	traced.ID, traced.Trace, traced.Created = "U", "span", want.Created.Add(time.Second)
	for _, r := range []state.Record{want, traced} {
		if _, err := s.Claim(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	plain.Set(t.Context(), s.names.record("billing", state.Task, "T"), former, 0)
	list, err := s.Tasks(t.Context(), state.Query{Agent: "billing", Owner: "o", Limit: 5})
	if diff := cmp.Diff([]state.Record{traced, want}, list); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if again := stored(traced); again[0] == form {
		t.Error("a record with a trace is in the form of those without")
	}
}

package sockets

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestParseActivation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		count, names string
		want         string // names in the order of descriptors, or the error's beginning
	}{
		{"1", "", "public"},
		{"1", "a2a-gateway.socket", "public"},
		{"1", "status", "public"}, // it is the only one: what else should it be for
		{"2", "public:status", "public status"},
		{"2", "status:public", "status public"},
		{"2", "status", "status public"},
		{"2", "", "LISTEN_FDNAMES"},
		{"2", "status:status", "LISTEN_FDNAMES"},
		{"", "", "LISTEN_FDS"},
		{"-1", "", "LISTEN_FDS"},
		{"65", "", "LISTEN_FDS"},
		{"0", "", ""},
	} {
		all, err := parseActivation(tt.count, tt.names)
		var got []string
		for i, g := range all {
			got = append(got, g.name)
			if g.descriptor != firstDescriptor+i || g.address != "" {
				t.Errorf("%s %q: socket %d is %+v", tt.count, tt.names, i, g)
			}
		}
		if err != nil {
			got = []string{before(err.Error())}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.count, tt.names, s, tt.want)
		}
	}
}

// before is the key that an error names.
func before(text string) string {
	key, _, _ := strings.Cut(text, ":")
	return key
}

func FuzzParseHanded(f *testing.F) {
	f.Add("public 7 :8080\nstatus 8 127.0.0.1:9902")
	f.Add("public 7 ")
	f.Add("public 2 :8080")
	f.Fuzz(func(t *testing.T, lines string) {
		all, err := parseHanded(lines)
		if err != nil {
			return
		}
		for _, g := range all {
			if g.descriptor < firstDescriptor {
				t.Errorf("%q: standard streams are no sockets: %+v", lines, g)
			}
		}
	})
}

func TestSocketsOfAnotherProcess(t *testing.T) {
	t.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()+1))
	t.Setenv("LISTEN_FDS", "1")
	s, err := Inherited()
	if err != nil || len(s.given) != 0 {
		t.Errorf("took %+v, error %v", s.given, err)
	}
	t.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
	t.Setenv("LISTEN_FDS", "1")
	s, err = Inherited()
	if err != nil || len(s.given) != 1 {
		t.Errorf("took %+v, error %v", s.given, err)
	}
	for _, key := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", handed} {
		if _, there := os.LookupEnv(key); there {
			t.Errorf("%s is still there", key)
		}
	}
}

package discovery

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestInstancesOf(t *testing.T) {
	t.Parallel()
	const ports = `"ports":[{"name":"a2a","port":8080,"protocol":"TCP"},{"name":"m","port":9090},{"name":"a2a","port":1,"protocol":"UDP"},{"name":"x"}]`
	slice := func(family, endpoints string) string {
		return `{"metadata":{"name":"` + family + `"},"addressType":"` + family + `","endpoints":[` + endpoints + `],` + ports + `}`
	}
	const a = `{"addresses":["10.0.0.1","10.9.9.9"],"targetRef":{"uid":"A"}}`
	for _, tt := range []struct {
		name, port string
		slices     []string
		want       string
		err        string
	}{
		{"by name", "a2a", []string{slice("IPv4", a)}, "10.0.0.1:8080", ""},
		{"by number", "9090", []string{slice("IPv4", a)}, "10.0.0.1:9090", ""},
		{"not said", "", []string{slice("IPv4", a)}, "", "several ports"},
		{"unknown", "http", []string{slice("IPv4", a)}, "", "(http)"},
		{"unknown, nobody ready", "http", []string{slice("IPv4", `{"addresses":["10.0.0.1"],"conditions":{"ready":false}}`)}, "", ""},
		{"none", "", nil, "", ""},
		{"unready", "a2a", []string{slice("IPv4", a+`,{"addresses":["10.0.0.2"],"conditions":{"ready":false}}`)}, "10.0.0.1:8080", ""},
		{"terminating", "a2a", []string{slice("IPv4", a+`,{"addresses":["10.0.0.2"],"conditions":{"ready":true,"serving":true,"terminating":true}}`)}, "10.0.0.1:8080", ""},
		{"all terminating", "a2a", []string{slice("IPv4", `{"addresses":["10.0.0.1"],"conditions":{"ready":false,"serving":true,"terminating":true}},`+
			`{"addresses":["10.0.0.2"],"conditions":{"ready":false,"serving":false,"terminating":true}}`)}, "10.0.0.1:8080", ""},
		{"two families", "a2a", []string{slice("IPv4", a), slice("IPv6", `{"addresses":["fd00::1"],"targetRef":{"uid":"A"}},{"addresses":["fd00::2"],"targetRef":{"uid":"B"}},{"addresses":["fd00::3"]}`)},
			"10.0.0.1:8080 [fd00::2]:8080 [fd00::3]:8080", ""},
		{"names", "a2a", []string{slice("FQDN", `{"addresses":["Agents.example"]}`), slice("new", a)}, "agents.example:8080", ""},
		{"no address", "a2a", []string{slice("IPv4", `{"addresses":[]}`)}, "", ""},
		{"no ports", "", []string{strings.Replace(slice("IPv4", a), ports, `"ports":null`, 1)}, "10.0.0.1", ""},
		{"no ports, a number", "77", []string{strings.Replace(slice("IPv4", a), ports, `"ports":[]`, 1)}, "10.0.0.1:77", ""},
		{"no ports, a name", "a2a", []string{strings.Replace(slice("IPv4", a), ports, `"ports":[]`, 1)}, "", "must be a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all := map[string]endpointSlice{}
			for _, text := range tt.slices {
				var s endpointSlice
				if err := json.Unmarshal([]byte(text), &s); err != nil {
					t.Fatal(err)
				}
				all[s.Metadata.Name] = s
			}
			list, err := instancesOf(all, tt.port)
			if got := strings.Join(texts(ordered(list)), " "); got != tt.want ||
				(err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, tt.want, tt.err)
			}
		})
	}
}

func FuzzWatch(f *testing.F) {
	for _, seed := range []string{
		`{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"2"},"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"],"conditions":{"ready":true},"zone":"z"}],"ports":[{"name":"a","port":80}]}}`,
		`{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVersion":"3"},"addressType":"FQDN","endpoints":[{"addresses":["a.example"]}]}}`,
		`{"type":"DELETED","object":{"metadata":{"name":"a","resourceVersion":"4"}}}` + "\n" + `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5"}}}`,
		`{"type":"ERROR","object":{"code":410}}`, `{"type":"ADDED","object":null}`,
	} {
		f.Add([]byte(seed), "")
		f.Add([]byte(seed), "a")
	}
	f.Fuzz(func(t *testing.T, lines []byte, port string) {
		c := &cluster{config: Config{Limit: 8, EmptyAfter: 1, Kubernetes: &Kubernetes{Port: port}}, slices: map[string]endpointSlice{}}
		k := newKeeper(c.config, (&observed{t: t}).options(), func(list []Instance) {
			if sound(t, list); len(list) > c.config.Limit {
				t.Errorf("%d instances", len(list))
			}
		}, "fuzz")
		version := "1"
		for line := range strings.SplitSeq(string(lines), "\n") {
			if e, err := readEvent[endpointSlice]([]byte(line)); err == nil {
				_ = c.apply(k, e, &version) // every error ends the watch
			}
			if version == "" {
				t.Error("the version got lost")
			}
		}
	})
}

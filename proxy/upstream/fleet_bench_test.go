package upstream

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// BenchmarkChoose is what the choice of an instance costs.
func BenchmarkChoose(b *testing.B) {
	for _, n := range []int{1, 3, 100} {
		static := make([]string, n)
		for i := range static {
			static[i] = fmt.Sprintf("10.0.%d.%d:9001", i/250, i%250)
		}
		u := newUpstream(b, Config{Load: Load{Instances: []Instances{{Static: static}}}})
		now := time.Now().UnixNano()
		for _, tt := range []struct {
			name string
			hint Hint
		}{
			{"least", Hint{}}, {"context", Hint{Context: "0c9a7e55-7a4f-4d3e-a3a9-0d9f0f0a1c11"}},
			{"task", Hint{Instance: static[n/2], Task: true}},
		} {
			b.Run(fmt.Sprintf("%s of %d", tt.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := u.fleet.choose(&tt.hint, nil, now); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRoundTrip compares a call by net/http alone with one to an agent, and to an
// agent of three instances. What the server costs is in all of them.
func BenchmarkRoundTrip(b *testing.B) {
	all := places(b, 3)
	url := "http://" + all[0].address() + "/a2a"
	alone, several := newUpstream(b, Config{}), newUpstream(b, among(all, nil))
	trip := func(u *Upstream) func(*http.Request) (*http.Response, error) {
		return func(r *http.Request) (*http.Response, error) {
			resp, _, err := u.RoundTrip(r, Hint{Body: text("call")})
			return resp, err
		}
	}
	for _, via := range []struct {
		name string
		trip func(*http.Request) (*http.Response, error)
	}{
		{"net/http", alone.direct.json.RoundTrip}, {"one", trip(alone)}, {"three", trip(several)},
	} {
		b.Run(via.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, nil)
				must(b, err)
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader("call")), 4
				resp, err := via.trip(r)
				must(b, err)
				_, _ = io.Copy(io.Discard, resp.Body)
				must(b, resp.Body.Close())
			}
		})
	}
}

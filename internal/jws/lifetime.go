package jws

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// How long a key set may be used. Its publisher says it with Cache-Control; the bounds
// keep a careless header from hammering the publisher or from keeping a removed key for
// a day.
const (
	defaultAge = 5 * time.Minute
	minAge     = 30 * time.Second
	maxAge     = time.Hour
)

// Lifetime is how long an answer may be used (RFC 9111 §5.2.2): max-age less the Age it
// spent in caches on the way. A publisher that forbids caching gets the shortest
// interval; one that says nothing gets the default.
func Lifetime(h http.Header) time.Duration {
	d := defaultAge
	for _, line := range h.Values("Cache-Control") {
		for part := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			switch strings.ToLower(name) {
			case "no-store", "no-cache":
				return minAge
			case "max-age":
				d = seconds(strings.Trim(value, `"`)) - seconds(h.Get("Age"))
			}
		}
	}
	return min(max(d, minAge), maxAge)
}

// seconds reads delta-seconds; anything else counts as none.
func seconds(s string) time.Duration {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

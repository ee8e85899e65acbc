package failure

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const (
	retryHeader = "Retry-After"
	retryType   = "type.googleapis.com/google.rpc.RetryInfo"
)

// RetryAfter reads the header of that name (RFC 9110 §10.2.3), which is a number of
// seconds or a date. A date that has passed is 0; ok is false for a header that says
// nothing, or says it in no form that there is.
func RetryAfter(h http.Header, now time.Time) (after time.Duration, ok bool) {
	text := h.Get(retryHeader)
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second, true // 32 bits
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(t.Sub(now), 0), true
	}
	return 0, false
}

// RetryAs has e say when to come back as h says it, unless e says it already.
func RetryAs(e *wire.Error, h http.Header) {
	if _, known := RetryAfter(e.Header, time.Time{}); known {
		return
	}
	if _, ok := RetryAfter(h, time.Time{}); ok {
		comeBack(e, h.Get(retryHeader))
	}
}

// comeBack sets Retry-After in a header of the error's own: the one it has may be shared.
func comeBack(e *wire.Error, when string) {
	if e.Header = e.Header.Clone(); e.Header == nil {
		e.Header = make(http.Header, 1)
	}
	e.Header.Set(retryHeader, when)
}

// retryInfo is what an error's Retry-After is on gRPC, where the details say it
// (google.rpc.RetryInfo); nil where it says nothing, or the details do.
func retryInfo(e *wire.Error) *errdetails.RetryInfo {
	after, ok := RetryAfter(e.Header, time.Now())
	if _, said := retryDetail(e); said || !ok {
		return nil
	}
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(after)}
}

// retryDetail finds a google.rpc.RetryInfo among the details.
func retryDetail(e *wire.Error) (after time.Duration, ok bool) {
	for _, detail := range e.Details {
		if !strings.Contains(string(detail), retryType) {
			continue
		}
		if after, ok := readRetry(detail); ok {
			return after, true
		}
	}
	return 0, false
}

// readRetry reads a google.rpc.RetryInfo in ProtoJSON, where a duration is "1.5s".
func readRetry(detail jsontext.Value) (time.Duration, bool) {
	var info struct {
		Type  string `json:"@type"`
		Delay string `json:"retryDelay"`
	}
	if json.Unmarshal(detail, &info) != nil || info.Type != retryType {
		return 0, false
	}
	seconds, ok := strings.CutSuffix(info.Delay, "s")
	n, err := strconv.ParseFloat(seconds, 64)
	if !ok || err != nil || !(n >= 0 && n < 1<<31) {
		return 0, false
	}
	return time.Duration(n * float64(time.Second)), true
}

// heedRetry has an agent's error that says in its details when to come back say so in
// its header too, which is where HTTP clients look. Part of a second is a whole one.
func heedRetry(e *wire.Error) {
	if after, ok := retryDetail(e); ok {
		comeBack(e, strconv.FormatInt(int64((after+time.Second-1)/time.Second), 10))
	}
}

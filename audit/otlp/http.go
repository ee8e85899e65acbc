//go:build !minimal

package otlp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzip"
	collector "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

const (
	typeProtobuf = "application/x-protobuf"
	typeJSON     = "application/json"
	dialTimeout  = 10 * time.Second
	maxAnswer    = 1 << 20 // an answer is a sentence
)

// overHTTP is OTLP/HTTP with protobuf.
// It is for one goroutine: the compressor and its buffer are reused.
type overHTTP struct {
	client *http.Client
	url    string
	header http.Header
	zip    *gzip.Writer // nil without compression
	body   bytes.Buffer
}

// newHTTP prepares a client. It follows no redirects: records go where the configuration says and nowhere
// else.
// /v1/logs is the default path of the OTLP specification.
func newHTTP(c Config, secure *tls.Config, egress *tunnel.Proxy) (*overHTTP, error) {
	u := c.url()
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/logs"
	}
	o := &overHTTP{url: u.String(), header: http.Header{"Content-Type": {typeProtobuf}, "User-Agent": {"a2a-gateway"}}}
	for _, h := range c.Headers {
		o.header.Set(h.Name, h.Value.Reveal())
	}
	if c.gzip() {
		o.header.Set("Content-Encoding", "gzip")
		var err error
		if o.zip, err = gzip.NewWriterLevel(&o.body, gzip.BestSpeed); err != nil {
			return nil, err
		}
	}
	o.client = &http.Client{
		Transport: &http.Transport{ // the environment must not decide who gets the records
			TLSClientConfig: secure, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
			DialContext: egress.Dialer(dialTimeout), TLSHandshakeTimeout: dialTimeout,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return o, nil
}

// close closes what is idle. A request that is under way has its own context, which the runner ends.
func (o *overHTTP) close() error {
	o.client.CloseIdleConnections()
	return nil
}

// export sends a request. What is said of a refusal is read within a bound.
func (o *overHTTP) export(ctx context.Context, in *collector.ExportLogsServiceRequest) (*collector.ExportLogsPartialSuccess, error) {
	body, err := o.encode(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = o.header
	resp, err := o.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // only read from
	// One byte more than the bound tells an answer that is too long from one that fits.
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: read the answer: %w", resp.Status, err)
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("%s: the answer is longer than %d bytes", resp.Status, maxAnswer)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, refused(resp, answer)
	}
	return taken(resp, answer)
}

// encode makes a body, which no other shares memory with: one that was given up may still
// be on its way. The compressor is kept, as making one takes more memory than a request has.
func (o *overHTTP) encode(in *collector.ExportLogsServiceRequest) ([]byte, error) {
	text, err := proto.Marshal(in)
	if err != nil || o.zip == nil {
		return text, err
	}
	o.body.Reset()
	o.zip.Reset(&o.body)
	if _, err = o.zip.Write(text); err == nil {
		err = o.zip.Close()
	}
	return bytes.Clone(o.body.Bytes()), err
}

// taken reads an answer that says yes. One that is not OTLP does not count: the page by
// which a portal wants somebody to log in has the status 200 as well.
// A response without a body is a full success, as the specification has an empty message in it.
func taken(resp *http.Response, answer []byte) (*collector.ExportLogsPartialSuccess, error) {
	if len(answer) == 0 {
		return nil, nil
	}
	var out collector.ExportLogsServiceResponse
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case err != nil:
	case kind == typeProtobuf:
		err = proto.Unmarshal(answer, &out)
	case kind == typeJSON:
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(answer, &out)
	default:
		err = errors.New("it is " + printable(kind))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: the answer is not OTLP: %w", resp.Status, err)
	}
	return out.GetPartialSuccess(), nil
}

// refused reads an answer that says no. 413 and 422 are not named in the specification, and receivers and
// proxies use them for what is too much and for what they cannot read.
// 429, 502, 503 and 504 are the statuses that the OTLP specification lets a client retry.
func refused(resp *http.Response, answer []byte) *refusal {
	r := &refusal{status: resp.Status, said: printable(message(resp.Header.Get("Content-Type"), answer))}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		r.kind, r.after = aboutTime, retryAfter(resp.Header.Get("Retry-After"), time.Now())
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		r.kind = aboutRecords
	}
	return r
}

// message is what an answer says: that of a status, where it is one, or the text.
// The body of an error is a google.rpc.Status in the encoding of the request, by the specification;
// proxies in between answer with text or HTML.
func message(kind string, answer []byte) string {
	var said rpc.Status
	switch kind, _, _ = mime.ParseMediaType(kind); kind {
	case typeProtobuf:
		if proto.Unmarshal(answer, &said) != nil {
			return ""
		}
	case typeJSON:
		if (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(answer, &said) != nil {
			return string(answer)
		}
	default:
		return string(answer)
	}
	return said.GetMessage()
}

// retryAfter reads the header: seconds, or a time (RFC 9110 §10.2.3). What cannot be read asks for
// nothing; the runner pauses by itself then.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second // 31 bits
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

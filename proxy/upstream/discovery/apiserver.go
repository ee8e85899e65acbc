package discovery

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// serviceAccount is where a pod finds what it needs for the API server.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// maxToken bounds files that are read for every request; tokens have a few KiB.
const maxToken = 64 << 10

// apiServer asks the API server about the objects of one kind in one namespace that a
// selector names. It is used by one goroutine.
//
// All its requests are GETs with the account's bearer token. The token file is read for each
// request, because the kubelet replaces projected tokens about once an hour.
type apiServer struct {
	config  Kubernetes
	limit   int64 // of an answer, or of one event
	timeout time.Duration
	account string // directory of the service account

	group    string // path of the API that the kind belongs to
	resource string // the kind, as in paths
	selector string // of labels

	client *http.Client
	roots  []byte // that the client was made with
}

// objectPage is one page of a list.
type objectPage[T any] struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
		Continue        string `json:"continue"`
	} `json:"metadata"`
	Items []T `json:"items"`
}

// listPage fetches one page of a list.
// next is the continue token of the page before, "" for the first. The answer is read whole
// before it is decoded, up to limit bytes, since a list that is cut off must not pass for a short
// one. A list without a resourceVersion is refused: nothing could be watched from there on.
func listPage[T any](ctx context.Context, a *apiServer, next string) (objectPage[T], error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	query := url.Values{"limit": {strconv.Itoa(page)}}
	if next != "" {
		query.Set("continue", next)
	}
	var got objectPage[T]
	resp, err := a.get(ctx, query)
	if err != nil {
		return got, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, a.limit+1))
	if err != nil {
		return got, err
	}
	if int64(len(body)) > a.limit {
		return got, fmt.Errorf("more than answer (%d bytes)", a.limit)
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return got, err
	}
	if got.Metadata.ResourceVersion == "" {
		return got, errors.New("a list without a version")
	}
	return got, nil
}

// feed is a running watch: one line of JSON for each event.
type feed struct {
	body  io.ReadCloser
	lines *bufio.Scanner
	limit int64
}

// watch asks the API server to go on telling from a version. The server ends the watch by itself
// after timeoutSeconds; until then each event is one line. Bookmarks are asked for, so that the
// version moves on while nothing of this service changes, and is not too old (410 Gone) when the
// next watch begins.
func (a *apiServer) watch(ctx context.Context, version string, last time.Duration) (*feed, error) {
	resp, err := a.get(ctx, url.Values{
		"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {version},
		"timeoutSeconds": {strconv.Itoa(max(int(last/time.Second), 1))},
	})
	if err != nil {
		return nil, err
	}
	f := &feed{body: resp.Body, lines: bufio.NewScanner(resp.Body), limit: a.limit}
	f.lines.Buffer(nil, int(a.limit))
	return f, nil
}

func (f *feed) next() bool   { return f.lines.Scan() }
func (f *feed) line() []byte { return f.lines.Bytes() }
func (f *feed) close()       { _ = f.body.Close() }

// err is why next returned false: nil where the API server ended the watch in good order. A line
// longer than limit is named by the setting that bounds it, as bufio's own error says nothing of
// that to an operator.
func (f *feed) err() error {
	if err := f.lines.Err(); !errors.Is(err, bufio.ErrTooLong) {
		return err
	}
	return fmt.Errorf("an event of more than answer (%d bytes)", f.limit)
}

// get asks for the objects; what is not an answer is an error.
//
// A redirect is not an answer either. The error of the HTTP client quotes the URL, which may have
// a password in it, so that it is hidden.
func (a *apiServer) get(ctx context.Context, query url.Values) (*http.Response, error) {
	query.Set("labelSelector", a.selector)
	req, err := a.request(ctx, query)
	if err != nil {
		return nil, err
	}
	client, err := a.connect()
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, a.config.Server.Hide(err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, refused(resp)
}

// refused reads why, as far as the API server says so in its own form.
//
// 410 Gone is told from the others, since it is the one status that is not a failure: the version
// has been compacted away, and a new list is all that is needed.
func refused(resp *http.Response) error {
	if resp.StatusCode == http.StatusGone {
		return errGone
	}
	var s status
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	_ = json.Unmarshal(body, &s) // the code alone says enough
	return fmt.Errorf("the API server answers %d: %.200q", resp.StatusCode, s.Message)
}

// request makes the GET for one question.
// The namespace is that of the pod where none is configured; the kubelet writes it beside the
// token.
func (a *apiServer) request(ctx context.Context, query url.Values) (*http.Request, error) {
	base, err := a.base()
	if err != nil {
		return nil, err
	}
	namespace := a.config.Namespace
	if namespace == "" {
		if namespace, err = a.text(filepath.Join(a.account, "namespace")); err != nil {
			return nil, fmt.Errorf("kubernetes.namespace is not set: %w", err)
		}
	}
	address := base + a.group + "/namespaces/" + url.PathEscape(namespace) + "/" + a.resource + "?" + query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, a.config.Server.Hide(err)
	}
	req.Header.Set("Accept", "application/json")
	path := a.own(a.config.Token, "token")
	if path == "" {
		return req, nil
	}
	token, err := a.text(path) // it changes while the pod runs
	if err != nil {
		return nil, fmt.Errorf("kubernetes.token: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return req, nil
}

// base is the URL of the API server, without a path's last slash.
func (a *apiServer) base() (string, error) {
	if a.config.Server != "" {
		return strings.TrimSuffix(a.config.Server.Reveal(), "/"), nil
	}
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return "", errors.New("this is no pod (KUBERNETES_SERVICE_HOST and _PORT are not set): kubernetes.server must name the API server")
	}
	return "https://" + net.JoinHostPort(host, port), nil
}

// own is a file of the service account where no other is named. It is for the cluster's
// own API server alone.
//
// A token of the cluster must not be sent to a server that somebody has configured by hand, so
// that the defaults end where kubernetes.server is set.
func (a *apiServer) own(path, name string) string {
	if path == "" && a.config.Server == "" {
		return filepath.Join(a.account, name)
	}
	return path
}

// text reads a file of one word.
//
// Anything but printable ASCII in one word is refused: the word becomes a header's value, and a
// line break in it would be a header of its own.
func (a *apiServer) text(path string) (string, error) {
	data, err := readAtMost(path, maxToken)
	if err != nil {
		return "", err
	}
	word := string(bytes.TrimSpace(data))
	if word == "" || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s holds no single word", path)
	}
	return word, nil
}

// connect makes a client, and another one when the roots have changed.
//
// The client is kept for as long as the CA file says the same, so that its connections are reused
// between a list and the watch that follows.
func (a *apiServer) connect() (*http.Client, error) {
	var roots []byte
	if path := a.own(a.config.CA, "ca.crt"); path != "" {
		var err error
		if roots, err = readAtMost(path, 1<<20); err != nil {
			return nil, fmt.Errorf("kubernetes.ca: %w", err)
		}
	}
	if a.client != nil && bytes.Equal(roots, a.roots) {
		return a.client, nil
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if roots != nil {
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(roots) {
			return nil, errors.New("kubernetes.ca holds no certificate")
		}
	}
	a.close()
	a.roots = roots
	a.client = &http.Client{
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: a.timeout}).DialContext,
			TLSClientConfig:        trust,
			TLSHandshakeTimeout:    a.timeout,
			ResponseHeaderTimeout:  a.timeout,
			MaxResponseHeaderBytes: 64 << 10,
			IdleConnTimeout:        time.Minute,
			ForceAttemptHTTP2:      true,
			// A watch is silent for minutes; whether anybody is still there is asked.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		},
		// The token is for the API server, not for whom it points to.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return a.client, nil
}

func (a *apiServer) close() {
	if a.client != nil {
		a.client.CloseIdleConnections()
	}
}

// Package adminapi is the client of a running gateway's admin API, for verbs: where the gateway
// listens, which token it takes, and what it refuses, in words of the command line.
//
// A verb takes the flags of a Target, connects, which finds address and token and asks nobody, and
// then calls Do or one of the named calls. Errors carry their exit code (internal/cli/verb): 2
// where flags or the configuration are wrong, 1 where the gateway does not answer or refuses.
package adminapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/console/deliveries"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Target is where the admin API of a running gateway is, as flags say. With both an address and a
// token file no configuration is read, so that a verb can be run from another machine.
type Target struct {
	Config    string
	Address   string // "" for the configured one
	TokenFile string // "" for the configured token
}

// What a client keeps to. LongestReply, in bytes, is above the largest page that the API has;
// pageSize is in items, and is the most that it gives.
const (
	timeout      = 20 * time.Second // of one request
	LongestReply = 16 << 20
	pageSize     = 500
)

// Connect finds the address and the token, and returns a client for ctx. Nobody is asked yet.
//
// The token is that of --token-file, else admin.token, else the file admin-token in
// server.dataDir, which the gateway makes at its first start. The client follows no redirect and
// uses no proxy of the environment: either would show the token to somebody else. admin.tls of the
// configuration makes the scheme https and pins its certificates; an address that was given by a
// flag says its own scheme, and is verified against the CAs of the system.
func (a *Target) Connect(ctx context.Context) (*Client, error) {
	address, from := a.Address, a.TokenFile
	var token secret.Value
	var trust *tls.Config
	// The configuration is read only where it is needed: with both flags there may be none on this
	// machine.
	if address == "" || from == "" {
		cfg, err := config.Load(a.Config)
		if err != nil {
			return nil, a.unread(err)
		}
		if address == "" {
			if address, err = addressOf(cfg); err != nil {
				return nil, err
			}
			if cfg.Admin.TLS != nil {
				if trust, err = pinned(cfg.Admin.TLS); err != nil {
					return nil, verb.Failed(err)
				}
			}
		}
		if from == "" {
			token, from = cfg.Admin.Token, filepath.Join(cfg.Server.DataDir, console.TokenFile)
		}
	}
	// --token-file was given, or the configuration has no token of its own.
	if token.IsZero() {
		var err error
		read := console.ReadToken
		if a.TokenFile != "" {
			read = console.ReadGivenToken
		}
		if token, err = read(from); err != nil {
			return nil, verb.Failed(a.tokenUnread(from, err))
		}
	}
	base, err := adminBase(address)
	if err != nil {
		return nil, verb.Usage(err)
	}
	if trust != nil {
		base = "https" + strings.TrimPrefix(base, "http")
	}
	return &Client{ctx, base, token, &http.Client{
		Transport: &http.Transport{TLSClientConfig: trust}, // no proxy: the token is for the gateway
		Timeout:   timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}}, nil
}

// unread is the error for a configuration that cannot be read, and says which flags do without it: a gateway
// goes on with the configuration of before while somebody mends the file, and can be asked all the while.
func (a *Target) unread(err error) error {
	switch err = verb.Unread(a.Config, err); {
	case a.Address != "": // --admin for some verbs
		err = fmt.Errorf("--token-file FILE is missing: an address alone leaves the token to the configuration, which cannot be read: %w", err)
	case a.TokenFile != "":
		err = fmt.Errorf("%w\n--address URL beside --token-file asks the gateway without the configuration", err)
	default:
		err = fmt.Errorf("%w\n--address URL --token-file FILE asks the gateway without the configuration", err)
	}
	return verb.Usage(err)
}

// pinned trusts the certificates that the configuration names, and no others: the listener is
// asked by an address, which need not be in them, and it may be signed by nobody that this machine
// trusts. Files and listener belong to the same operator, so that comparing the bytes proves more
// than a chain would.
func pinned(c *console.TLS) (*tls.Config, error) {
	var leaves [][]byte
	for _, files := range c.Certificates {
		text, err := os.ReadFile(files.Cert)
		if err != nil {
			return nil, fmt.Errorf("read the certificate of the admin listener: %w", err)
		}
		block, _ := pem.Decode(text)
		if block == nil {
			return nil, fmt.Errorf("%s holds no certificate", files.Cert)
		}
		leaves = append(leaves, block.Bytes)
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection does it
		VerifyConnection: func(state tls.ConnectionState) error {
			if slices.ContainsFunc(leaves, func(leaf []byte) bool { return bytes.Equal(leaf, state.PeerCertificates[0].Raw) }) {
				return nil
			}
			return errors.New("it shows another certificate than the configuration's")
		},
	}, nil
}

// addressOf is the configured address, or where that leaves the port to the system (port 0, or
// none) the one that the running gateway was given and has written into server.dataDir. A file
// that is missing then means that the gateway does not run, as it removes the file at its end.
func addressOf(cfg *config.Config) (string, error) {
	if cfg.Admin.Off() {
		return "", verb.Usage(errors.New("admin.address: is off in this configuration; its gateway cannot be asked"))
	}
	if _, port, _ := net.SplitHostPort(cfg.Admin.Address); strings.Trim(port, "0") != "" {
		return cfg.Admin.Address, nil
	}
	file := filepath.Join(cfg.Server.DataDir, console.AddressFile)
	address, err := console.ReadAddress(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", verb.Failed(fmt.Errorf("the gateway does not run: it would say in %s where it listens", file))
	}
	if err != nil {
		return "", verb.Failed(fmt.Errorf("read where the gateway listens: %w", err))
	}
	return address, nil
}

// tokenUnread says in words of the command line why there is no token. Only the configured file is one that
// the gateway makes.
func (a *Target) tokenUnread(file string, err error) error {
	switch {
	case a.TokenFile != "" && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--token-file: %s does not exist", file)
	case a.TokenFile != "":
		return fmt.Errorf("--token-file: %w", err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist: the gateway makes it at its first start; --token-file names another", file)
	}
	return fmt.Errorf("read the admin token: %w", err)
}

// adminBase is an address as a URL without a path. An unspecified address, on which a gateway
// listens on every interface (0.0.0.0, ::, :9901), is asked on this machine.
func adminBase(address string) (string, error) {
	if !strings.Contains(address, "://") {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return "", fmt.Errorf("the admin address: %q is neither a URL nor host:port", address)
		}
		if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
			host = "localhost"
		}
		address = "http://" + net.JoinHostPort(host, port)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", errors.New("the admin address: must be http:// or https://, a host and a port, and nothing else")
	}
	return u.Scheme + "://" + u.Host, nil
}

// Client asks one gateway, with one token and within one context: a verb makes it, uses it and
// ends. It is safe for concurrent use.
type Client struct {
	ctx    context.Context
	base   string
	token  secret.Value
	client *http.Client
}

// ErrNoDelivery is the gateway's word that there is none of that id: it was never there, has
// arrived, or was dropped. Verbs go on with the next one.
var ErrNoDelivery = errors.New("there is no such delivery")

// Depth is how many deliveries of push notifications wait and how many were given up: GET
// /api/v1/push.
func (a *Client) Depth() (d deliveries.Depth, err error) {
	return d, a.Do(http.MethodGet, "/api/v1/push", &d)
}

// All are the deliveries of one state (deliveries.Dead and the like), page by page, by GET
// /api/v1/push/deliveries. The list is never nil, so that it is [] in JSON.
func (a *Client) All(state string) ([]deliveries.Delivery, error) {
	list := []deliveries.Delivery{}
	for cursor := ""; ; {
		var page deliveries.Page
		if err := a.Do(http.MethodGet, PagePath("/api/v1/push/deliveries?state="+state, cursor), &page); err != nil {
			return nil, err
		}
		list = append(list, page.Deliveries...)
		if cursor = page.Next; cursor == "" {
			return list, nil
		}
	}
}

// PagePath is the path and query of a page of a list, of at most 500 items; cursor is the next of
// the page before, "" for the first page.
func PagePath(path, cursor string) string {
	mark := "?"
	if strings.Contains(path, mark) {
		mark = "&"
	}
	path += mark + "limit=" + strconv.Itoa(pageSize)
	if cursor != "" {
		path += "&cursor=" + url.QueryEscape(cursor)
	}
	return path
}

// Dead are the ids of those that were given up, the oldest first: whoever is retried goes to the
// end of its task's line, so that a task's events are delivered in their own order again.
func (a *Client) Dead() ([]string, error) {
	list, err := a.All(deliveries.Dead)
	slices.SortStableFunc(list, func(x, y deliveries.Delivery) int { return x.Created.Compare(y.Created) })
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids, err
}

// Retry has a delivery that was given up tried again: POST /api/v1/push/deliveries/{id}/retry. The
// error is ErrNoDelivery where there is none of that id, which is also so once it has arrived.
func (a *Client) Retry(id string) error {
	return a.Do(http.MethodPost, "/api/v1/push/deliveries/"+url.PathEscape(id)+"/retry", nil)
}

// Drop has a delivery forgotten: DELETE /api/v1/push/deliveries/{id}. The error is as of Retry.
func (a *Client) Drop(id string) error {
	return a.Do(http.MethodDelete, "/api/v1/push/deliveries/"+url.PathEscape(id), nil)
}

// Do asks once, and reads the answer into out unless that is nil.
func (a *Client) Do(method, path string, out any) error { return a.Send(method, path, nil, out) }

// Send is Do with a JSON document as the body; nil for none. Anything but 200 is an error with the
// detail that the gateway gave (application/problem+json, RFC 9457). An answer that is longer than
// LongestReply is cut off, and then no JSON.
func (a *Client) Send(method, path string, doc []byte, out any) error {
	resp, err := a.ask(a.client, method, path, doc)
	if err != nil {
		return err
	}
	defer resp.Body.Close() // only read from
	body, err := io.ReadAll(io.LimitReader(resp.Body, LongestReply))
	if err != nil {
		return verb.Failed(fmt.Errorf("read the answer of %s: %w", a.base, err))
	}
	// The API has no other status for success.
	if resp.StatusCode != http.StatusOK {
		return a.refused(resp, body)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return verb.Failed(fmt.Errorf("%s does not answer as a gateway does", a.base))
	}
	return nil
}

// Follow asks for what the gateway sends as it happens, without a limit of time. The body is for the caller
// to close. Errors are as of Send.
func (a *Client) Follow(path string) (io.ReadCloser, error) {
	endless := *a.client
	endless.Timeout = 0
	resp, err := a.ask(&endless, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close() // only read from
	body, err := io.ReadAll(io.LimitReader(resp.Body, LongestReply))
	if err != nil {
		return nil, verb.Failed(fmt.Errorf("read the answer of %s: %w", a.base, err))
	}
	return nil, a.refused(resp, body)
}

// ask sends a request with the token.
func (a *Client) ask(with *http.Client, method, path string, doc []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(a.ctx, method, a.base+path, bytes.NewReader(doc))
	if err != nil {
		return nil, verb.Usage(err)
	}
	if doc != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+a.token.Reveal())
	resp, err := with.Do(req)
	if err != nil {
		return nil, verb.Failed(fmt.Errorf("no gateway answers at %s; does it run? (%w)", a.base, cause(err)))
	}
	return resp, nil
}

// cause is what net/http has to say without the URL, which is said already, and which may have
// more in it than belongs into a log.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// refused is the error for an answer that is not 200. One without a code of the gateway comes from
// something else that listens there, such as a proxy with a page of its own, and is not quoted.
// The detail goes through verb.Cell, since a gateway may quote a caller's words.
func (a *Client) refused(resp *http.Response, body []byte) error {
	var problem console.Problem
	if json.Unmarshal(body, &problem) != nil || problem.Code == "" {
		return verb.Failed(fmt.Errorf("%s does not answer as a gateway does: %s", a.base, verb.Cell(resp.Status)))
	}
	switch problem.Code {
	case "NO_SUCH_DELIVERY":
		return ErrNoDelivery
	case "UNAUTHENTICATED":
		return verb.Failed(fmt.Errorf("the gateway at %s has another token; is it the one of this configuration?", a.base))
	}
	return verb.Failed(fmt.Errorf("the gateway at %s: %s", a.base, verb.Cell(problem.Detail)))
}

// Flags are those of every command that asks a running gateway.
func (a *Target) Flags(f *pflag.FlagSet) {
	f.StringVarP(&a.Config, "config", "c", verb.ConfigPath(), "configuration `file` of the gateway")
	f.StringVar(&a.Address, "address", "", "`URL` or host:port of the gateway's admin listener, instead of the configured one")
	f.StringVar(&a.TokenFile, "token-file", "", "`file` with the admin token, instead of the configured one")
}

package main

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

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// admin is where the admin API of a running gateway is, as flags say.
type admin struct {
	config    string
	address   string // "" for the configured one
	tokenFile string // "" for the configured token
}

const (
	adminTimeout = 20 * time.Second // of one request
	longestReply = 16 << 20
	adminPage    = 500
)

// connect finds address and token. Nobody is asked yet.
func (a *admin) connect(ctx context.Context) (*adminAPI, error) {
	address, from := a.address, a.tokenFile
	var token secret.Value
	var trust *tls.Config
	if address == "" || from == "" {
		cfg, err := config.Load(a.config)
		if err != nil {
			return nil, usage(err)
		}
		if address == "" {
			if address, err = adminAddress(cfg); err != nil {
				return nil, err
			}
			if cfg.Admin.TLS != nil {
				if trust, err = pinned(cfg.Admin.TLS); err != nil {
					return nil, failed(err)
				}
			}
		}
		if from == "" {
			token, from = cfg.Admin.Token, filepath.Join(cfg.Server.DataDir, console.TokenFile)
		}
	}
	if token.IsZero() {
		var err error
		if token, err = console.ReadToken(from); err != nil {
			return nil, failed(tokenUnread(from, err))
		}
	}
	base, err := adminBase(address)
	if err != nil {
		return nil, usage(err)
	}
	if trust != nil {
		base = "https" + strings.TrimPrefix(base, "http")
	}
	return &adminAPI{ctx, base, token, &http.Client{
		Transport: &http.Transport{TLSClientConfig: trust}, // no proxy: the token is for the gateway
		Timeout:   adminTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}}, nil
}

// pinned trusts the certificates that the configuration names, and no others: it is asked
// by an address, which need not be in them, and whoever signed them is nobody here.
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

// adminAddress is the configured one, or the one that the running gateway was given.
func adminAddress(cfg *config.Config) (string, error) {
	if cfg.Admin.Off() {
		return "", usage(errors.New("admin.address: is off in this configuration; its gateway cannot be asked"))
	}
	if _, port, _ := net.SplitHostPort(cfg.Admin.Address); strings.Trim(port, "0") != "" {
		return cfg.Admin.Address, nil
	}
	file := filepath.Join(cfg.Server.DataDir, console.AddressFile)
	address, err := console.ReadAddress(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", failed(fmt.Errorf("the gateway does not run: it would say in %s where it listens", file))
	}
	if err != nil {
		return "", failed(fmt.Errorf("read where the gateway listens: %w", err))
	}
	return address, nil
}

func tokenUnread(file string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist: the gateway makes it at its first start; --token-file names another", file)
	}
	return fmt.Errorf("read the admin token: %w", err)
}

// adminBase is an address as a URL. One of all addresses is this machine's.
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

// adminAPI asks one gateway.
type adminAPI struct {
	ctx    context.Context
	base   string
	token  secret.Value
	client *http.Client
}

// errNoDelivery is the gateway's word that there is none of that id.
var errNoDelivery = errors.New("there is no such delivery")

func (a *adminAPI) depth() (d console.Depth, err error) {
	return d, a.do(http.MethodGet, "/api/v1/push", &d)
}

// all are the deliveries of one state, page by page.
func (a *adminAPI) all(state string) ([]console.Delivery, error) {
	list := []console.Delivery{}
	for cursor := ""; ; {
		var page console.Page
		if err := a.do(http.MethodGet, onePage("/api/v1/push/deliveries?state="+state, cursor), &page); err != nil {
			return nil, err
		}
		list = append(list, page.Deliveries...)
		if cursor = page.Next; cursor == "" {
			return list, nil
		}
	}
}

// onePage is where a page of a list is; cursor is "" for the first.
func onePage(path, cursor string) string {
	mark := "?"
	if strings.Contains(path, mark) {
		mark = "&"
	}
	path += mark + "limit=" + strconv.Itoa(adminPage)
	if cursor != "" {
		path += "&cursor=" + url.QueryEscape(cursor)
	}
	return path
}

// dead are the ids of those that were given up, the oldest first: whoever is retried goes
// to the end of its task's line.
func (a *adminAPI) dead() ([]string, error) {
	list, err := a.all(console.Dead)
	slices.SortStableFunc(list, func(x, y console.Delivery) int { return x.Created.Compare(y.Created) })
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids, err
}

func (a *adminAPI) retry(id string) error {
	return a.do(http.MethodPost, "/api/v1/push/deliveries/"+url.PathEscape(id)+"/retry", nil)
}

func (a *adminAPI) drop(id string) error {
	return a.do(http.MethodDelete, "/api/v1/push/deliveries/"+url.PathEscape(id), nil)
}

// do asks once, and reads the answer into out unless that is nil.
func (a *adminAPI) do(method, path string, out any) error { return a.send(method, path, nil, out) }

// send is do with a JSON document; nil for none.
func (a *adminAPI) send(method, path string, doc []byte, out any) error {
	req, err := http.NewRequestWithContext(a.ctx, method, a.base+path, bytes.NewReader(doc))
	if err != nil {
		return usage(err)
	}
	if doc != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+a.token.Reveal())
	resp, err := a.client.Do(req)
	if err != nil {
		return failed(fmt.Errorf("no gateway answers at %s; does it run? (%w)", a.base, cause(err)))
	}
	defer resp.Body.Close() // only read from
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestReply))
	if err != nil {
		return failed(fmt.Errorf("read the answer of %s: %w", a.base, err))
	}
	if resp.StatusCode != http.StatusOK {
		return a.refused(resp, body)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return failed(fmt.Errorf("%s does not answer as a gateway does", a.base))
	}
	return nil
}

// cause is what net/http has to say without the URL, which is said already.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// refused says what the gateway has against it.
func (a *adminAPI) refused(resp *http.Response, body []byte) error {
	var problem console.Problem
	if json.Unmarshal(body, &problem) != nil || problem.Code == "" {
		return failed(fmt.Errorf("%s does not answer as a gateway does: %s", a.base, cell(resp.Status)))
	}
	switch problem.Code {
	case "NO_SUCH_DELIVERY":
		return errNoDelivery
	case "UNAUTHENTICATED":
		return failed(fmt.Errorf("the gateway at %s has another token; is it the one of this configuration?", a.base))
	}
	return failed(fmt.Errorf("the gateway at %s: %s", a.base, cell(problem.Detail)))
}

// flags are those of every command that asks a running gateway.
func (a *admin) flags(f *pflag.FlagSet) {
	f.StringVarP(&a.config, "config", "c", configPath(), "configuration `file` of the gateway")
	f.StringVar(&a.address, "address", "", "`URL` or host:port of its admin listener, in place of the configured one")
	f.StringVar(&a.tokenFile, "token-file", "", "`file` with its token, in place of the configured one")
}

package consent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
)

// notice is what policy.approvals.notify gets for a call that begins to wait: nothing of its message.
type notice struct {
	Approval string    `json:"approval"`
	Agent    string    `json:"agent"`
	Skill    string    `json:"skill,omitzero"`
	Method   string    `json:"method"`
	Caller   string    `json:"caller"`
	Issuer   string    `json:"issuer"`
	Rules    []string  `json:"rules"`
	Asks     string    `json:"asks"` // who has to agree, in words
	Expires  time.Time `json:"expires"`
	URL      string    `json:"url,omitzero"` // of the page where they do, behind a sign-in
}

// text is the notice for people.
func (n *notice) text() string {
	what := n.Agent
	if n.Skill != "" {
		what += " (" + n.Skill + ")"
	}
	text := fmt.Sprintf("%s asks %s for something that %s has to approve, until %s.", n.Caller, what, n.Asks, n.Expires.UTC().Format(time.RFC3339))
	if n.URL != "" {
		text += " " + n.URL
	}
	return text
}

// slackText escapes what Slack reads as markup: mentions and links.
var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

const (
	noticeTries   = 4
	noticeTimeout = 10 * time.Second
	noticePause   = time.Second // doubled with each try
)

// Begun has the agents asked about a call that begins to wait, and tells the addresses of
// policy.approvals.notify of it. It waits for neither.
func (d *Desk) Begun(c *approvals.Call) {
	d.consult(&approvals.Status{Call: *c, Outcome: approvals.Outcome{State: standing.Waiting}})
	config := d.Store.Config()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.idle = false
	if d.closed || len(config.Notify) == 0 {
		return
	}
	n := &notice{
		Approval: c.ID, Agent: c.Agent, Skill: c.Skill, Method: c.Method, Caller: c.Caller.Subject, Issuer: c.Caller.Issuer,
		Asks: c.Asks(), Expires: c.Expires,
	}
	for _, r := range c.Rules {
		n.Rules = append(n.Rules, r.Name)
	}
	if at := d.Console(); at != "" {
		n.URL = strings.TrimSuffix(at, "/") + "/ui/approvals/" + c.ID
	}
	for i := range config.Notify {
		to := &config.Notify[i]
		d.work.Go(func() {
			if err := d.notify(d.ctx, to, n); err != nil && d.ctx.Err() == nil {
				d.Telemetry.Log.Warn("notify of a call that waits for approval", "approval", n.Approval, "notify", i, "error", err)
			}
		})
	}
}

// notify posts a notice, again while the receiver is away or says so. The error has no URL in it: those of
// Slack are secrets.
func (d *Desk) notify(ctx context.Context, to *approval.Notify, n *notice) error {
	var body []byte
	var err error
	if to.Format == approval.FormatSlack {
		body, err = json.Marshal(map[string]string{"text": slackText.Replace(n.text())})
	} else {
		body, err = json.Marshal(n)
	}
	if err != nil {
		return err
	}
	pause := noticePause
	for try := 1; ; try++ {
		again, err := d.post(ctx, to.URL.Reveal(), body)
		if err == nil || !again || try == noticeTries {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// post sends a notice once, by the configured way out.
func (d *Desk) post(ctx context.Context, url string, body []byte) (again bool, err error) {
	now, release := d.Now()
	if now == nil {
		return false, errors.New("the gateway has ended")
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, noticeTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("the URL cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	transport := &http.Transport{DialContext: now.Dial, DisableKeepAlives: true, TLSHandshakeTimeout: noticeTimeout}
	client := &http.Client{
		Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		return true, errors.New("the receiver cannot be reached")
	}
	defer resp.Body.Close() // nothing of the answer is of interest
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode/100 != 2 {
		return resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests, fmt.Errorf("the receiver answers with status %d", resp.StatusCode)
	}
	return false, nil
}

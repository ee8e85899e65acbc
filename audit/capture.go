package audit

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// content is what captures, where a rule says so. It is there from when the log has its keys
// until it is closed, and does not change: a reload of the configuration wants a restart here.
type content struct {
	// In the order of the configuration.
	rules []contentRule
	limit int
	vault *vault.Vault
	held  vault.Reader
}

// Sealer seals what is captured. A keys.Ring is one.
type Sealer interface {
	vault.Sealer
	Derive(purpose string) []byte
}

// KeepWith gives the log the keys that seal what is captured. Until then nothing is, and
// nothing that was is erased.
// An error is about a rule of the configuration or the directory.
func (l *Log) KeepWith(s Sealer) error {
	rules, err := l.config.Content.compile(s.Derive("audit content digests"))
	if err != nil {
		return err
	}
	v, err := vault.Open(l.config.Dir, s, l.disk.now)
	if err != nil {
		return err
	}
	l.content.Store(&content{rules: rules, limit: l.config.Content.limit(), vault: v, held: l.config.Source().Held(s)})
	l.tellErasures()
	return nil
}

// tendContent does what is due by the clock.
func (l *Log) tendContent() {
	c := l.content.Load()
	if c == nil {
		return
	}
	if err := c.vault.Sync(); err != nil {
		l.logger.Error("captured content may not have reached the disk", "dir", l.config.Dir, "error", err)
	}
	l.tellErasures()
}

// tidyContent destroys what has been kept for its time, also when there are no rules any
// more.
func (l *Log) tidyContent() {
	c := l.content.Load()
	if c == nil {
		return
	}
	l.erasures.Lock()
	e, err := c.vault.Tidy()
	l.erasures.Unlock()
	switch {
	case err != nil:
		l.logger.Error("captured content cannot be destroyed", "dir", l.config.Dir, "error", err)
	case e.State != "":
		l.logger.Info("captured content was destroyed, as its time is over", "dir", l.config.Dir, "calls", e.Items)
	}
	l.tellErasures()
}

// closeContent ends the capturing.
func (l *Log) closeContent() error {
	if c := l.content.Swap(nil); c != nil {
		return c.vault.Close()
	}
	return nil
}

// Capture is what is captured of one call. Nil captures nothing; its methods are used by
// one goroutine at a time.
type Capture struct {
	log      *Log
	content  *content
	rule     *contentRule
	request  *vault.Body
	response *vault.Body
}

// Capture begins to capture a call that is about to go to an agent, with its params as
// JSON, where a rule says so; else it returns nil.
// It is called after the policy has allowed the call and before the intent is written, so that what
// a rule sees is what the agent gets.
func (l *Log) Capture(agent, skill string, params []byte) *Capture {
	c := l.content.Load()
	if c == nil {
		return nil
	}
	// The first rule that fits decides, also when it says that nothing is captured.
	for i := range c.rules {
		rule := &c.rules[i]
		if !rule.concerns(agent, skill) {
			continue
		}
		params = jsonscan.Mend(params) // or rules would find nothing behind what their parser does not take
		if !rule.fits(params) {
			continue
		}
		if rule.Capture == "" || rule.Capture == captureNone {
			return nil
		}
		k := &Capture{log: l, content: c, rule: rule}
		if rule.takes(captureRequest) {
			k.request = new(vault.Body)
			k.add(k.request, params)
		}
		return k
	}
	return nil
}

// Answer captures a document of the agent's: its answer, or an event of its stream.
// Documents of a stream come one by one and are redacted one by one: a secret that is split over
// two events is not recognised.
func (k *Capture) Answer(doc []byte) {
	if !k.Answers() {
		return
	}
	if k.response == nil {
		k.response = new(vault.Body)
	}
	k.add(k.response, jsonscan.Mend(doc))
}

// Answers reports whether what the agent answers is captured.
func (k *Capture) Answers() bool { return k != nil && k.rule.takes(captureResponse) }

// Show is a document of the agent's for somebody who watches the call: redacted as what is captured, and
// "" where that is not captured. The limit is for each document by itself, since who watches a long
// stream is not served by its beginning.
func (k *Capture) Show(doc []byte) (text string, cut bool, err error) {
	if !k.Answers() {
		return "", false, nil
	}
	got, err := k.rule.redactor.JSON(jsonscan.Mend(doc), k.content.limit)
	return string(got.Text), got.Cut, err
}

// add redacts a document and appends it to a body, which takes one a line. Bytes counts what
// came, and Cut says that some of it is not kept. A document that cannot be redacted is not
// kept at all: what is in it is not known.
func (k *Capture) add(b *vault.Body, doc []byte) {
	b.Bytes += int64(len(doc))
	if len(doc) == 0 || b.Cut {
		return
	}
	// The limit is for what is kept, after redaction, and not for what came.
	left := k.content.limit - len(b.Text)
	if b.Text != "" {
		left-- // for the end of the line
	}
	if left <= 0 {
		b.Cut = true
		return
	}
	got, err := k.rule.redactor.JSON(doc, left)
	if err != nil {
		b.Fault = err.Error()
		return
	}
	if b.Text != "" {
		b.Text += "\n"
	}
	b.Text += string(got.Text)
	b.Redactions += got.Count
	b.Cut = got.Cut
}

// End keeps what was captured, and has the record say so. Call writes that.
// It is called before Call, since the record names the content by id and digest.
func (k *Capture) End(e *telemetry.Exchange) {
	if k == nil || k.request == nil && k.response == nil {
		return
	}
	e.Content = &telemetry.Content{Label: k.rule.Label}
	for _, b := range []*vault.Body{k.request, k.response} {
		if b != nil {
			e.Content.Redactions += int64(b.Redactions)
		}
	}
	// A call whose content is lost is answered all the same: its record says that it was.
	got, err := k.content.vault.Put(&vault.Item{
		Time: time.Now().UTC(), RequestID: e.RequestID, Issuer: e.Issuer, Subject: e.Principal, Agent: e.Agent,
		Skill: e.Skill, Method: e.Method, Task: e.TaskID, Label: k.rule.Label, Request: k.request, Response: k.response,
	}, k.rule.Retention.Std())
	if err != nil {
		e.Content.Lost = true
		k.log.metrics.Captured("lost")
		k.log.logger.Error("captured content was lost", "request_id", e.RequestID, "error", err)
		return
	}
	k.log.metrics.Captured("kept")
	e.Content.ID, e.Content.Digest, e.Content.Bytes, e.Content.Until = got.ID, got.Digest, got.Bytes, got.Until
}

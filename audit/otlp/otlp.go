//go:build !minimal

// Package otlp is the sink of audit records that is a receiver of OpenTelemetry logs, by
// HTTP or gRPC.
//
// It owns what a record looks like as a log record, how large a request may be, and what
// the answers mean: records count as stored when the receiver has accepted them, and not
// when they were sent. The exporters of the OpenTelemetry SDK are not used, as they drop
// what does not fit their queue and what was rejected. It may import telemetry,
// audit/reader and internal/secret.
//
// Answers and what follows from them (OTLP 1.x, "Failures"):
//
//	accepted                        the records are stored; on to the next
//	partial success                 some were rejected: the request is halved until it is known which
//	about time (429, 503, …)        the same request later, after Retry-After or RetryInfo if given
//	about the records (400, 413, …) halved likewise; a single record that is rejected is tried until giveUp
//	anything else, no answer        an error: the runner of package sink tries again
package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	collector "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

var _ = feature.Register(feature.OTLPLogs)

// Options are what a sink needs to know of the log.
type Options struct {
	Gateway  string               // server.id
	Log      string               // a name of the log that no other has
	Resource []attribute.KeyValue // who sends, as spans have it
	Egress   *tunnel.Proxy        // the way to the receiver; nil is direct
	Logger   *slog.Logger

	// Lost is told of each record that is passed over, as Config.GiveUp says.
	Lost func(e reader.Entry, why error)
}

// Sink sends to one receiver. It is for one goroutine.
type Sink struct {
	to       client
	form     form
	limit    int // of a request, in bytes
	giveUp   time.Duration
	lost     func(reader.Entry, error)
	logger   *slog.Logger
	warning  string // that was logged last
	notUntil time.Time

	accepted reader.Cursor // after the last record that was
	rejected reader.Cursor // after a record that is rejected by itself
	since    time.Time     // when it was for the first time
}

// client hands a request to the receiver, once: whether it is sent again is decided here, by what
// the answer means, and not in two transports. A nil error is an answer that takes it, maybe
// in part; a *refusal one that does not.
type client interface {
	export(context.Context, *collector.ExportLogsServiceRequest) (*collector.ExportLogsPartialSuccess, error)
	close() error
}

// New makes a sink. It connects when it has to; only files are looked at before.
func New(c Config, o Options) (*Sink, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	secure, err := c.TLS.config()
	if err != nil {
		return nil, err
	}
	s := &Sink{form: newForm(o), limit: c.maxRequest(), giveUp: c.GiveUp.Std(), lost: o.Lost, logger: o.Logger}
	if c.protocol() == protocolGRPC {
		s.to, err = newGRPC(c, secure, o.Egress)
	} else {
		s.to, err = newHTTP(c, secure, o.Egress)
	}
	return s, err
}

// Close ends the connection, if there is one.
func (s *Sink) Close() error { return s.to.close() }

// Put sends entries in as many requests as it takes, one after the other, and goes on
// with those that an earlier Put had not sent.
// It implements sink.Sink. When it returns an error, a part of the entries may be accepted already;
// the next Put leaves those out.
func (s *Sink) Put(ctx context.Context, entries []reader.Entry) error {
	entries = s.fresh(entries)
	for len(entries) > 0 {
		records := s.fill(entries)
		n := len(records)
		if err := s.send(ctx, entries[:n], records); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

// fresh leaves out what was accepted already, when the end of a batch came to nothing and
// the batch comes again. What has the same hash has the same records before it.
func (s *Sink) fresh(entries []reader.Entry) []reader.Entry {
	for i, e := range entries {
		if e.Cursor.Hash != "" && e.Cursor == s.accepted {
			return entries[i+1:]
		}
	}
	return entries
}

// fill makes records of as many entries as a request has room for: one at least. One that
// was rejected goes by itself, so that those after it do not come with each try.
// The size is computed before the request is encoded, since a receiver answers one that is too
// large with an error that cannot be told from others.
func (s *Sink) fill(entries []reader.Entry) (records []*logs.LogRecord) {
	size := s.form.size
	if entries[0].Cursor == s.rejected {
		entries = entries[:1]
	}
	for _, e := range entries {
		record := s.form.record(e)
		size += sizeOf(record)
		if len(records) > 0 && size > s.limit {
			break
		}
		records = append(records, record)
	}
	return records
}

// send has the receiver accept records. Where it rejects some it does not say which, and
// to send them again is against the letter of the protocol, as those that it did accept
// are there twice then. To lose one is worse: they are sent by halves, until the one that
// is rejected is known and all before it are accepted.
func (s *Sink) send(ctx context.Context, entries []reader.Entry, records []*logs.LogRecord) error {
	err := s.export(ctx, records)
	var r *refusal
	switch {
	case err == nil:
		s.accepted = entries[len(entries)-1].Cursor
		return nil
	case !errors.As(err, &r) || r.kind != aboutRecords:
		return err
	case len(records) == 1:
		return s.alone(entries[0], err)
	}
	// Of a thousand records one bad one is found in ten steps, each of which stores what is good
	// before it.
	half := len(records) / 2
	if err := s.send(ctx, entries[:half], records[:half]); err != nil {
		return err
	}
	return s.send(ctx, entries[half:], records[half:])
}

// alone is about a record that is rejected by itself. The time runs from its first rejection on, and
// by itself: what was rejected along with others says nothing about it. Passing it over is never
// silent, and is off unless the configuration names a time.
func (s *Sink) alone(e reader.Entry, why error) error {
	if s.rejected != e.Cursor {
		s.rejected, s.since = e.Cursor, time.Now()
	}
	if s.giveUp == 0 || time.Since(s.since) < s.giveUp {
		return fmt.Errorf("record %d in %s: %w", e.Seq, e.Cursor.Segment, why)
	}
	s.lost(e, why)
	s.accepted = e.Cursor
	return nil
}

// export sends one request, again and again while the receiver is busy and says until when.
func (s *Sink) export(ctx context.Context, records []*logs.LogRecord) error {
	for {
		if err := s.wait(ctx); err != nil {
			return err
		}
		partial, err := s.to.export(ctx, s.form.request(records))
		if err == nil {
			return s.judge(partial, len(records))
		}
		var r *refusal
		if !errors.As(err, &r) || r.after == 0 {
			return err
		}
		s.notUntil = time.Now().Add(min(r.after, longestWait))
		if end, ok := ctx.Deadline(); ok && end.Before(s.notUntil) {
			return err // the next Put waits
		}
	}
}

// longestWait bounds what a receiver can ask for: one that says next year has a wrong clock, and the
// log would fill the disk meanwhile.
const longestWait = 5 * time.Minute

// wait waits as long as the receiver asked for. It holds for the next Put too, which may come from a
// runner that knows nothing of what this one was told.
func (s *Sink) wait(ctx context.Context) error {
	left := time.Until(s.notUntil)
	if left <= 0 {
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the receiver is busy and wants to be left alone for %v: %w", left.Round(time.Second), ctx.Err())
	}
}

// judge says what an answer that takes n records, or some of them, comes to. A message without
// rejected records is a warning, by the protocol; it is logged once and not with every request.
func (s *Sink) judge(p *collector.ExportLogsPartialSuccess, n int) error {
	said := printable(p.GetErrorMessage())
	if p.GetRejectedLogRecords() != 0 {
		return &refusal{kind: aboutRecords, status: fmt.Sprintf("%d of %d", p.GetRejectedLogRecords(), n), said: said}
	}
	if said != "" && said != s.warning {
		s.warning = said
		s.logger.Warn("the receiver of audit records has them, and a warning", "warning", said)
	}
	return nil
}

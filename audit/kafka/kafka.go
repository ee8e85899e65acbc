//go:build !minimal

// Package kafka is the sink of audit records that is a topic of Kafka.
//
// It owns how a record is a message, with the record byte for byte as its value, so that
// what is read can be verified like the files, and the order of messages: all of a
// gateway's are in one partition, and whatever fails, the first copy of each record comes
// after the first copy of the one before it. It may import audit/reader and
// internal/secret.
//
// One Put goes like this: each record becomes a message; as many as fit into messageSize are one
// batch of the gateway's partition; a batch is produced and flushed, with acknowledgement of all
// in-sync replicas (acks=all); then the next one. On the first error the client is thrown away, and
// the runner of package sink calls Put again with the same records, so that consumers see records
// at least once.
package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/feature"
)

var _ = feature.Register(feature.Kafka)

// Options are what a sink needs to know of the log.
type Options struct {
	Gateway string // whose log it is
	Log     string // a name of the log that no other has
}

// Sink writes to one topic. It is for one goroutine.
// It is used by the one goroutine of its runner, which never calls Put before the last one
// returned.
type Sink struct {
	config   Config
	key, log []byte
	options  []kgo.Opt
	faults   *faults
	client   *kgo.Client // nil while there is none
}

// New makes a sink. It connects when it has to.
// An error is about the configuration or a file that it names.
func New(c Config, o Options) (*Sink, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	s := &Sink{config: c, key: []byte(o.Gateway), log: []byte(o.Log), faults: &faults{}}
	var err error
	s.options, err = options(c, s.faults)
	return s, err
}

// Put sends records, and waits until all replicas that are in sync have them.
//
// After an error no record waits any more to be sent, and the next ones go through
// another client: the old one may have a request under way, whose answer nobody will know.
func (s *Sink) Put(ctx context.Context, entries []reader.Entry) error {
	records, err := s.records(entries)
	if err != nil {
		return err
	}
	// What went wrong with an earlier batch says nothing about this one.
	s.faults.set(nil)
	if err = s.connect(ctx); err == nil {
		err = s.sendAll(ctx, records)
	}
	if err != nil {
		err = s.explain(err) // closing would be remembered as a fault
		_ = s.Close()
	}
	return err
}

// connect provides a client that has reached a broker.
func (s *Sink) connect(ctx context.Context) error {
	if s.client != nil {
		return nil
	}
	// It does not connect yet; the ping below does.
	client, err := kgo.NewClient(s.options...)
	if err != nil {
		return err
	}
	s.client = client
	// A connection is begun without asking ctx.
	stop := context.AfterFunc(ctx, client.Close)
	if err = client.Ping(ctx); !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

// sendAll sends one batch after the other, each when the one before has been stored. What
// a batch has that was left without an answer are then the first records that are
// missing, and so in their order whenever it is that it gets there after all.
func (s *Sink) sendAll(ctx context.Context, records []*kgo.Record) error {
	for len(records) > 0 {
		n, err := s.batch(records)
		if err != nil {
			return err
		}
		if err := s.send(ctx, records[:n]); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// answers has room for all, so that callbacks of the client never wait for this goroutine.
func (s *Sink) send(ctx context.Context, batch []*kgo.Record) error {
	answers := make(chan error, len(batch))
	for _, r := range batch {
		// Records are not given up one by one: when ctx ends, all are.
		s.client.Produce(context.WithoutCancel(ctx), r, func(_ *kgo.Record, err error) { answers <- err })
	}
	if err := s.client.Flush(ctx); err != nil {
		return err
	}
	// Every callback has been called after a flush, also of records that failed.
	for range batch {
		if err := <-answers; err != nil {
			return err
		}
	}
	return nil
}

// Close ends the connections, if there are any.
func (s *Sink) Close() error {
	if s.client != nil {
		s.client.Close()
		s.client = nil
	}
	return nil
}

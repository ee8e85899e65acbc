//go:build !minimal

package kafka

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// faults remember what was last wrong with a connection: a client that gives up says that
// it has tried often enough, and not what came of it.
type faults struct {
	mu   sync.Mutex
	last error
}

var _ interface {
	kgo.HookBrokerConnect
	kgo.HookBrokerE2E
} = (*faults)(nil)

func (f *faults) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = err
}

// OnBrokerConnect is called by the client, after OnBrokerE2E for what is wrong with the
// first requests of a connection.
func (f *faults) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && !errors.Is(f.last, err) {
		f.last = err
	}
}

// OnBrokerE2E is called by the client. Some brokers have no more to say to a wrong password
// than to hang up.
func (f *faults) OnBrokerE2E(at kgo.BrokerMetadata, key int16, e kgo.BrokerE2E) {
	if err := e.Err(); err != nil {
		f.set(fmt.Errorf("broker %s:%d: %s: %w", at.Host, at.Port, kmsg.NameForKey(key), err))
	}
}

// explain says what an error means for whoever runs the gateway or the brokers.
// The original error stays wrapped, so that callers can still test for it.
func (s *Sink) explain(err error) error {
	topic := s.config.Topic
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.UnknownTopicID):
		return fmt.Errorf("topic %q is not there, and is not made by itself: %w", topic, err)
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		return fmt.Errorf("topic %q: the gateway needs the rights to Describe and Write: %w", topic, err)
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge):
		return fmt.Errorf("topic %q: too large for messageSize, %d bytes, or for the topic, whose max.message.bytes, "+
			"or message.max.bytes of the brokers, has to be as much: %w", topic, s.config.messageSize(), err)
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	if last := s.faults.last; last != nil && !errors.Is(err, last) {
		return fmt.Errorf("topic %q: %w; before that: %w", topic, err, last)
	}
	return fmt.Errorf("topic %q: %w", topic, err)
}

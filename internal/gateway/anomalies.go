package gateway

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// anomalies tells of what callers and agents do and did not do before.
type anomalies struct {
	state     *stateStore
	keys      *keys.Ring
	telemetry *telemetry.Telemetry
	audit     *audit.Log

	watch *anomaly.Watch // nil until open
}

// open begins to look for anomalies. Counts last as long as the process; what is usual for
// callers is in the state. The salt keys the hashes under which callers are counted, so
// that the state does not have their names.
func (a *anomalies) open(ctx context.Context, cfg *config.Config) (err error) {
	a.watch, err = anomaly.New(ctx, anomaly.Options{
		Config: cfg.Telemetry.Anomalies, Tell: a.tell, Values: a.state.store,
		Salt: a.keys.Derive("anomalies"), Log: a.telemetry.Log,
	})
	if err != nil {
		return fmt.Errorf("telemetry.anomalies: %w", err)
	}
	return nil
}

// CardDrift implements cardtrust.Drifts.
func (a *anomalies) CardDrift(agent, changes string) { a.watch.CardDrift(agent, changes) }

// CardSettled implements cardtrust.Drifts.
func (a *anomalies) CardSettled(agent string) { a.watch.CardSettled(agent) }

// tell records, counts and logs that an anomaly has begun or ended.
func (a *anomalies) tell(e anomaly.Event) {
	kind, text := "anomaly.begun", "anomaly has begun"
	if e.Ended {
		kind, text = "anomaly.ended", "anomaly has ended"
	}
	// First of all: whoever sees it elsewhere finds it on record.
	if err := a.audit.Event(kind, anomalyAttrs(&e)); err != nil {
		a.telemetry.Log.Error("write audit event", "event", kind, "detector", e.Detector, "error", err)
	}
	a.telemetry.Metrics.Anomalies.Count(e.Detector, e.Agent, e.Ended)
	a.telemetry.Log.Warn(text, "detector", e.Detector, "agent", e.Agent, "principal", e.Subject, "issuer", e.Issuer,
		"client_ip", e.Address, "count", e.Count, "peak", e.Peak, "refused", e.Refused, "why", e.Why)
}

// anomalyAttrs are what an event says of an anomaly. Empty members are left out. Peak,
// refused and since are those of an anomaly that has ended: while it goes on they are not
// final.
func anomalyAttrs(e *anomaly.Event) map[string]string {
	attrs := map[string]string{"detector": e.Detector, "count": strconv.FormatUint(e.Count, 10)}
	for name, value := range map[string]string{
		"agent": e.Agent, "skill": e.Skill, "principal": e.Subject, "issuer": e.Issuer, "client_ip": e.Address,
		"what": e.What, "why": e.Why,
	} {
		if value != "" {
			attrs[name] = value
		}
	}
	if e.Ended {
		attrs["peak"] = strconv.Itoa(e.Peak)
		attrs["refused"] = strconv.FormatUint(e.Refused, 10)
		attrs["since"] = e.Since.UTC().Format(time.RFC3339Nano)
	}
	return attrs
}

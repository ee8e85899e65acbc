package gateway

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// watch begins to look for anomalies. Counts last as long as the process; what is usual
// for callers is in the state.
func (g *Gateway) watch(ctx context.Context, cfg *config.Config) (err error) {
	g.anomalies, err = anomaly.New(ctx, anomaly.Options{
		Config: cfg.Telemetry.Anomalies, Tell: g.unusual, Values: g.store,
		Salt: g.keys.Derive("anomalies"), Log: g.telemetry.Log,
	})
	if err != nil {
		return fmt.Errorf("telemetry.anomalies: %w", err)
	}
	return nil
}

// drifted reports that a card has changed, until somebody has decided about it.
func (g *Gateway) drifted(agent string, r *trust.Ruling) {
	switch {
	case r.State == trust.Approved, r.State == trust.Rejected:
		g.anomalies.CardSettled(agent)
	case r.New && r.Against != "": // not the first that was seen
		g.anomalies.CardDrift(agent, trust.Words(r.Changes))
	}
}

// unusual records, counts and logs that an anomaly has begun or ended.
func (g *Gateway) unusual(e anomaly.Event) {
	kind, text := "anomaly.begun", "anomaly has begun"
	if e.Ended {
		kind, text = "anomaly.ended", "anomaly has ended"
	}
	// First of all: whoever sees it elsewhere finds it on record.
	if err := g.audit.Event(kind, anomalyAttrs(&e)); err != nil {
		g.telemetry.Log.Error("write audit event", "event", kind, "detector", e.Detector, "error", err)
	}
	g.telemetry.Metrics.Anomaly(e.Detector, e.Agent, e.Ended)
	g.telemetry.Log.Warn(text, "detector", e.Detector, "agent", e.Agent, "principal", e.Subject, "issuer", e.Issuer,
		"client_ip", e.Address, "count", e.Count, "peak", e.Peak, "refused", e.Refused, "why", e.Why)
}

// anomalyAttrs are what an event says of an anomaly.
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

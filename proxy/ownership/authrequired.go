package ownership

import (
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/authdemand"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// maxDemanded bounds the hosts in a record: a stream may name others with each event.
const maxDemanded = 64

// CheckDemands does the same to the tasks of a list, none of which is answered.
//
// A list shows tasks that wait for authorization, and their links are as good for phishing as
// those of a single answer.
func (ow *Owners) CheckDemands(x *exchange.Exchange, seen wire.Answer, doc []byte) error {
	for _, t := range seen.Tasks {
		if d, ok := authdemand.Read(doc[t.Span[0]:t.Span[1]]); ok {
			if err := ow.CheckLinks(x, &d); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckLinks refuses a demand with links that lead where they may not.
//
// All hosts go into the record, whether permitted or not. Where more links are in the demand than
// are read, and hosts are restricted, it is refused: the one that matters may be among the rest.
func (ow *Owners) CheckLinks(x *exchange.Exchange, d *authdemand.Demand) error {
	elsewhere := ""
	if d.Cut && len(x.Agent.Authorization.Hosts) > 0 {
		elsewhere = "more links than are looked at"
	}
	for _, link := range d.Links {
		host := admit.HostOf(link)
		if len(x.Rec.Demanded) < maxDemanded && !slices.Contains(x.Rec.Demanded, host) {
			x.Rec.Demanded = append(x.Rec.Demanded, host)
		}
		if elsewhere == "" && !ow.PermitsHost(x.Agent, host) {
			elsewhere = host
		}
	}
	if elsewhere != "" && x.Agent.Authorization.Links != agents.ReportLinks {
		return wire.Errorf(wire.BadAgentResponse, "the task asks for authorization at a host that is not permitted").
			Because(fmt.Errorf("a link leads to %.200q (agents[].authorization.hosts)", elsewhere))
	}
	return nil
}

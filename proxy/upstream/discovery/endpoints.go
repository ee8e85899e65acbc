package discovery

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
)

// endpointSlice is the part that matters of discovery.k8s.io/v1 EndpointSlice.
type endpointSlice struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	AddressType string     `json:"addressType"`
	Endpoints   []endpoint `json:"endpoints"`
	Ports       []struct {
		Name     *string `json:"name"`
		Port     *int    `json:"port"`
		Protocol *string `json:"protocol"`
	} `json:"ports"`
}

// endpoint is one address, or the addresses of one pod. Its conditions are pointers, because the
// API defines that an absent one is to be read as true for ready and serving and as false for
// terminating.
type endpoint struct {
	Addresses  []string `json:"addresses"`
	Conditions struct {
		Ready       *bool `json:"ready"`
		Serving     *bool `json:"serving"`
		Terminating *bool `json:"terminating"`
	} `json:"conditions"`
	Zone      *string `json:"zone"`
	TargetRef *struct {
		UID string `json:"uid"`
	} `json:"targetRef"`
}

// is reads a condition, of which nothing may be said.
func is(condition *bool, otherwise bool) bool {
	if condition == nil {
		return otherwise
	}
	return *condition
}

// ready admits what is not known to be unready. A terminating endpoint is never meant to
// get new work, though one of a service that publishes unready addresses calls itself ready.
func (e endpoint) ready() bool {
	return is(e.Conditions.Ready, true) && !is(e.Conditions.Terminating, false)
}

// leaving is an endpoint that still answers while it terminates.
func (e endpoint) leaving() bool {
	return is(e.Conditions.Terminating, false) && is(e.Conditions.Serving, is(e.Conditions.Ready, true))
}

// instancesOf are the ready endpoints of a service or, when there is none, as between two
// versions of a single pod, those that still answer while they terminate: so does the
// cluster itself with the traffic that it routes.
func instancesOf(all map[string]endpointSlice, port string) ([]Instance, error) {
	list, err := choose(all, port, endpoint.ready)
	if err != nil || len(list) > 0 {
		return list, err
	}
	return choose(all, port, endpoint.leaving)
}

// choose lists the endpoints that are wanted. A pod of two families has an endpoint in a
// slice of each, and counts once, by its IPv4 address.
//
// The families are taken in the order IPv4, FQDN, IPv6, so that a pod's IPv4 endpoint is known
// when its IPv6 one is looked at. A slice without the wanted port is no error as long as another
// has it, as while a deployment renames the port.
func choose(all map[string]endpointSlice, port string, wanted func(endpoint) bool) ([]Instance, error) {
	var list []Instance
	var without error
	pods := map[string]bool{}
	for _, family := range []string{"IPv4", "FQDN", "IPv6"} {
		for _, s := range all {
			if s.AddressType != family || !slices.ContainsFunc(s.Endpoints, wanted) {
				continue
			}
			number, err := s.port(port)
			if err != nil {
				without = err
				continue
			}
			found, err := s.instances(number, wanted, pods)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
	}
	if len(list) == 0 {
		return nil, without
	}
	return list, nil
}

// instances are the wanted endpoints of one slice. pods has the UIDs of the pods that were
// counted by an IPv4 address; endpoints without a targetRef, of services without a selector,
// cannot be matched and all count.
func (s endpointSlice) instances(port int, wanted func(endpoint) bool, pods map[string]bool) ([]Instance, error) {
	var list []Instance
	for _, e := range s.Endpoints {
		if !wanted(e) || len(e.Addresses) == 0 {
			continue
		}
		if e.TargetRef != nil && e.TargetRef.UID != "" {
			if s.AddressType == "IPv6" && pods[e.TargetRef.UID] {
				continue
			}
			pods[e.TargetRef.UID] = pods[e.TargetRef.UID] || s.AddressType == "IPv4"
		}
		i := Instance{Address: e.Addresses[0]} // no meaning is defined for further ones
		if port != 0 {
			i.Address = net.JoinHostPort(i.Address, strconv.Itoa(port))
		}
		if e.Zone != nil {
			i.Zone = *e.Zone
		}
		i, err := i.canonical()
		if err != nil {
			return nil, fmt.Errorf("endpoint slice %.100q: %w", s.Metadata.Name, err)
		}
		list = append(list, i)
	}
	return list, nil
}

// port finds the number of the wanted port; 0 where the slice names no ports at all, and
// none is wanted either.
//
// UDP and SCTP ports are passed over, as HTTP over TCP is all that is spoken here. Without a
// wanted port, several different numbers are an error rather than a guess: one of them is often a
// metrics port, which answers every call with 404.
func (s endpointSlice) port(wanted string) (int, error) {
	number, _ := strconv.Atoi(wanted)
	if len(s.Ports) == 0 {
		if wanted != "" && number == 0 {
			return 0, fmt.Errorf("endpoint slice %.100q names no ports; kubernetes.port must be a number", s.Metadata.Name)
		}
		return number, nil
	}
	found := 0
	for _, p := range s.Ports {
		switch {
		case p.Protocol != nil && *p.Protocol != "" && *p.Protocol != "TCP", p.Port == nil, *p.Port < 1, *p.Port > 65535:
		case wanted == "" && found != 0 && found != *p.Port:
			return 0, errors.New("the service has several ports; kubernetes.port must say which")
		case wanted == "", number == *p.Port, p.Name != nil && wanted == *p.Name:
			found = *p.Port
		}
	}
	if found == 0 {
		return 0, fmt.Errorf("no port of endpoint slice %.100q is the TCP port kubernetes.port (%s)", s.Metadata.Name, wanted)
	}
	return found, nil
}

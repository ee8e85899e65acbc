package limits_test

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

// What is wrong is said with the name of the limit and of the key.
func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"onLoss":          {"onLoss: open", `onLoss is "open"; it must be "local", "deny" or "allow"`},
		"headers":         {"headers: always", `headers is "always"; it must be "on" or "off"`},
		"no name":         {"each: [{bytes: 1B}]", "limit 1: name is missing"},
		"same name":       {"each: [{name: a, bytes: 1B}, {name: a, bytes: 1B}]", `limit "a": another limit has the same name`},
		"long name":       {"each: [{name: " + strings.Repeat("a", 65) + ", bytes: 1B}]", "the name is longer than 64 bytes"},
		"odd name":        {"each: [{name: a/b, bytes: 1B}]", `limit "a/b": the name has other characters`},
		"nothing":         {"each: [{name: a}]", `limit "a": it bounds nothing; give it rate, quota`},
		"empty list":      {"each: [{name: a, bytes: 1B, skills: []}]", `limit "a": skills is empty`},
		"empty entry":     {`each: [{name: a, bytes: 1B, groups: [""]}]`, `limit "a": groups has an empty entry`},
		"any group":       {`each: [{name: a, bytes: 1B, groups: ["*"]}]`, `groups has no "*"; leave groups out`},
		"any method":      {`each: [{name: a, bytes: 1B, methods: ["*"]}]`, `methods has no "*"`},
		"method":          {`each: [{name: a, bytes: 1B, methods: [Send]}]`, `limit "a": method "Send" is not an A2A method`},
		"agent":           {`each: [{name: a, bytes: 1B, agents: [biling]}]`, `limit "a": agents has "biling", which is no configured agent`},
		"key":             {"each: [{name: a, bytes: 1B, key: [user]}]", `key has "user"; it is made of principal, client, tenant`},
		"key twice":       {"each: [{name: a, bytes: 1B, key: [agent, agent]}]", `key has "agent" twice`},
		"key of tasks":    {"each: [{name: a, openTasks: 1, key: [source]}]", `key has "source", which nobody knows of a task later`},
		"tasks of none":   {"each: [{name: a, openTasks: 1, methods: [GetTask]}]", "none of its methods makes any"},
		"forget alone":    {"each: [{name: a, bytes: 1B, forget: 1h}]", "forget is about openTasks"},
		"forget at once":  {"each: [{name: a, openTasks: 1, forget: 1s}]", "forget is 1s; it must be from 1m"},
		"mode":            {"each: [{name: a, bytes: 1B, mode: dry}]", `mode is "dry"; it must be "enforce" or "shadow"`},
		"units":           {"each: [{name: a, rate: {burst: 4}}]", "rate.units is 0; it must be from 1 to"},
		"burst":           {"each: [{name: a, rate: {units: 1, burst: -4}}]", "rate.burst is -4"},
		"too often":       {"each: [{name: a, rate: {units: 1, per: 1us}}]", "rate.per is 1µs; it must be from 1ms to 31d"},
		"too slow":        {"each: [{name: a, rate: {units: 1, per: 1d, burst: 400}}]", "rate.burst is 400, which takes more than a year"},
		"quota":           {"each: [{name: a, quota: {per: day}}]", "quota.units is 0"},
		"quota's span":    {"each: [{name: a, quota: {units: 1, per: year}}]", `quota.per is "year"; it must be "hour", "day", "week" or "month"`},
		"places":          {"each: [{name: a, concurrency: -1}]", "concurrency is -1; it must be from 1 to 1000000"},
		"weights of none": {"each: [{name: a, bytes: 1B, cost: {skills: {x: 1}}}]", "cost.skills is about rate and quota"},
		"weight":          {"each: [{name: a, quota: {units: 1}, cost: {skills: {x: -1}}}]", "cost.skills.x is -1"},
		"weighed method":  {"each: [{name: a, quota: {units: 9}, cost: {methods: {Send: 2}}}]", `cost.methods: "Send" is not an A2A method`},
		"weighed twice": {
			"each: [{name: a, quota: {units: 9}, cost: {methods: {SendMessage: 2, message/send: 3}}}]",
			"cost.methods has SendMessage under two names",
		},
		"never": {
			"each: [{name: a, rate: {units: 9}, quota: {units: 5}, cost: {methods: {SendMessage: 3}, skills: {x: 2}}}]",
			"SendMessage for x takes 6 units, but there are never more than quota.units, 5",
		},
		"never, by method": {
			"each: [{name: a, rate: {units: 9, burst: 4}, cost: {methods: {SendMessage: 5}, skills: {x: 0}}}]",
			"SendMessage takes 5 units, but there are never more than rate.burst, 4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := read(t, tc.in)
			_, err := limits.New(c, limits.Options{Agents: agents()})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("New: %v, want %q in it", err, tc.want)
			}
			known := strings.Contains(name, "method") || strings.Contains(name, "weighed") || strings.Contains(name, "never") ||
				name == "agent" || name == "tasks of none"
			if (c.Validate() != nil) == (known && name != "any method") {
				t.Errorf("Validate: %v", c.Validate())
			}
		})
	}
}

// What is unusual but means something is taken.
func TestConfigTaken(t *testing.T) {
	t.Parallel()
	extra := &wire.Method{Name: "pay", Subject: wire.OfTask}
	for name, in := range map[string]string{
		"empty":               "each: []",
		"one for all":         "each: [{name: a, bytes: 1B, key: []}]",
		"extension's method":  "each: [{name: a, quota: {units: 7}, methods: [pay], cost: {methods: {pay: 7}}}]",
		"cost of others":      "each: [{name: a, quota: {units: 7}, methods: [GetTask], cost: {methods: {SendMessage: 9}}}]",
		"cost of other skill": "each: [{name: a, quota: {units: 7}, skills: [x], cost: {skills: {y: 9}}}]",
		"all skills weighed":  "each: [{name: a, quota: {units: 7}, skills: [x], cost: {methods: {SendMessage: 9}, skills: {x: 0}}}]",
		"largest":             "each: [{name: a, rate: {units: 1000000000000, per: 31d}, quota: {units: 1000000000000, per: month}}]",
		"slowest":             "each: [{name: a, rate: {units: 1, per: 31d, burst: 11}}]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := limits.New(read(t, in), limits.Options{Agents: agents(), Methods: []*wire.Method{extra}, Store: memory(t)})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			k := &calls{t: t}
			for _, c := range []*limits.Call{k.send(), with(k.send(), func(c *limits.Call) { c.Method = extra })} {
				p, err := l.Admit(t.Context(), c)
				if err != nil {
					t.Errorf("Admit: %v", err)
				}
				p.Release(t.Context())
			}
		})
	}
}

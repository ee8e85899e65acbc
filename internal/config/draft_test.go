package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
)

const drafted = `
server: {address: "127.0.0.1:0", publicURL: "http://127.0.0.1"}
authn: {anonymous: true}
policy: {rules: [{name: old, effect: allow}]}
agents: [{id: a, card: "http://127.0.0.1:1/card", skills: [{id: refund}]}]
`

// TestDraft: rules are read with their key or without, and the rest stays as it is.
func TestDraft(t *testing.T) {
	t.Parallel()
	c, book := draftable(t)
	for text, want := range map[string]string{
		"rules:\n- {name: new, effect: deny, agents: [a]}\n":      "new",
		"  rules: [{name: new, effect: deny}]":                    "new",
		"- name: new\n  effect: allow\n  skills: [refund]\n":      "new",
		`[{"name": "$${A}", "effect": "allow"}]`:                  "${A}",
		"- &x {name: new, effect: deny}\n- {<<: *x, name: newer}": "new newer",
		"rules: []": "",
	} {
		next, rules, err := c.Draft([]byte(text), book)
		if err != nil || rules == nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := strings.Join(ruleNames(next.Policy.Rules), " "); got != want || len(next.Agents) != 1 {
			t.Errorf("%s: rules %s, want %s", text, got, want)
		}
	}
	if len(c.Policy.Rules) != 1 || c.Policy.Rules[0].Name != "old" {
		t.Errorf("the configuration has changed: %+v", c.Policy.Rules)
	}
}

// TestDraftErrors: what is wrong is said with its place, all of it.
func TestDraftErrors(t *testing.T) {
	t.Setenv("A2A_GATEWAY_SECRET", "hidden") //nolint:paralleltest // of the process
	c, book := draftable(t)
	for text, want := range map[string]string{
		"":          "draft:1:1: the file is empty",
		"a: b: c":   "draft:1:",
		"rule: []":  "draft:1:1: unknown key",
		"{}":        "draft:1:1: want a list of rules, or the key rules with one",
		"- {}\n---": "draft:2:1: a second document begins here",
		"- {name: x, effect: allow}\n- {name: y, effects: deny}":              "draft:2:13: rules[1]: unknown key",
		"- {name: x, effect: allow}\n\n- {name: y, effect: maybe}":            "draft:3:",
		"- {name: x, effect: allow}\n- {name: x, effect: allow}":              "draft:2:",
		"- name: x\n  effect: allow\n  agents: [b]":                           "draft:3:",
		"- name: x\n  effect: allow\n  agents: [a]\n  skills: [nothing]":      "draft:4:",
		"- name: x\n  effect: allow\n  expr: principal.nothing":               "draft:3:",
		"- name: x\n  effect: allow\n  extensions: {allow: [not a URI]}":      "draft:3:",
		"- name: x\n  effect: allow\n  subjects: [\"${A2A_GATEWAY_SECRET}\"]": "draft:3:14: the environment is not read here: write what ${A2A_GATEWAY_SECRET} stands for",
		"- name: x\n  effect: allow\n  subjects: [\"${A:-b}\"]":               "draft:3:14: the environment is not read here",
	} {
		_, _, err := c.Draft([]byte(text), book)
		var bad *DraftError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), want) || bad.Line == 0 || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	_, _, err := c.Draft([]byte("- {name: y, effects: deny}\n- {nam: z, effect: deny}"), book)
	var bad *DraftError
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	var all []string
	bad.Mistakes(func(line, column int, text string) { all = append(all, fmt.Sprintf("%d:%d: %s", line, column, text)) })
	if len(all) != 2 || !strings.HasPrefix(all[0], "1:13: ") || !strings.HasPrefix(all[1], "2:") || !strings.Contains(all[1], ": rules[1]: unknown key") {
		t.Errorf("not all is said: %q", all)
	}
}

func draftable(t *testing.T) (*Config, *ext.Book) {
	t.Helper()
	c, err := Parse("config.yaml", []byte(drafted), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	book, err := c.Extensions.Compile()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(book.Close)
	return c, book
}

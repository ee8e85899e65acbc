package policy

import (
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// options reads everything but the rules.
func (s *Set) options(c Config) error {
	var errs []error
	switch c.Default {
	case "", "deny":
	case "allow":
		s.allow = true
	default:
		errs = append(errs, keypath.Point(fmt.Errorf(`default is %q; it must be "deny" or "allow"`, c.Default), "default"))
	}
	switch c.Skills.Undeclared {
	case "", "require-all":
	case "deny":
		s.undeclared = denyUndeclared
	case "agent":
		s.undeclared = byAgent
	case "require-any":
		s.undeclared = requireAny
	default:
		errs = append(errs, keypath.Point(fmt.Errorf(`skills.undeclared is %q; it must be "require-all", "require-any", "deny" or "agent"`,
			c.Skills.Undeclared), "skills", "undeclared"))
	}
	switch c.Skills.Scopes {
	case "", "off":
	case "card":
		s.cardScopes = true
	default:
		errs = append(errs, keypath.Point(fmt.Errorf(`skills.scopes is %q; it must be "off" or "card"`, c.Skills.Scopes), "skills", "scopes"))
	}
	switch c.Tasks.Scope {
	case "", "principal", "tenant":
	case "agent":
		s.sharing.open = true
	default:
		errs = append(errs, keypath.Point(fmt.Errorf(`tasks.scope is %q; it must be "principal", "tenant" or "agent"`,
			c.Tasks.Scope), "tasks", "scope"))
	}
	if m := c.Tasks.Contexts; m != "" && m != "derive" && m != "adopt" {
		errs = append(errs, keypath.Point(fmt.Errorf(`tasks.contexts is %q; it must be "derive" or "adopt"`, m), "tasks", "contexts"))
	}
	return errors.Join(errs...)
}

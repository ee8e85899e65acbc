// Package expr evaluates the CEL expressions of rules and of agents' match entries.
//
// An Env compiles a text into a Program, which any number of goroutines evaluate. Whatever is
// wrong with a text for every call is an error when it is compiled: syntax, names, types, a
// result that is no bool, patterns and zones that a caller could bring, and costs without a
// bound. What can go wrong with one call only, such as a key that its metadata do not have,
// is the error of Evaluate.
//
// It owns what an expression can look at (vars.go), which functions it has, what it may
// cost, and what is said of one that is wrong or cannot be evaluated. What follows from
// the result is policy's. It reads no clock, does no I/O, and imports internal/wire only.
package expr

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
)

// Bounds of one expression, so that no configuration takes long to read.
const (
	// What is longer is a program that belongs into an authorizer.
	maxLength  = 4096  // bytes
	maxNodes   = 2048  // of its tree, macros expanded
	maxDepth   = 64    // of its tree
	maxErrors  = 16    // that are reported
	maxPattern = 2_000 // instructions of a compiled regular expression
)

// Env compiles expressions. It is immutable; making one takes a moment, so that those
// who compile many share it.
type Env struct{ cel *cel.Env }

// New makes an Env. That it fails would be a defect of this package.
func New() (*Env, error) {
	opts := []cel.EnvOption{
		cel.Types(structs()...),
		// Addresses and networks: cidr("10.0.0.0/8").containsIP(source.address).
		ext.Network(),
		ext.Strings(),
		cel.ParserExpressionSizeLimit(maxLength),
		cel.ExpressionNodeLimit(maxNodes),
		cel.ParserRecursionLimit(maxDepth),
		cel.ParserErrorRecoveryLimit(maxErrors),
		// What is written out is checked when it is read, not at the first call that comes to it.
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(),
			cel.ValidateRegexProgramSizeLimit(maxPattern), calls{}),
	}
	// A variable that is not declared is an error with line and column.
	for _, v := range variables {
		opts = append(opts, cel.Variable(v.name, v.kind))
	}
	env, err := cel.NewEnv(opts...)
	if err != nil {
		return nil, fmt.Errorf("expressions: %w", err)
	}
	return &Env{env}, nil
}

// variables are what an expression starts from; docs/policy.md says what they are.
// Objects are Go structs whose fields CEL reads by reflection (vars.go).
var variables = [...]struct {
	name string
	kind *types.Type
}{
	{"principal", types.NewObjectType("expr.Principal")},
	{"agent", types.StringType},
	{"skill", types.StringType},
	{"method", types.StringType},
	{"binding", types.StringType},
	{"version", types.StringType},
	{message, types.NewObjectType("wire.Message")},
	{"extensions", types.NewListType(types.StringType)},
	{"task", types.NewObjectType("expr.Task")},
	{"source", types.NewObjectType("expr.origin")},
	{"now", types.TimestampType},
}

// message is the variable that costs the caller of Evaluate something to have.
const message = "message"

// skill is the variable that may be open.
const skill = "skill"

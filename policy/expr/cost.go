package expr

import (
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// maxCost bounds an expression, in CEL's units: about one for each step, and a tenth for
// each character of a string that is gone through. One that may exceed it on a call of the
// sizes below is refused; one that does on a call cannot be evaluated.
const maxCost = 5_000_000

// cheap is what an expression without loops may cost for its costs not to be counted:
// whatever the call, its few steps go through what there is once.
const cheap = 1_000

// The sizes that are assumed of a call, after the default limits of package wire (4 MiB,
// 1,000 parts, 10,000 members) and of request heads (16 KiB). Parts share the size of
// their message: what goes through all of them goes through that much.
const (
	parts       = 1_000 // and other lists of a message
	members     = 10_000
	partLength  = 4 << 20 / parts // characters of a part's text
	partMembers = 300             // of its data or metadata; each takes some fourteen bytes
	listed      = 128             // groups, scopes, extensions, claims
	names       = 256             // characters of ids and names
	words       = 4_096           // characters of what is under metadata, data and claims
	structures  = 100_000         // what it costs to compare two structs
)

// worst is what an expression may cost, and what there is to say of it if that is too much.
func (e *Env) worst(tree *cel.Ast) (uint64, string) {
	// CEL estimates the most that each step may cost from the sizes of what it goes through.
	estimate, err := e.cel.EstimateCost(tree, sizes{})
	switch {
	case err != nil:
		return 0, plain(err.Error())
	case estimate.Max == math.MaxUint64:
		return 0, "its cost has no bound"
	case estimate.Max > maxCost:
		return 0, fmt.Sprintf("it may cost %d, more than %d: a loop within a loop has to go through less",
			estimate.Max, maxCost)
	}
	return estimate.Max, ""
}

// counted are the options of a program whose costs are counted.
func counted(p patterns) []cel.ProgramOption {
	return []cel.ProgramOption{cel.CostLimit(maxCost), cel.CostTracking(prices{p})}
}

// prices are what CEL takes to cost less than it does: comparing and searching what is as
// deep as the call likes, going through a string to count or convert it, looking for
// patterns, and whatever is done to values of which the type is not known before.
// It implements interpreter.ActualCostEstimator of cel-go, which is asked for each call of a
// function.
type prices struct{ patterns patterns }

// CallCost is what a call has cost; nil where CEL knows.
func (p prices) CallCost(function, overload string, args []ref.Val, _ ref.Val) *uint64 {
	var units uint64 = 1
	switch {
	case function == overloads.Matches:
		text, _ := args[0].Value().(string)
		pattern, _ := args[1].Value().(string)
		units = p.patterns.search(text, pattern)
	// Comparing ends with the shorter of the two.
	case function == operators.Equals || function == operators.NotEquals:
		units += min(weight(args[0].Value()), weight(args[1].Value()))
	case function == overloads.Size || overloads.IsTypeConversionFunction(function):
		if text, ok := args[0].Value().(string); ok {
			units += weight(text)
		}
	// No overload was settled when the expression was compiled, so its arguments may be anything.
	case overload == "" || overload == overloads.InList:
		for _, arg := range args {
			units += weight(arg.Value())
		}
	default:
		return nil
	}
	return &units
}

// mapped is what a member of a map costs beside its name and value: CEL looks each up.
const mapped = 4

// weight is what it costs to go through a value whole.
func weight(v any) uint64 {
	var units uint64 = 1
	switch v := v.(type) {
	case nil:
	case string:
		return 1 + uint64(len(v))/10
	case []string:
		for _, s := range v {
			units += weight(s)
		}
	case []any:
		for _, member := range v {
			units += weight(member)
		}
	case map[string]any:
		for name, member := range v {
			units += mapped + weight(name) + weight(member)
		}
	case []ref.Val:
		for _, member := range v {
			units += weight(member.Value())
		}
	case map[ref.Val]ref.Val:
		for name, member := range v {
			units += mapped + weight(name.Value()) + weight(member.Value())
		}
	case []byte:
		return 1 + uint64(len(v))/10
	// These are structs to reflect, and are compared in one step.
	case time.Time, netip.Addr, netip.Prefix:
	default:
		if kind := reflect.TypeOf(v).Kind(); kind == reflect.Struct || kind == reflect.Pointer || kind == reflect.Slice {
			return structures
		}
	}
	return units
}

// sizes estimates what the variables hold.
type sizes struct{}

// EstimateCallCost leaves the cost of functions to CEL.
func (sizes) EstimateCallCost(string, string, *cost.AstNode, []cost.AstNode) *cost.CallEstimate {
	return nil
}

// EstimateSize returns how long a string or list is and how many members a map has.
func (sizes) EstimateSize(node cost.AstNode) *cost.SizeEstimate {
	path := node.Path()
	if len(path) == 0 || node.Type() == nil {
		return nil
	}
	size := cost.RangedSizeEstimate(0, most(path, node.Type().Kind()))
	return &size
}

// most is the size of the value at a path.
func most(path []string, kind types.Kind) uint64 {
	free := slices.ContainsFunc(path, func(name string) bool {
		return name == "metadata" || name == "callMetadata" || name == "data" || name == "claims"
	})
	inPart := len(path) > 3 && path[0] == message && path[1] == "parts"
	switch {
	case kind == types.StringKind && inPart && path[3] == "text":
		return partLength
	case kind == types.StringKind && free:
		return words
	case kind == types.StringKind:
		return names
	case inPart:
		return partMembers
	// Metadata of the whole message, or of the call.
	case path[0] == message && free:
		return members
	case path[0] == message:
		return parts
	}
	return listed
}

package expr

import (
	"regexp"
	"regexp/syntax"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// patterns are the regular expressions of an expression and the work of each: what going
// through one character costs, in fortieths of a unit. CEL takes the length of the text of
// a pattern for it, which says little of .{0,500}x: what is counted out there is in the
// compiled pattern as often, and each character may be held against all of it.
type patterns map[string]uint64

// counting is how much more an instruction costs that a counted repetition has made: they
// are all at work at the same time, where those of other patterns hardly are.
const counting = 4

// patternsIn finds them; calls has seen to it that they are written out.
// A pattern that a caller could bring is refused when the expression is compiled.
func patternsIn(tree *cel.Ast) patterns {
	all := patterns{}
	contains(tree, func(e ast.Expr) bool {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != overloads.Matches {
			return false
		}
		if text, _ := literal(e); text != nil {
			all[*text] = work(*text)
		}
		return false
	})
	return all
}

// work is what going through one character costs, by the instructions of the compiled pattern.
// One that does not compile has been refused before.
func work(pattern string) uint64 {
	length, size := len(pattern), 0
	if re, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		if prog, err := syntax.Compile(re.Simplify()); err == nil {
			// Counted repetitions are written out in the compiled form: a{500} has 500
			// instructions.
			size = len(prog.Inst)
		}
	}
	return uint64(length + counting*max(size-length, 0))
}

// search is what it costs to look for a pattern in a text.
func (p patterns) search(text, pattern string) uint64 {
	return 1 + uint64(len(text))*p[pattern]/40
}

// option has the patterns compiled once, and no text gone through for which that would
// cost too much: what a call costs is otherwise counted when it is over.
func (p patterns) option() cel.ProgramOption {
	var both []*interpreter.RegexOptimization
	for _, overload := range []string{overloads.Matches, overloads.MatchesString} {
		both = append(both, &interpreter.RegexOptimization{
			Function: overloads.Matches, OverloadID: overload, RegexIndex: 1, Factory: p.compile,
		})
	}
	return cel.OptimizeRegex(both...)
}

// compile replaces a call of matches by one with the pattern compiled.
func (p patterns) compile(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	match := func(values ...ref.Val) ref.Val {
		text, ok := values[0].Value().(string)
		switch {
		case !ok:
			return types.NoSuchOverloadErr()
		// The cost is known before the text is gone through, which is when it has to be refused.
		case p.search(text, pattern) > maxCost:
			return types.NewErr(costly)
		}
		return types.Bool(re.MatchString(text))
	}
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), match), nil
}

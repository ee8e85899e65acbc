package expr

import (
	"regexp"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
)

// refused are functions whose result may be as large as the product of what goes into
// them: it would be there before its cost is counted.
var refused = [...]string{"replace", "join"}

// zoned are functions of a time that take a zone.
var zoned = [...]string{
	overloads.TimeGetFullYear, overloads.TimeGetMonth, overloads.TimeGetDayOfYear, overloads.TimeGetDate,
	overloads.TimeGetDayOfMonth, overloads.TimeGetDayOfWeek, overloads.TimeGetHours, overloads.TimeGetMinutes,
	overloads.TimeGetSeconds, overloads.TimeGetMilliseconds,
}

// calls refuses calls that cannot be bounded before they are made, or never mean what they
// seem to.
type calls struct{}

// Name is for CEL.
func (calls) Name() string { return "a2a-gateway.calls" }

// Validate looks at every call.
func (calls) Validate(_ *cel.Env, _ cel.ValidatorConfig, tree *ast.AST, issues *cel.Issues) {
	// Validators of CEL see the tree after macros are expanded: nothing hides in one.
	root := ast.NavigateAST(tree)
	each := func(names []string, check func(ast.Expr)) {
		for _, name := range names {
			for _, call := range ast.MatchDescendants(root, ast.FunctionMatcher(name)) {
				check(call)
			}
		}
	}
	each(refused[:], func(call ast.Expr) {
		issues.ReportErrorAtID(call.ID(), "%s is not available", call.AsCall().FunctionName())
	})
	each([]string{overloads.Matches}, func(call ast.Expr) { checkPattern(call, issues) })
	each(zoned[:], func(call ast.Expr) { checkZone(call, issues) })
	each([]string{operators.Equals, operators.NotEquals}, func(call ast.Expr) { checkNull(tree, call, issues) })
}

// checkPattern has the regular expression, the last argument of matches, written out: it
// is then compiled once, and no caller can bring one.
func checkPattern(call ast.Expr, issues *cel.Issues) {
	text, at := literal(call)
	if text == nil {
		issues.ReportErrorAtID(at, "the pattern of matches has to be written out")
	} else if _, err := regexp.Compile(*text); err != nil {
		issues.ReportErrorAtID(at, "%s", err.Error())
	}
}

// checkZone has zones be offsets: named ones are looked up in files, at every call.
func checkZone(call ast.Expr, issues *cel.Issues) {
	if len(call.AsCall().Args()) == 0 {
		return
	}
	if text, at := literal(call); text == nil || *text != "UTC" && !strings.Contains(*text, ":") {
		issues.ReportErrorAtID(at, "a zone has to be written out as an offset (+01:00); rules have times for named ones")
	}
}

// literal is the last argument of a call, nil if it is no string that is written out, and
// its id.
func literal(call ast.Expr) (text *string, id int64) {
	args := call.AsCall().Args()
	if len(args) == 0 {
		return nil, call.ID()
	}
	last := args[len(args)-1]
	if last.Kind() != ast.LiteralKind {
		return nil, last.ID()
	}
	if s, ok := last.AsLiteral().Value().(string); ok {
		return &s, last.ID()
	}
	return nil, last.ID()
}

// checkNull refuses to compare a struct with null. None is ever null: one that is not
// there has empty fields.
func checkNull(tree *ast.AST, call ast.Expr, issues *cel.Issues) {
	null, object := false, false
	for _, arg := range call.AsCall().Args() {
		kind := tree.GetType(arg.ID()).Kind()
		null = null || kind == types.NullTypeKind
		object = object || kind == types.StructKind
	}
	if null && object {
		issues.ReportErrorAtID(call.ID(), "it is never null; has(…) tells whether it is there")
	}
}

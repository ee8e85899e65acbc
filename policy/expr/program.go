package expr

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// Program is a compiled expression. It is immutable; any number of goroutines may
// evaluate it.
type Program struct {
	prog     cel.Program
	reads    bool
	skill    bool // it looks at the skill
	constant types.Bool
	known    bool // constant is the result of every call
}

// Compile reads an expression. The problems say line and column, from 1, and what is wrong
// there; they are all that were found, and there is a Program if there are none.
func (e *Env) Compile(text string) (*Program, []string) {
	// In words of its own: the parser would say only that there is too much.
	if len(text) > maxLength {
		return nil, []string{fmt.Sprintf("it is %d bytes long; at most %d are read", len(text), maxLength)}
	}
	tree, issues := e.cel.Compile(text)
	if issues.Err() != nil {
		return nil, problems(issues)
	}
	if kind := tree.OutputType(); !kind.IsExactType(types.BoolType) {
		return nil, []string{fmt.Sprintf("line 1, column 1: it is of type %s, not bool", kind)}
	}
	// Whatever may cost too much on a call of the sizes that are allowed is refused here, so that
	// the operator hears of it and not the caller.
	units, problem := e.worst(tree)
	if problem != "" {
		return nil, []string{problem}
	}
	searched := patternsIn(tree)
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	if len(searched) > 0 {
		options = append(options, searched.option())
	}
	// Counting takes time itself, and other expressions cannot come to cost much.
	if units > cheap || loops(tree) || len(searched) > 0 {
		options = append(options, counted(searched)...)
	}
	prog, err := e.cel.Program(tree, options...)
	if err != nil {
		return nil, []string{plain(err.Error())}
	}
	p := &Program{prog: prog, reads: mentions(tree, message), skill: mentions(tree, skill)}
	if err := e.fold(tree, p); err != nil {
		return nil, []string{fmt.Sprintf("it can never be evaluated: %s", reason(err))}
	}
	return p, nil
}

// fold finds out what the expression is of every call. The error is what becomes of each.
func (e *Env) fold(tree *cel.Ast, p *Program) error {
	// With all variables unknown, a result that is known does not depend on any of them.
	partial, err := e.cel.Program(tree, append(counted(patternsIn(tree)), cel.EvalOptions(cel.OptPartialEval))...)
	if err != nil {
		return err
	}
	out, _, err := partial.Eval(e.cel.UnknownVars())
	if err != nil {
		return err
	}
	p.constant, p.known = out.(types.Bool)
	return nil
}

// Constant returns what the expression is whatever the call. known is false where that
// depends on it.
func (p *Program) Constant() (value, known bool) { return bool(p.constant), p.known }

// Reads reports whether the expression looks at the message.
func (p *Program) Reads() bool { return p.reads }

// Evaluate returns what the expression is of a call. The error says why that cannot be told, in
// a sentence that is safe for records. One Vars may serve many programs, in turn.
func (p *Program) Evaluate(v *Vars) (bool, error) {
	switch {
	case p.reads && v.Unread:
		return false, &fault{unread}
	case p.skill && v.Open:
		return false, &fault{open}
	}
	out, _, err := p.prog.Eval(v)
	if err != nil {
		return false, &fault{reason(err)}
	}
	result, ok := out.(types.Bool)
	if !ok {
		return false, &fault{other}
	}
	return bool(result), nil
}

// mentions reports whether a variable is looked at. A macro's own variable of that name
// counts as well, which is too often at worst.
func mentions(tree *cel.Ast, variable string) bool {
	return contains(tree, func(e ast.Expr) bool {
		return e.Kind() == ast.IdentKind && strings.TrimPrefix(e.AsIdent(), ".") == variable
	})
}

// loops reports whether the expression goes through anything.
func loops(tree *cel.Ast) bool {
	return contains(tree, func(e ast.Expr) bool { return e.Kind() == ast.ComprehensionKind })
}

// contains reports whether some node of the tree is wanted.
func contains(tree *cel.Ast, wanted func(ast.Expr) bool) bool {
	found := false
	ast.PreOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		found = found || wanted(e)
	}))
	return found
}

// problemLength bounds what is said of one problem, which may quote the expression.
const problemLength = 300

// problems are what CEL found, in the order of the text.
func problems(issues *cel.Issues) []string {
	errs := slices.Clone(issues.Errors())
	slices.SortStableFunc(errs, func(a, b *cel.Error) int {
		if d := a.Location.Line() - b.Location.Line(); d != 0 {
			return d
		}
		return a.Location.Column() - b.Location.Column()
	})
	var list []string
	for _, e := range errs {
		text := plain(e.Message)
		if e.Location.Line() > 0 {
			text = fmt.Sprintf("line %d, column %d: %s", e.Location.Line(), max(e.Location.Column()+1, 1), text)
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list[:min(len(list), maxErrors)]
}

// plain is one line of bounded length.
func plain(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, " (in container '')", "")), " ")
	// What the parser would have liked instead is a list of all tokens, which helps nobody.
	text = strings.TrimPrefix(text, "Syntax error: ")
	text, _, _ = strings.Cut(text, " expecting ")
	text = strings.ReplaceAll(text, "mismatched input '<EOF>'", "it ends too early")
	if len(text) > problemLength {
		text = strings.ToValidUTF8(text[:problemLength], "") + "…"
	}
	return text
}

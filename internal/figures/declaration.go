package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// declaration is one name that a file declares at its top, methods aside.
type declaration struct {
	name  string
	file  *file
	value bool // a constant
}

// declarations lists what a package declares.
func (p *pkg) declarations() []declaration {
	var list []declaration
	for _, f := range p.files {
		for _, d := range f.syntax.Decls {
			list = append(list, f.declared(d)...)
		}
	}
	return list
}

func (f *file) declared(d ast.Decl) []declaration {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []declaration{{name: d.Name.Name, file: f}}
		}
	case *ast.GenDecl:
		var list []declaration
		for _, spec := range d.Specs {
			for _, name := range specNames(spec) {
				list = append(list, declaration{name, f, d.Tok == token.CONST})
			}
		}
		return list
	}
	return nil
}

func specNames(spec ast.Spec) []string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return []string{s.Name.Name}
	case *ast.ValueSpec:
		var names []string
		for _, n := range s.Names {
			names = append(names, n.Name)
		}
		return names
	}
	return nil
}

// methods counts the methods of each type, by its name.
func (p *pkg) methods() map[string]int {
	count := make(map[string]int)
	for _, f := range p.files {
		for _, d := range f.syntax.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil {
				count[receiver(m.Recv.List[0].Type)]++
			}
		}
	}
	return count
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// fields counts the fields of each struct that is no configuration, by its name. An
// embedded struct is one field.
//
// A section of the configuration has as many fields as it has keys. It is called so, or every field
// that others may set has a key (yaml).
func (p *pkg) fields() map[string]int {
	count := make(map[string]int)
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if ok && !strings.HasSuffix(strings.ToLower(spec.Name.Name), "config") && !onlyKeys(s) {
				count[spec.Name.Name] = s.Fields.NumFields()
			}
			return true
		})
	}
	return count
}

// onlyKeys reports whether a struct has exported fields, and each of them a key in YAML.
func onlyKeys(s *ast.StructType) bool {
	keys := false
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			switch {
			case !name.IsExported():
			case f.Tag == nil || !strings.Contains(f.Tag.Value, `yaml:"`):
				return false
			default:
				keys = true
			}
		}
	}
	return keys
}

// platform are ends of a file's name for what differs by platform.
var platform = []string{"_unix", "_linux", "_windows", "_darwin", "_other", "_amd64", "_arm64", "_asm"}

// misnamed lists the files that are named after what another file declares. What a file of
// configuration, config.go or loadconfig.go, declares is the contract of what another does,
// and a constant is looked for under the name of its type.
func (p *pkg) misnamed() []string {
	declared := make(map[string]*file)
	own := make(map[*file]map[string]bool)
	for _, d := range p.declarations() {
		key := strings.ToLower(d.name)
		if own[d.file] == nil {
			own[d.file] = make(map[string]bool)
		}
		own[d.file][key] = true
		if !d.value {
			declared[key] = d.file
		}
	}
	var list []string
	for _, f := range p.files {
		base := f.name
		for _, end := range platform {
			base = strings.TrimSuffix(base, end)
		}
		key := strings.ReplaceAll(base, "_", "")
		other := declared[key]
		if other != nil && other.name != base && !strings.HasSuffix(other.name, "config") && !own[f][key] {
			list = append(list, p.path+"/"+f.name+".go: "+other.name+".go declares "+key)
		}
	}
	return list
}

// lengths are the lines of a file's functions, braces included.
func (f *file) lengths() []int {
	var list []int
	for _, d := range f.syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			list = append(list, f.line(fn.End())-f.line(fn.Pos())+1)
		}
	}
	return list
}

func (f *file) line(pos token.Pos) int { return f.set.Position(pos).Line }

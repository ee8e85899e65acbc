package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// asksTheEnvironment are what of net/http goes by HTTP_PROXY and its like.
var asksTheEnvironment = []string{
	"ProxyFromEnvironment", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm",
}

// librariesThatAsk are calls of libraries that go by the variables unless they are told
// otherwise, and the argument that tells them.
var librariesThatAsk = map[string]string{
	"otlptracehttp.New": "WithProxy", "otlpmetrichttp.New": "WithProxy", "otlptracegrpc.New": "GRPC", "otlpmetricgrpc.New": "GRPC",
	"grpc.NewClient": "GRPC", "certmagic.NewACMEIssuer": "template",
}

// TestNoProxyOfTheEnvironment: where calls go is what the configuration says. HTTPS_PROXY, which
// may be there for other reasons, must not reroute what is governed, or who vouches for callers.
func TestNoProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	forEachFile(t, func(path string, _ *ast.File) {
		path = filepath.ToSlash(path)
		if strings.HasSuffix(path, "_test.go") || isTestOnly(filepath.ToSlash(filepath.Dir(path))) {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		web := importsHTTP(file)
		checkClients(t, path, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && web && selects(s, "http", asksTheEnvironment) {
				t.Errorf("%s uses http.%s, which goes by variables of the environment", path, s.Sel.Name)
			}
			if c, ok := n.(*ast.CallExpr); ok {
				checkLibrary(t, path, c, seen)
			}
			return true
		})
	})
	for name := range librariesThatAsk {
		if !seen[name] {
			t.Errorf("nobody calls %s any more: take it out here", name)
		}
	}
}

func importsHTTP(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"net/http"` })
}

// checkClients has every client have a transport: without, it is DefaultTransport.
func checkClients(t *testing.T, path string, file *ast.File) {
	t.Helper()
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if ofClients(lit.Type) {
			t.Errorf("%s has http.Clients without their type: write it, and a Transport", path)
		}
		s, ok := lit.Type.(*ast.SelectorExpr)
		if !ok || !selects(s, "http", []string{"Client"}) {
			return true
		}
		if !slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
			kv, ok := e.(*ast.KeyValueExpr)
			key, named := kv.Key.(*ast.Ident)
			return ok && named && key.Name == "Transport"
		}) {
			t.Errorf("%s has an http.Client without a Transport, which goes by variables of the environment", path)
		}
		return true
	})
}

// ofClients reports a map or list of clients that has some whose type is left out.
func ofClients(of ast.Expr) bool {
	switch of := of.(type) {
	case *ast.MapType:
		return isClient(of.Value)
	case *ast.ArrayType:
		return isClient(of.Elt)
	}
	return false
}

func isClient(e ast.Expr) bool {
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	s, ok := e.(*ast.SelectorExpr)
	return ok && selects(s, "http", []string{"Client"})
}

func selects(s *ast.SelectorExpr, pkg string, names []string) bool {
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg && slices.Contains(names, s.Sel.Name)
}

// checkLibrary has a call of a library tell it where to go.
func checkLibrary(t *testing.T, path string, c *ast.CallExpr, seen map[string]bool) {
	t.Helper()
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	x, ok := s.X.(*ast.Ident)
	if !ok {
		return
	}
	name := x.Name + "." + s.Sel.Name
	how, asks := librariesThatAsk[name]
	if !asks {
		return
	}
	seen[name] = true
	for _, arg := range c.Args {
		told := false
		ast.Inspect(arg, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			told = told || ok && id.Name == how
			return true
		})
		if told {
			return
		}
	}
	t.Errorf("%s calls %s, which goes by variables of the environment unless it is told otherwise by %s", path, name, how)
}

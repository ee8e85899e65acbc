package metrics

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// hostile are texts that somebody might send in the hope to make a series.
var hostile = []string{
	"", " ", "\x00", "\xff\xfe", "a\nb", `"} 1` + "\n" + `forged{x="`, "\u202egnillib", "billing ", "Billing", "none\x00",
	strings.Repeat("x", 100_000), "__name__", "OK", "other",
}

// TestA28_LabelsAreClosed gives every text to every method of every topic: no label takes a
// value that is in none of its sets.
func TestA28_LabelsAreClosed(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := New(registry, false, "test") // exemplars have the gateway's own trace ids
	sets := Labels{Agents: []string{"billing"}, Rules: []string{"team"}, URIs: []string{"urn:a"}, Methods: []string{"x/y"},
		Providers: []string{"https://id.example"}, Limits: []string{"daily"}, Authorizers: []string{"pdp"}, Domains: []string{"gateway.example"}}
	m.SetLabels(sets)
	for i := range 1000 {
		flood(m, i, hostile[i%len(hostile)])
		flood(m, i, fmt.Sprint("id-", i))
	}
	closedSeries(t, registry, m, sets)
}

// flood has a text counted in all methods of all topics.
func flood(m *Metrics, i int, text string) {
	topics := reflect.ValueOf(m).Elem()
	for n := range topics.NumField() {
		if !topics.Type().Field(n).IsExported() {
			continue
		}
		topic := topics.Field(n).Addr()
		for k := range topic.NumMethod() {
			if topic.Type().Method(k).Name == "Watch" { // the gateway's word, not a client's
				continue
			}
			method := topic.Method(k)
			args := make([]reflect.Value, method.Type().NumIn())
			for at := range args {
				args[at] = argument(method.Type().In(at), i, text)
			}
			method.Call(args)
		}
	}
}

// argument is a value of a type, made of a number and a text.
func argument(of reflect.Type, i int, text string) reflect.Value {
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(i))
	case reflect.Bool:
		v.SetBool(i%2 == 0)
	case reflect.Interface:
		if i%2 == 0 && of.Implements(reflect.TypeFor[error]()) {
			v.Set(reflect.ValueOf(errors.New(text)))
		}
	case reflect.Pointer:
		v.Set(argument(of.Elem(), i, text).Addr())
	case reflect.Struct:
		for n := range of.NumField() {
			v.Field(n).Set(argument(of.Field(n).Type, i, text))
		}
	case reflect.Slice:
		v.Set(reflect.Append(v, argument(of.Elem(), i, text)))
	default: // zero
	}
	return v
}

// closedSeries fails the test where a label has a value that is in no closed set.
func closedSeries(t *testing.T, registry *prometheus.Registry, m *Metrics, sets Labels) {
	t.Helper()
	brought := map[string][]string{
		"agent": sets.Agents, "rule": sets.Rules, "uri": sets.URIs, "method": sets.Methods, "provider": sets.Providers,
		"limit": sets.Limits, "domain": sets.Domains, "authorizer": sets.Authorizers, "version": {"test"}, "go_version": {runtime.Version()},
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string][]label{}
	for _, i := range m.made {
		known[i.name] = i.labels
	}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), prefix) {
			continue
		}
		labels, ok := known[family.GetName()]
		if !ok {
			t.Errorf("%s is not one of those that are documented", family.GetName())
		}
		for _, one := range family.GetMetric() {
			for _, pair := range one.GetLabel() {
				i := slices.IndexFunc(labels, func(l label) bool { return l.name == pair.GetName() })
				if i < 0 || !slices.Contains(labels[i].values, pair.GetValue()) &&
					(labels[i].from == "" || !slices.Contains(brought[pair.GetName()], pair.GetValue())) {
					t.Errorf("%s has %s=%.100q", family.GetName(), pair.GetName(), pair.GetValue())
				}
			}
		}
	}
}

// TestMetricsAreDocumented holds what fields declare to the instruments that are really
// there.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	documented := map[string]string{} // name to labels
	values := regexp.MustCompile(`=[^,}]+`)
	for _, m := range regexp.MustCompile(`metric:"([a-z_]+)(\{[^}"]+\})?"`).FindAllStringSubmatch(source(t), -1) {
		documented[prefix+m[1]] = values.ReplaceAllString(m[2], "")
	}
	registry := prometheus.NewRegistry()
	New(registry, false, "test")
	real := map[string]string{}
	made := regexp.MustCompile(`fqName: "(a2a_gateway_[a-z_]+)", help: "[^"]*", unit: "[^"]*", constLabels: \{\}, variableLabels: (\{[a-z_,]*\})`)
	for _, desc := range descriptions(registry) {
		m := made.FindStringSubmatch(desc)
		if m == nil {
			continue
		}
		if m[2] == "{}" {
			m[2] = ""
		}
		real[m[1]] = m[2]
	}
	if len(real) == 0 {
		t.Fatal("no instrument found")
	}
	if diff := cmp.Diff(real, documented); diff != "" {
		t.Errorf("instruments (-) and their documentation (+) differ:\n%s", diff)
	}
}

// TestCodesAreTheKinds fails when the error table grows a reason that the code
// label does not have.
func TestCodesAreTheKinds(t *testing.T) {
	t.Parallel()
	index := newCodeIndex()
	for _, kind := range wire.Kinds() {
		if got := index.names[index.call(kind.Reason, kind.HTTP)]; got != kind.Reason {
			t.Errorf("%s is counted as %s", kind.Reason, got)
		}
	}
	if slices.Contains(index.names, "") {
		t.Error("a code without a name")
	}
}

// descriptions lists what every collector of the registry describes.
func descriptions(registry *prometheus.Registry) []string {
	all := make(chan *prometheus.Desc)
	go func() {
		registry.Describe(all)
		close(all)
	}()
	var texts []string
	for desc := range all {
		texts = append(texts, desc.String())
	}
	return texts
}

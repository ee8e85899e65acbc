package wire

import "slices"

// Named lists every operation under each name that it has had in any version, and under
// theirs those that extensions bring: what a configuration may call it. One name may
// stand for several.
func Named(extra []*Method) map[string][]*Method {
	names := make(map[string][]*Method, 3*len(methods)+len(extra))
	for i := range methods {
		m := &methods[i]
		for _, name := range []string{m.Name, m.V03, m.V01} {
			if name != "" && !slices.Contains(names[name], m) {
				names[name] = append(names[name], m)
			}
		}
	}
	for _, m := range extra {
		names[m.Name] = append(names[m.Name], m)
	}
	return names
}

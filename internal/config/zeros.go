package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// zero is a number that is none, with or without a unit.
var zero = regexp.MustCompile(`^0[a-zA-Z]*$`)

// zeros lists the keys that a file has as 0 while something else is in force: a default stands
// in for what is not said, and the zero of these keys is not told from that.
func zeros(written, inForce *yaml.Node, path []string) []string {
	written, inForce = target(written), target(inForce)
	var found []string
	switch {
	case written.Kind != inForce.Kind:
	case written.Kind == yaml.ScalarNode:
		if zero.MatchString(written.Value) && !zero.MatchString(inForce.Value) {
			return []string{fmt.Sprintf("%s: %s is taken for the default, %s", spell(path), written.Value, inForce.Value)}
		}
	case written.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(written.Content); i += 2 {
			key := written.Content[i].Value
			if now := child(inForce, key); now != nil {
				found = append(found, zeros(written.Content[i+1], now, append(slices.Clip(path), key))...)
			}
		}
	default:
		for i := range min(len(written.Content), len(inForce.Content)) {
			found = append(found, zeros(written.Content[i], inForce.Content[i], append(slices.Clip(path), strconv.Itoa(i)))...)
		}
	}
	return found
}

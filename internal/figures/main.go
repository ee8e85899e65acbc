package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := show(os.Stdout, root); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// show writes the figures of the packages below a folder.
func show(w io.Writer, root string) error {
	packages, err := readPackages(root)
	for _, f := range measure(packages) {
		fmt.Fprintln(w, f)
	}
	return err
}

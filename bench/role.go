package main

import (
	"fmt"
	"io"
	"os"
)

// role is one of the processes that a run starts of itself. It ends with the run,
// however that ends: nobody closes its standard input before.
func role(name string, args []string) error {
	serve, ok := map[string]func([]string) error{"agent": serveAgent, "floor": serveFloor, "grpc-floor": serveGRPCFloor}[name]
	if !ok {
		return fmt.Errorf("no such role: %s", name)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return serve(args)
}

package main

import "errors"

// Exit codes beside 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

// failure is an error with the exit code it ends the program with.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage marks an error as the operator's to mend: arguments, configuration.
func usage(err error) error { return &failure{code: exitUsage, err: err} }

// failed marks an error of what was asked for, not of how it was asked.
func failed(err error) error { return &failure{code: exitFailed, err: err} }

// exitCode is what an error ends the program with.
func exitCode(err error) int {
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	return exitUsage // cobra's own errors are about flags and arguments
}

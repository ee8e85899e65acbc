// Package verb holds what the verbs of the command line have in common: errors with exit codes,
// flags that several take, and printing for people, terminals and programs. Verbs write what was
// asked for to standard output, and what they have to say about it to standard error, where it
// does not spoil a pipe.
package verb

import "errors"

// Exit codes beside 0, which every verb keeps to: 1 says that what was asked for was tried and
// failed or found something, 2 that it was never tried.
const (
	ExitFailed = 1
	ExitUsage  = 2
)

// failure is an error with the exit code it ends the program with.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// Usage marks an error as the operator's to mend: arguments, configuration.
func Usage(err error) error { return &failure{code: ExitUsage, err: err} }

// Failed marks an error of what was asked for, not of how it was asked.
func Failed(err error) error { return &failure{code: ExitFailed, err: err} }

// ExitCode is what an error ends the program with.
func ExitCode(err error) int {
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	return ExitUsage // cobra's own errors are about flags and arguments
}

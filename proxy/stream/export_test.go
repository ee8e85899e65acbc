package stream

// ErrGap is for tests outside the package: nobody else tells a gap from its effect.
var ErrGap = errGap

package testenv

import (
	"flag"
	"runtime"
	"strconv"
)

// Overlap runs several parallel tests at once for every processor, instead of one: where tests wait for
// limits, intervals and other processes more than they compute, the processors would have nothing to
// do. A -parallel on the command line wins. Fuzzing computes, and stays as it is.
//
// It is for TestMain, as it changes the process. It parses the flags.
func Overlap() {
	if !flag.Parsed() {
		flag.Parse()
	}
	overlap(flag.CommandLine, runtime.GOMAXPROCS(0))
}

func overlap(flags *flag.FlagSet, processors int) {
	asked := false
	flags.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" || f.Name == "test.fuzz" })
	if !asked {
		_ = flags.Set("test.parallel", strconv.Itoa(perProcessor*processors))
	}
}

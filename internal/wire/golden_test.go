package wire

import "flag"

// update rewrites golden files and generated documents instead of comparing.
var update = flag.Bool("update", false, "rewrite testdata from what the code does")

package failure

import "flag"

// update rewrites golden files and generated documents instead of comparing.
var update = flag.Bool("update", false, "rewrite testdata and docs/errors.md from what the code does")

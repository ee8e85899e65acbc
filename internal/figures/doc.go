// Command figures measures the source of the product: the sizes of its packages, files,
// functions and types, the share of its comments, and the files that are not found under
// the name of what they hold. make figures prints them, and the command's test holds the
// limits.
//
// What only tests and benchmarks import is not measured, nor is generated code. A line of
// code is one with a token on it, and a line of comment one with nothing else.
package main

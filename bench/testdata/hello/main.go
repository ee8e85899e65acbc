// Command hello is a small program, for its size.
package main

func main() { println("hello") }

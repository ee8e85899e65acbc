package example

func unrelated() {}

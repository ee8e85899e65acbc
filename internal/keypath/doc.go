// Package keypath says which key of the configuration an error is about.
//
// A section does not know where in a file it stands, and often not even below which key. Its
// Validate gives each error the path from the section to the value that is wrong (At), and who
// has the section puts the path of the section in front (At again). internal/config finds the
// value in the file by the whole path, and says line and column. Nobody reads a path out of the
// text of an error: what a text says is for people, and may say the key in words of its own
// (Point).
package keypath

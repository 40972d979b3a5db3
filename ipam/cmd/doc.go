// Package cmd is `vppdrill ipam`: plan prints and lints the address plan of a configuration, explain says how many
// addresses a node keeps ready under given targets, and why.
//
// It decides nothing about addresses: package ipam/plan does, from the allocators. It reads scenario files as `vppdrill
// run` does, and files with only an ipam section, which may use more keys. Start at Commands; section is what such a
// file may hold.
//
// A mistake in a file is one line with file, line, column, field and the nearest known word, exit code 2. A finding of
// severity error is exit code 1, after everything has been printed. A scenario whose address plan cannot work is
// planned all the same, so that the findings say all that is wrong with it and not only the first.
//
// To add a key, give section or one of its parts a field; to add a subcommand, a file with its function and a line in
// Commands.
package cmd

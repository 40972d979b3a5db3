//go:build race

package cmd

// Race says that the program was built with the race detector.
const Race = true

//go:build !linux

package cni

// Asked reports whether a container runtime executes this program as its plugin: runtimes wire pods on Linux alone.
func Asked() bool { return false }

// Main is never called where Asked reports false.
func Main() int { return 1 }

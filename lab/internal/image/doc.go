// Package image packs the VPP of this machine into the file system of a container: no registry, no base image, no build
// tool.
//
// It decides which files a node needs: VPP with its command line and its plugins, this program, every shared library
// that any of them names with the loader that finds them, and a static shell where this machine has one. Everything
// keeps its path, so that what a binary has built in about places stays true. It never speaks to an engine: package
// container imports what Write writes.
//
// Start at Collect. Which libraries a file needs is asked of the loader that would load it, which runs nothing of the
// file. A library that is missing here is told and does not stop the packing: VPP goes on without a plugin that cannot
// be loaded. The archive of the same files is the same bytes, in the order of paths.
//
// To put more into nodes, add it to Collect.
package image

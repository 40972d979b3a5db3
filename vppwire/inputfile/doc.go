// Package inputfile reads files that people name, within bounds: a device or a disk image is refused before it fills
// the memory.
//
// It never looks into a file and never changes one. Start at Read. Errors name the file. There is nothing to add: who
// reads a file that a person has named, reads it here.
package inputfile

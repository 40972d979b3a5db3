// Package strictyaml reads YAML files that people write into Go structs, and says exactly what is wrong with them.
//
// It decides what a file may look like: one document of plain fields, lists and values, each field known and given
// once, no anchors, no tags, within bounds of depth and size. It never reads a file, and it knows no value of its own beyond numbers, truth values and
// words: prefixes and durations come from a Decoder's Scalar. Start at Decoder; Nearest serves every other place that
// meets an unknown word.
//
// A struct's fields are its grammar, by these tags: yaml is the name in files, and ",inline" takes an embedded struct's
// fields in; required must be given; min and max are inclusive bounds of a number; enum are the allowed words, joined
// by commas. Decoding stops at the first mistake, or goes on with All. Errors carry the place in the file and the
// nearest valid word. To let a file hold another kind of value, give the Decoder a Scalar for one value or a Special
// for more.
package strictyaml

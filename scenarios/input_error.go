package scenarios

import "github.com/vppdrill/vppdrill/vppwire/strictyaml"

// InputError says what is wrong with a file that people wrote, where, and which valid word is nearest.
type InputError = strictyaml.Error

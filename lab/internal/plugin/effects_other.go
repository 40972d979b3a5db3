//go:build !amd64

package plugin

import "math"

// oldChanges are calls that only one architecture has.
var oldChanges map[uint64]named

const sysOpen = math.MaxUint64

package mode

import "github.com/vppdrill/vppdrill/vppwire"

// PickNIC chooses the main physical interface among VPP's interface names, in the order in which VPP lists them: the first
// that VPP did not make itself. Empty when there is none.
func PickNIC(names []string) string {
	for _, name := range names {
		if !vppwire.MadeByVPP(name) {
			return name
		}
	}
	return ""
}

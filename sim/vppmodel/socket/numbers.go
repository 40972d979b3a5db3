package socket

import (
	_ "embed"
	"strconv"
	"strings"
)

// numbersText is the order of messages that a real VPP has: VPP's own test client and programs on its C library know a message by its
// place in its module.
//
//go:embed numbers.txt
var numbersText string

// module is one API file of VPP.
type module struct {
	// name is the file's with its CRC, as get_first_msg_id asks for it; memclnt, whose numbers never change, has none.
	name     string
	first    uint16
	messages []string // by number from first
}

// readModules reads numbers.txt.
func readModules() (all []module) {
	for line := range strings.Lines(numbersText) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] == "#" {
			continue
		}
		first, err := strconv.ParseUint(words[1], 10, 16)
		if err != nil {
			panic("socket: numbers.txt: " + err.Error())
		}
		all = append(all, module{words[0], uint16(first), words[2:]})
	}
	return all
}

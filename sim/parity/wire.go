package parity

import "fmt"

// wire is the far end of one device: what is written to it comes in to VPP, and what VPP sends can be read from it.
type wire struct {
	device string
	fd     int
}

// frameMax is more than any frame that probes cause, in bytes.
const frameMax = 2048

// openWires opens the far ends of all devices. It runs in their namespace; what it returns works everywhere.
func openWires() ([]wire, error) {
	var all []wire
	for _, d := range devices {
		w, err := openWire(d + "p")
		if err != nil {
			closeWires(all)
			return nil, fmt.Errorf("listen on %sp: %w", d, err)
		}
		all = append(all, w)
	}
	return all, nil
}

func closeWires(all []wire) {
	for _, w := range all {
		w.close()
	}
}

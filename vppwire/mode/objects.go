package mode

import "github.com/vppdrill/vppdrill/vppwire"

// objects collects what a group wants; a later object with the key of an earlier one is dropped: it says the same thing
// for another reason (a host address that is also the interconnect's, two pod subnets with one drop route).
type objects struct{ list []vppwire.Object }

func (o *objects) add(x vppwire.Object) { o.list = append(o.list, x) }

// once adds x unless its key is wanted already.
func (o *objects) once(x vppwire.Object) {
	k := x.Key()
	for _, y := range o.list {
		if y.Key() == k {
			return
		}
	}
	o.add(x)
}

// merge adds what is not wanted already.
func (o *objects) merge(list []vppwire.Object) {
	for _, x := range list {
		o.once(x)
	}
}

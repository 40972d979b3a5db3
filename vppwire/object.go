package vppwire

import "go.fd.io/govpp/api"

// Object is one thing that VPP or Linux should hold: a comparable value with a key, needs and one canonical line.
// Two Objects with the same Key that are == are the same; otherwise the newer replaces the older.
// The list of all kinds is in kind.go, each in the file named after it.
type Object interface {
	Key() Key
	// AppendNeeds appends the keys that must exist before this object can be created and while it exists.
	AppendNeeds(keys []Key) []Key
	// AppendText appends the canonical line; ParseObject reads it back.
	AppendText(b []byte) []byte
	object
}

// object is what a Session asks of its objects beyond what users see.
type object interface {
	// parse reads the rest of a canonical line behind the kind's word. It is asked of the kind's zero object.
	parse(p *words) Object
	// owner names the object whose deletion takes this one along without a call; false: none does.
	owner() (Key, bool)
	// ours reports whether the object is ours to delete when a dump found it and nobody wants it. VPP belongs to us: every
	// API route, table, bridge and static neighbor of ours is. A NIC's settings and Linux beyond our links are not.
	ours() bool
	// create fills r with the call that makes the object so; over is what stands there now, nil for nothing.
	create(s *Session, r *request, over Object)
	// delete fills r with the call that deletes the object; false: there is nothing to call.
	delete(s *Session, r *request) bool
	// replaces reports whether create over old is enough; else old is deleted first.
	replaces(old Object) bool
	// shown is the dump that shows the object, narrowed down to where it is.
	shown() dumpStep
}

// The following are for the kinds that need them.

// incomplete is an object of which a dump cannot show everything.
type incomplete interface {
	// like reports whether found, which a dump showed under the same key, is this object as far as a dump can tell.
	like(found Object) bool
}

// contented is an object that may do with another one under its key.
type contented interface {
	// suffices reports whether have, which is there, need not be changed into this object.
	suffices(have Object) bool
}

// lapsing is an object that other dumps than its own can show to be gone.
type lapsing interface {
	// lapses reports whether st, whose answer did not rule the object in, shows that it cannot be there.
	lapses(s *Session, st dumpStep) bool
}

// bringing is an object that comes with another one, which nobody has to create.
type bringing interface{ brings() Object }

// arriving is an object whose creation leaves something that is not wanted so; the Session is told behind it.
type arriving interface{ arrived(s *Session) }

// exacting is an object that may wait until all that it needs, and all that this needs, is there as it is wanted: what outlives a VPP stands
// without what it needs there, and something else may stand under a key.
type exacting interface{ exact() bool }

// leaving is an object whose deletion may take others along that do not hang on it: left looks at them again.
type leaving interface{ left(s *Session) }

// taking is an object that takes links along when it is deleted, whether or not they know their owner: a dump cannot
// show what a link belongs to.
type taking interface {
	// takes returns the links' keys; the zero Key stands for none.
	takes() [2]Key
}

// outlived is an object on which another one goes on to sit when it has gone, deaf and unnoticed: on the next of the
// same name that one must be made anew.
type outlived interface {
	// outlivedBy returns the key of what has to go before the object is made.
	outlivedBy() Key
}

// lowering is an object whose deletion sets a Linux link down, and whose creation sets it up.
type lowering interface {
	// lowers returns the link's key; false: there is no such link.
	lowers() (Key, bool)
}

// spanning is an object that reaches into a namespace that its key does not name.
type spanning interface{ farNetns() string }

// named is a kind of interface of which only some names are ours.
type named interface{ oursByName(name string) bool }

// speaker is a kind or a dump with binary API messages.
type speaker interface{ messages() []api.Message }

// onInterface is a kind of which the interface dump shows the objects. d is one interface, by what kind's creation it
// came to be; the zero value for one that VPP brings along.
type onInterface interface {
	readInterface(d *interfaceDetails, by creation) (Object, bool)
}

// onLink and onNetns are kinds of which a namespace's dump shows the objects, link by link or for the whole namespace.
type (
	onLink interface {
		readLink(s *Session, netns string, l *LinuxLink)
	}
	onNetns interface {
		readNetns(s *Session, netns string, state *LinuxState)
	}
)

// Part is what one plugin of VPP answers for: binary API messages, requests and replies.
type Part struct {
	Plugin string
	// Optional: a VPP without the plugin is fine as long as nothing of it is wanted; after that it refuses. See
	// Session.Without.
	Optional bool
	Messages []api.Message
}

// buffers are kind k's request and reply messages, made when they are first needed. At most one call is outstanding, so
// a Session needs each of them once.
func buffers[T any](s *Session, k Kind) *T {
	b, ok := s.msg[k].(*T)
	if !ok {
		b = new(T)
		s.msg[k] = b
	}
	return b
}

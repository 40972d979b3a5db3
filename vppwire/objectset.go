package vppwire

// ObjectSet keeps one copy of equal objects, and of all names, for the Sessions of many nodes in one process: of what a
// node wants of each of its peers all but the tunnel's source is the same on every node, and a mesh of a thousand nodes
// wants nine millions of them. It is not safe for concurrent use. What it has kept once stays as long as it does.
type ObjectSet struct {
	names    names
	subjects []subject
	number   map[Object]uint32
}

// NewObjectSet returns one that keeps nothing yet.
func NewObjectSet() *ObjectSet {
	return &ObjectSet{names: names{byName: map[string]uint32{}}, number: map[Object]uint32{}}
}

// Share has a Session that has not been used yet keep in set what it wants by SetAlike.
func (s *Session) Share(set *ObjectSet) { s.names, s.alike = &set.names, set }

// SetAlike is Set of objects of which Sessions that share an ObjectSet want most alike.
func (s *Session) SetAlike(name string, objects []Object) { s.set(name, objects, s.alike) }

// subjectOf is the number of an object with its key, which are kept from here on; false for a tunnel, which no two nodes
// want alike.
func (set *ObjectSet) subjectOf(o Object, id ident) (uint32, bool) {
	if id.kind == KindVXLAN {
		return 0, false
	}
	n, ok := set.number[o]
	if !ok {
		n = uint32(len(set.subjects)) | alikeSubject
		set.subjects = append(set.subjects, subject{o, id})
		set.number[o] = n
	}
	return n, true
}

package vppwire

// ObjectSet keeps one copy of equal objects for the Sessions of many nodes in one process: of what a node wants of each
// of its peers all but the tunnel's source is the same on every node, and a mesh of a thousand nodes wants nine
// millions of them. It is not safe for concurrent use. What it has kept once stays as long as it does.
type ObjectSet struct{ objects map[Object]Object }

// NewObjectSet returns one that keeps nothing yet.
func NewObjectSet() *ObjectSet { return &ObjectSet{objects: map[Object]Object{}} }

// Unify puts the kept copy in the place of each object in list, but for tunnels, which no two nodes want alike. A nil
// ObjectSet leaves all as they are.
func (s *ObjectSet) Unify(list []Object) {
	if s == nil {
		return
	}
	for i, o := range list {
		if _, ok := o.(VXLAN); ok {
			continue
		}
		kept, ok := s.objects[o]
		if !ok {
			s.objects[o], kept = o, o
		}
		list[i] = kept
	}
}

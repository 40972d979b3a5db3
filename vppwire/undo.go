package vppwire

// Undoing is the operation on Linux that deletes an object, for who has to undo some without a VPP; false where no
// operation does, as of VPP's.
func Undoing(o Object) (LinuxOp, bool) {
	if !o.Key().Kind.inLinux() {
		return nil, false
	}
	var r request
	if !o.delete(nil, &r) || r.op == nil {
		return nil, false
	}
	return r.op, true
}

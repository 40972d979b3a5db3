package vppwire

import "fmt"

// Undoing is the operation on Linux that deletes an object, for who has to undo some without a VPP. It panics where no
// operation does, as of VPP's objects.
func Undoing(o Object) LinuxOp {
	var r request
	if !o.Key().Kind.inLinux() || !o.delete(nil, &r) || r.op == nil {
		panic(fmt.Sprintf("vppwire: no operation on Linux undoes %s", o.AppendText(nil)))
	}
	return r.op
}

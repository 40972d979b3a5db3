package vppmodel

import (
	gopath "path"
	"reflect"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/memclnt"
)

// Bound are the messages of the modules whose bindings are in the program, modelled or not, by their names with CRCs.
func Bound() map[string]api.Message {
	return api.GetRegisteredMessages()[gopath.Dir(reflect.TypeFor[memclnt.ControlPing]().PkgPath())]
}

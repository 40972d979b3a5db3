package fault

import (
	"strings"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// What an agent does, as operations: every world that injects faults into agents asks about these.

// Call is a call to VPP or Linux. Its Key is only there where keyed: text of each object is dear.
func Call(node string, c vppwire.Call, keyed bool) Op {
	op := Op{Node: node, Kind: KindDataplane, Name: c.Name()}
	if keyed {
		op.Key = c.Key().String()
	}
	return op
}

// Store is a request to the store: list, create, update, delete or watch.
func Store(node string, r agent.StoreRequest) Op {
	return Op{Node: node, Kind: KindStore, Name: strings.TrimPrefix(r.Op.String(), "store-"), Key: r.Key}
}

// Persist is a write to the journal.
func Persist(node string, e agent.Persist) Op {
	name := "Persist"
	if e.Replace {
		name = "Replace"
	}
	return Op{Node: node, Kind: KindPersist, Name: name}
}

// StoreChange and APIChange are a change that a watch of the store, or of the API server, delivers to an agent.
func StoreChange(node string) Op { return Op{Node: node, Kind: KindStoreWatch, Name: "StoreChanged"} }
func APIChange(node string) Op   { return Op{Node: node, Kind: KindAPIWatch, Name: "change"} }

// CNI is a container runtime's request: a command as Add, about a container.
func CNI(node, command, container string) Op {
	return Op{Node: node, Kind: KindCNI, Name: command, Key: container}
}

// Effect is anything that an agent asks its driver for, by its type's name.
func Effect(node string, e agent.Effect) Op {
	return Op{Node: node, Kind: KindEffect, Name: effectName(e)}
}

func effectName(e agent.Effect) string {
	switch e.(type) {
	case agent.CallDataplane:
		return "CallDataplane"
	case agent.Persist:
		return "Persist"
	case agent.StoreRequest:
		return "StoreRequest"
	case agent.Answer:
		return "Answer"
	case agent.WakeAt:
		return "WakeAt"
	case agent.Hook:
		return "Hook"
	case agent.Log:
		return "Log"
	case agent.ListNodes:
		return "ListNodes"
	case agent.NodeAddress:
		return "NodeAddress"
	}
	return "Effect"
}

// unspecified is the retval of a call that a fault refuses without naming one: VNET_API_ERROR_UNSPECIFIED.
const unspecified = -1

// Retval is what a refused call to VPP or Linux answers with.
func (v Verdict) Retval() int32 {
	if v.Code == 0 {
		return unspecified
	}
	return v.Code
}

package controllers

import (
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/scenarios"
)

// joins are when ipamd did last what it tries again about an interface that is on its way into its store.
type joins map[join]*pace

type join struct {
	op  datastore.CallOp
	eni string
}

// of is the pace of a call, "" where it is none about such an interface.
func (l joins) of(c datastore.Call) (at *pace, of string) {
	switch {
	case c.Op == datastore.ReadIMDS && c.ENI != "":
		of = scenarios.PacedAwait
	case c.Op == datastore.SetUpENI:
		of = scenarios.PacedSetUp
	default:
		return nil, ""
	}
	key := join{c.Op, c.ENI}
	if l[key] == nil {
		l[key] = new(pace)
	}
	return l[key], of
}

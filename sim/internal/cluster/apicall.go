package cluster

import (
	"errors"
	"net/netip"
)

// ErrNoAnswer is what a caller at the far end of a link learns when no reply came: whether it was done is unknown.
var ErrNoAnswer = errors.New("no answer")

// podVerb is what a podCall does.
type podVerb uint8

const (
	verbBind podVerb = iota
	verbStatus
	verbRemove
)

// podCall is one request about a pod that reaches the API server through the network.
type podCall struct {
	api   *API
	verb  podVerb
	key   Key
	uid   string
	node  string
	phase Phase
	ip    netip.Addr
	// second is of the second family, if there is one.
	second netip.Addr
	// done gets nil, an error of the API, or ErrNoAnswer.
	done func(err error)
}

// send starts the call from an endpoint.
func (c *podCall) send(from Endpoint) { c.api.net.Call(from, c.api.at, apiTimeout, c) }

func (c *podCall) AppendText(b []byte) []byte {
	switch c.verb {
	case verbBind:
		b = c.key.AppendText(append(b, "bind "...))
		b = append(b, ' ')
		b = append(b, c.node...)
	case verbStatus:
		b = c.key.AppendText(append(b, "status "...))
		b = append(b, ' ')
		b = append(b, c.phase.String()...)
		b = append(b, ' ')
		b = appendAddr(b, c.ip)
		if c.second.IsValid() {
			b = appendAddr(append(b, ' '), c.second)
		}
	case verbRemove:
		b = c.key.AppendText(append(b, "remove "...))
	}
	return b
}

func (c *podCall) Serve() any {
	var err error
	switch c.verb {
	case verbBind:
		err = c.api.Bind(c.key, c.uid, c.node)
	case verbStatus:
		err = c.api.SetPodStatus(c.key, c.uid, c.phase, c.ip, c.second)
	case verbRemove:
		err = c.api.Delete(KindPod, c.key, c.uid)
	}
	if err == nil {
		return nil
	}
	return err
}

func (c *podCall) Done(reply any, ok bool) {
	if !ok {
		c.done(ErrNoAnswer)
		return
	}
	err, _ := reply.(error)
	c.done(err)
}

// appendAddr appends an address, "-" for none.
func appendAddr(b []byte, a netip.Addr) []byte {
	if !a.IsValid() {
		return append(b, '-')
	}
	return a.AppendTo(b)
}

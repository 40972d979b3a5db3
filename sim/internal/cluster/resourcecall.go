package cluster

import "strconv"

// ResourceCall is one request of a controller that reaches the API server through the network.
type ResourceCall struct {
	API *API
	// What is the request's text in event lines.
	What string
	// Act performs it at the server, for each copy that arrives. The Object may be nil.
	Act func(*API) (Object, error)
	// Then gets what Act returned, or ErrNoAnswer.
	Then func(Object, error)
}

// Send starts the call from an endpoint.
func (c *ResourceCall) Send(from Endpoint) { c.API.net.Call(from, c.API.at, apiTimeout, c) }

// AppendText implements Request.
func (c *ResourceCall) AppendText(b []byte) []byte { return append(b, c.What...) }

// Serve implements Request.
func (c *ResourceCall) Serve() any {
	if c.API.down {
		return ErrUnavailable
	}
	o, err := c.Act(c.API)
	switch {
	case err != nil:
		return err
	case o == nil:
		return nil
	}
	return served{o}
}

// served is an object as a reply.
type served struct{ Object }

// AppendText implements the text of a reply.
func (s served) AppendText(b []byte) []byte {
	b = append(s.Common().Key().AppendText(b), " rv "...)
	return strconv.AppendInt(b, s.Common().ResourceVersion, 10)
}

// Done implements Request.
func (c *ResourceCall) Done(reply any, ok bool) {
	if !ok {
		c.Then(nil, ErrNoAnswer)
		return
	}
	switch r := reply.(type) {
	case served:
		c.Then(r.Object, nil)
	case error:
		c.Then(nil, r)
	default:
		c.Then(nil, nil)
	}
}

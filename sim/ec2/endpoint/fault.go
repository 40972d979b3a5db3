package endpoint

import (
	"net/http"
	"time"
)

// Metadata is the Action of a Fault that metadata services play.
const Metadata = "metadata"

// Fault makes the answer to a request go wrong. The zero Fault does nothing.
type Fault struct {
	// Action is the request's, as AssignPrivateIpAddresses, or Metadata; "" is any of EC2's.
	Action string
	// Times is how many requests it is for.
	Times int
	// Code refuses the request. Lost performs it and hangs up. Late answers after so long. Hangs never answers and does
	// nothing.
	Code  string
	Lost  bool
	Late  time.Duration
	Hangs bool
}

// Play adds a fault behind those that are being played.
func (s *Server) Play(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
}

// fault takes the first fault for an action.
func (s *Server) fault(action string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.faults {
		if f := &s.faults[n]; f.Times > 0 && (f.Action == action || f.Action == "" && action != Metadata) {
			f.Times--
			return *f
		}
	}
	return Fault{}
}

// meet plays the part of a fault that comes before the request; the request is at its end with true.
func (s *Server) meet(r *http.Request, action string) (f Fault, end bool) {
	f = s.fault(action)
	if f.Hangs {
		<-r.Context().Done()
		return f, true
	}
	if f.Late > 0 {
		s.cfg.Wait(r.Context(), f.Late) // who goes away meanwhile does not keep AWS from what was asked
	}
	return f, false
}

// hangUp ends the connection without an answer.
func hangUp(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if c, _, err := h.Hijack(); err == nil {
			_ = c.Close()
			return
		}
	}
	panic(http.ErrAbortHandler) // it closes the connection, whatever its protocol
}

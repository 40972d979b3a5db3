// Package vpp keeps a connection to one VPP's binary API socket.
//
// It decides whether the VPP behind a socket can be spoken to, and when a connection is no longer worth anything. It
// never decides what is asked: the requests are vppwire's. Start at Dial. A Conn is one connection to one life of VPP;
// when that ends, Gone is closed and the caller dials again, and the PID tells whether VPP has died in between. A call
// that is not answered before its context's deadline leaves the connection in doubt: Drop it, as a late answer could
// reach the wrong call.
//
// govpp's client and connection do the speaking. Three of its habits are worked around here: it does not notice a
// socket that was closed, it drops the details of a long dump when its reader is busy, and its defaults know no
// deadline. The model of what is spoken to is sim/vppmodel. Messages that vppwire learns to send belong into
// messages.go, which a test holds against what it sends.
package vpp
